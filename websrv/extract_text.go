package websrv

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// cursorTokens is what a cursor costs in the structured part or, with its sentence, in
// the text.
const cursorTokens = 50

// extractText makes the reply: texts cut to the budget, side by side if there are
// several, each with a cursor for its rest.
func (s *Server) extractText(results []extractResult, args *extractArgs, budget int, plainText bool) (*Reply, error) {
	reply, f := &extractReply{Results: results}, newFence()
	left, open := plainBudget, 0
	for i := range results {
		if args.Format == formatMetadata {
			results[i].docs = nil
		}
		if results[i].docs != nil {
			open++
		}
	}
	if !plainText {
		shrinkResults(results, reply, budget)
		left = budget - structuredTokens(reply) - len(results)*cursorTokens
		if left < max(open, 1)*(minPiece+frameTokens("")+cursorTokens) {
			return nil, invalidf("maxTokens: %d are too few for this reply: ask for more, or for fewer pages at a time", budget)
		}
	}
	texts := make([][]string, len(results))
	for _, i := range bySize(results) { // what the short ones leave is for the long ones
		share := left
		if results[i].docs != nil {
			share = left / open
			open--
		}
		texts[i] = s.showResult(&results[i], share, f, plainText)
		for _, block := range texts[i] {
			left -= estimateTokens(block) + 1
		}
	}
	notes, incomplete := []string(nil), false
	for i := range results {
		incomplete = incomplete || results[i].Error != ""
		if plainText {
			results[i].Text = strings.Join(texts[i], "\n\n")
			notes = append(notes, results[i].plainNotes()...)
		}
	}
	list := slices.Concat(texts...)
	if len(list) == 0 && !plainText {
		list = []string{"What is known of the page is in the structured part of this reply."}
	}
	return &Reply{Blocks: list, Structured: reply, Notes: notes, Incomplete: incomplete}, nil
}

// plainNotes are what a person should know about a result.
func (r *extractResult) plainNotes() (lines []string) {
	if r.Error != "" {
		lines = append(lines, plain(r.URL, maxSource)+" was not read: "+r.Error)
		lines = append(lines, r.reasons()...)
	}
	for _, w := range r.Warnings {
		lines = append(lines, plain(r.URL, maxSource)+": "+w)
	}
	return lines
}

// plainBudget is the length of plain text, which has no limit.
const plainBudget = 1 << 40

// bySize are the indexes of results, shortest text first.
func bySize(results []extractResult) []int {
	order := make([]int, len(results))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(results[a].TotalTokens, results[b].TotalTokens) })
	return order
}

// metadata is what is known of a page as a block of lines, for people.
func (r *extractResult) metadata() []string {
	var b strings.Builder
	for _, l := range [...]struct{ name, value string }{{"url", r.URL}, {"finalUrl", r.FinalURL}, {"title", r.Title}, {"byline", r.Byline}, {"site", r.Site}, {"description", r.Description},
		{"published", r.Published}, {"lang", r.Lang}, {"contentType", r.ContentType}} {
		if l.value != "" {
			b.WriteString(l.name + ": " + l.value + "\n")
		}
	}
	return []string{b.String()}
}

// fits is a block of text if it takes no more than share tokens, else nothing: the structured part tells it, too.
func fits(share int, text string) []string {
	if estimateTokens(text) > share {
		return nil
	}
	return []string{text}
}

// reasons are the failures of a result as lines.
func (r *extractResult) reasons() (lines []string) {
	for _, a := range r.Failures {
		lines = append(lines, "- "+a.String())
	}
	return lines
}

// showResult are the blocks about one result, at most share tokens together: the text, and then what
// there is to say of it.
func (s *Server) showResult(r *extractResult, share int, f fence, plainText bool) []string {
	if r.docs == nil {
		switch {
		case plainText && r.Error == "":
			return r.metadata()
		case plainText:
			return nil
		}
		if r.Error == "" {
			return fits(share, f.wrap(r.URL, "Metadata", strings.Join(r.metadata(), "\n")))
		}
		line := plain(r.URL, maxSource) + " was not read: " + r.Error
		if list := fits(share, line+"\n"+strings.Join(r.reasons(), "\n")); list != nil && len(r.Failures) > 0 {
			return list
		}
		return []string{line + "."}
	}
	lines := notes(r.Provider, r.Failures, nil, r.Warnings, plainText)
	used := estimateTokens(strings.Join(lines, "\n\n")) + cursorTokens
	if used > share/2 { // the structured part tells them, too
		lines, used = nil, cursorTokens
	}
	pieces, next := takePieces(r.docs, r.start, share-used)
	var list []string
	if plainText {
		for _, p := range pieces {
			list = append(list, r.docs[p.index].Text[p.start:p.end])
		}
		return list
	}
	list = blocks(r.docs, pieces, r.noun, r.begin, f)
	if next != nil {
		s.texts.put(r.docs)
		r.Truncated, r.Cursor = true, next.cursor()
		lines = append(lines, "There is more: to read on, call this tool again with cursor "+r.Cursor)
	}
	if len(lines) > 0 {
		list = append(list, strings.Join(lines, "\n\n"))
	}
	return list
}

// shrinkResults drops what is least missed until the structured part is no more than a
// third of the reply.
func shrinkResults(results []extractResult, reply any, budget int) {
	for _, drop := range []func(*extractResult){
		func(r *extractResult) { r.Description = "" },
		func(r *extractResult) { r.Failures = shortAttempts(r.Failures) },
		func(r *extractResult) { r.Warnings, r.Site, r.Byline = nil, "", "" },
		func(r *extractResult) { r.Failures = nil },
		func(r *extractResult) { r.Title, r.FinalURL = plain(r.Title, 60), "" },
	} {
		if structuredTokens(reply) <= budget/3 {
			return
		}
		for i := range results {
			drop(&results[i])
		}
	}
}

// shortAttempts are attempts without their explanations.
func shortAttempts(list []Attempt) []Attempt {
	short := slices.Clone(list)
	for i := range short {
		short[i].Reason, short[i].Next = plain(short[i].Reason, 40), ""
	}
	return short
}

// formatted is a page in the format asked for.
func formatted(p *Page, format string) (string, error) {
	switch format {
	case formatText:
		return plainMarkdown(p.Markdown), nil
	case formatHTML:
		if p.HTML == "" {
			return "", failf(ErrTargetFailed, "there is no HTML of this page: its type is %s", orDefault(plain(p.ContentType, 80), "unknown"))
		}
		return p.HTML, nil
	case formatLinks:
		links := p.Links
		if links == nil {
			links = markdownLinks(p.Markdown)
		}
		return strings.Join(links, "\n"), nil
	}
	return titled(p), nil
}

// titled is the page's Markdown below its title, unless that stands in it already.
func titled(p *Page) string {
	title := plain(p.Title, maxTitle)
	if title == "" {
		return p.Markdown
	}
	if list := headings(p.Markdown[:cutTokens(p.Markdown, 2_000)]); len(list) > 0 {
		first := strings.ToLower(list[0].title)
		if list[0].level == 1 || strings.Contains(strings.ToLower(title), first) || strings.Contains(first, strings.ToLower(title)) {
			return p.Markdown
		}
	}
	return "# " + title + "\n\n" + p.Markdown
}

// maxLinks bounds the links of a page.
const maxLinks = 5_000

// markdownLinks are the addresses that a Markdown text links to, in order, each once.
func markdownLinks(text string) (links []string) {
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`\]\(<?(https?://[^\s)>]+)`).FindAllStringSubmatch(text, -1) {
		if len(links) == maxLinks {
			break
		}
		if !seen[m[1]] {
			seen[m[1]] = true
			links = append(links, m[1])
		}
	}
	return links
}

// plainMarkdown is a Markdown text without its marks, for readers of words.
func plainMarkdown(text string) string {
	text = regexp.MustCompile(`!\[([^\]]*)\]\([^)\n]*\)`).ReplaceAllString(text, "$1")
	text = regexp.MustCompile(`\[([^\]]*)\]\([^)\n]*\)`).ReplaceAllString(text, "$1")
	text = regexp.MustCompile(`(?m)^ {0,3}(#{1,6}\s+|>\s?|(`+"`{3,}|~{3,}"+`)\S*[ \t]*$)`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`(\*\*|__)([^*_\n]+)(\*\*|__)`).ReplaceAllString(text, "$2")
	return regexp.MustCompile(`\\([\\`+"`"+`*_{}\[\]()#+.!|<>~-])`).ReplaceAllString(text, "$1")
}

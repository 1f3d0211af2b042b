package websrv

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// crawlReply is the structured part of the answer of crawl.
type crawlReply struct {
	Provider  string      `json:"provider,omitempty"`
	Pages     []crawlPage `json:"pages,omitempty"` // none where a cursor reads on in the text
	Read      int         `json:"read"`            // pages with text
	Failed    int         `json:"failed"`
	Skipped   int         `json:"skipped,omitempty"`
	Stopped   string      `json:"stopped,omitempty"`
	Credits   float64     `json:"credits,omitempty"`
	Truncated bool        `json:"truncated"`
	Cursor    string      `json:"cursor,omitempty"` // reads on in these pages' text
	Next      string      `json:"next,omitempty"`   // a cursor too: continues the crawl
	Warnings  []string    `json:"warnings,omitempty"`
	Failures  []Attempt   `json:"failures,omitempty"`
	Texts     []crawlText `json:"texts,omitempty"` // plain text only: for scripts
}

// crawlText is a page's text.
type crawlText struct {
	URL  string `json:"url"`
	Text string `json:"text"`
}

// check checks the arguments and fills in the defaults.
func (a *crawlArgs) check() (err error) {
	if a.URL, err = address("url", a.URL); err != nil {
		return err
	}
	if err := intRange("maxPages", &a.MaxPages, defaultCrawlPages, 1, maxCrawlPages); err != nil {
		return err
	}
	depth := defaultCrawlDepth
	if a.MaxDepth != nil {
		depth = *a.MaxDepth
	}
	if depth < 0 || depth > maxCrawlDepth {
		return invalidf("maxDepth %d: it must be from 0 to %d", depth, maxCrawlDepth)
	}
	a.MaxDepth = &depth
	if err := intRange("timeoutSeconds", &a.TimeoutSeconds, defaultCrawlTime, 1, maxCrawlTime); err != nil {
		return err
	}
	if err := choice("render", &a.Render, renderAuto, renderNever, renderAlways); err != nil {
		return err
	}
	for _, l := range []struct {
		name string
		list []string
	}{{"include", a.Include}, {"exclude", a.Exclude}} {
		if err := stringList(l.name, l.list, maxCrawlPatterns, maxSelector); err != nil {
			return err
		}
		for i, g := range l.list {
			if !strings.HasPrefix(g, "/") && !strings.HasPrefix(g, "*") {
				l.list[i] = "/" + g
			}
		}
	}
	return nil
}

// continuation is the content of a cursor that continues a crawl or a sitemap.
type continuation struct {
	Tool     string          `json:"t"`
	Provider string          `json:"p"`
	Next     string          `json:"n"`
	Args     json.RawMessage `json:"a"`
}

// continues makes the cursor; "" stays "".
func continues(tool, provider, next string, args any) string {
	if next == "" {
		return ""
	}
	raw, err := json.Marshal(args)
	if err == nil {
		raw, err = json.Marshal(continuation{tool, provider, next, raw})
	}
	if err != nil || len(raw) > maxCursor/2 {
		return ""
	}
	return seal(cursorNext, raw)
}

// continued reads such a cursor into args and names the provider that goes on.
func continued(tool string, data []byte, args any) (c continuation, err error) {
	if json.Unmarshal(data, &c) != nil || c.Tool != tool || json.Unmarshal(c.Args, args) != nil {
		return c, invalidf("cursor: %v", errCursor)
	}
	return c, nil
}

// boundCrawl checks the arguments by the bounds of the configuration, too: what the caller
// did not ask for is kept within them, what he did is refused beyond.
func (s *Server) boundCrawl(args *crawlArgs) error {
	pages, longest := s.opts.MaxCrawlPages, int(s.opts.MaxCrawlTime.Seconds())
	args.MaxPages = orDefault(args.MaxPages, min(defaultCrawlPages, pages))
	args.TimeoutSeconds = orDefault(args.TimeoutSeconds, min(defaultCrawlTime, longest))
	if err := args.check(); err != nil {
		return err
	}
	switch {
	case args.MaxPages > pages:
		return invalidf("maxPages %d: the configuration allows %d", args.MaxPages, pages)
	case args.TimeoutSeconds > longest:
		return invalidf("timeoutSeconds %d: the configuration allows %d", args.TimeoutSeconds, longest)
	}
	return nil
}

// crawlTool answers the tool crawl.
func (s *Server) crawlTool(ctx context.Context, args *crawlArgs, progress crawlProgress, plainText bool) (*Reply, error) {
	budget, err := s.budget(args.MaxTokens)
	if err != nil {
		return nil, err
	}
	only := ""
	if args.Cursor != "" {
		kind, data, err := unseal(args.Cursor)
		switch {
		case err != nil:
			return nil, invalidf("cursor: %v", err)
		case kind == cursorText:
			return s.crawlOn(data, budget, plainText)
		}
		tokens, pages := args.MaxTokens, args.MaxPages
		*args = crawlArgs{}
		c, err := continued(toolCrawl, data, args)
		if err != nil {
			return nil, err
		}
		only, args.Cursor, args.MaxTokens = c.Provider, c.Next, tokens
		if pages != 0 {
			args.MaxPages = pages
		}
	}
	if err := s.boundCrawl(args); err != nil {
		return nil, err
	}
	localOnly, why, err := s.confine(ctx, args.URL)
	if err != nil {
		return nil, err
	}
	answer, err := dispatch(ctx, s.dispatcher, &task[*crawlResult]{op: OpCrawl, target: args.URL, request: args, localOnly: localOnly, why: why, once: true, only: only,
		call: func(ctx context.Context, p Provider) (*crawlResult, error) {
			own := *args
			res, err := p.(Crawler).crawl(ctx, &own, progress)
			if err == nil && res.read() == 0 {
				return nil, crawlFailure(args, res)
			}
			return res, err
		}})
	if err != nil {
		return nil, err
	}
	return s.crawlText(answer, args, budget, plainText), nil
}

// read counts the pages with text.
func (r *crawlResult) read() (n int) {
	for i := range r.Pages {
		if r.Pages[i].Error == "" {
			n++
		}
	}
	return n
}

// crawlFailure is a crawl without a page.
func crawlFailure(args *crawlArgs, r *crawlResult) *Failure {
	f := &Failure{Class: ErrTargetFailed, Reason: "no page could be read", Once: true}
	switch {
	case len(r.Pages) > 0:
		f.Reason += ": " + plain(r.Pages[0].URL, 120) + ": " + plain(r.Pages[0].Error, 160)
	case len(r.Warnings) > 0:
		f.Reason += ": " + plain(r.Warnings[0], maxReason)
	case len(args.Include)+len(args.Exclude) > 0:
		f.Reason += fmt.Sprintf(": include and exclude let none pass, or robots.txt does not (%d left out)", r.Skipped)
	case r.Skipped > 0:
		f.Reason += fmt.Sprintf(": %d were left out by robots.txt or a bound", r.Skipped)
	}
	return f
}

// crawlText makes the reply.
func (s *Server) crawlText(answer *Answer[*crawlResult], args *crawlArgs, budget int, plainText bool) *Reply {
	res := answer.Value
	reply := &crawlReply{Provider: answer.Provider, Read: res.read(), Skipped: res.Skipped, Stopped: res.Stopped, Credits: res.Credits, Failures: answer.Attempts}
	reply.Failed = len(res.Pages) - reply.Read
	for _, w := range res.Warnings {
		if len(reply.Warnings) < 10 {
			reply.Warnings = append(reply.Warnings, plain(w, maxReason))
		}
	}
	next := *args
	next.Cursor, next.MaxTokens = "", 0
	reply.Next = continues(toolCrawl, answer.Provider, res.Next, &next)
	if res.Next != "" && reply.Next == "" {
		reply.Warnings = append(reply.Warnings, "the crawl has more pages, but its place is too long for a cursor")
	}
	var docs []document
	listed := true
	for _, p := range res.Pages {
		if p.Error == "" {
			docs = append(docs, document{Source: orDefault(p.FinalURL, p.URL), Text: titled(&Page{Title: p.Title, Markdown: p.Markdown})})
		}
		if !listed {
			continue
		}
		p.URL, p.Title, p.Error = plain(p.URL, maxURL), plain(p.Title, 120), plain(p.Error, 160)
		if reply.Pages = append(reply.Pages, p); !plainText && structuredTokens(reply) > budget/2 {
			reply.Pages, listed = reply.Pages[:len(reply.Pages)-1], false
			reply.Warnings = append(reply.Warnings, "the list of pages is shortened: their texts name them all")
		}
	}
	return s.crawlPieces(reply, docs, position{Key: keyOf(docs)}, budget, plainText)
}

// crawlOn reads on in the pages of a crawl.
func (s *Server) crawlOn(data []byte, budget int, plainText bool) (*Reply, error) {
	at, err := parsePosition(data)
	if err != nil {
		return nil, invalidf("cursor: %v", err)
	}
	docs := s.texts.get(at.Key)
	if docs == nil {
		return nil, invalidf("cursor: the pages that it reads on in are no longer kept: crawl anew")
	}
	if !at.within(docs) {
		return nil, invalidf("cursor: %v", errCursor)
	}
	return s.crawlPieces(&crawlReply{Read: len(docs)}, docs, at, budget, plainText), nil
}

// stopNote says in words why a crawl ended before its end.
func stopNote(stopped string) string {
	switch stopped {
	case "pages":
		return "the site has more pages than the crawl was to read"
	case "time":
		return "the crawl's time was over before all pages were read"
	case "bytes":
		return "the crawl has read as much text as it may, and there are more pages"
	}
	return "the crawl ended before its end: " + stopped
}

// crawlPieces adds the pages' texts from a position on, cut to the budget.
func (s *Server) crawlPieces(reply *crawlReply, docs []document, at position, budget int, plainText bool) *Reply {
	r := &Reply{Structured: reply}
	if plainText {
		for _, d := range docs[at.Index:] {
			reply.Texts = append(reply.Texts, crawlText{d.Source, d.Text})
			r.Blocks = append(r.Blocks, "<!-- "+strings.ReplaceAll(d.Source, "--", "%2D%2D")+" -->\n\n"+d.Text)
		}
		for _, p := range reply.Pages {
			if p.Error != "" {
				r.Notes = append(r.Notes, p.URL+" was not read: "+p.Error)
			}
		}
		r.Notes = append(r.Notes, reply.Warnings...)
		if reply.Stopped != "" {
			r.Notes = append(r.Notes, stopNote(reply.Stopped))
		}
		return r
	}
	lines := notes(reply.Provider, reply.Failures, nil, reply.Warnings, plainText)
	if reply.Next != "" {
		lines = append(lines, "The crawl can go on: to continue it, call this tool again with cursor "+reply.Next)
	}
	used := structuredTokens(reply) + 2*cursorTokens + estimateTokens(strings.Join(lines, "\n\n"))
	if used > budget*3/4 {
		lines, reply.Failures, used = nil, nil, structuredTokens(reply)+2*cursorTokens
	}
	pieces, next := takePieces(docs, at, budget-used)
	r.Blocks = blocks(docs, pieces, "", 0, newFence())
	if next != nil {
		s.texts.put(docs)
		reply.Truncated, reply.Cursor = true, next.cursor()
		lines = append([]string{"There is more of these pages: to read on, call crawl again with cursor " + reply.Cursor}, lines...)
	}
	r.Blocks = append(r.Blocks, lines...)
	return r
}

package websrv

import (
	"context"
	"fmt"
	"strings"
)

// sitemapReply is the structured part of the answer of sitemap.
type sitemapReply struct {
	Provider string         `json:"provider"`
	Source   string         `json:"source"`
	Entries  []sitemapEntry `json:"entries"`
	Total    int            `json:"total,omitempty"`
	Next     string         `json:"next,omitempty"` // a cursor: reads on
	Warnings []string       `json:"warnings,omitempty"`
	Failures []Attempt      `json:"failures,omitempty"`
}

// check checks the arguments and fills in the defaults.
func (a *sitemapArgs) check() (err error) {
	if a.URL, err = address("url", a.URL); err != nil {
		return err
	}
	if len(a.Search) > maxSelector {
		return invalidf("search: %d bytes are too long, the most is %d", len(a.Search), maxSelector)
	}
	return intRange("limit", &a.Limit, defaultSitemapURLs, 1, maxSitemapURLs)
}

// sitemapTool answers the tool sitemap.
func (s *Server) sitemapTool(ctx context.Context, args *sitemapArgs, plainText bool) (*Reply, error) {
	only, skip, limit := "", 0, args.Limit
	if args.Cursor != "" {
		kind, data, err := unseal(args.Cursor)
		if err == nil && kind != cursorNext {
			err = errCursor
		}
		if err != nil {
			return nil, invalidf("cursor: %v", err)
		}
		*args = sitemapArgs{}
		c, err := continued(toolSitemap, data, args)
		if err != nil {
			return nil, err
		}
		only = c.Provider
		if args.Cursor, skip, err = splitSkip(c.Next); err != nil {
			return nil, err
		}
	}
	if err := args.check(); err != nil {
		return nil, err
	}
	if err := intRange("limit", &limit, args.Limit, 1, maxSitemapURLs); err != nil {
		return nil, err
	}
	if limit != args.Limit { // what was told is asked for again, and passed over
		args.Limit = min(skip+limit, maxSitemapURLs)
	}
	localOnly, why, err := s.confine(ctx, args.URL)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	answer, err := dispatch(ctx, s.dispatcher, &task[*sitemapResult]{op: OpSitemap, target: args.URL, request: args, localOnly: localOnly, why: why, only: only,
		call: func(ctx context.Context, p Provider) (*sitemapResult, error) {
			own := *args
			res, err := p.(Mapper).sitemap(ctx, &own)
			if err == nil && len(res.Entries) == 0 && res.Next == "" && args.Search == "" {
				return nil, failf(ErrTargetFailed, "no address was found")
			}
			return res, err
		}})
	if err != nil {
		return nil, err
	}
	return s.sitemapText(answer, args, skip, limit, plainText)
}

// splitSkip reads the place in a list of addresses: entries to pass over, and the reader's
// own cursor.
func splitSkip(next string) (cursor string, skip int, err error) {
	var rest string
	if n, err := fmt.Sscanf(next, "%d", &skip); n != 1 || err != nil || skip < 0 || skip > maxSitemapURLs {
		return "", 0, invalidf("cursor: %v", errCursor)
	}
	_, rest, _ = strings.Cut(next, " ")
	return rest, skip, nil
}

// sitemapText makes the reply. What of the entries does not fit is read by cursor: the same
// part of the list again, with those passed over that were told.
func (s *Server) sitemapText(answer *Answer[*sitemapResult], args *sitemapArgs, skip, limit int, plainText bool) (*Reply, error) {
	res, f := answer.Value, newFence()
	entries := res.Entries[min(skip, len(res.Entries)):]
	reply := &sitemapReply{Provider: answer.Provider, Source: plain(res.Source, maxReason), Entries: []sitemapEntry{}, Total: res.Total, Failures: answer.Attempts}
	for _, w := range res.Warnings {
		if len(reply.Warnings) < 5 {
			reply.Warnings = append(reply.Warnings, plain(w, maxReason))
		}
	}
	var text strings.Builder
	lines := notes(answer.Provider, answer.Attempts, nil, reply.Warnings, plainText)
	left := s.opts.MaxTokens - structuredTokens(reply) - estimateTokens(strings.Join(lines, "\n")) - 12*cursorTokens - frameTokens(reply.Source)
	for _, e := range entries {
		line := sitemapLine(&e)
		cost := estimateTokens(line) + structuredTokens(e) + 1
		if left -= cost; left < 0 && !plainText && len(reply.Entries) > 0 {
			break
		}
		text.WriteString(line + "\n")
		reply.Entries = append(reply.Entries, e)
	}
	own := *args
	own.Cursor = ""
	switch told := skip + len(reply.Entries); {
	case told < len(res.Entries): // the rest did not fit
		reply.Next = continues(toolSitemap, answer.Provider, fmt.Sprintf("%d %s", told, args.Cursor), &own)
	case res.Next != "":
		own.Limit = limit
		reply.Next = continues(toolSitemap, answer.Provider, "0 "+res.Next, &own)
	}
	body := strings.TrimSuffix(text.String(), "\n")
	switch {
	case body == "" && !plainText:
		body = "No address was found."
	case !plainText:
		body = f.wrap(args.URL, "Addresses", body)
	}
	if reply.Next != "" && !plainText {
		cursor := reply.Next
		if estimateTokens(cursor) > 6*cursorTokens { // half of what is kept free for it; the structured part has it
			cursor = "as in the field next"
		}
		lines = append(lines, "There are more: to read on, call this tool again with cursor "+cursor)
	}
	r := &Reply{Blocks: append([]string{body}, lines...), Structured: reply}
	if plainText {
		if r.Notes = reply.Warnings; reply.Next != "" {
			r.Notes = append(r.Notes, "there are more addresses than the limit")
		}
	}
	return r, nil
}

// sitemapLine is an entry as a line of text.
func sitemapLine(e *sitemapEntry) string {
	e.URL, e.Title, e.Modified = plain(e.URL, maxURL), plain(e.Title, 120), plain(e.Modified, 40)
	line := e.URL
	if e.Modified != "" {
		line += " (" + e.Modified + ")"
	}
	if e.Title != "" {
		line += " " + e.Title
	}
	if e.Foreign {
		line += " [another host]"
	}
	return line
}

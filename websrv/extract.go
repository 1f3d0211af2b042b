package websrv

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Bounds of extract.
const (
	maxURLs        = 10
	maxSelectors   = 10
	maxSelector    = 200
	maxSectionName = 300
	recentTime     = 10 * time.Minute // how long a page serves its outline and sections
	maxRecent      = 64
)

// Values of extractArgs.Format.
const (
	formatMarkdown = "markdown"
	formatText     = "text"
	formatHTML     = "html"
	formatLinks    = "links"
	formatMetadata = "metadata"
)

// extractArgs are the arguments of the tool extract.
type extractArgs struct {
	URL       string   `json:"url,omitempty"`
	URLs      []string `json:"urls,omitempty"`
	Format    string   `json:"format,omitempty"`
	MaxTokens int      `json:"maxTokens,omitempty"`
	Cursor    string   `json:"cursor,omitempty"`
	Section   string   `json:"section,omitempty"`
	Outline   bool     `json:"outline,omitempty"`
	Include   []string `json:"include,omitempty"`
	Exclude   []string `json:"exclude,omitempty"`
	Render    string   `json:"render,omitempty"`
	Fresh     bool     `json:"fresh,omitempty"`
}

// extractReply is the structured part of its answer.
type extractReply struct {
	Results []extractResult `json:"results"`
}

// extractResult is what became of one address. It does not repeat the text.
type extractResult struct {
	URL         string    `json:"url"`
	Status      string    `json:"status"` // ok, partial or failed
	FinalURL    string    `json:"finalUrl,omitempty"`
	Title       string    `json:"title,omitempty"`
	Byline      string    `json:"byline,omitempty"`
	Site        string    `json:"site,omitempty"`
	Description string    `json:"description,omitempty"`
	Published   string    `json:"published,omitempty"`
	Lang        string    `json:"lang,omitempty"`
	ContentType string    `json:"contentType,omitempty"`
	Provider    string    `json:"provider,omitempty"`
	Rendered    bool      `json:"rendered,omitempty"`
	Truncated   bool      `json:"truncated"`
	Cursor      string    `json:"cursor,omitempty"` // reads on
	TotalTokens int       `json:"totalTokens"`      // of the whole text
	Credits     float64   `json:"credits,omitempty"`
	Warnings    []string  `json:"warnings,omitempty"`
	Failures    []Attempt `json:"failures,omitempty"`
	Error       string    `json:"error,omitempty"`
	Text        string    `json:"text,omitempty"` // plain text only: for scripts

	docs  []document
	start position // where to read
	noun  string   // of the text, for the line before it
	begin int      // of the section that was asked for
}

// check checks the arguments and returns the addresses.
func (a *extractArgs) check() (pages []asked, err error) {
	if err := choice("format", &a.Format, formatMarkdown, formatText, formatHTML, formatLinks, formatMetadata); err != nil {
		return nil, err
	}
	if err := choice("render", &a.Render, renderAuto, renderNever, renderAlways); err != nil {
		return nil, err
	}
	for name, list := range map[string][]string{"include": a.Include, "exclude": a.Exclude} {
		if err := stringList(name, list, maxSelectors, maxSelector); err != nil {
			return nil, err
		}
	}
	if a.Section != "" && (len(a.Section) > maxSectionName || a.Outline || a.Format != formatMarkdown) {
		return nil, invalidf("section: it is a heading or its number, in Markdown, and not together with outline")
	}
	if a.Outline && a.Format != formatMarkdown {
		return nil, invalidf("outline: only Markdown has one")
	}
	list := a.URLs
	if a.URL != "" {
		list = append([]string{a.URL}, list...)
	}
	switch {
	case len(list) == 0 && a.Cursor == "":
		return nil, invalidf("url: give the address of a page, or several as urls")
	case len(list) > maxURLs:
		return nil, invalidf("urls: %d are too many, the most is %d", len(list), maxURLs)
	case len(list) > 1 && a.Cursor != "":
		return nil, invalidf("cursor: it reads on in one page, so give it alone or with that page's url")
	}
	seen := map[string]bool{}
	for _, raw := range list {
		u, err := address("url", raw)
		if err != nil {
			if len(list) == 1 {
				return nil, err
			}
			u = plain(raw, maxShownURL)
		}
		if !seen[u] {
			seen[u] = true
			pages = append(pages, asked{u, err})
		}
	}
	return pages, nil
}

// asked is one page of a call; err is set where its address is none, which costs the others nothing.
type asked struct {
	url string
	err error
}

const maxShownURL = 60 // characters of what is no address

// extract answers the tool extract.
func (s *Server) extract(ctx context.Context, args *extractArgs, plainText bool) (*Reply, error) {
	pages, err := args.check()
	if err != nil {
		return nil, err
	}
	budget, err := s.budget(args.MaxTokens)
	if err != nil {
		return nil, err
	}
	if args.Cursor != "" {
		result, err := s.readOn(ctx, args, pages)
		if err != nil {
			return nil, err
		}
		return s.extractText([]extractResult{*result}, args, budget, plainText)
	}
	results, errs := make([]extractResult, len(pages)), make([]error, len(pages))
	var wg sync.WaitGroup
	for i, p := range pages {
		wg.Go(func() {
			var r *extractResult
			err := p.err
			if err == nil {
				r, err = s.extractOne(ctx, p.url, args)
			}
			if err != nil {
				r, errs[i] = &extractResult{URL: p.url, Status: "failed", Error: err.Error()}, err
				var d *DispatchError
				if errors.As(err, &d) {
					r.Error, r.Failures = "no provider could read it", d.Attempts
				}
			}
			results[i] = *r
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return nil, ctx.Err()
		}
		if failed := countErrors(errs); failed == len(errs) {
			return nil, err
		}
	}
	return s.extractText(results, args, budget, plainText)
}

func countErrors(errs []error) (n int) {
	for _, err := range errs {
		if err != nil {
			n++
		}
	}
	return n
}

// request is what of the arguments a provider sees.
func (a *extractArgs) request(target string) *PageRequest {
	r := &PageRequest{URL: target, HTML: a.Format == formatHTML, Include: a.Include, Exclude: a.Exclude, Render: a.Render}
	if a.Fresh {
		r.MaxAge = -1
	}
	return r
}

// extractOne reads one page.
func (s *Server) extractOne(ctx context.Context, target string, args *extractArgs) (*extractResult, error) {
	answer, err := s.readPage(ctx, args.request(target), (args.Outline || args.Section != "" || args.Cursor != "") && !args.Fresh)
	if err != nil {
		return nil, err
	}
	p := answer.Value
	r := &extractResult{URL: target, Status: "ok", FinalURL: p.FinalURL, Title: plain(p.Title, maxTitle), Byline: plain(p.Byline, 120), Site: plain(p.Site, 80), Description: plain(p.Description, maxTitle),
		Published: plain(p.Published, 40), Lang: plain(p.Language, 35), ContentType: plain(p.ContentType, 80), Provider: answer.Provider, Rendered: p.Rendered, Credits: p.Credits, Failures: answer.Attempts}
	if r.FinalURL == target || len(r.FinalURL) > maxURL {
		r.FinalURL = ""
	}
	for _, w := range p.Warnings {
		if len(r.Warnings) < 5 {
			r.Warnings = append(r.Warnings, plain(w, maxReason))
		}
	}
	if answer.Partial {
		r.Status = "partial"
		r.Warnings = append(r.Warnings, "this is the best of what was found, and too little to be the page")
	}
	text, err := formatted(p, args.Format)
	if err != nil {
		return nil, err
	}
	return r, r.narrow(text, args)
}

// narrow makes the documents of a result: the whole text, one section, or the outline.
func (r *extractResult) narrow(text string, args *extractArgs) error {
	r.docs = []document{{Source: orDefault(r.FinalURL, r.URL), Text: text}}
	r.TotalTokens = estimateTokens(text)
	switch {
	case args.Outline:
		r.docs[0].Text, r.noun = outline(text), "Outline"
	case args.Section != "":
		start, end, ok := section(text, args.Section)
		if !ok {
			return failf(ErrInvalid, "the page has no section %q: outline shows which there are", plain(args.Section, 80))
		}
		r.start.Offset, r.start.End, r.begin, r.noun = start, end, start, sectionNoun
	}
	r.start.Key = keyOf(r.docs)
	return nil
}

// readPage asks the dispatcher, or takes what was read a short while ago.
func (s *Server) readPage(ctx context.Context, r *PageRequest, recent bool) (*Answer[*Page], error) {
	key := fmt.Sprintf("%q %v %q %q %s", r.URL, r.HTML, r.Include, r.Exclude, r.Render)
	if recent {
		if a := s.recent.get(key, s.now()); a != nil {
			return a, nil
		}
	}
	localOnly, why, err := s.confine(ctx, r.URL)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	answer, err := s.dispatcher.Extract(ctx, r, localOnly, why)
	if err != nil {
		return nil, err
	}
	s.recent.put(key, answer, s.now())
	return answer, nil
}

// confine says whether an address must not be named to a hosted provider.
func (s *Server) confine(ctx context.Context, target string) (localOnly bool, why string, err error) {
	yes, reason := s.net.private(ctx, target)
	if errors.Is(ctx.Err(), context.Canceled) {
		return false, "", ctx.Err()
	}
	return yes || s.opts.LocalOnly, reason, nil
}

// readOn reads on where a cursor points. A text that is no longer kept is read again, if the
// address is given, and must be the same.
func (s *Server) readOn(ctx context.Context, args *extractArgs, pages []asked) (*extractResult, error) {
	kind, data, err := unseal(args.Cursor)
	if err == nil && kind != cursorText {
		err = errCursor
	}
	var at position
	if err == nil {
		at, err = parsePosition(data)
	}
	if err != nil {
		return nil, invalidf("cursor: %v", err)
	}
	if docs := s.texts.get(at.Key); docs != nil {
		if !at.within(docs) {
			return nil, invalidf("cursor: %v", errCursor)
		}
		r := &extractResult{URL: docs[at.Index].Source, Status: "ok", docs: docs, start: at}
		for _, d := range docs {
			r.TotalTokens += estimateTokens(d.Text)
		}
		if len(pages) == 1 {
			r.URL = pages[0].url
		}
		return r, nil
	}
	if len(pages) == 0 {
		return nil, invalidf("cursor: the text that it reads on in is no longer kept: give its url as well, or begin anew")
	}
	r, err := s.extractOne(ctx, pages[0].url, args)
	if err != nil {
		return nil, err
	}
	if r.start.Key != at.Key || !at.within(r.docs) {
		return nil, failf(ErrTargetFailed, "the page has changed since the cursor was given: read it anew without the cursor")
	}
	r.start = at
	return r, nil
}

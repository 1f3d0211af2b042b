package content

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Defaults of [Limits].
const (
	DefaultMaxBytes         = 32 << 20
	DefaultMaxUnpackedBytes = 64 << 20
	DefaultMaxPages         = 500
	DefaultMaxOutputBytes   = 8 << 20
	DefaultTime             = 5 * time.Second
)

// Limits bound one conversion. A zero field has the default of its constant.
type Limits struct {
	MaxBytes         int           // of the body
	MaxUnpackedBytes int           // of all that is unpacked from it
	MaxPages         int           // pages, slides, sheets, chapters or feed items that are read
	MaxOutputBytes   int           // of Markdown
	Time             time.Duration // of the whole conversion
}

func (o *Limits) orDefault() Limits {
	var l Limits
	if o != nil {
		l = *o
	}
	if l.MaxBytes <= 0 {
		l.MaxBytes = DefaultMaxBytes
	}
	if l.MaxUnpackedBytes <= 0 {
		l.MaxUnpackedBytes = DefaultMaxUnpackedBytes
	}
	if l.MaxPages <= 0 {
		l.MaxPages = DefaultMaxPages
	}
	if l.MaxOutputBytes <= 0 {
		l.MaxOutputBytes = DefaultMaxOutputBytes
	}
	if l.Time <= 0 {
		l.Time = DefaultTime
	}
	return l
}

// Document is a converted body.
type Document struct {
	Kind      Kind // what was read: of a gzip file, the kind inside
	Title     string
	Author    string
	Language  string
	Published string // as the file gives it; RFC 3339 where it can be read
	Markdown  string
	Pages     int      // pages, slides, sheets, chapters or items read; 0 where there are none
	Links     []string // absolute links that the file names, in its order, each once
	Notes     []string // what was left out and why, in sentences
}

// Conditions that callers may test with errors.Is.
var (
	// ErrUnsupported is a body that holds no text that can be read: a picture, an archive, a program, an HTML page.
	ErrUnsupported = errors.New("cannot be read as text")
	// ErrTooLarge is a body that passes a bound of Limits.
	ErrTooLarge = errors.New("too large")
	// ErrMalformed is a body that is not what its first bytes promise.
	ErrMalformed = errors.New("malformed")
	// ErrEncrypted is a document that needs a password.
	ErrEncrypted = errors.New("protected by a password")
)

// Markdown converts body, which is of the given kind. A nil o has the defaults.
//
// What could be read before a bound, a broken part or the end of the time is returned with a note; an error
// wraps one of the package's or the context's.
func Markdown(ctx context.Context, body []byte, kind Kind, o *Limits) (doc *Document, err error) {
	l := o.orDefault()
	if len(body) > l.MaxBytes {
		return nil, fmt.Errorf("%s document of %s: %w, at most %s are read", kind, size(len(body)), ErrTooLarge, size(l.MaxBytes))
	}
	ctx, cancel := context.WithTimeout(ctx, l.Time)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c := &conversion{ctx: ctx, lim: l, doc: &Document{Kind: kind}, unpack: l.MaxUnpackedBytes}
	// A reader's mistake about a hostile file must not take the server down.
	defer func() {
		if r := recover(); r != nil {
			doc, err = nil, fmt.Errorf("read %s document: %w (%v)", kind, ErrMalformed, r)
		}
	}()
	if err := c.convert(body, kind); err != nil {
		return nil, err
	}
	return c.finish()
}

// conversion is the state of one call of Markdown.
type conversion struct {
	ctx    context.Context // of the call, which conversion does not outlive
	lim    Limits
	doc    *Document
	out    strings.Builder
	full   bool // the output's bound was met
	unpack int  // bytes that may still be unpacked
	seen   map[string]bool
}

func (c *conversion) convert(body []byte, kind Kind) error {
	switch kind {
	case KindText, KindMarkdown, KindXML:
		return c.text(body, kind)
	case KindJSON:
		return c.json(body)
	case KindGzip:
		return c.gzip(body)
	case KindPDF:
		return c.pdf(body)
	case KindDOCX:
		return c.docx(body)
	case KindPPTX:
		return c.pptx(body)
	case KindXLSX:
		return c.xlsx(body)
	case KindEPUB:
		return c.epub(body)
	case KindRTF:
		return c.rtf(body)
	case KindFeed:
		return c.feed(body)
	}
	return fmt.Errorf("%s: %w", Describe(body, ""), ErrUnsupported)
}

// gzip unpacks one layer and converts what is inside.
func (c *conversion) gzip(body []byte) error {
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("gzip file: %w: %v", ErrMalformed, err)
	}
	inner, err := c.readAll(z)
	if err != nil {
		return fmt.Errorf("gzip file: %w", err)
	}
	kind := Sniff(inner, "")
	if kind == KindGzip || kind == KindHTML {
		return fmt.Errorf("gzip file with %s inside: %w", Describe(inner, ""), ErrUnsupported)
	}
	c.doc.Kind = kind
	return c.convert(inner, kind)
}

// readAll unpacks r within what is left of the bound.
func (c *conversion) readAll(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(ctxReader{c.ctx, r}, int64(c.unpack)+1))
	if len(b) > c.unpack {
		return nil, fmt.Errorf("%w: more than %s unpacked", ErrTooLarge, size(c.lim.MaxUnpackedBytes))
	}
	c.unpack -= len(b)
	if err != nil {
		if c.ctx.Err() != nil {
			return nil, c.ctx.Err()
		}
		return nil, fmt.Errorf("%w: %v", ErrMalformed, err)
	}
	return b, nil
}

// ctxReader stops reading when its context ends.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (r ctxReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// write adds to the output until its bound; it reports whether there is room for more.
func (c *conversion) write(s string) bool {
	if c.full {
		return false
	}
	if room := c.lim.MaxOutputBytes - c.out.Len(); len(s) > room {
		for room > 0 && s[room]&0xc0 == 0x80 {
			room--
		}
		s, c.full = s[:room], true
		c.note("The text was cut at %s.", size(c.lim.MaxOutputBytes))
	}
	c.out.WriteString(s)
	return !c.full
}

// stop reports whether the work should end: time, cancellation or a full output.
func (c *conversion) stop() bool { return c.full || c.ctx.Err() != nil }

func (c *conversion) note(format string, args ...any) {
	const most = 20
	if len(c.doc.Notes) < most {
		c.doc.Notes = append(c.doc.Notes, fmt.Sprintf(format, args...))
	}
}

// finish settles the document. An ended context is an error only where nothing was read.
func (c *conversion) finish() (*Document, error) {
	if err := c.ctx.Err(); err != nil {
		if strings.TrimSpace(c.out.String()) == "" || errors.Is(err, context.Canceled) {
			return nil, err
		}
		c.note("Reading stopped after %s; the rest is missing.", c.lim.Time)
	}
	c.doc.Markdown = c.out.String()
	return c.doc, nil
}

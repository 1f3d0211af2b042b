package sitemap

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// Bounds of one file, those of the sitemaps protocol.
const (
	MaxBytes   = 50 << 20 // unpacked
	MaxEntries = 50_000
)

const (
	maxURL   = 8 << 10  // bytes of an address; longer ones are left out
	maxTitle = 300      // bytes of a title that are kept
	maxDepth = 64       // of elements
	maxText  = 16 << 10 // bytes of an element's text that are looked at
)

// Kind is the form of a file.
type Kind string

// The forms.
const (
	KindURLSet Kind = "urlset"
	KindIndex  Kind = "sitemapindex"
	KindFeed   Kind = "feed"
	KindText   Kind = "text"
)

// Entry is an address of a file: of a page, or in a KindIndex of another file.
type Entry struct {
	URL      string // absolute, http or https
	Title    string // feeds and news sitemaps have one
	Modified string // a date by RFC 3339 or a prefix of one, "" if there was none that can be read
}

// Conditions that callers may test with errors.Is.
var (
	// ErrNotSitemap is a file of another kind, such as a page that says that there is none.
	ErrNotSitemap = errors.New("not a sitemap")
	// ErrTooLarge is a file of more than MaxBytes.
	ErrTooLarge = errors.New("sitemap larger than 50 MB")
)

// Unpack opens a gzip file, which is known by its first bytes; other bodies are returned as they are. A file that
// breaks off is returned as far as it goes.
func Unpack(body []byte) ([]byte, error) { return unpack(body, MaxBytes) }

func unpack(body []byte, limit int) ([]byte, error) {
	if !bytes.HasPrefix(body, []byte("\x1f\x8b\x08")) {
		if len(body) > limit {
			return nil, ErrTooLarge
		}
		return body, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	out, err := io.ReadAll(io.LimitReader(z, int64(limit)+1))
	if len(out) > limit {
		return nil, ErrTooLarge
	}
	if err != nil && len(out) == 0 {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	return out, nil
}

// Read reads a file, unpacked and in UTF-8, and gives each entry to yield until that returns false. Relative
// addresses are resolved against base, the file's own address; what is no http address is left out.
//
// The kind is known as soon as yield is called. warning says in plain words why the file was not read to its end: it
// breaks off or passes MaxEntries. The error is ErrNotSitemap or ErrTooLarge.
func Read(body []byte, base string, yield func(Kind, Entry) bool) (kind Kind, warning string, err error) {
	if len(body) > MaxBytes {
		return "", "", ErrTooLarge
	}
	b, err := url.Parse(base)
	if err != nil {
		b = &url.URL{}
	}
	r := &reader{base: b, yield: yield}
	body = bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), " \t\r\n")
	switch {
	case bytes.HasPrefix(body, []byte("<")):
		err = r.xml(body)
	case bytes.HasPrefix(body, []byte("{")):
		err = r.jsonFeed(body)
	default:
		err = r.text(body)
	}
	return r.kind, r.warning, err
}

type reader struct {
	base    *url.URL
	yield   func(Kind, Entry) bool
	kind    Kind
	n       int
	done    bool
	warning string
}

// give hands an entry on; r.done tells when to end.
func (r *reader) give(e Entry) {
	if r.done {
		return
	}
	if e.URL = r.resolve(e.URL); e.URL == "" {
		return
	}
	if r.n == MaxEntries {
		r.done, r.warning = true, fmt.Sprintf("the file has more than %d entries; the rest was left out", MaxEntries)
		return
	}
	r.n++
	e.Title = title(e.Title)
	if !r.yield(r.kind, e) {
		r.done = true
	}
}

// resolve makes an address absolute, "" if it is none of http.
func (r *reader) resolve(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > maxURL {
		return ""
	}
	u, err := r.base.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	u.User = nil
	return u.String()
}

// title is a title in one line and of bounded length.
func title(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= maxTitle {
		return s
	}
	n := maxTitle
	for s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}

// text reads a list with an address a line. Its first line that is not empty must be one.
func (r *reader) text(body []byte) error {
	for len(body) > 0 && !r.done {
		line, rest, _ := bytes.Cut(body, []byte("\n"))
		body = rest
		s := strings.TrimSpace(string(line[:min(len(line), maxURL+1)]))
		if s == "" || strings.HasPrefix(s, "#") {
			continue
		}
		web := strings.HasPrefix(strings.ToLower(s), "http://") || strings.HasPrefix(strings.ToLower(s), "https://")
		if r.kind == "" {
			if !web {
				return fmt.Errorf("%w: a text that does not begin with an address", ErrNotSitemap)
			}
			r.kind = KindText
		}
		if web {
			r.give(Entry{URL: s})
		}
	}
	if r.kind == "" {
		return fmt.Errorf("%w: it is empty", ErrNotSitemap)
	}
	return nil
}

// jsonFeed reads a JSON Feed (version 1 and 1.1).
func (r *reader) jsonFeed(body []byte) error {
	var feed struct {
		Version string
		Items   []struct {
			URL, ExternalURL, Title string
			Published               string `json:"date_published"`
			Modified                string `json:"date_modified"`
		}
	}
	if err := json.Unmarshal(body, &feed); err != nil || !strings.Contains(feed.Version, "jsonfeed.org") {
		return fmt.Errorf("%w: JSON that is no JSON Feed", ErrNotSitemap)
	}
	r.kind = KindFeed
	for _, it := range feed.Items {
		r.give(Entry{URL: it.URL, Title: it.Title, Modified: date(first(it.Modified, it.Published))})
	}
	return nil
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

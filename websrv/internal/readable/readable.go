package readable

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Bounds of one page.
const (
	// MaxInputBytes is the longest page that is read. A longer one gives ErrTooLarge.
	MaxInputBytes = 16 << 20
	// MaxLinks bounds Document.Links, MaxOutline Document.Outline.
	MaxLinks   = 5000
	MaxOutline = 1000
)

// Errors that callers test for.
var (
	// ErrTooLarge says that the page is longer than MaxInputBytes.
	ErrTooLarge = errors.New("page too large")
	// ErrSelector says that a selector of Options is not CSS.
	ErrSelector = errors.New("selector not understood")
)

// Options change what Extract keeps. The zero value, like nil, is the page's main content.
type Options struct {
	// Include names the elements to keep, as CSS selectors. With one or more, the block
	// decision is left out: all text in the elements is kept. None that matches keeps nothing.
	Include []string
	// Exclude names elements to drop before anything else, as CSS selectors.
	Exclude []string
	// Whole keeps all visible text, page furniture included.
	Whole bool
}

// Document is a page, read. Strings are empty where the page does not tell.
type Document struct {
	Title       string // without the site's name where the page gives one without
	Byline      string // author or authors
	Site        string // name of the site
	Language    string // BCP 47 tag as the page gives it, such as "en-GB"
	Published   string // date or time as the page gives it, ISO 8601 where it could be read as such
	Modified    string // likewise
	Description string
	Image       string // absolute URL of the page's own picture of itself
	URL         string // canonical URL if it is on the page's host, else the URL given

	// Kind is what the page is, one of the Kind constants: a guess from structured data, address
	// and shape.
	Kind string

	Markdown string    // the content, links and images absolute
	Text     string    // the same content without markup, a block a line
	Outline  []Heading // the content's headings in order
	Links    []Link    // all links of the page in order, each address once

	// Metadata holds meta elements and structured data by lower-case name, "og:type" or
	// "product:price" for instance. At most MaxMetadata entries.
	Metadata map[string]string

	Next     string // absolute URL of the next page of a series
	Previous string // absolute URL of the previous page of a series

	NoFollow bool // a robots meta element asks not to follow links
	NoIndex  bool // a robots meta element asks not to keep the page

	// BodyChars counts the characters of all visible text without page furniture. Next to
	// len(Text) it says how much was left out; a small one hints at a page built by scripts.
	BodyChars int
}

// Heading is a heading of the content.
type Heading struct {
	Level int // 1 to 6
	Text  string
	// Offset is where the heading's line begins in Document.Markdown, in bytes.
	Offset int
}

// Link is a link of the page.
type Link struct {
	URL      string // absolute, http or https, without a fragment
	Text     string
	Content  bool // the link is in the content that was kept
	NoFollow bool // rel=nofollow, ugc or sponsored
}

// Extract reads an HTML page. The bytes must be UTF-8; bytes that are not are replaced. pageURL
// resolves relative links; it may be empty, and then they stay out.
//
// Broken, empty or hostile markup is not an error: what can be read is returned. Errors are
// ErrTooLarge and ErrSelector.
func Extract(page []byte, pageURL string, o *Options) (*Document, error) {
	if len(page) > MaxInputBytes {
		return nil, fmt.Errorf("%w: %d bytes, %d allowed", ErrTooLarge, len(page), MaxInputBytes)
	}
	var opts Options
	if o != nil {
		opts = *o
	}
	base, err := url.Parse(strings.TrimSpace(pageURL))
	if err != nil {
		base = &url.URL{}
	}
	return extract(parse(page), base, &opts)
}

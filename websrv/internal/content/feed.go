package content

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"

	"github.com/aster-mcp/aster/websrv/internal/boundxml"
)

// feed reads RSS, Atom, RDF and JSON Feed: the feed's name, then each entry with link, date, author and text.
func (c *conversion) feed(body []byte) error {
	u, _, err := Decode(body, "application/xml")
	if err != nil {
		return err
	}
	// The parser follows elements by recursion and keeps all attributes of a tag.
	if boundxml.LongTag(u) {
		return fmt.Errorf("feed: %w: %w", ErrTooLarge, boundxml.ErrLongTag)
	}
	if markupDepth(u) > maxXMLDepth || jsonDepth(u) > maxXMLDepth && looksLikeJSON(u) {
		return fmt.Errorf("feed: %w: it is nested too deep", ErrTooLarge)
	}
	f, err := gofeed.NewParser().Parse(bytes.NewReader(dropDeclaration(u)))
	if err != nil {
		if errors.Is(err, gofeed.ErrFeedTypeNotDetected) {
			return fmt.Errorf("feed: %w: of no known type", ErrMalformed)
		}
		return fmt.Errorf("feed: %w: %v", ErrMalformed, err)
	}
	d := c.doc
	d.Title, d.Language, d.Published = clip(strings.TrimSpace(f.Title), maxTitle), f.Language, feedTime(f.UpdatedParsed, f.Updated)
	c.heading(1, f.Title)
	c.paragraph(plainText(f.Description))
	base, err := url.Parse(f.Link)
	if err != nil {
		base = nil
	}
	for i, it := range f.Items {
		if i == c.lim.MaxPages {
			c.note("Only the first %d of %d entries were read.", i, len(f.Items))
			break
		}
		if c.stop() {
			break
		}
		c.feedItem(it, base)
		d.Pages++
	}
	return nil
}

func (c *conversion) feedItem(it *gofeed.Item, base *url.URL) {
	link := strings.TrimSpace(it.Link)
	if guid, err := url.Parse(strings.TrimSpace(it.GUID)); link == "" && err == nil && (guid.Scheme == "http" || guid.Scheme == "https") {
		link = guid.String()
	}
	if u, err := url.Parse(link); err == nil && base != nil && link != "" {
		link = base.ResolveReference(u).String()
	}
	c.link(link)
	title := strings.TrimSpace(plainText(it.Title))
	if title == "" {
		title = "Untitled"
	}
	c.heading(2, linkText(title, link))
	line := feedTime(it.PublishedParsed, it.Published)
	if line == "" {
		line = feedTime(it.UpdatedParsed, it.Updated)
	}
	for _, p := range it.Authors {
		if p != nil && strings.TrimSpace(p.Name) != "" {
			line = strings.TrimPrefix(line+", "+clip(strings.TrimSpace(p.Name), maxTitle), ", ")
			break
		}
	}
	c.paragraph(line)
	text := it.Content
	if strings.TrimSpace(text) == "" {
		text = it.Description
	}
	at := base
	if u, err := url.Parse(link); err == nil && link != "" {
		at = u
	}
	c.markup([]byte(text), at, 2)
}

// feedTime is a date by RFC 3339, or as the feed writes it.
func feedTime(t *time.Time, s string) string {
	if t != nil {
		return t.Format(time.RFC3339)
	}
	return clip(strings.TrimSpace(s), 60)
}

// plainText is a short text without the tags that feeds put in it.
func plainText(s string) string {
	if !strings.Contains(s, "<") && !strings.Contains(s, "&") {
		return s
	}
	return bareText(s)
}

// dropDeclaration leaves out the XML declaration: its encoding is not that of the bytes any more.
func dropDeclaration(b []byte) []byte {
	t := bytes.TrimLeft(b, " \t\r\n")
	if bytes.HasPrefix(t, []byte("<?xml")) {
		if i := bytes.Index(t, []byte("?>")); i >= 0 {
			return t[i+2:]
		}
	}
	return t
}

func looksLikeJSON(b []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{")) }

// markupDepth is an upper bound of how deep elements are nested: start tags less end tags, outside of comments and CDATA.
func markupDepth(b []byte) (deepest int) {
	depth := 0
	for {
		i := bytes.IndexByte(b, '<')
		if i < 0 {
			return deepest
		}
		b = b[i:]
		end := ">"
		switch {
		case bytes.HasPrefix(b, []byte("<!--")):
			end = "-->"
		case bytes.HasPrefix(b, []byte("<![CDATA[")):
			end = "]]>"
		case bytes.HasPrefix(b, []byte("<!")), bytes.HasPrefix(b, []byte("<?")):
		case bytes.HasPrefix(b, []byte("</")):
			depth--
		default:
			depth++
			deepest = max(deepest, depth)
		}
		n := bytes.Index(b, []byte(end))
		if n < 0 {
			return deepest
		}
		if n > 1 && b[n-1] == '/' && b[1] != '/' && b[1] != '!' && b[1] != '?' {
			depth--
		}
		b = b[n+len(end):]
	}
}

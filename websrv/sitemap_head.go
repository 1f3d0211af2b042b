package websrv

import (
	"bytes"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	maxHeadBytes = 512 << 10 // of a page that are searched for links to sitemaps
	maxHeadLinks = 20
	maxHeadTag   = 64 << 10
)

// headLinks are the sitemaps that a page names, then its feeds. A feed of comments is none.
func headLinks(page []byte, base *url.URL) []string {
	z := html.NewTokenizer(bytes.NewReader(page[:min(len(page), maxHeadBytes)]))
	z.SetMaxBuf(maxHeadTag)
	var maps, feeds []string
	for len(maps)+len(feeds) < maxHeadLinks {
		switch z.Next() {
		case html.ErrorToken:
			return append(maps, feeds...)
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			if t.DataAtom == atom.Body {
				return append(maps, feeds...)
			}
			if t.DataAtom != atom.Link {
				continue
			}
			rel, kind, href, title := headLink(&t)
			switch to := resolveLink(base, href); {
			case href == "" || to == "":
			case strings.Contains(rel, "sitemap"):
				maps = append(maps, to)
			case strings.Contains(rel, "alternate") && isFeedType(kind) && !strings.Contains(title, "comment"):
				feeds = append(feeds, to)
			}
		}
	}
	return append(maps, feeds...)
}

func isFeedType(kind string) bool {
	return kind == "application/rss+xml" || kind == "application/atom+xml" || kind == "application/feed+json"
}

func headLink(t *html.Token) (rel, kind, href, title string) {
	for _, a := range t.Attr {
		switch a.Key {
		case "rel":
			rel = strings.ToLower(a.Val)
		case "type":
			kind = strings.ToLower(strings.TrimSpace(a.Val))
		case "href":
			href = a.Val
		case "title":
			title = strings.ToLower(a.Val)
		}
	}
	return rel, kind, href, title
}

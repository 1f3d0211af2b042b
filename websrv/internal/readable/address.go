package readable

import (
	"net/url"
	"strings"
)

// addressKind says what the words of a URL's path call the page.
type addressKind uint8

const (
	addressThread addressKind = 1 << iota
	addressProduct
	addressList
	addressDocs
	addressArticle
)

// shape of a URL.
type shape struct {
	segments int // of the path
	digits   int // in the last segment
	words    int // of the last segment
	query    bool
	kind     addressKind
}

const maxPathWords = 60

// addressShape counts a URL's parts and reads its words.
func addressShape(u *url.URL) shape {
	var s shape
	if u == nil {
		return s
	}
	path := strings.Trim(u.Path, "/")
	s.query = u.RawQuery != ""
	if path != "" {
		s.segments = min(strings.Count(path, "/")+1, 12)
	}
	last := path[strings.LastIndexByte(path, '/')+1:]
	for i := 0; i < len(last); i++ {
		if last[i] >= '0' && last[i] <= '9' {
			s.digits++
		}
	}
	s.digits = min(s.digits, 30)
	s.words = min(strings.Count(last, "-")+strings.Count(last, "_")+1, 20)
	host, _, _ := strings.Cut(u.Hostname(), ".")
	all := strings.FieldsFunc(strings.ToLower(host+"/"+path), func(r rune) bool { return r < 'a' || r > 'z' })
	for i, w := range all {
		if i == maxPathWords {
			break
		}
		s.kind |= addressWord(w)
	}
	return s
}

func addressWord(w string) addressKind {
	switch w {
	case "forum", "forums", "thread", "threads", "topic", "viewtopic", "showthread", "discussion", "discussions", "questions",
		"question", "community", "comments", "answers", "qa", "board", "talk":
		return addressThread
	case "product", "products", "item", "dp", "shop", "store", "buy", "sku", "prod", "p", "pd":
		return addressProduct
	case "category", "categories", "collection", "collections", "catalog", "browse", "tag", "tags", "search", "list", "c", "archive", "topics":
		return addressList
	case "docs", "doc", "documentation", "api", "reference", "guide", "guides", "manual", "wiki", "help", "learn", "tutorial", "tutorials", "support":
		return addressDocs
	case "blog", "news", "article", "articles", "story", "stories", "post", "posts", "magazine", "opinion", "press":
		return addressArticle
	}
	return 0
}

// ogType numbers the common values of og:type.
func ogType(s string) int {
	switch {
	case s == "":
		return 0
	case strings.HasPrefix(s, "article") || s == "blog":
		return 1
	case strings.HasPrefix(s, "product") || s == "og:product":
		return 2
	case s == "website":
		return 3
	}
	return 4
}

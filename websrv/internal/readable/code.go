package readable

import (
	"strings"

	"golang.org/x/net/html"
)

const (
	maxCodeUp       = 3  // elements around a code block whose class may name its language
	maxLanguageName = 20 // bytes
)

// codeLanguage reads a code block's language from the classes and attributes of the block, of
// what is in it and of the elements right around it: language-go, lang-go, highlight-source-go,
// brush: go, data-lang="go".
func codeLanguage(pre *html.Node) string {
	for n, up := pre, 0; n != nil && up <= maxCodeUp; n, up = n.Parent, up+1 {
		if l := languageOf(n); l != "" {
			return l
		}
		if up == 0 {
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				if c.Type == html.ElementNode && c.Data == "code" {
					if l := languageOf(c); l != "" {
						return l
					}
				}
			}
		}
	}
	return ""
}

func languageOf(n *html.Node) string {
	for _, k := range [...]string{"data-lang", "data-language", "data-code-language"} {
		if l := languageName(attr(n, k)); l != "" {
			return l
		}
	}
	class := attr(n, "class")
	if len(class) > maxHintBytes {
		class = class[:maxHintBytes]
	}
	fields := strings.Fields(class)
	for i, f := range fields {
		for _, prefix := range [...]string{"language-", "lang-", "highlight-source-", "highlight-text-", "sourceCode-"} {
			if rest, ok := strings.CutPrefix(f, prefix); ok {
				return languageName(rest)
			}
		}
		if f == "brush:" && i+1 < len(fields) {
			return languageName(strings.TrimRight(fields[i+1], ";"))
		}
	}
	return ""
}

// languageName accepts what can stand after a fence.
func languageName(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if s == "" || len(s) > maxLanguageName || s == "none" {
		return ""
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && strings.IndexByte("+-#._", c) < 0 {
			return ""
		}
	}
	return s
}

package readable

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// hints is a set of what an element's class, id, role and itemprop call it.
type hints uint32

const (
	hintNav hints = 1 << iota
	hintFooter
	hintSide
	hintComment
	hintRelated
	hintShare
	hintAd
	hintCookie
	hintContent
	hintProduct
	hintPrice
	hintReview
	hintTitle
	hintByline
	hintTags
	hintPaging
	hintForm
	hintThread
	hintItem
	hintFold
	hintHero
	hintHeader
	hintMedia
	hintHidden
	hintLegal
	hintTable
	hintUser
	hintAction

	hintCount = iota
)

// hintsOf maps the words that make up class names. The switch is compiled into a jump table, so
// nothing is built when the program starts.
func hintsOf(word string) hints {
	switch word {
	case "nav", "navigation", "navbar", "menu", "submenu", "megamenu", "breadcrumb", "breadcrumbs", "crumb", "toc",
		"navlink", "topbar", "skip", "skiplink", "menubar", "navigationbar", "dropdown":
		return hintNav
	case "footer", "foot", "copyright", "colophon", "contentinfo", "bottom", "ftr":
		return hintFooter
	case "sidebar", "side", "aside", "widget", "widgets", "rail", "complementary", "secondary", "sidenav", "rightcol", "leftcol", "drawer":
		return hintSide
	case "comment", "comments", "commentlist", "disqus", "discussion", "respond":
		return hintComment
	case "related", "recommended", "recommendations", "recommendation", "recirc", "more", "similar", "also", "popular", "trending",
		"suggestions", "suggested", "upsell", "crosssell", "readmore", "recent", "latest", "teaser", "teasers", "promoted", "viewed":
		return hintRelated
	case "share", "sharing", "social", "facebook", "twitter", "pinterest", "linkedin", "whatsapp", "follow", "addthis", "sharedaddy", "icons":
		return hintShare
	case "ad", "ads", "advert", "advertisement", "sponsor", "sponsored", "promo", "promotion", "banner", "adsense", "dfp", "marketing", "outbrain", "taboola":
		return hintAd
	case "cookie", "cookies", "consent", "gdpr", "modal", "popup", "overlay", "onetrust", "dialog", "toast", "notice", "alert", "alertdialog", "lightbox":
		return hintCookie
	case "content", "main", "article", "post", "entry", "body", "text", "story", "page", "blog", "articlebody", "maincontent",
		"description", "desc", "copy", "richtext", "wysiwyg", "markdown", "prose", "rte", "paragraph", "documentation", "docs", "reviewbody":
		return hintContent
	case "product", "products", "pdp", "sku", "variant", "shop", "spec", "specs", "specification", "specifications", "feature", "features", "attributes", "details", "detail":
		return hintProduct
	case "price", "prices", "pricing", "offer", "offers", "sale", "cost", "amount", "money", "discount", "stock", "availability", "shipping", "delivery":
		return hintPrice
	case "review", "reviews", "rating", "ratings", "stars", "star", "testimonial", "testimonials", "aggregaterating":
		return hintReview
	case "title", "heading", "headline", "subtitle", "name", "subheading", "caption", "dek", "kicker", "eyebrow", "label":
		return hintTitle
	case "byline", "author", "authors", "meta", "date", "published", "time", "timestamp", "datetime", "credit", "posted", "info", "metadata":
		return hintByline
	case "tag", "tags", "category", "categories", "label-list", "labels", "topics", "keywords", "taxonomy", "badge", "badges", "chip", "pill":
		return hintTags
	case "pagination", "pager", "paging", "pages", "next", "prev", "previous", "paginate", "pagenav":
		return hintPaging
	case "search", "login", "signup", "signin", "register", "subscribe", "subscription", "newsletter", "form", "field", "input", "filter",
		"filters", "facet", "facets", "sort", "sorting", "refine", "email", "checkout", "quantity", "qty", "toolbar", "account":
		return hintForm
	case "message", "messages", "thread", "threads", "topic", "forum", "reply", "replies", "question", "answer", "answers",
		"postbody", "bbwrapper", "msg", "quote", "signature", "cooked", "usertext", "acceptedanswer", "suggestedanswer":
		return hintThread
	case "card", "cards", "item", "items", "list", "grid", "tile", "tiles", "result", "results", "listing", "listings", "collection",
		"row", "col", "cell", "slide", "slider", "carousel", "swiper", "slick", "gallery", "itemlistelement", "loop":
		return hintItem
	case "tab", "tabs", "tabpanel", "accordion", "collapse", "collapsible", "faq", "faqs", "toggle", "expand", "panel", "summary":
		return hintFold
	case "hero", "intro", "lead", "lede", "jumbotron", "masthead", "cover", "excerpt", "standfirst", "cta":
		return hintHero
	case "header", "head", "hdr", "top", "logo", "brand", "branding", "announcement", "siteheader":
		return hintHeader
	case "image", "img", "figure", "photo", "video", "thumb", "thumbnail", "media", "picture", "figcaption", "avatar", "icon":
		return hintMedia
	case "hidden", "hide", "sr", "visually", "visuallyhidden", "screen", "offscreen", "invisible", "mobile", "tooltip", "print", "noprint":
		return hintHidden
	case "legal", "disclaimer", "terms", "privacy", "policy", "warning", "footnote", "footnotes", "references", "reference", "citation":
		return hintLegal
	case "table", "data", "stats", "params", "infobox", "code", "highlight", "syntax", "snippet":
		return hintTable
	case "user", "username", "profile", "member", "members", "avatarname", "poster", "userinfo", "karma", "reputation", "online", "joined":
		return hintUser
	case "btn", "button", "buttons", "action", "actions", "controls", "control", "cart", "wishlist", "add", "buy", "link", "links", "edit", "report", "vote", "votes", "like", "likes", "permalink", "tools", "print-link":
		return hintAction
	}
	return 0
}

const (
	maxHintBytes = 300 // bytes of a name that are read
	maxWordBytes = 20  // longer words are no hint
)

// nameHints collects the hints of an element's names.
func nameHints(n *html.Node) hints {
	var h hints
	for i := range n.Attr {
		switch n.Attr[i].Key {
		case "class", "id", "role", "itemprop", "data-testid", "data-component", "aria-label":
			h |= words(n.Attr[i].Val)
		}
	}
	switch {
	case n.DataAtom == 0 && strings.Contains(n.Data, "-"):
		h |= words(n.Data) // a custom element tells by its name
	case n.DataAtom == atom.Time:
		h |= hintByline
	}
	return h
}

// words splits a name at anything but letters and where a capital follows a small letter.
func words(s string) hints {
	var h hints
	var word [maxWordBytes]byte
	if len(s) > maxHintBytes {
		s = s[:maxHintBytes]
	}
	n, lower := 0, false
	end := func() {
		if n > 1 && n < maxWordBytes {
			h |= hintsOf(string(word[:n]))
		}
		n = 0
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		upper := c >= 'A' && c <= 'Z'
		if upper {
			c += 'a' - 'A'
		}
		if c < 'a' || c > 'z' {
			end()
			lower = false
			continue
		}
		if upper && lower {
			end()
		}
		lower = !upper
		if n < maxWordBytes {
			word[n] = c
			n++
		}
	}
	end()
	return h
}

// inlineSet says which inline elements a block holds.
type inlineSet uint8

const (
	inlineStrong inlineSet = 1 << iota
	inlineCode
	inlineTime
	inlineLabel
	inlineLink
	inlineSmall
	inlineSpan
)

func inlineOf(a atom.Atom) inlineSet {
	switch a {
	case atom.Strong, atom.B, atom.Em, atom.I:
		return inlineStrong
	case atom.Code, atom.Kbd, atom.Samp, atom.Var:
		return inlineCode
	case atom.Time:
		return inlineTime
	case atom.Label:
		return inlineLabel
	case atom.A:
		return inlineLink
	case atom.Small, atom.Sup, atom.Sub:
		return inlineSmall
	case atom.Span:
		return inlineSpan
	}
	return 0
}

// hiddenElement tells whether an element asks not to be shown. Pages that build themselves keep
// true content in such elements, so this is a feature and not a ban.
func hiddenElement(n *html.Node) bool {
	for i := range n.Attr {
		v := n.Attr[i].Val
		switch n.Attr[i].Key {
		case "hidden":
			return true
		case "aria-hidden":
			return v == "true"
		case "style":
			if hiddenStyle(v) {
				return true
			}
		}
	}
	return false
}

func hiddenStyle(v string) bool {
	i := strings.Index(v, "display")
	if i >= 0 && strings.HasPrefix(strings.TrimLeft(v[i+len("display"):], ": \t"), "none") {
		return true
	}
	i = strings.Index(v, "visibility")
	return i >= 0 && strings.HasPrefix(strings.TrimLeft(v[i+len("visibility"):], ": \t"), "hidden")
}

package readable

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Bounds of reading JSON-LD.
const (
	maxDataDepth  = 24      // objects and lists below each other
	maxDataNodes  = 20000   // values looked at, all scripts together
	maxDataText   = 1 << 20 // bytes of the longest text that is kept
	maxFactBytes  = 200
	maxAuthors    = 8
	maxDataReview = 200 // reviews, answers and comments that are counted as text
)

// structured is what the page's JSON-LD says.
type structured struct {
	site, author, headline, description, image string
	published, modified                        string
	types                                      typeSet
	body                                       string            // the longest article body or post text
	about                                      string            // the longest description of what the page is about
	texts                                      []string          // all bodies and descriptions, for the block features
	facts                                      map[string]string // product:price and the like
	budget                                     int
}

// typeSet says which kinds of things the data is about.
type typeSet uint16

const (
	typeArticle typeSet = 1 << iota
	typeProduct
	typeThread
	typeList
	typeFAQ
	typePlace
	typeRecipe
	typeHowTo
	typeEvent
	typeVideo
	typeOffer
	typeReview
	typeJob

	typeCount = iota
)

// typeOf sorts the types of schema.org that pages use.
func typeOf(name string) typeSet {
	name = name[strings.LastIndexAny(name, "/#:")+1:]
	switch name {
	case "Article", "NewsArticle", "BlogPosting", "Report", "ScholarlyArticle", "AnalysisNewsArticle", "OpinionNewsArticle", "ReportageNewsArticle", "LiveBlogPosting", "MedicalWebPage", "AdvertiserContentArticle":
		return typeArticle
	case "Product", "ProductGroup", "ProductModel", "IndividualProduct", "Vehicle", "Car", "Book", "SoftwareApplication", "MobileApplication", "WebApplication":
		return typeProduct
	case "DiscussionForumPosting", "QAPage", "Question", "Answer", "SocialMediaPosting", "Comment", "Conversation":
		return typeThread
	case "ItemList", "CollectionPage", "OfferCatalog", "SearchResultsPage", "Blog", "ImageGallery", "DataCatalog":
		return typeList
	case "FAQPage":
		return typeFAQ
	case "LocalBusiness", "Service", "ProfessionalService", "Restaurant", "Hotel", "MedicalBusiness", "Dentist", "Physician", "LegalService", "HomeAndConstructionBusiness", "EducationalOrganization", "CollegeOrUniversity", "Course":
		return typePlace
	case "Recipe":
		return typeRecipe
	case "HowTo", "TechArticle", "APIReference":
		return typeHowTo
	case "Event", "MusicEvent", "SportsEvent":
		return typeEvent
	case "VideoObject", "PodcastEpisode", "Movie", "TVSeries", "TVEpisode", "MusicAlbum":
		return typeVideo
	case "Offer", "AggregateOffer":
		return typeOffer
	case "Review", "AggregateRating":
		return typeReview
	case "JobPosting":
		return typeJob
	}
	return 0
}

// readData reads the JSON-LD scripts. Broken ones are left out.
func (m *meta) readData() {
	s := &m.data
	s.budget = maxDataNodes
	for _, script := range m.jsonLD {
		var v any
		if json.Unmarshal([]byte(cleanJSON(script)), &v) == nil {
			s.walk(v, 0, true)
		}
	}
	m.jsonLD = nil
}

// cleanJSON takes away what pages put round JSON by habit, and line breaks inside strings.
func cleanJSON(s string) string {
	s = strings.TrimSpace(s)
	s = strings.TrimSuffix(strings.TrimPrefix(s, "<!--"), "-->")
	s = strings.TrimSuffix(strings.TrimPrefix(s, "//<![CDATA["), "//]]>")
	s = strings.TrimSuffix(strings.TrimPrefix(s, "<![CDATA["), "]]>")
	s = strings.TrimRight(strings.TrimSpace(s), ";")
	return strings.Map(func(r rune) rune {
		if r < 0x20 {
			return ' '
		}
		return r
	}, s)
}

// walk goes through a value; top is true until it enters an object with a type, so that only
// the page's main things set its author and dates.
func (s *structured) walk(v any, depth int, top bool) {
	if s.budget--; s.budget < 0 || depth > maxDataDepth {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			s.walk(e, depth+1, top)
		}
	case map[string]any:
		t := typesOf(v["@type"])
		s.types |= t
		s.object(v, t, top)
		for _, k := range sortedKeys(v) {
			s.walk(v[k], depth+1, top && t == 0 || top && k == "@graph" || top && k == "mainEntity")
		}
	}
}

func typesOf(v any) typeSet {
	switch v := v.(type) {
	case string:
		return typeOf(v)
	case []any:
		var t typeSet
		for _, e := range v {
			if name, ok := e.(string); ok {
				t |= typeOf(name)
			}
		}
		return t
	}
	return 0
}

// object takes the fields of one thing.
func (s *structured) object(v map[string]any, t typeSet, top bool) {
	for _, k := range [...]string{"articleBody", "text", "reviewBody", "description", "recipeInstructions"} {
		s.takeText(str(v[k]), k != "description")
	}
	if name, _ := v["@type"].(string); name == "WebSite" {
		set(&s.site, str(v["name"]))
	}
	if t&(typeArticle|typeProduct|typeThread|typeRecipe|typeHowTo|typeEvent|typeVideo|typeJob) != 0 && top {
		set(&s.headline, or(str(v["headline"]), str(v["name"]), str(v["title"])))
		set(&s.author, names(v["author"]))
		set(&s.description, str(v["description"]))
		if about := str(v["description"]); len(about) > len(s.about) {
			s.about = cutBytes(about, maxDataText)
		}
		set(&s.published, or(str(v["datePublished"]), str(v["dateCreated"]), str(v["datePosted"])))
		set(&s.modified, str(v["dateModified"]))
		set(&s.image, imageOf(v["image"]))
	}
	switch {
	case t&typeProduct != 0 && top:
		s.fact("product:name", v["name"])
		s.fact("product:brand", nameOf(v["brand"]))
		s.fact("product:sku", v["sku"])
	case t&typeOffer != 0:
		s.fact("product:price", firstOf(v["price"], v["lowPrice"]))
		s.fact("product:price:high", v["highPrice"])
		s.fact("product:currency", v["priceCurrency"])
		s.fact("product:availability", lastSegment(str(v["availability"])))
	case t&typeReview != 0 && v["reviewCount"] != nil || v["ratingCount"] != nil:
		s.fact("rating:value", v["ratingValue"])
		s.fact("rating:best", v["bestRating"])
		s.fact("rating:count", firstOf(v["reviewCount"], v["ratingCount"]))
	}
}

func (s *structured) takeText(text string, body bool) {
	if len(text) < 40 || len(s.texts) >= maxDataReview {
		return
	}
	text = cutBytes(text, maxDataText)
	s.texts = append(s.texts, text)
	if body && len(text) > len(s.body) {
		s.body = text
	}
}

// fact notes a value under a name, the first one found.
func (s *structured) fact(name string, v any) {
	text := cutBytes(collapse(str(v), maxFactBytes), maxFactBytes)
	if text == "" || s.facts[name] != "" {
		return
	}
	if s.facts == nil {
		s.facts = map[string]string{}
	}
	s.facts[name] = text
}

// add puts the facts among the metadata, as far as there is room.
func (s *structured) add(to map[string]string) {
	for _, k := range sortedKeys(s.facts) {
		if _, ok := to[k]; !ok && len(to) < MaxMetadata {
			to[k] = s.facts[k]
		}
	}
}

func set(to *string, v string) {
	if *to == "" {
		*to = collapse(v, maxMetaBytes)
	}
}

// str is a string, a number as written, or "".
func str(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case map[string]any:
		s, _ := v["@value"].(string)
		return s
	case []any:
		if len(v) > 0 {
			if s, ok := v[0].(string); ok {
				return s
			}
		}
	}
	return ""
}

func firstOf(list ...any) any {
	for _, v := range list {
		if v != nil {
			return v
		}
	}
	return nil
}

// nameOf is a thing's name, or the string itself.
func nameOf(v any) string {
	if o, ok := v.(map[string]any); ok {
		return str(o["name"])
	}
	return str(v)
}

// names joins the names of one or several authors.
func names(v any) string {
	list, ok := v.([]any)
	if !ok {
		return byline(nameOf(v))
	}
	var out []string
	for _, e := range list {
		if n := byline(nameOf(e)); n != "" && len(out) < maxAuthors {
			out = append(out, n)
		}
	}
	return strings.Join(out, ", ")
}

func imageOf(v any) string {
	switch v := v.(type) {
	case []any:
		if len(v) > 0 {
			return imageOf(v[0])
		}
	case map[string]any:
		return or(str(v["url"]), str(v["contentUrl"]))
	}
	return str(v)
}

// lastSegment makes "https://schema.org/InStock" "InStock".
func lastSegment(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

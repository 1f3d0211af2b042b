package readable

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// readabilityWords are all that readability's lists have, in each spelling that may matter, and
// names that only look like them.
const readabilityWords = `byline author dateline writtenby p-author -ad- x-ad-y ai2html banner breadcrumbs combx comment
community cover-wrap disqus extra footer gdpr header legends menu related remark replies rss shoutbox sidebar skyscraper
social sponsor supplemental ad-break agegate pagination pager popup yom-remote and article body column content main mathjax
shadow entry hentry h-entry page post text blog story hid hidden d-none com- contact masthead meta outbrain promo share
shopping tags widget sharedaddy x_share_y reshared ſhare fallback-image readability-page-1 lazy commen authored mainly
comment-content article-share page-sidebar Header-MAIN hide dnone grid-12 col-md-6 1 2 \x01 \x012 \x013-and`

// Readability must keep the same of a page whose names are short ones. One name at a time is put
// on each of the elements it judges.
func TestLendKeepsTheAnswer(t *testing.T) {
	words := strings.Fields(strings.ReplaceAll(readabilityWords, `\x01`, "\x01"))
	for i, w := range words {
		other := words[(i*7+3)%len(words)]
		name := []string{"Long-name-of " + strings.ToUpper(w), w + "\t of-a-row "}[i%2]
		page := lendPage(name, other)
		whole, short := askedWith(page, false), askedWith(page, true)
		if !slices.Equal(whole, short) {
			t.Errorf("%q, %q: readability keeps %v of the blocks, and %v when names are short", name, other, whole, short)
		}
	}
}

// What hides an element must still hide it.
func TestLendKeepsWhatHides(t *testing.T) {
	prose := strings.Repeat("Rivers carry water, sand, and silt to the sea; over the years, they move. ", 9)
	for _, a := range []string{"hidden", "aria-hidden=true", "role=dialog aria-modal=true", "role=complementary", `style="display: none"`} {
		page := "<body><article><p>" + prose + "<p " + a + ">Apart: " + prose + "<p>" + prose + "</article>"
		kept := askedWith(page, true)
		if len(kept) != 3 || kept[0] != 1 || kept[1] != 0 || kept[2] != 1 {
			t.Errorf("%s: readability keeps %v of the blocks", a, kept)
		}
	}
}

func lendPage(name, other string) string {
	prose := "Rivers carry water, sand, and silt to the sea; over the years, they move. "
	var b strings.Builder
	b.WriteString(`<!doctype html><html lang=en><title>On rivers | Site</title><body>`)
	for i, e := range []string{"div", "section", "ul", "table", "p", "h2", "form", "aside"} {
		open := map[string]string{"ul": "<li>", "table": "<tr><td>"}[e]
		fmt.Fprintf(&b, `<div class="%s" id="%s" data-x=1 style="color: red"><%s class="%s" id=row-of-things-%d title=t onclick=f()>%s%s<a class="%s" href="#x">a link of it</a></%s><p class="%s">%s</p></div>`,
			[]string{name, other}[i%2], []string{"", name}[i/4], e, name, i, open, strings.Repeat(prose, i%3+1), name, e, other, strings.Repeat(prose, i%4))
	}
	fmt.Fprintf(&b, `<div class="%s"><p>%s</p></div><div class="%s"><p>%s</p><span style="DISPLAY : None">no</span></div>`, name, strings.Repeat(prose, 9), name, strings.Repeat(prose, 3))
	return b.String()
}

// askedWith gives what readability keeps of each block.
func askedWith(page string, lend bool) (kept []float32) {
	p := newPage(parse([]byte(page)))
	giveBack := func() {}
	if lend {
		giveBack = p.lend()
	}
	p.hear()
	giveBack()
	for i := range p.blocks {
		kept = append(kept, p.blocks[i].kept)
	}
	return kept
}

// What was lent comes back as it was.
func TestLendGivesBack(t *testing.T) {
	const page = `<body class="a b" onload=x><p id=one title=two class="three-and-more" style="color: red">Text</p>`
	p := newPage(parse([]byte(page)))
	para := p.boxes[1].node
	before := slices.Clone(para.Attr)
	giveBack := p.lend()
	if len(para.Attr) != 2 || attr(para, "class") == "three-and-more" {
		t.Errorf("lent %v", para.Attr)
	}
	giveBack()
	if !slices.Equal(para.Attr, before) {
		t.Errorf("%v came back of %v", para.Attr, before)
	}
}

// The lists as readability v2.1 has them: each word must be known for what it is.
func TestLendKnowsTheWords(t *testing.T) {
	for _, c := range []struct {
		mark  marks
		words string
	}{
		{markByline, "byline author dateline writtenby p-author"},
		{markUnlikely, `-ad- ai2html banner breadcrumbs combx comment community cover-wrap disqus extra footer gdpr header
			legends menu related remark replies rss shoutbox sidebar skyscraper social sponsor supplemental ad-break agegate
			pagination pager popup yom-remote`},
		{markMaybe, "and article body column content main mathjax shadow"},
		{markPositive, "article body content entry hentry h-entry main page pagination post text blog story"},
		{markNegative, `-ad- banner combx comment com- contact footer gdpr masthead meta outbrain promo related share shoutbox
			sidebar skyscraper sponsor shopping tags widget`},
		{markWhole, "hid hidden d-none share sharedaddy ſhare fallback-image readability-page-1"},
	} {
		for _, w := range strings.Fields(c.words) {
			for _, s := range []string{w, "x" + strings.ToUpper(w) + "y"} {
				if k := marksIn(s); k&(c.mark|markWhole) == 0 {
					t.Errorf("%q: marks %b, want %b", s, k, c.mark)
				}
			}
		}
	}
	for i, w := range []string{"author", "rss", "and", "blog", "tags"} {
		if k := marksIn(w); k != 1<<i {
			t.Errorf("%q, which stands for one list, has marks %b", w, k)
		}
	}
}

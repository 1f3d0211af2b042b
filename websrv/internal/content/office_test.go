package content_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aster-mcp/aster/websrv/internal/boundxml"
	"github.com/aster-mcp/aster/websrv/internal/content"
)

const coreXML = `<cp:coreProperties xmlns:cp="c" xmlns:dc="d" xmlns:dcterms="t"><dc:title>The title</dc:title><dc:creator>A. Writer</dc:creator><dcterms:created>2024-01-02T03:04:05Z</dcterms:created></cp:coreProperties>`

// docx packs the body of a Word document with styles, lists and links.
func docx(t testing.TB, body string) []byte {
	return zipOf(t, "[Content_Types].xml", "<Types/>", "word/document.xml", `<w:document xmlns:w="w" xmlns:r="r"><w:body>`+body+`</w:body></w:document>`,
		"word/styles.xml", `<w:styles xmlns:w="w"><w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style></w:styles>`,
		"word/numbering.xml", `<w:numbering xmlns:w="w"><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum><w:num w:numId="7"><w:abstractNumId w:val="1"/></w:num></w:numbering>`,
		"word/_rels/document.xml.rels", `<Relationships><Relationship Id="rId1" TargetMode="External" Target="https://example.com/x"/></Relationships>`,
		"word/footnotes.xml", `<w:footnotes xmlns:w="w"><w:footnote w:type="separator" w:id="0"><w:p><w:r><w:t>no</w:t></w:r></w:p></w:footnote><w:footnote w:id="2"><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>`,
		"docProps/core.xml", coreXML)
}

func TestDOCX(t *testing.T) {
	item := func(level, text string) string {
		return `<w:p><w:pPr><w:numPr><w:ilvl w:val="` + level + `"/><w:numId w:val="7"/></w:numPr></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
	}
	cell := func(s string) string { return `<w:tc><w:p><w:r><w:t>` + s + `</w:t></w:r></w:p></w:tc>` }
	doc := markdown(t, docx(t, `<w:p><w:pPr><w:pStyle w:val="berschrift2"/></w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t>Head</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">Plain &amp; </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">bold </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>too</w:t></w:r><w:r><w:t>, </w:t></w:r><w:hyperlink r:id="rId1"><w:r><w:t>link</w:t></w:r></w:hyperlink><w:r><w:footnoteReference w:id="2"/></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>
`+item("0", "one")+item("1", "under")+item("0", "two")+`
<w:p><w:r><w:t># not a heading</w:t></w:r></w:p>
<w:tbl><w:tr>`+cell("a")+cell("b|c")+`</w:tr><w:tr>`+cell("1")+`</w:tr></w:tbl>
<w:p><w:r><mc:AlternateContent><mc:Choice><w:t>once</w:t></mc:Choice><mc:Fallback><w:t>twice</w:t></mc:Fallback></mc:AlternateContent></w:r></w:p>`), nil)
	want := `## Head

Plain & **bold too**, [link](https://example.com/x)[^f2]

1. one
    - under
2. two

\# not a heading

| a | b\|c |
| --- | --- |
| 1 |  |

once

[^f2]: A note.

`
	if diff := cmp.Diff(want, doc.Markdown); diff != "" {
		t.Errorf("Markdown (-want +got):\n%s", diff)
	}
	if doc.Title != "The title" || doc.Author != "A. Writer" || doc.Published != "2024-01-02T03:04:05Z" || len(doc.Links) != 1 {
		t.Errorf("document = %+v", doc)
	}
}

func TestPPTX(t *testing.T) {
	shape := func(kind, text string) string {
		return `<p:sp><p:nvSpPr><p:nvPr><p:ph type="` + kind + `"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>` + text + `</a:t></a:r></a:p></p:txBody></p:sp>`
	}
	slide := func(shapes string) string { return `<p:sld xmlns:p="p" xmlns:a="a">` + shapes + `</p:sld>` }
	doc := markdown(t, zipOf(t, "[Content_Types].xml", "", "ppt/presentation.xml", `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId r:id="rId2"/><p:sldId r:id="rId1"/></p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels", `<Relationships><Relationship Id="rId1" Target="slides/slide1.xml"/><Relationship Id="rId2" Target="/ppt/slides/slide2.xml"/></Relationships>`,
		"ppt/slides/slide1.xml", slide(shape("body", "A point")+shape("title", "Last")+shape("sldNum", "2")),
		"ppt/slides/slide2.xml", slide(shape("ctrTitle", "First")+`<p:graphicFrame><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>x</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></p:graphicFrame>`),
		"ppt/slides/_rels/slide2.xml.rels", `<Relationships><Relationship Id="rId9" Target="../notesSlides/notesSlide1.xml"/></Relationships>`,
		"ppt/notesSlides/notesSlide1.xml", slide(`<p:sp><p:txBody><a:p><a:r><a:t>Say this.</a:t></a:r></a:p></p:txBody></p:sp>`)), nil)
	want := "## Slide 1: First\n\n| x |\n| --- |\n\nNotes:\n\nSay this.\n\n## Slide 2: Last\n\n- A point\n\n"
	if diff := cmp.Diff(want, doc.Markdown); diff != "" {
		t.Errorf("Markdown (-want +got):\n%s", diff)
	}
	if doc.Pages != 2 || doc.Title != "First" {
		t.Errorf("%d slides, title %q; want 2 and First", doc.Pages, doc.Title)
	}
}

func TestXLSX(t *testing.T) {
	doc := markdown(t, zipOf(t, "[Content_Types].xml", "", "xl/workbook.xml", `<workbook xmlns:r="r"><sheets><sheet name="Data" r:id="rId1"/><sheet name="Hidden" state="hidden" r:id="rId1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>`,
		"xl/sharedStrings.xml", `<sst><si><t>Name</t></si><si><r><t>Wh</t></r><r><t>en</t></r><rPh><t>no</t></rPh></si></sst>`,
		"xl/styles.xml", `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd"/><numFmt numFmtId="165" formatCode="0.00 &quot;days&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="22"/></cellXfs></styleSheet>`,
		"xl/worksheets/sheet1.xml", `<worksheet><sheetData><row r="2"><c r="B2" t="s"><v>0</v></c><c r="C2" t="s"><v>1</v></c></row>
<row r="3"><c r="B3" t="inlineStr"><is><t>x|y</t></is></c><c r="C3" s="1"><v>45292</v></c><c r="D3" s="2"><v>1.50</v></c></row>
<row r="4"><c r="C4" s="3"><v>45292.5</v></c><c r="E4" t="b"><v>1</v></c><c r="F4"><v>1E3</v></c></row><row r="5"/></sheetData></worksheet>`), nil)
	want := "## Data\n\n| Name | When |  |  |  |\n| --- | --- | --- | --- | --- |\n| x\\|y | 2024-01-01 | 1.5 |  |  |\n|  | 2024-01-01 12:00:00 |  | TRUE | 1000 |\n\n"
	if diff := cmp.Diff(want, doc.Markdown); diff != "" {
		t.Errorf("Markdown (-want +got):\n%s", diff)
	}
}

func TestEPUB(t *testing.T) {
	doc := markdown(t, zipOf(t, "mimetype", "application/epub+zip", "META-INF/container.xml", `<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>`,
		"OPS/book.opf", `<package xmlns:dc="d"><metadata><dc:title>A Book</dc:title><dc:creator>Me</dc:creator><dc:language>en</dc:language></metadata><manifest><item id="b" href="two.xhtml"/><item id="a" href="one%20x.xhtml"/><item id="n" href="nav.xhtml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/><itemref idref="n" linear="no"/></spine></package>`,
		"OPS/one x.xhtml", `<html><head><title>no</title></head><body><h1>One</h1><p>Some <b>bold</b> text,<br/>and <a href="https://example.com/">a link</a>.</p><ul><li>a</li><li>b</li></ul><script>no()</script></body></html>`,
		"OPS/two.xhtml", `<body><h2>Two</h2><pre>code  here</pre><ol><li>x<ul><li>y</li></ul></li></ol><blockquote><p>said</p></blockquote><table><tr><th>h</th><td><p>c</p><p>d</p></td></tr></table></body>`,
		"OPS/nav.xhtml", `<p>no</p>`), nil)
	want := "# One\n\nSome **bold** text,\nand [a link](https://example.com/).\n\n- a\n- b\n\n## Two\n\n```\ncode  here\n```\n\n1. x\n    - y\n\n> said\n\n| h | c<br>d |\n| --- | --- |\n\n"
	if diff := cmp.Diff(want, doc.Markdown); diff != "" {
		t.Errorf("Markdown (-want +got):\n%s", diff)
	}
	if doc.Title != "A Book" || doc.Author != "Me" || doc.Language != "en" || doc.Pages != 2 {
		t.Errorf("document = %+v", doc)
	}
}

// XHTML closes elements where it opens them, in which a reader of HTML loses all that follows.
func TestEPUBEmptyElements(t *testing.T) {
	doc := markdown(t, zipOf(t, "mimetype", "application/epub+zip", "META-INF/container.xml", `<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>`,
		"b.opf", `<package><manifest><item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"/></spine></package>`,
		"a.xhtml", `<html><head><title/><script src="x.js"/><meta name="a"/></head><body><h1><a id="p1"/>One</h1><p>a <i/>b<br/>c</p><textarea /><p>d</p></body></html>`), nil)
	if want := "# One\n\na b\nc\n\nd\n\n"; doc.Markdown != want {
		t.Errorf("Markdown = %q, want %q", doc.Markdown, want)
	}
}

func TestFeedLinkByID(t *testing.T) {
	doc := markdown(t, []byte(`<rss version="2.0"><channel><title>F</title><link>https://example.com/</link><item><title>A</title><guid>https://example.com/a</guid></item><item><title>B</title><guid isPermaLink="false">17</guid></item></channel></rss>`), nil)
	if want := "# F\n\n## [A](https://example.com/a)\n\n## B\n\n"; doc.Markdown != want {
		t.Errorf("Markdown = %q, want %q", doc.Markdown, want)
	}
}

func TestRTF(t *testing.T) {
	doc := markdown(t, []byte(`{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}{\f1\fcharset204 Arial Cyr;}}{\info{\title My \'e9tude}{\author Me}}{\*\generator X;}
\pard Caf\'e9 \u8364? \{x\}\line next {\b bold}\par{\f1 \'cf\'f0}\u-10179?\u-8704?\par
\trowd\intbl a\cell\intbl b\cell\row\intbl 1\cell 2\cell\row\pard after\par{\pict 0123456789}}`), nil)
	want := "Café € {x}\nnext bold\n\nПр😀\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nafter\n\n"
	if diff := cmp.Diff(want, doc.Markdown); diff != "" {
		t.Errorf("Markdown (-want +got):\n%s", diff)
	}
	if doc.Title != "My étude" || doc.Author != "Me" {
		t.Errorf("title %q, author %q", doc.Title, doc.Author)
	}
}

func TestFeed(t *testing.T) {
	rss := `<?xml version="1.0" encoding="ISO-8859-1"?><rss version="2.0"><channel><title>News &amp; more</title><link>https://example.com/</link><description>About &lt;b&gt;all&lt;/b&gt;</description>
<item><title>First</title><link>/one</link><pubDate>Tue, 05 Mar 2024 10:00:00 GMT</pubDate><description><![CDATA[<p>Text with <a href="/x">a link</a>.</p>]]></description></item></channel></rss>`
	want := "# News & more\n\nAbout all\n\n## [First](https://example.com/one)\n\n2024-03-05T10:00:00Z\n\nText with [a link](https://example.com/x).\n\n"
	doc := markdown(t, []byte(rss), nil)
	if diff := cmp.Diff(want, doc.Markdown); diff != "" {
		t.Errorf("Markdown (-want +got):\n%s", diff)
	}
	if doc.Title != "News & more" || doc.Pages != 1 || !cmp.Equal(doc.Links, []string{"https://example.com/one", "https://example.com/x"}) {
		t.Errorf("document = %+v", doc)
	}
	atom := `<feed xmlns="http://www.w3.org/2005/Atom"><title>A</title><entry><title>E</title><link href="https://example.com/e"/><updated>2024-01-02T03:04:05Z</updated><author><name>N</name></author><content type="html">&lt;p&gt;hi&lt;/p&gt;</content></entry></feed>`
	if got := markdown(t, []byte(atom), nil).Markdown; got != "# A\n\n## [E](https://example.com/e)\n\n2024-01-02T03:04:05Z, N\n\nhi\n\n" {
		t.Errorf("Atom = %q", got)
	}
	json := `{"version":"https://jsonfeed.org/version/1.1","title":"J","items":[{"id":"1","url":"https://example.com/j","title":"T","content_text":"hello"}]}`
	if got := markdown(t, []byte(json), nil).Markdown; !strings.Contains(got, "## [T](https://example.com/j)") || !strings.Contains(got, "hello") {
		t.Errorf("JSON Feed = %q", got)
	}
}

func TestHostileOffice(t *testing.T) {
	bomb := strings.Repeat("<w:p><w:r><w:t>aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa</w:t></w:r></w:p>", 20_000)
	tests := []struct {
		name string
		body []byte
		kind content.Kind
		want error
	}{
		{"bomb", docx(t, bomb), content.KindDOCX, content.ErrTooLarge},
		{"deep", docx(t, strings.Repeat("<w:x>", 100_000)), content.KindDOCX, content.ErrTooLarge},
		{"attributes", docx(t, "<w:p "+strings.Repeat("a='' ", 20_000)+">"), content.KindDOCX, content.ErrTooLarge},
		{"empty archive", zipOf(t), content.KindDOCX, content.ErrMalformed},
		{"no archive", []byte("PK\x03\x04"), content.KindXLSX, content.ErrMalformed},
		{"book of nothing", zipOf(t, "META-INF/container.xml", "<x/>"), content.KindEPUB, content.ErrMalformed},
		{"no slides", zipOf(t, "ppt/x", ""), content.KindPPTX, content.ErrMalformed},
		{"deep rtf", []byte(`{\rtf1` + strings.Repeat("{", 100_000)), content.KindRTF, content.ErrTooLarge},
		{"deep feed", []byte("<rss>" + strings.Repeat("<a>", 100_000)), content.KindFeed, content.ErrTooLarge},
		{"long tag in a feed", []byte("<rss a='" + strings.Repeat("a", 100_000) + "'>"), content.KindFeed, boundxml.ErrLongTag},
		{"no feed", []byte("<x/>"), content.KindFeed, content.ErrMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			_, err := content.Markdown(context.Background(), tt.body, tt.kind, &content.Limits{MaxUnpackedBytes: 1 << 20})
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if took := time.Since(start); took > time.Minute {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestCutWordDocumentKeepsItsBeginning(t *testing.T) {
	doc := markdown(t, docx(t, `<w:p><w:r><w:t>kept</w:t></w:r></w:p><w:p><w:r><w:t>also</w:t></w:r></w:p><w:p><<<`), nil)
	if !strings.Contains(doc.Markdown, "kept") || !strings.Contains(doc.Markdown, "also") || len(doc.Notes) != 1 {
		t.Errorf("Markdown %q, notes %q; want the beginning and a note", doc.Markdown, doc.Notes)
	}
}

func FuzzMarkdown(f *testing.F) {
	kinds := []content.Kind{content.KindDOCX, content.KindPPTX, content.KindXLSX, content.KindEPUB, content.KindRTF, content.KindFeed, content.KindJSON, content.KindMarkdown, content.KindPDF, content.KindGzip}
	f.Add(uint8(0), docx(f, "<w:p><w:r><w:t>x</w:t></w:r></w:p><w:tbl><w:tr><w:tc/></w:tr></w:tbl>"))
	f.Add(uint8(4), []byte(`{\rtf1\ansi {\fonttbl{\f1\fcharset204 x;}}\u1?\'e9\par\intbl\cell\row}`))
	f.Add(uint8(5), []byte(`<rss version="2.0"><channel><item><title>x</title><description>&lt;ul&gt;&lt;li&gt;a&lt;table&gt;&lt;td&gt;</description></item></channel></rss>`))
	f.Fuzz(func(t *testing.T, kind uint8, body []byte) {
		doc, err := content.Markdown(context.Background(), body, kinds[int(kind)%len(kinds)], &content.Limits{MaxUnpackedBytes: 1 << 20, MaxOutputBytes: 1 << 20})
		if err == nil && len(doc.Markdown) > 1<<20+64 {
			t.Errorf("%d bytes of Markdown, over the bound", len(doc.Markdown))
		}
		if err != nil && strings.Contains(err.Error(), "runtime error") {
			t.Errorf("a reader panicked: %v", err)
		}
	})
}

// FuzzOfficeParts puts the fuzzer's bytes where the parsers are, behind the archive's checksums.
func FuzzOfficeParts(f *testing.F) {
	f.Add([]byte(`<w:body><w:p><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="7"/></w:numPr></w:pPr><w:hyperlink r:id="rId1"><w:r><w:t>x</w:t></w:r></w:hyperlink></w:p><w:tbl><w:tr><w:tc><w:tbl>`))
	f.Add([]byte(`<row><c r="ZZ1" t="s" s="1"><v>0</v></c></row>`))
	f.Fuzz(func(t *testing.T, part []byte) {
		p := string(part)
		for _, body := range [][]byte{docx(t, p),
			zipOf(t, "[Content_Types].xml", "", "ppt/slides/slide1.xml", p),
			zipOf(t, "[Content_Types].xml", "", "xl/workbook.xml", `<sheets><sheet name="a" r:id="r1"/></sheets>`, "xl/_rels/workbook.xml.rels", `<Relationship Id="r1" Target="s.xml"/>`, "xl/s.xml", p, "xl/sharedStrings.xml", p, "xl/styles.xml", p),
			zipOf(t, "META-INF/container.xml", `<rootfile full-path="o"/>`, "o", `<x><item id="a" href="a"/><itemref idref="a"/></x>`, "a", p)} {
			_, err := content.Markdown(context.Background(), body, content.Sniff(body, ""), &content.Limits{MaxOutputBytes: 1 << 20})
			if err != nil && strings.Contains(err.Error(), "runtime error") {
				t.Errorf("a reader panicked: %v", err)
			}
		}
	})
}

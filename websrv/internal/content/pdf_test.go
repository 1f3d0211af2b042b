package content_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/websrv/internal/content"
)

// pdf writes a file of numbered objects, without a cross-reference table: the reader has no need of one.
func pdf(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	for i, o := range objects {
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	b.WriteString("trailer << /Root 1 0 R /Info << /Title (A \\(small\\) file) /Author <FEFF00C9> >> >>\n%%EOF\n")
	return b.Bytes()
}

func pdfStream(dict, data string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", dict, len(data), data)
}

func deflated(s string) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	fmt.Fprint(z, s)
	z.Close()
	return b.String()
}

// onePage is a file whose page shows what the operators draw in the fonts F1 (WinAnsi with differences) and F2 (two bytes).
func onePage(operators string, more ...string) []byte {
	return pdf(append([]string{"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 /Resources << /Font << /F1 4 0 R /F2 5 0 R >> /XObject << /X 7 0 R >> >> >>",
		"<< /Type /Page /Parent 2 0 R /Contents [8 0 R] >>",
		"<< /Type /Font /Subtype /Type1 /FirstChar 65 /Widths [700 600] /Encoding << /BaseEncoding /WinAnsiEncoding /Differences [1 /eacute /f_i /uni20AC 200 /fi] >> >>",
		"<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 6 0 R /DescendantFonts [<< /DW 500 /W [1 [400 400] 5 9 600] >>] >>",
		pdfStream("", "1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfchar <0001> <65E5> endbfchar 2 beginbfrange <0005> <0007> <0041> <0008> <0009> [<0058> <D83DDE00>] endbfrange"),
		pdfStream("/Type /XObject /Subtype /Form /Matrix [1 0 0 1 0 -300]", "BT /F1 10 Tf 10 400 Td (from a form) Tj ET /X Do"),
		pdfStream("/Filter /FlateDecode", deflated(operators))}, more...)...)
}

func TestPDF(t *testing.T) {
	tests := []struct{ name, operators, want string }{
		{"one line", "BT /F1 12 Tf 72 700 Td (Hello) Tj ( world) Tj ET", "Hello world\n\n"},
		{"lines of a paragraph", "BT /F1 12 Tf 14 TL 72 700 Td (one) Tj T* (two) Tj (three) ' ET", "one two three\n\n"},
		{"paragraphs", "BT /F1 12 Tf 72 700 Td (one) Tj 0 -40 Td (two) Tj ET", "one\n\ntwo\n\n"},
		{"heading by size", "BT /F1 24 Tf 72 700 Td (Head) Tj /F1 10 Tf 0 -20 Td (text) Tj ET", "Head\n\ntext\n\n"},
		{"kerning is no space, a gap is", "BT /F1 10 Tf 72 700 Td [(Wo) 80 (rd) -400 (next)] TJ ET", "Word next\n\n"},
		{"gap by position", "BT /F1 10 Tf 1 0 0 1 72 700 Tm (A) Tj 1 0 0 1 79.5 700 Tm (B) Tj 1 0 0 1 95 700 Tm (A) Tj ET", "AB A\n\n"},
		{"encodings", "BT /F1 10 Tf 72 700 Td (\\001 \\003 \\310 \\200 \\222) Tj ET", "é € fi € ’\n\n"},
		{"two bytes", "BT /F2 10 Tf 72 700 Td <0001 0005 0007 0008 0009> Tj ET", "日ACX😀\n\n"},
		{"form, not within itself without end", "/X Do", "from a form"},
		{"turned page", "q 0 1 -1 0 500 0 cm BT /F1 10 Tf 72 300 Td (up) Tj 20 0 Td (wards) Tj ET Q", "up wards\n\n"},
		{"inline image", "BI /W 1 /H 1 ID (((( EI BT /F1 10 Tf 72 700 Td (after) Tj ET", "after\n\n"},
		{"looks like a heading", "BT /F1 10 Tf 72 700 Td (# 1) Tj ET", "\\# 1\n\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := markdown(t, onePage(tt.operators), nil)
			if doc.Markdown != tt.want && !(strings.HasPrefix(tt.name, "form") && strings.HasPrefix(doc.Markdown, tt.want)) {
				t.Errorf("got %q, want %q", doc.Markdown, tt.want)
			}
			if doc.Pages != 1 || doc.Title != "A (small) file" || doc.Author != "É" {
				t.Errorf("%d pages, title %q, author %q", doc.Pages, doc.Title, doc.Author)
			}
		})
	}
}

func TestPDFFilters(t *testing.T) {
	const draw = "BT /F1 12 Tf (Hello) Tj ET"
	png := ""
	for i := 0; i < len(draw); i += 13 {
		line := draw[i : i+13] // the first line as it is, the second by the difference to the one above
		if i == 0 {
			png += "\x00" + line
			continue
		}
		png += "\x02"
		for j := range 13 {
			png += string([]byte{line[j] - draw[j]})
		}
	}
	tests := []struct{ name, dict, data string }{
		{"none", "", draw},
		{"hex", "/Filter /ASCIIHexDecode", fmt.Sprintf("%x>", draw)},
		{"run length", "/Filter [/RunLengthDecode]", string([]byte{byte(len(draw) - 1)}) + draw + "\x80"},
		{"hex of flate", "/Filter [/AHx /Fl]", fmt.Sprintf("%x>", deflated(draw))},
		{"predictor", "/Filter /FlateDecode /DecodeParms << /Predictor 15 /Columns 13 >>", deflated(png)},
		{"lzw", "/Filter /LZWDecode", lzw(draw)},
		{"flate that breaks off", "/Filter /FlateDecode", deflated(draw + strings.Repeat(" ", 100))[:40]},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := markdown(t, pdf("<< /Pages 2 0 R >>", "<< /Kids [3 0 R] >>", "<< /Type /Page /Contents 4 0 R >>", pdfStream(tt.dict, tt.data)), nil)
			if !strings.HasPrefix(doc.Markdown, "Hello") {
				t.Errorf("got %q, notes %q; want Hello", doc.Markdown, doc.Notes)
			}
		})
	}
}

// lzw writes a text in codes of 9 bits, none of which repeats anything.
func lzw(s string) string {
	var out []byte
	bits, n := 0, 0
	put := func(code int) {
		bits, n = bits<<9|code, n+9
		for n >= 8 {
			out = append(out, byte(bits>>(n-8)))
			n -= 8
			bits &= 1<<n - 1
		}
	}
	put(256)
	for _, c := range []byte(s) {
		put(int(c))
	}
	put(257)
	put(0)
	return string(out)
}

func TestPDFObjectStreams(t *testing.T) {
	objects := "<< /Type /Page /Contents 5 0 R >> << /Kids [3 0 R] >>"
	body := pdf("<< /Pages 2 0 R >>", "(replaced below)", "null", pdfStream("/Type /ObjStm /N 2 /First 9 /Filter /FlateDecode", deflated("3 0 2 34 "+objects)), pdfStream("", "BT /F1 9 Tf (packed) Tj ET"))
	if got := markdown(t, body, nil).Markdown; got != "packed\n\n" {
		t.Errorf("got %q, want packed", got)
	}
}

func TestPDFUpdateWins(t *testing.T) {
	body := append(onePage("BT /F1 9 Tf (old) Tj ET"), "8 0 obj\n"+pdfStream("", "BT /F1 9 Tf (new) Tj ET")+"\nendobj\n"...)
	if got := markdown(t, body, nil).Markdown; got != "new\n\n" {
		t.Errorf("got %q, want the object that was added", got)
	}
}

func TestPDFBounds(t *testing.T) {
	page := "<< /Type /Page /Contents 4 0 R >>"
	pages := pdf("<< /Pages 2 0 R >>", "<< /Kids ["+strings.Repeat("<< /Contents 4 0 R >> ", 10)+"] >>", page, pdfStream("", "BT /F1 9 Tf (x) Tj ET"))
	doc := markdown(t, pages, nil)
	if doc.Pages != 10 {
		t.Errorf("%d pages, want 10", doc.Pages)
	}
	doc = markdown(t, pages, &content.Limits{MaxPages: 3})
	if doc.Pages != 3 || len(doc.Notes) != 1 {
		t.Errorf("%d pages, notes %q; want 3 and a note", doc.Pages, doc.Notes)
	}
	if doc = markdown(t, onePage("0 0 m"), nil); len(doc.Notes) != 1 || !strings.Contains(doc.Notes[0], "no text") {
		t.Errorf("notes %q; want that there is no text", doc.Notes)
	}
	body := bytes.Replace(onePage(""), []byte("/Root"), []byte("/Encrypt << /V 4 >> /Root"), 1)
	if _, err := content.Markdown(context.Background(), body, content.KindPDF, nil); !errors.Is(err, content.ErrEncrypted) {
		t.Errorf("encrypted: %v, want ErrEncrypted", err)
	}
	for _, body := range []string{"%PDF-1.4", "%PDF-1.4\n1 0 obj\n<<\n", "%PDF-1.4 trailer << /Root 1 0 R >>"} {
		if _, err := content.Markdown(context.Background(), []byte(body), content.KindPDF, nil); !errors.Is(err, content.ErrMalformed) {
			t.Errorf("%q: %v, want ErrMalformed", body, err)
		}
	}
}

func TestHostilePDF(t *testing.T) {
	tests := []struct {
		name string
		body []byte
	}{
		{"tree of pages in a circle", pdf("<< /Pages 2 0 R >>", "<< /Kids [2 0 R 3 0 R 3 0 R] >>", "<< /Kids [2 0 R] >>")},
		{"references in a circle", pdf("<< /Pages 2 0 R >>", "3 0 R", "2 0 R")},
		{"length that needs its stream", onePage("", "<< /Length 9 0 R >>\nstream\nx\nendstream")},
		{"object stream within itself", pdf("<< /Pages 4 0 R >>", "<< /Type /ObjStm /N 2 /First 8 /Length 20 >>\nstream\n2 0 4 0 << >>\nendstream")},
		{"deep arrays", pdf("<< /Pages 2 0 R >>", strings.Repeat("[", 100_000))},
		{"deep dictionaries", pdf(strings.Repeat("<</A", 50_000))},
		{"bomb", onePage(strings.Repeat(" ", 4<<20))},
		{"bombs in a row", pdf("<< /Pages 2 0 R >>", "<< /Kids ["+strings.Repeat("<< /Contents ["+strings.Repeat("3 0 R ", 100)+"] >>", 50)+"] >>", pdfStream("/Filter /Fl", deflated(strings.Repeat(" ", 1<<20))))},
		{"ranges without end", pdf("<< /Pages 2 0 R >>", "<< /Kids [<< /Contents 3 0 R /Resources << /Font << /F << /Subtype /Type0 /ToUnicode 4 0 R >> >> >> >>] >>", pdfStream("", "/F 1 Tf"),
			pdfStream("", strings.Repeat("1 beginbfrange <00000000> <7FFFFFFF> <0041> endbfrange ", 1000)))},
		{"widths without end", pdf("<< /Pages 2 0 R >>", "<< /Kids [<< /Contents 3 0 R /Resources << /Font << /F << /Subtype /Type0 /DescendantFonts [<< /W [0 2000000000 5] >>] >> >> >> >>] >>", pdfStream("", "/F 1 Tf"))},
		{"many saved states", onePage(strings.Repeat("q ", 100_000))},
		{"numbers out of range", onePage("BT /F1 1e308 Tf 1e308 0 0 1e308 1e308 1e308 Tm 99999999999999999999 Tc (x) Tj 1e308 1e308 Td (y) Tj ET")},
		{"predictor without sense", onePage("", pdfStream("/Type /ObjStm /N 9 /First 1 /Filter /Fl /DecodeParms << /Predictor 15 /Columns 99999999999 /Colors 99999 >>", deflated("x")))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			_, err := content.Markdown(context.Background(), tt.body, content.KindPDF, &content.Limits{MaxUnpackedBytes: 2 << 20})
			if err != nil && strings.Contains(err.Error(), "runtime error") {
				t.Errorf("the reader panicked: %v", err)
			}
			if took := time.Since(start); took > time.Minute {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// FuzzPDFPage puts the fuzzer's bytes where operators, fonts and objects are.
func FuzzPDFPage(f *testing.F) {
	f.Add([]byte("BT /F1 12 Tf 1 0 0 1 72 700 Tm [(a) -300 <62>] TJ T* (c) ' ET /X Do BI ID x EI"), []byte("<< /Type /ObjStm /N 1 /First 4 >>"))
	f.Add([]byte("1 beginbfrange <00> <ff> [<41>] endbfrange"), []byte("[1 0 R /Name#20 (\\123) <4>"))
	f.Fuzz(func(t *testing.T, page, object []byte) {
		body := bytes.Replace(onePage(string(page), string(object)), []byte("bfchar"), append([]byte("bfchar "), page...), 1)
		_, err := content.Markdown(context.Background(), body, content.KindPDF, &content.Limits{MaxOutputBytes: 1 << 20, MaxUnpackedBytes: 1 << 20})
		if err != nil && strings.Contains(err.Error(), "runtime error") {
			t.Errorf("the reader panicked: %v", err)
		}
	})
}

package content_test

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/websrv/internal/content"
)

// zipOf packs files, given as name and text in turn, into an archive.
func zipOf(t testing.TB, nameText ...string) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for i := 0; i < len(nameText); i += 2 {
		w, err := z.Create(nameText[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(nameText[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestSniff(t *testing.T) {
	utf16HTML := "\xff\xfe<\x00h\x00t\x00m\x00l\x00>\x00"
	tests := []struct {
		name, body, contentType string
		want                    content.Kind
	}{
		{"pdf called html", "%PDF-1.7\n...", "text/html", content.KindPDF},
		{"pdf after junk", "\r\n\r\n%PDF-1.4\n", "", content.KindPDF},
		{"page about pdf", "<p>%PDF-1.4 is a header</p>", "text/html", content.KindHTML},
		{"rtf called text", `{\rtf1\ansi hi}`, "text/plain", content.KindRTF},
		{"docx called octets", string(zipOf(t, "[Content_Types].xml", "", "word/document.xml", "")), "application/octet-stream", content.KindDOCX},
		{"pptx", string(zipOf(t, "[Content_Types].xml", "", "ppt/presentation.xml", "")), "", content.KindPPTX},
		{"xlsx", string(zipOf(t, "[Content_Types].xml", "", "xl/workbook.xml", "")), "text/html", content.KindXLSX},
		{"epub", string(zipOf(t, "mimetype", "application/epub+zip", "META-INF/container.xml", "")), "", content.KindEPUB},
		{"other zip called docx", string(zipOf(t, "a.txt", "x")), "application/vnd.openxmlformats-officedocument.wordprocessingml.document", content.KindBinary},
		{"gzip", "\x1f\x8b\x08\x00", "text/xml", content.KindGzip},
		{"png called html", "\x89PNG\r\n\x1a\n\x00\x00", "text/html", content.KindImage},
		{"unknown image by its type", "\x00\x01\x02\x03\x04\x05", "image/x-odd", content.KindImage},
		{"binary called text", "abc\x00def", "text/plain", content.KindBinary},
		{"text that begins like bzip2", "BZh is a signature, says this text", "text/plain", content.KindText},
		{"html without type", "  <!-- a --><!DOCTYPE html><html>", "", content.KindHTML},
		{"html called octets", "<html><body>", "application/octet-stream", content.KindHTML},
		{"html source as plain text stays text", "<!DOCTYPE html><html>", "text/plain; charset=utf-8", content.KindText},
		{"utf-16 html", utf16HTML, "", content.KindHTML},
		{"xhtml", `<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml">`, "application/xhtml+xml", content.KindHTML},
		{"rss called html", `<?xml version="1.0"?><!-- x --><rss version="2.0">`, "text/html", content.KindFeed},
		{"atom called xml", `<feed xmlns="http://www.w3.org/2005/Atom">`, "application/xml", content.KindFeed},
		{"rdf", `<?xml version="1.0"?><rdf:RDF xmlns:rdf="x">`, "text/xml", content.KindFeed},
		{"sitemap", `<?xml version="1.0"?><urlset>`, "application/xml", content.KindXML},
		{"json feed", `{"version":"https://jsonfeed.org/version/1.1","items":[]}`, "application/json", content.KindFeed},
		{"json", `{"a":1}`, "application/json; charset=utf-8", content.KindJSON},
		{"problem json", `{"a":1}`, "application/problem+json", content.KindJSON},
		{"json called html", " [1, 2]", "text/html", content.KindJSON},
		{"broken json called text", `{"a":`, "text/plain", content.KindText},
		{"markdown", "# Title", "text/markdown", content.KindMarkdown},
		{"script", "var a = 1", "text/javascript", content.KindText},
		{"nothing", "", "", content.KindText},
		{"words called html", "just words", "text/html", content.KindHTML},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := content.Sniff([]byte(tt.body), tt.contentType); got != tt.want {
				t.Errorf("Sniff(%.40q, %q) = %s, want %s", tt.body, tt.contentType, got, tt.want)
			}
		})
	}
}

func TestDescribe(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x02\x00\x00\x00\x03\x08\x02\x00\x00\x00\x36\x88\x49\xd6"
	tests := []struct{ body, contentType, want string }{
		{png, "image/png", "PNG image of 2 × 3 pixels, 33 bytes"},
		{"\x00" + strings.Repeat("x", 1999), "application/x-odd", "binary file (application/x-odd), 2 KB"},
		{"7z\xbc\xaf\x27\x1c\x00", "", "7-Zip archive, 7 bytes"},
	}
	for _, tt := range tests {
		if got := content.Describe([]byte(tt.body), tt.contentType); got != tt.want {
			t.Errorf("Describe(%.20q) = %q, want %q", tt.body, got, tt.want)
		}
	}
}

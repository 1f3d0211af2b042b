package content

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"mime"
	"strings"

	// The decoders read a picture's size only.
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
)

// Kind is what the bytes of a response are.
type Kind string

// The kinds. Markdown reads all but KindHTML, KindImage and KindBinary.
const (
	KindHTML     Kind = "html"
	KindPDF      Kind = "pdf"
	KindDOCX     Kind = "docx"
	KindPPTX     Kind = "pptx"
	KindXLSX     Kind = "xlsx"
	KindEPUB     Kind = "epub"
	KindRTF      Kind = "rtf"
	KindFeed     Kind = "feed" // RSS, Atom, RDF or JSON Feed
	KindJSON     Kind = "json"
	KindXML      Kind = "xml" // any other XML, sitemaps among it
	KindText     Kind = "text"
	KindMarkdown Kind = "markdown"
	KindGzip     Kind = "gzip" // one compressed file
	KindImage    Kind = "image"
	KindBinary   Kind = "binary" // all else
)

// sniffBytes is how much of the body is looked at for its kind.
const sniffBytes = 4096

// magic is a signature at a fixed place.
type magic struct {
	at   int
	sig  string
	name string
	kind Kind
}

// signatures returns the table of first bytes. It is a function so that nothing is built at start.
func signatures() []magic {
	return []magic{
		{0, "{\\rtf", "RTF document", KindRTF},
		{0, "\x1f\x8b\x08", "gzip file", KindGzip},
		{0, "\x89PNG\r\n\x1a\n", "PNG image", KindImage},
		{0, "\xff\xd8\xff", "JPEG image", KindImage},
		{0, "GIF87a", "GIF image", KindImage},
		{0, "GIF89a", "GIF image", KindImage},
		{8, "WEBP", "WebP image", KindImage},
		{0, "II*\x00", "TIFF image", KindImage},
		{0, "MM\x00*", "TIFF image", KindImage},
		{0, "\x00\x00\x01\x00", "icon", KindImage},
		{4, "ftypavif", "AVIF image", KindImage},
		{4, "ftyphei", "HEIC image", KindImage},
		{4, "ftyp", "MP4 video", KindBinary},
		{0, "\x1a\x45\xdf\xa3", "WebM or Matroska video", KindBinary},
		{0, "OggS", "Ogg audio or video", KindBinary},
		{0, "ID3", "MP3 audio", KindBinary},
		{0, "fLaC", "FLAC audio", KindBinary},
		{8, "WAVE", "WAV audio", KindBinary},
		{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Office document (doc, xls or ppt)", KindBinary},
		{0, "Rar!\x1a\x07", "RAR archive", KindBinary},
		{0, "7z\xbc\xaf\x27\x1c", "7-Zip archive", KindBinary},
		{0, "BZh", "bzip2 file", KindBinary},
		{0, "\xfd7zXZ\x00", "xz file", KindBinary},
		{0, "\x28\xb5\x2f\xfd", "Zstandard file", KindBinary},
		{257, "ustar", "tar archive", KindBinary},
		{0, "wOFF", "font", KindBinary},
		{0, "wOF2", "font", KindBinary},
		{0, "\x00\x01\x00\x00", "font", KindBinary},
		{0, "OTTO", "font", KindBinary},
		{0, "\x00asm", "WebAssembly module", KindBinary},
		{0, "\x7fELF", "program", KindBinary},
		{0, "SQLite format 3\x00", "SQLite database", KindBinary},
	}
}

// Sniff says what body is: by its first bytes, then by the declared media type.
// Text that claims to be plain stays plain, whatever it looks like, as in browsers.
func Sniff(body []byte, contentType string) Kind {
	kind, _ := sniff(body, contentType)
	return kind
}

func sniff(body []byte, contentType string) (kind Kind, name string) {
	if bytes.Contains(head(body, 1024), []byte("%PDF-")) && !looksLikeMarkup(body) {
		return KindPDF, "PDF document"
	}
	if bytes.HasPrefix(body, []byte("PK\x03\x04")) {
		return sniffZip(body)
	}
	for _, m := range signatures() {
		if len(body) >= m.at+len(m.sig) && string(body[m.at:m.at+len(m.sig)]) == m.sig {
			if m.kind == KindBinary && !isBinary(body) {
				continue // a text that happens to begin like it
			}
			return m.kind, m.name
		}
	}
	media := mediaType(contentType)
	if isBinary(body) {
		if strings.HasPrefix(media, "image/") {
			return KindImage, media
		}
		return KindBinary, "binary file"
	}
	return sniffText(body, media), "text"
}

// sniffText tells kinds of text apart.
func sniffText(body []byte, media string) Kind {
	switch media {
	case "text/markdown", "text/x-markdown":
		return KindMarkdown
	case "application/json", "text/json", "application/ld+json":
		return jsonKind(body)
	case "application/feed+json", "application/rss+xml", "application/atom+xml", "application/rdf+xml":
		return KindFeed
	}
	if media == "text/plain" {
		if isJSON(body) {
			return jsonKind(body)
		}
		return KindText
	}
	start := lowerStart(body)
	if root := xmlRoot(start); root != "" {
		switch root {
		case "rss", "feed", "rdf":
			return KindFeed
		case "html":
			return KindHTML
		}
		if strings.HasPrefix(start, "<?xml") || strings.HasSuffix(media, "xml") && media != "application/xhtml+xml" {
			return KindXML
		}
		if isHTMLStart(start) {
			return KindHTML
		}
	}
	switch {
	case isJSON(body):
		return jsonKind(body)
	case media == "text/html", media == "application/xhtml+xml", isHTMLStart(start):
		return KindHTML
	case strings.HasSuffix(media, "+json"):
		return jsonKind(body)
	case strings.HasSuffix(media, "/xml"), strings.HasSuffix(media, "+xml"):
		return KindXML
	}
	return KindText
}

// jsonKind tells a JSON Feed from other JSON by its version member, which comes first in practice.
func jsonKind(body []byte) Kind {
	if bytes.Contains(head(body, 512), []byte("https://jsonfeed.org/version/")) {
		return KindFeed
	}
	return KindJSON
}

func isJSON(body []byte) bool {
	t := bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), " \t\r\n")
	return len(t) > 1 && (t[0] == '{' || t[0] == '[') && json.Valid(t)
}

// mediaType is the lower-case type/subtype of a Content-Type header, "" if there is none.
func mediaType(contentType string) string {
	if m, _, err := mime.ParseMediaType(contentType); err == nil {
		return m
	}
	m, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(m))
}

func head(b []byte, n int) []byte { return b[:min(n, len(b))] }

func looksLikeMarkup(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(head(body, 64), "\xef\xbb\xbf \t\r\n"), []byte("<"))
}

// isBinary reports whether body cannot be text: a NUL or too many control bytes near its
// start, and no sign of UTF-16.
func isBinary(body []byte) bool {
	h := head(body, sniffBytes)
	if utf16Order(h) != 0 || utf32Order(h) != 0 {
		return false
	}
	control := 0
	for _, c := range h {
		switch {
		case c == 0:
			return true
		case c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1b && c != 0x08:
			control++
		}
	}
	return control*50 > len(h)
}

// lowerStart is the beginning of a text in lower case, without byte order mark, leading
// space, comments and, after an XML declaration, processing instructions.
func lowerStart(body []byte) string {
	h := head(body, sniffBytes)
	if utf16Order(h) != 0 || utf32Order(h) != 0 {
		if u, _, err := Decode(h, ""); err == nil {
			h = u
		}
	}
	s := strings.ToLower(string(bytes.TrimPrefix(h, []byte("\xef\xbb\xbf"))))
	for {
		s = strings.TrimLeft(s, " \t\r\n\f")
		if !strings.HasPrefix(s, "<!--") {
			return s
		}
		_, rest, ok := strings.Cut(s, "-->")
		if !ok {
			return s
		}
		s = rest
	}
}

// xmlRoot is the local name of the first element of a lower-case text, "" if it begins otherwise.
func xmlRoot(s string) string {
	for {
		s = strings.TrimLeft(s, " \t\r\n\f")
		var end string
		switch {
		case strings.HasPrefix(s, "<!--"):
			end = "-->"
		case strings.HasPrefix(s, "<?"):
			end = "?>"
		case strings.HasPrefix(s, "<!"):
			end = ">"
		case strings.HasPrefix(s, "<"):
			name := s[1:]
			if i := strings.IndexAny(name, " \t\r\n\f/>"); i >= 0 {
				name = name[:i]
			}
			if i := strings.LastIndexByte(name, ':'); i >= 0 {
				name = name[i+1:]
			}
			return name
		default:
			return ""
		}
		_, rest, ok := strings.Cut(s, end)
		if !ok {
			return ""
		}
		s = rest
	}
}

func isHTMLStart(s string) bool {
	for _, p := range []string{"<!doctype html", "<html", "<head", "<body", "<script", "<title", "<meta", "<link", "<style", "<div", "<p>", "<p ", "<h1", "<table", "<article", "<main", "<section", "<a ", "<br", "<iframe", "<span", "<ul"} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// Describe names a body for a refusal: "PNG image of 640 × 480 pixels, 12 KB".
func Describe(body []byte, contentType string) string {
	kind, name := sniff(body, contentType)
	if kind == KindImage {
		if c, _, err := image.DecodeConfig(bytes.NewReader(body)); err == nil {
			name += fmt.Sprintf(" of %d × %d pixels", c.Width, c.Height)
		}
	}
	if m := mediaType(contentType); m != "" && kind == KindBinary && name == "binary file" {
		name += " (" + clip(m, 60) + ")"
	}
	return name + ", " + size(len(body))
}

func size(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1000_000:
		return fmt.Sprintf("%d KB", (n+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// clip cuts s to at most n bytes at a rune's boundary, with a mark where it was cut.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}

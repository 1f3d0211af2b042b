package content_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"

	"github.com/aster-mcp/aster/websrv/internal/content"
)

func encode(t *testing.T, e encoding.Encoding, s string) string {
	t.Helper()
	out, err := e.NewEncoder().String(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDecode(t *testing.T) {
	russian := strings.Repeat("Съешь же ещё этих мягких французских булок, да выпей чаю. ", 20)
	japan := strings.Repeat("吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。", 20)
	utf16le := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	tests := []struct {
		name, body, contentType, want, charset string
	}{
		{"ascii", "plain", "", "plain", "utf-8"},
		{"utf-8 by mark over header", "\xef\xbb\xbfé", "text/html; charset=iso-8859-1", "é", "utf-8"},
		{"header", "\xe9", "text/html; charset=ISO-8859-1", "é", "windows-1252"},
		{"header over meta", "<meta charset=koi8-r>\xe9", `text/html; charset="windows-1252"`, "<meta charset=koi8-r>é", "windows-1252"},
		{"meta", "<meta charset=windows-1251>\xcf", "text/html", "<meta charset=windows-1251>П", "windows-1251"},
		{"meta http-equiv", `<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">` + "\xcf", "", `<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">П`, "windows-1251"},
		{"xml declaration", `<?xml version="1.0" encoding="ISO-8859-2"?><a>` + "\xb1</a>", "text/xml", `<?xml version="1.0" encoding="ISO-8859-2"?><a>ą</a>`, "iso-8859-2"},
		{"utf-16 by mark", encode(t, utf16le, "héllo"), "", "héllo", "utf-16le"},
		{"utf-16 without mark", "h\x00e\x00l\x00l\x00o\x00", "text/plain", "hello", "utf-16le"},
		{"utf-16 declared, bytes disagree", "<meta charset=utf-16>é", "text/html", "<meta charset=utf-16>é", "utf-8"},
		{"declared utf-8 that is not", strings.Repeat("caf\xe9 ", 10), "text/html; charset=utf-8", strings.Repeat("café ", 10), "windows-1252"},
		{"declared utf-8 with one break", strings.Repeat("déjà vu ", 100) + "\xff", "text/html; charset=utf-8", strings.Repeat("déjà vu ", 100) + "\uFFFD", "utf-8"},
		{"utf-8 cut at the end", "déj\xc3", "", "déj\uFFFD", "utf-8"},
		{"unknown label", "é", "text/html; charset=klingon", "é", "utf-8"},
		{"guess cyrillic", encode(t, charmap.Windows1251, russian), "text/plain", russian, "windows-1251"},
		{"guess japanese", encode(t, japanese.ShiftJIS, japan), "text/plain", japan, "shift_jis"},
		{"too short to guess", "\xcf\xf0", "", "Ïð", "windows-1252"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, name, err := content.Decode([]byte(tt.body), tt.contentType)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want || name != tt.charset {
				t.Errorf("Decode = %.60q in %s, want %.60q in %s", got, name, tt.want, tt.charset)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"", "\xff\xfe\x00", "<meta charset=utf-7>+", "\x00\x00\xfe\xff\x00", `<?xml encoding='`} {
		f.Add([]byte(s), "text/html; charset=gb18030")
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		content.Sniff(body, contentType)
		content.Describe(body, contentType)
		got, name, err := content.Decode(body, contentType)
		if err == nil && !utf8.Valid(got) {
			t.Errorf("Decode in %s gave %q, which is not UTF-8", name, got)
		}
	})
}

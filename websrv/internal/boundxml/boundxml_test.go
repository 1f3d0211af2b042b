package boundxml_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/websrv/internal/boundxml"
)

// TestNewDecoder reads what strict readers refuse, and refuses only tags that are too long.
func TestNewDecoder(t *testing.T) {
	long := strings.Repeat("x", boundxml.MaxTagBytes)
	for _, c := range []struct {
		name, xml, text string
		err             error
	}{
		{"entities", "<a>&eacute;&lt;</a>", "é<", nil},
		{"a foreign charset's declaration", `<?xml version="1.0" encoding="utf-16"?><a>é</a>`, "é", nil},
		{"a long text", "<a>" + long + "</a>", long, nil},
		{"a long comment", "<a><!--" + long + ">" + long + "-->1</a>", "1", nil},
		{"a long CDATA section", "<a><![CDATA[<" + long + "]]></a>", "<" + long, nil},
		{"a long attribute", `<a b="` + long + `">1</a>`, "", boundxml.ErrLongTag},
		{"a tag without an end", `<a ` + long, "", boundxml.ErrLongTag},
		{"a long instruction", `<?a ` + long + `?><a/>`, "", boundxml.ErrLongTag},
	} {
		d, err := boundxml.NewDecoder([]byte(c.xml))
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", c.name, err, c.err)
		}
		if err != nil {
			continue
		}
		var text strings.Builder
		for {
			token, err := d.RawToken()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if data, ok := token.(xml.CharData); ok {
				text.Write(data)
			}
		}
		if text.String() != c.text {
			t.Errorf("%s: %.40q, want %.40q", c.name, text.String(), c.text)
		}
	}
}

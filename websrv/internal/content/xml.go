package content

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aster-mcp/aster/websrv/internal/boundxml"
)

const maxXMLDepth = 256 // of elements

// handler gets the events of an XML file. Names are local and in the file's case.
type handler interface {
	start(name string, attrs []xml.Attr)
	end(name string)
	text(s string)
}

// parse reads an XML part. Broken XML ends the reading without an error once something was read: what
// stands before the break is kept. The error is ErrMalformed or ErrTooLarge.
func (c *conversion) parse(data []byte, h handler) error {
	u, _, err := Decode(data, "application/xml")
	if err != nil {
		return err
	}
	d, err := boundxml.NewDecoder(u)
	if err != nil {
		return fmt.Errorf("%w: %v", ErrTooLarge, err)
	}
	open := make([]string, 0, 32)
	for n := 0; ; n++ {
		if n&0xff == 0 && c.stop() {
			return nil
		}
		t, err := d.RawToken()
		if err != nil {
			for i := len(open) - 1; i >= 0; i-- {
				h.end(open[i])
			}
			if n == 0 && !errors.Is(err, io.EOF) {
				return fmt.Errorf("%w: %v", ErrMalformed, err)
			}
			if !errors.Is(err, io.EOF) || len(open) > 0 {
				c.note("A part of the document is broken; what follows the break is missing.")
			}
			return nil
		}
		switch t := t.(type) {
		case xml.StartElement:
			if len(open) == maxXMLDepth {
				return fmt.Errorf("%w: elements nested more than %d deep", ErrTooLarge, maxXMLDepth)
			}
			open = append(open, t.Name.Local)
			h.start(t.Name.Local, t.Attr)
		case xml.EndElement:
			if open = closeElement(open, t.Name.Local, h); len(open) == 0 {
				return nil // what follows the root is nothing
			}
		case xml.CharData:
			h.text(string(t))
		}
	}
}

// closeElement ends an element and those that were left open in it. An end without a start is no event.
func closeElement(open []string, name string, h handler) []string {
	at := len(open) - 1
	for at >= 0 && open[at] != name {
		at--
	}
	if at < 0 {
		return open
	}
	for i := len(open) - 1; i >= at; i-- {
		h.end(open[i])
	}
	return open[:at]
}

// attr is the value of an attribute by its local name, "" if there is none.
func attr(attrs []xml.Attr, name string) string {
	for _, a := range attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// relID is the value of the attribute id of the relationships namespace, by its usual prefix.
func relID(attrs []xml.Attr) string {
	for _, a := range attrs {
		if a.Name.Local == "id" && (a.Name.Space == "r" || strings.HasPrefix(a.Name.Space, "r") || strings.Contains(a.Name.Space, "relationships")) {
			return a.Value
		}
	}
	return ""
}

// values reads the text of the elements named in want, by local name; of several the first is kept.
type values struct {
	want map[string]string // filled in
	in   string
	buf  strings.Builder
}

func newValues(names ...string) *values {
	v := &values{want: map[string]string{}}
	for _, n := range names {
		v.want[n] = ""
	}
	return v
}

func (v *values) start(name string, _ []xml.Attr) {
	if _, ok := v.want[name]; ok {
		v.in = name
		v.buf.Reset()
	}
}

func (v *values) end(name string) {
	if name == v.in {
		if v.want[name] == "" {
			v.want[name] = clip(strings.Join(strings.Fields(v.buf.String()), " "), maxTitle)
		}
		v.in = ""
	}
}

func (v *values) text(s string) {
	if v.in != "" && v.buf.Len() < 4*maxTitle {
		v.buf.WriteString(s)
	}
}

// Package boundxml reads the XML of strangers: lenient about its faults, and with a bound on
// its tags.
package boundxml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
)

// MaxTagBytes is the most that a tag may have, its attributes included.
const MaxTagBytes = 64 << 10

// ErrLongTag says that a tag has more than MaxTagBytes.
var ErrLongTag = errors.New("an XML tag of more than 65536 bytes")

// NewDecoder returns a decoder of b, which is UTF-8 whatever its declaration says. It knows
// the entities of HTML and takes tags that are not closed. The error is ErrLongTag: the
// decoder itself has no bound on attributes, which alone could fill the memory.
func NewDecoder(b []byte) (*xml.Decoder, error) {
	if LongTag(b) {
		return nil, ErrLongTag
	}
	d := xml.NewDecoder(bytes.NewReader(b))
	d.Strict, d.Entity = false, xml.HTMLEntity
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	return d, nil
}

// LongTag reports whether b has a tag of more than MaxTagBytes, for other readers of XML.
func LongTag(b []byte) bool {
	for {
		i := bytes.IndexByte(b, '<')
		if i < 0 {
			return false
		}
		b = b[i:]
		end := []byte(">")
		switch {
		case bytes.HasPrefix(b, []byte("<!--")):
			end = []byte("-->")
		case bytes.HasPrefix(b, []byte("<![CDATA[")):
			end = []byte("]]>")
		}
		n := bytes.Index(b, end)
		if len(end) == 1 && (n > MaxTagBytes || n < 0 && len(b) > MaxTagBytes) {
			return true
		}
		if n < 0 {
			return false
		}
		b = b[n+len(end):]
	}
}

package content

import (
	"bytes"
	"fmt"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

const (
	// metaBytes is where HTML may declare its encoding (HTML standard, prescan).
	metaBytes = 1024
	// brokenShare is how many bytes per broken UTF-8 sequence make a declared UTF-8 unbelievable.
	brokenShare = 200
)

// Decode returns body as UTF-8 without byte order mark, and the name of the encoding it was in.
//
// The encoding is the first that speaks: the byte order mark, the charset of contentType, the meta element in
// the first 1,024 bytes or the XML declaration, the bytes themselves if they are valid UTF-8, a guess
// over at least 512 bytes, windows-1252. A declared UTF-8 that validates is never doubted. Broken
// sequences become U+FFFD. The error is for an encoder that gives up, which none is known to do.
func Decode(body []byte, contentType string) (utf8Body []byte, charsetName string, err error) {
	name, enc := encodingOf(body, contentType)
	if enc == nil {
		return bytes.ToValidUTF8(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), []byte("\uFFFD")), "utf-8", nil
	}
	out, err := enc.NewDecoder().Bytes(body)
	if err != nil {
		return nil, name, fmt.Errorf("decode %s: %w", name, err)
	}
	out = bytes.TrimPrefix(out, []byte("\xef\xbb\xbf"))
	return bytes.ToValidUTF8(out, []byte("\uFFFD")), name, nil
}

// encodingOf picks the encoding; nil is UTF-8.
func encodingOf(body []byte, contentType string) (string, encoding.Encoding) {
	switch order := utf32Order(body); order {
	case 'l':
		return "utf-32le", utf32.UTF32(utf32.LittleEndian, utf32.UseBOM)
	case 'b':
		return "utf-32be", utf32.UTF32(utf32.BigEndian, utf32.UseBOM)
	}
	if bytes.HasPrefix(body, []byte("\xef\xbb\xbf")) {
		return "utf-8", nil
	}
	switch utf16Order(body) {
	case 'l':
		return "utf-16le", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case 'b':
		return "utf-16be", unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	}
	for _, label := range []string{headerCharset(contentType), metaCharset(body, contentType), xmlCharset(body)} {
		if label == "" {
			continue
		}
		enc, name := charset.Lookup(label)
		if enc == nil || name == "replacement" || strings.HasPrefix(name, "utf-16") {
			continue // unknown, or a declaration that these bytes disprove
		}
		if name != "utf-8" {
			return name, enc
		}
		if believable(body) {
			return name, nil
		}
	}
	if believable(body) {
		return "utf-8", nil
	}
	return guess(body)
}

// believable reports whether body is UTF-8 but for a few broken sequences in a long text.
func believable(body []byte) bool {
	if utf8.Valid(body) {
		return true
	}
	broken, wide := 0, 0
	for i := 0; i < len(body); {
		if body[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(body[i:])
		if r == utf8.RuneError && n == 1 {
			if len(body)-i < utf8.UTFMax && !utf8.FullRune(body[i:]) {
				break // a rune that the end of the body cuts
			}
			broken++
		} else {
			wide++
		}
		i += n
	}
	return broken == 0 || wide > broken && broken*brokenShare < len(body)
}

func headerCharset(contentType string) string {
	if _, p, err := mime.ParseMediaType(contentType); err == nil {
		return p["charset"]
	}
	if _, c, ok := strings.Cut(strings.ToLower(contentType), "charset="); ok {
		c, _, _ = strings.Cut(c, ";")
		return strings.Trim(c, " \"'\t")
	}
	return ""
}

// metaCharset is what the meta element of a document says; only markup has one.
func metaCharset(body []byte, contentType string) string {
	h := head(body, metaBytes)
	if m := mediaType(contentType); m != "" && m != "text/html" && !strings.Contains(m, "xml") || !bytes.Contains(h, []byte("<")) {
		return ""
	}
	s := strings.ToLower(string(h))
	for {
		_, rest, ok := strings.Cut(s, "<meta")
		if !ok {
			return ""
		}
		attrs, after, _ := strings.Cut(rest, ">")
		if _, v, ok := strings.Cut(attrs, "charset"); ok {
			v = strings.TrimLeft(v, " \t\r\n\f")
			if strings.HasPrefix(v, "=") {
				v = strings.TrimLeft(v[1:], " \t\r\n\f\"'")
				if i := strings.IndexAny(v, " \t\r\n\f\"';/"); i >= 0 {
					v = v[:i]
				}
				return v
			}
		}
		s = after
	}
}

// xmlCharset is the encoding of an XML declaration.
func xmlCharset(body []byte) string {
	h := bytes.TrimLeft(head(body, 256), " \t\r\n")
	if !bytes.HasPrefix(h, []byte("<?xml")) {
		return ""
	}
	decl, _, ok := strings.Cut(string(h), "?>")
	if !ok {
		return ""
	}
	_, v, ok := strings.Cut(decl, "encoding")
	if !ok {
		return ""
	}
	v = strings.TrimLeft(v, " \t\r\n=")
	if v == "" || v[0] != '"' && v[0] != '\'' {
		return ""
	}
	v, _, _ = strings.Cut(v[1:], v[:1])
	return v
}

// utf16Order is 'l' or 'b' for UTF-16 by its byte order mark or by the zero bytes of Latin text, else 0.
func utf16Order(b []byte) byte {
	switch {
	case bytes.HasPrefix(b, []byte("\xff\xfe")):
		return 'l'
	case bytes.HasPrefix(b, []byte("\xfe\xff")):
		return 'b'
	}
	h := head(b, 64)
	if len(h) < 4 {
		return 0
	}
	even, odd, n := 0, 0, len(h)/2
	for i := 0; i+1 < len(h); i += 2 {
		if h[i] == 0 {
			even++
		}
		if h[i+1] == 0 {
			odd++
		}
	}
	switch {
	case odd*10 >= n*9 && even == 0:
		return 'l'
	case even*10 >= n*9 && odd == 0:
		return 'b'
	}
	return 0
}

func utf32Order(b []byte) byte {
	switch {
	case bytes.HasPrefix(b, []byte("\xff\xfe\x00\x00")):
		return 'l'
	case bytes.HasPrefix(b, []byte("\x00\x00\xfe\xff")):
		return 'b'
	}
	return 0
}

package chat

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// Bounds on one result.
const (
	maxContents  = 1000     // parts read; the number of others is named
	maxImages    = 20       // images passed on; others are named
	maxDataBytes = 64 << 20 // of one image or sound, as base64
	maxName      = 200      // characters of a name, type or address that is shown
)

// A reader collects text and images from one result.
type reader struct {
	o      *Options
	lines  []string
	texts  int // lines that are the tool's own text
	images []Part
	left   int    // pixels that may still be decoded
	said   string // the last line by say, which stands times times
	times  int
}

// A content is one part of an MCP result, of any type.
type content struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Data     string `json:"data"`
	MIMEType string `json:"mimeType"`
	URI      string `json:"uri"`
	Name     string `json:"name"`
	Title    string `json:"title"`
	Resource *struct {
		URI      string `json:"uri"`
		MIMEType string `json:"mimeType"`
		Text     string `json:"text"`
		Blob     string `json:"blob"`
	} `json:"resource"`
}

// result reads an MCP result, or any other JSON as text.
func (r *reader) result(raw json.RawMessage) {
	var res struct {
		Content           []json.RawMessage `json:"content"`
		StructuredContent json.RawMessage   `json:"structuredContent"`
		IsError           bool              `json:"isError"`
	}
	err := json.Unmarshal(raw, &res)
	if err != nil || res.Content == nil && res.StructuredContent == nil {
		r.anything(raw)
		return
	}
	if res.IsError {
		r.lines = append(r.lines, "[the tool reports an error]")
	}
	for i, part := range res.Content {
		if i == maxContents {
			r.say("[%d more parts left out]", len(res.Content)-i)
			break
		}
		var c content
		if json.Unmarshal(part, &c) != nil {
			r.say("[a part that cannot be read]")
			continue
		}
		r.part(&c)
	}
	if s := res.StructuredContent; r.texts == 0 && len(s) > 0 && string(s) != "null" {
		r.anything(s)
	}
}

// anything adds JSON as text: a string as what it says.
func (r *reader) anything(raw json.RawMessage) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		r.text(s)
		return
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		r.say("[a result that is not JSON]")
		return
	}
	r.text(compact.String())
}

func (r *reader) text(s string) {
	r.lines, r.said = append(r.lines, s), ""
	r.texts++
}

// say adds a line about what is not shown; a line that repeats itself is counted.
func (r *reader) say(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if n := len(r.lines); n > 0 && line == r.said {
		r.times++
		r.lines[n-1] = fmt.Sprintf("%s × %d", line, r.times)
		return
	}
	r.lines, r.said, r.times = append(r.lines, line), line, 1
}

func (r *reader) part(c *content) {
	switch c.Type {
	case "text":
		r.text(c.Text)
	case "image":
		r.image(c.Data, c.MIMEType, "image")
	case "audio":
		r.say("[%s, %d kB of sound, left out]", orElse(name(c.MIMEType), "audio"), len(c.Data)*3/4/1000)
	case "resource_link":
		r.say("[link to %s: %s%s]", orElse(name(c.Title), name(c.Name), "a resource"), name(c.URI), kind(c.MIMEType))
	case "resource":
		r.resource(c)
	default:
		r.say("[content of type %q left out]", name(c.Type))
	}
}

func (r *reader) resource(c *content) {
	res := c.Resource
	switch {
	case res == nil:
		r.say("[an embedded resource without content]")
	case res.Blob != "" && strings.HasPrefix(res.MIMEType, "image/"):
		r.image(res.Blob, res.MIMEType, name(res.URI))
	case res.Blob != "":
		r.say("[embedded resource %s%s, %d kB, left out]", name(res.URI), kind(res.MIMEType), len(res.Blob)*3/4/1000)
	default:
		r.say("[embedded resource %s%s]", name(res.URI), kind(res.MIMEType))
		r.text(res.Text)
	}
}

// image adds an image, or says why it cannot be shown.
func (r *reader) image(data, mime, what string) {
	if r.o.NoImages {
		r.lines, r.said = append(r.lines, Omitted), ""
		return
	}
	label := orElse(name(mime), "image")
	switch {
	case len(r.images) == maxImages:
		r.say("[%s left out: more than %d images]", label, maxImages)
		return
	case len(data) > maxDataBytes:
		r.say("[%s left out: over %d MiB]", label, maxDataBytes>>20)
		return
	}
	if i := strings.Index(data[:min(len(data), maxName)], ";base64,"); i > 0 && strings.HasPrefix(data, "data:") {
		data = data[i+len(";base64,"):] // some servers send a whole data: URL
	}
	raw, err := decodeBase64(data)
	if err != nil {
		r.say("[%s left out: its data is not base64]", label)
		return
	}
	img, err := reencode(raw, &r.o.Limits, &r.left)
	if err != nil {
		r.say("[%s of %d kB left out: %v]", label, len(raw)/1000, err)
		return
	}
	r.images = append(r.images, Part{ImageURL: "data:" + img.mime + ";base64," + base64.StdEncoding.EncodeToString(img.data)})
	r.say("[%s %d: %d×%d, in the next message]", what, len(r.images), img.width, img.height)
}

// decodeBase64 takes the standard and the URL alphabet, with or without padding
// and white space: servers send them all.
func decodeBase64(s string) ([]byte, error) {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '-':
			return '+'
		case r == '_':
			return '/'
		case r == '=' || unicode.IsSpace(r):
			return -1
		}
		return r
	}, s)
	return base64.RawStdEncoding.DecodeString(s)
}

func kind(mime string) string {
	if mime = name(mime); mime == "" {
		return ""
	}
	return " (" + mime + ")"
}

// name is a stranger's short text on one line, without what cannot be seen.
func name(s string) string {
	n := 0
	s = strings.Map(func(r rune) rune {
		if n++; n > maxName || !unicode.IsGraphic(r) || unicode.IsSpace(r) && r != ' ' {
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}

func orElse(choices ...string) string {
	for _, s := range choices {
		if s != "" {
			return s
		}
	}
	return ""
}

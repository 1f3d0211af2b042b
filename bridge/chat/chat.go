package chat

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Omitted stands where an image would be for a model that takes none.
const Omitted = "[image content omitted]"

// Defaults of Options.
const (
	DefaultMaxTokens  = 25_000   // of one result's text
	DefaultLongEdge   = 2048     // pixels
	DefaultImageBytes = 10 << 20 // of one encoded image
)

// A Call is one answered tool call.
type Call struct {
	ID     string          // tool_call_id
	Tool   string          // whose result it is; names the images' source
	Result json.RawMessage // an MCP CallToolResult or any JSON; may be nil
	Text   string          // the answer where there is no Result
	Note   string          // goes after the answer
}

// Limits bound what reaches the model. Zero fields mean the defaults.
type Limits struct {
	MaxTokens  int // of one result's text, the mark of a cut included
	LongEdge   int // of an image, in pixels
	ImageBytes int // of an image as encoded, before base64
}

// Options of Messages; nil means all zero.
type Options struct {
	Limits Limits
	// NoImages says that the model takes no images.
	NoImages bool
	// CountTokens measures text; nil counts one token for two characters, which
	// no usual text exceeds by much.
	CountTokens func(string) int
	// Pages keeps the rest of what is cut; nil means it is lost, and the mark
	// says so.
	Pages *Pages
}

// A Message is one message of a chat request. Tool messages have Text, user
// messages Parts.
type Message struct {
	Role       string // "tool" or "user"
	ToolCallID string // of a tool message
	Text       string
	Parts      []Part
}

// A Part is a piece of a user message: text or an image.
type Part struct {
	Text     string // where there is no image
	ImageURL string // a data: URL
}

// MarshalJSON writes the shape that OpenAI-compatible endpoints take.
func (m Message) MarshalJSON() ([]byte, error) {
	type image struct {
		URL string `json:"url"`
	}
	type part struct {
		Type     string `json:"type"`
		Text     string `json:"text,omitempty"`
		ImageURL *image `json:"image_url,omitempty"`
	}
	out := struct {
		Role       string `json:"role"`
		ToolCallID string `json:"tool_call_id,omitempty"`
		Content    any    `json:"content"`
	}{m.Role, m.ToolCallID, m.Text}
	if m.Parts != nil {
		parts := make([]part, len(m.Parts))
		for i, p := range m.Parts {
			parts[i] = part{Type: "text", Text: p.Text}
			if p.ImageURL != "" {
				parts[i] = part{Type: "image_url", ImageURL: &image{p.ImageURL}}
			}
		}
		out.Content = parts
	}
	return json.Marshal(out)
}

// Messages turns the answers of one assistant turn into messages: a tool
// message for each call, in order, then one user message with all images, if
// there are any. It never fails; what cannot be shown is named in the text.
// opts may be nil.
func Messages(calls []Call, opts *Options) []Message {
	o := withDefaults(opts)
	var out []Message
	var parts []Part
	for i := range calls {
		text, images := o.convert(&calls[i])
		out = append(out, Message{Role: "tool", ToolCallID: calls[i].ID, Text: text})
		if len(images) > 0 {
			parts = append(parts, Part{Text: source(calls[i].Tool, len(images))})
			parts = append(parts, images...)
		}
	}
	if len(parts) > 0 {
		out = append(out, Message{Role: "user", Parts: parts})
	}
	return out
}

// source introduces the images of one call.
func source(tool string, n int) string {
	if tool = name(tool); tool == "" {
		tool = "the tool"
	}
	if n == 1 {
		return fmt.Sprintf("[image from %s]", tool)
	}
	return fmt.Sprintf("[%d images from %s]", n, tool)
}

func withDefaults(opts *Options) *Options {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Limits.MaxTokens <= 0 {
		o.Limits.MaxTokens = DefaultMaxTokens
	}
	if o.Limits.LongEdge <= 0 {
		o.Limits.LongEdge = DefaultLongEdge
	}
	if o.Limits.ImageBytes <= 0 {
		o.Limits.ImageBytes = DefaultImageBytes
	}
	if o.CountTokens == nil {
		o.CountTokens = func(s string) int { return (utf8.RuneCountInString(s) + 1) / 2 }
	}
	return &o
}

// convert turns one answer into text and images.
func (o *Options) convert(c *Call) (string, []Part) {
	text, images := c.Text, []Part(nil)
	if len(c.Result) > 0 {
		r := reader{o: o, left: maxDecoded}
		r.result(c.Result)
		if text != "" {
			r.lines = append([]string{text}, r.lines...)
		}
		text, images = strings.Join(r.lines, "\n"), r.images
	}
	if text == "" {
		text = "(no content)"
	}
	text = o.cut(text)
	if c.Note != "" {
		text += "\n" + c.Note
	}
	return text, images
}

// cut brings text down to the limit, its mark included, and keeps the rest. A
// page that was read from o.Pages is left as it is.
func (o *Options) cut(text string) string {
	if o.CountTokens(text) <= o.Limits.MaxTokens || o.Pages.made(text) {
		return text
	}
	n := o.fit(text)
	switch {
	case n == len(text):
		return text
	case o.Pages != nil:
		return o.Pages.first(text, o.fit)
	}
	return text[:n] + fmt.Sprintf("\n[cut: %d of %d bytes shown; the rest is not kept]", n, len(text))
}

// fit returns how many bytes of s make a page that is within the limit together
// with its mark.
func (o *Options) fit(s string) int {
	max := o.Limits.MaxTokens
	n := fitting(s, max-o.CountTokens(longestMark), o.CountTokens)
	if n < len(s) && len(s) <= 2*n && o.CountTokens(s) <= max {
		return len(s) // a last page has no mark
	}
	return n
}

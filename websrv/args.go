package websrv

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// invalidf makes the error of a wrong argument.
func invalidf(format string, args ...any) error { return failf(ErrInvalid, format, args...) }

// decodeArgs decodes a tool's arguments; what does not belong is named.
func decodeArgs(tool string, raw json.RawMessage, into any) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	var args map[string]json.RawMessage
	if err := json.Unmarshal(raw, &args); err != nil {
		what := "they are not valid JSON"
		if json.Valid(raw) {
			what = "they are " + describeJSON(string(raw), jsonType(string(raw)))
		}
		return invalidf("arguments of %s: %s; give an object such as {%s}", tool, what, argExample(tool))
	}
	if err := checkTypes(tool, args); err != nil {
		return err
	}
	checked, err := json.Marshal(args)
	if err == nil {
		err = json.Unmarshal(checked, into)
	}
	if err != nil { // nothing comes here as long as schemas and arguments agree
		return invalidf("arguments of %s: they do not fit its schema", tool)
	}
	return nil
}

// argExample is the least arguments of a tool.
func argExample(tool string) string {
	if tool == toolSearch {
		return `"query": "oil lamps"`
	}
	return `"url": "https://example.com"`
}

// intRange checks an argument; 0 is its default.
func intRange(name string, v *int, byDefault, least, most int) error {
	if *v == 0 {
		*v = byDefault
	}
	if *v < least || *v > most {
		return invalidf("%s %d: it must be from %d to %d", name, *v, least, most)
	}
	return nil
}

// maxURL bounds an address in an argument, in bytes.
const maxURL = 4_096

// address checks an address in an argument. One without a scheme gets https.
func address(name, raw string) (string, error) {
	s := strings.TrimSpace(raw)
	if s == "" {
		return "", invalidf("%s: give an address such as \"https://example.com\"", name)
	}
	if len(s) > maxURL {
		return "", invalidf("%s: %d bytes are too long, the most is %d", name, len(s), maxURL)
	}
	if !strings.Contains(s, "://") {
		if scheme, _, ok := strings.Cut(s, ":"); ok && !strings.Contains(scheme, ".") && !strings.HasPrefix(s, "localhost:") {
			return "", invalidf("%s %q: only http and https can be read", name, plain(s, 60))
		}
		s = "https://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Hostname() == "" {
		return "", invalidf("%s %q is not an address", name, plain(s, 60))
	}
	if u.Scheme = strings.ToLower(u.Scheme); u.Scheme != "http" && u.Scheme != "https" {
		return "", invalidf("%s %q: only http and https can be read", name, plain(s, 60))
	}
	u.User = nil // never sent, never shown
	return u.String(), nil
}

// budget is the length of a reply, in tokens.
func (s *Server) budget(asked int) (int, error) {
	if asked == 0 {
		return s.opts.MaxTokens, nil
	}
	if asked < MinMaxTokens || asked > TopMaxTokens {
		return 0, invalidf("maxTokens %d: it must be from %d to %d", asked, MinMaxTokens, TopMaxTokens)
	}
	return asked, nil
}

// stringList bounds a list of strings in an argument.
func stringList(name string, list []string, most, length int) error {
	if len(list) > most {
		return invalidf("%s: %d are too many, the most is %d", name, len(list), most)
	}
	for _, s := range list {
		if s == "" || len(s) > length {
			return invalidf("%s: an entry must have from 1 to %d bytes", name, length)
		}
	}
	return nil
}

// choice checks an argument with a fixed set of values, the first of which is the default.
func choice(name string, value *string, allowed ...string) error {
	if *value == "" {
		*value = allowed[0]
	}
	for _, a := range allowed {
		if *value == a {
			return nil
		}
	}
	return invalidf("%s %q: choose one of %s", name, plain(*value, 40), strings.Join(allowed, ", "))
}

// Reply is the answer of a tool.
type Reply struct {
	// Blocks are its text blocks. What strangers wrote stands between boundaries, unless
	// [CallOptions] asked for plain text.
	Blocks []string
	// Structured is its structured part, which the tool's output schema describes.
	Structured any
	// Image is a picture, if the tool took one, and ImageType its media type.
	Image     []byte
	ImageType string
	// Notes are what a person should know beside the text, such as pages that failed; with
	// plain text only, where the blocks leave them out.
	Notes []string
	// Incomplete says that a part of what was asked for failed.
	Incomplete bool
}

// Text is the blocks with an empty line between.
func (r *Reply) Text() string { return strings.Join(r.Blocks, "\n\n") }

// tokens estimates the length of a reply: its text and its structured part.
func (r *Reply) tokens() int {
	n := 0
	for _, b := range r.Blocks {
		n += estimateTokens(b) + 1
	}
	return n + structuredTokens(r.Structured)
}

func structuredTokens(v any) int {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("structured part: %v", err)) // a type of ours that cannot be encoded
	}
	return estimateTokens(string(raw))
}

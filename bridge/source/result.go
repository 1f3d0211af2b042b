package source

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// maxForeignBlock bounds what is shown of a content block of an unknown type.
const maxForeignBlock = 2000

// standInCall stands for a result of tools/call that the SDK may not be able to decode.
// Results that are no object are left to the SDK.
func standInCall(result json.RawMessage) []byte {
	var r map[string]json.RawMessage
	if json.Unmarshal(result, &r) != nil || r == nil {
		return nil
	}
	return emptyResults[methodCallTool]
}

// A member is one name and value of an object, in its order.
type member struct {
	key   string
	value json.RawMessage
}

// members reads an object, in order. Of equal names all are returned.
func members(raw json.RawMessage) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("not an object")
	}
	var out []member
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		var m member
		m.key, _ = t.(string)
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

func object(ms []member) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range ms {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(plain(m.key))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// plain encodes a value without escaping <, > and &.
func plain(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// cleanResult makes a result of tools/call one that every MCP client can
// decode, and changes nothing else: members, order and numbers stay. Base64 in
// the URL alphabet, with spaces or without padding is put right. A block that
// cannot be read becomes a text that says so.
func cleanResult(raw json.RawMessage) json.RawMessage {
	ms, err := members(bytes.ToValidUTF8(raw, []byte("\uFFFD")))
	if err != nil {
		return errorResult("the server's result is not an object: " + oneLine(string(raw), maxDetail))
	}
	out := make([]member, 0, len(ms)+1)
	seen := map[string]int{}
	for _, m := range ms {
		switch m.key {
		case "content":
			m.value = cleanContent(m.value)
		case "isError":
			var b bool
			if json.Unmarshal(m.value, &b) != nil {
				m.value = json.RawMessage("true") // it said something of an error
			}
		case "_meta":
			if m.value[0] != '{' {
				continue
			}
		case "resultType", "inputRequests", "requestState":
			continue // settled between the server and this client
		}
		if i, twice := seen[m.key]; twice {
			out[i] = m // as decoders do, the last one counts
			continue
		}
		seen[m.key] = len(out)
		out = append(out, m)
	}
	if _, ok := seen["content"]; !ok {
		out = append(out, member{"content", json.RawMessage("[]")})
	}
	var b bytes.Buffer
	if json.Compact(&b, object(out)) != nil {
		return errorResult("the server's result cannot be read")
	}
	return b.Bytes()
}

// errorResult is a result that says what is wrong with the server's.
func errorResult(text string) json.RawMessage {
	return object([]member{{"content", plain([]json.RawMessage{textBlock(text)})}, {"isError", json.RawMessage("true")}})
}

func textBlock(text string) json.RawMessage {
	return object([]member{{"type", json.RawMessage(`"text"`)}, {"text", plain(text)}})
}

func cleanContent(raw json.RawMessage) json.RawMessage {
	var blocks []json.RawMessage
	if json.Unmarshal(raw, &blocks) != nil {
		blocks = []json.RawMessage{raw} // a single block without the list
	}
	if len(blocks) == 0 {
		return json.RawMessage("[]")
	}
	for i, b := range blocks {
		blocks[i] = cleanBlock(b)
	}
	return plain(blocks)
}

// A block is what is looked at of a content block.
type block struct {
	Type     string  `json:"type"`
	Text     *string `json:"text"`
	Data     *string `json:"data"`
	MIME     string  `json:"mimeType"`
	URI      *string `json:"uri"`
	Name     string  `json:"name"`
	Resource *struct {
		URI  string  `json:"uri"`
		MIME string  `json:"mimeType"`
		Text *string `json:"text"`
		Blob *string `json:"blob"`
	} `json:"resource"`
}

func cleanBlock(raw json.RawMessage) json.RawMessage {
	var b block
	if err := json.Unmarshal(raw, &b); err != nil {
		return unreadable(raw, "a content block of the wrong shape")
	}
	switch b.Type {
	case "text":
		if b.Text == nil {
			return unreadable(raw, "a text block without text")
		}
	case "image", "audio":
		fixed, ok := base64Of(b.Data)
		if !ok {
			return unreadable(nil, fmt.Sprintf("%s (%s) whose data is not base64", b.Type, oneLine(b.MIME, maxShownName)))
		}
		return replaced(raw, "data", *b.Data, fixed)
	case "resource":
		if b.Resource == nil {
			return unreadable(raw, "a resource block without a resource")
		}
		if b.Resource.Blob == nil {
			return raw
		}
		fixed, ok := base64Of(b.Resource.Blob)
		if !ok {
			return unreadable(nil, fmt.Sprintf("resource %s whose blob is not base64", oneLine(b.Resource.URI, maxDetail)))
		}
		if fixed == *b.Resource.Blob {
			return raw
		}
		ms, err := members(raw)
		if err != nil {
			return unreadable(nil, "a resource block of the wrong shape")
		}
		for i := range ms {
			if ms[i].key == "resource" {
				ms[i].value = replaced(ms[i].value, "blob", *b.Resource.Blob, fixed)
			}
		}
		return object(ms)
	case "resource_link":
		if b.URI == nil {
			return unreadable(raw, "a resource link without uri")
		}
	default:
		return unreadable(raw, fmt.Sprintf("content of the unknown type %q", oneLine(b.Type, maxShownName)))
	}
	return raw
}

// replaced puts a string in place of another in one member of an object.
func replaced(raw json.RawMessage, key, old, with string) json.RawMessage {
	if old == with {
		return raw
	}
	ms, err := members(raw)
	if err != nil {
		return raw
	}
	for i := range ms {
		if ms[i].key == key {
			ms[i].value = plain(with)
		}
	}
	return object(ms)
}

// unreadable is the text that stands for a block, with the block if it is given.
func unreadable(raw json.RawMessage, what string) json.RawMessage {
	text := "[left out: " + what + "]"
	if len(raw) > 0 {
		shown := string(raw[:min(len(raw), maxForeignBlock)])
		if len(raw) > maxForeignBlock {
			shown = strings.ToValidUTF8(shown, "") + "…"
		}
		text = "[" + what + "] " + shown
	}
	return textBlock(text)
}

// base64Of returns base64 as decoders want it: standard alphabet, padding, no spaces.
func base64Of(data *string) (string, bool) {
	if data == nil {
		return "", false
	}
	if validBase64(*data) {
		return *data, true
	}
	s := strings.Map(func(r rune) rune {
		switch r {
		case ' ', '\t', '\n', '\r', '=':
			return -1
		case '-':
			return '+'
		case '_':
			return '/'
		}
		return r
	}, *data)
	if n := len(s) % 4; n > 0 {
		s += "===="[n:]
	}
	return s, validBase64(s)
}

// validBase64 checks without decoding into memory, which a 30 MB image would fill twice.
func validBase64(s string) bool {
	if strings.ContainsAny(s, "\r\n") {
		return false // decoders skip these, encoders of other languages do not expect them
	}
	var buf [3 * 1024]byte
	for len(s) > 0 {
		n := min(len(s), 4*1024)
		if _, err := base64.StdEncoding.Decode(buf[:], []byte(s[:n])); err != nil {
			return false
		}
		if n < len(s) && s[n-1] == '=' {
			return false // padding in the middle
		}
		s = s[n:]
	}
	return true
}

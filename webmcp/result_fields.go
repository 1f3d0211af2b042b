package webmcp

import (
	"encoding/base64"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// readMeta takes over a _meta object without the keys that are not a page's to
// set: MCP's own and aster's.
func (d *draft) readMeta(raw json.RawMessage) (mcp.Meta, string) {
	if raw[0] != '{' {
		return nil, "it is not an object"
	}
	if d.extra += len(raw); d.extra > maxExtraBytes {
		return nil, "there is too much of it"
	}
	raw = cleanJSON(raw)
	if raw == nil {
		return nil, "it is nested too deep or has a number beyond a double"
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, "it cannot be read"
	}
	meta := mcp.Meta{}
	for k, v := range members {
		if !reservedMeta(k) {
			meta[k] = v
		}
	}
	if len(meta) == 0 {
		return nil, ""
	}
	return meta, ""
}

// reservedMeta reports whether a key of _meta has a prefix that MCP keeps for
// itself (any with a label mcp or modelcontextprotocol), or that is aster's.
func reservedMeta(key string) bool {
	prefix, _, ok := strings.Cut(key, "/")
	if !ok {
		return false
	}
	for label := range strings.SplitSeq(strings.ToLower(prefix), ".") {
		if label == "mcp" || label == "modelcontextprotocol" || label == "aster" {
			return true
		}
	}
	return false
}

// decodeMedia decodes base64 as strictly as it has to: spaces, the alphabet for
// URLs, missing padding and the start of a data: URL are all seen. It counts
// what it decodes against the bound of the whole result.
func (d *draft) decodeMedia(s string) (data []byte, mimeType, problem string) {
	if rest, ok := strings.CutPrefix(s, "data:"); ok {
		head, body, _ := strings.Cut(rest, ",")
		head, encoded := strings.CutSuffix(head, ";base64")
		if !encoded {
			return nil, "", "is a data: URL that is not base64"
		}
		mimeType, s = head, body
	}
	if d.media+len(s) > maxMediaBytes {
		return nil, "", "has " + strconv.Itoa(len(s)) + " bytes: all images, audio and files of a result may have " + strconv.Itoa(maxMediaBytes)
	}
	plain := strings.TrimRight(strings.Map(func(r rune) rune {
		switch r {
		case ' ', '\t', '\r', '\n':
			return -1
		case '-':
			return '+'
		case '_':
			return '/'
		}
		return r
	}, s), "=")
	data, err := base64.RawStdEncoding.DecodeString(plain)
	switch {
	case err != nil:
		return nil, "", "is not base64"
	case len(data) == 0:
		return nil, "", "is empty"
	}
	d.media += base64.StdEncoding.EncodedLen(len(data))
	return data, mimeType, ""
}

// mediaType is the type of an image or of audio: what the data shows, where it
// shows one, since model APIs refuse a whole request whose image is not what it
// claims to be; else what the page says.
func mediaType(typ, claimed string, data []byte) string {
	seen, _, _ := strings.Cut(http.DetectContentType(data), ";")
	if seen == "application/ogg" && typ == "audio" {
		seen = "audio/ogg"
	}
	parsed, _, err := mime.ParseMediaType(claimed)
	proper := err == nil && strings.HasPrefix(parsed, typ+"/") && len(claimed) < maxPartNoteRunes
	switch {
	case strings.HasPrefix(seen, typ+"/") && (typ == "image" || !proper):
		return seen
	case proper:
		return claimed
	}
	return ""
}

// readAnnotations takes over what of annotations is valid.
func (d *draft) readAnnotations(raw json.RawMessage) (a *mcp.Annotations, problem string) {
	if raw[0] != '{' {
		return nil, "they are not an object"
	}
	if d.extra += len(raw); d.extra > maxExtraBytes {
		return nil, "there is too much of them"
	}
	var in struct {
		Audience     any `json:"audience"`
		LastModified any `json:"lastModified"`
		Priority     any `json:"priority"`
	}
	if json.Unmarshal(raw, &in) != nil {
		return nil, "they cannot be read"
	}
	a = &mcp.Annotations{}
	if in.Audience != nil {
		list, ok := in.Audience.([]any)
		for _, role := range list {
			switch role {
			case "user", "assistant":
				a.Audience = append(a.Audience, mcp.Role(role.(string)))
			default:
				ok = false
			}
		}
		if !ok {
			a.Audience, problem = nil, "audience is not a list of user and assistant"
		}
	}
	if in.Priority != nil {
		v, ok := in.Priority.(float64)
		if ok && v >= 0 && v <= 1 {
			a.Priority = v
		} else {
			problem = "priority is not a number from 0 to 1"
		}
	}
	if in.LastModified != nil {
		s, ok := in.LastModified.(string)
		if _, err := time.Parse(time.RFC3339, s); ok && err == nil {
			a.LastModified = s
		} else {
			problem = "lastModified is not a time as in RFC 3339"
		}
	}
	return a, problem
}

// readIcons takes over icons if all are well formed.
func (d *draft) readIcons(raw json.RawMessage) ([]mcp.Icon, string) {
	if d.extra += len(raw); d.extra > maxExtraBytes {
		return nil, "they are too large"
	}
	var icons []mcp.Icon
	if json.Unmarshal(raw, &icons) != nil {
		return nil, "they are not a list of icons"
	}
	for i, icon := range icons {
		if !absoluteURI(icon.Source) {
			return nil, "the src of one is missing or not an absolute URI"
		}
		if icon.Theme != "light" && icon.Theme != "dark" {
			icons[i].Theme = ""
		}
	}
	return icons, ""
}

// absoluteURI reports whether s is a URI with a scheme, as some clients insist.
func absoluteURI(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && (u.Host != "" || u.Opaque != "" || u.Path != "")
}

// stringIn is the value of raw if it is a JSON string.
func stringIn(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return jsonText(raw), true
}

// optionalString is a member that may be absent, or says that it is no string.
func optionalString(members map[string]json.RawMessage, name string) (value, problem string) {
	raw := members[name]
	if raw == nil || string(raw) == "null" {
		return "", ""
	}
	s, ok := stringIn(raw)
	if !ok {
		return "", name + " is not a string"
	}
	return s, ""
}

package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A request is the arguments of one aster_mcp call, key by key, each value
// still as it came. Keys whose value is null, an empty string, an empty list
// or an empty object count as absent: strict modes make models fill them in.
type request map[string]string

// knownKeys are the keys that a request may have.
var knownKeys = []string{"action", "query", "queries", "server", "limit", "name", "names", "arguments", "handle"}

// parseRequest reads the arguments of aster_mcp, which must be one JSON object
// that holds no key twice, at any depth.
func parseRequest(raw []byte) (request, error) {
	if len(raw) > MaxRequestBytes {
		return nil, fmt.Errorf("the arguments are over %d MiB", MaxRequestBytes>>20)
	}
	if !utf8.Valid(raw) {
		return nil, errors.New("the arguments are not valid UTF-8")
	}
	j := jsonScanner{s: string(raw)}
	if j.peek() != '{' {
		return nil, errors.New("the arguments are not a JSON object")
	}
	req := request{}
	j.object(func(key string) {
		value := j.uniqueValue()
		if _, twice := req[key]; twice {
			j.fail(doubledKey(key))
		}
		req[key] = value
	})
	if err := j.end(); err != nil {
		return nil, fmt.Errorf("the arguments cannot be read: %w", err)
	}
	for key, value := range req {
		switch value {
		case "null", `""`, "[]":
			delete(req, key)
		}
	}
	return req, nil
}

// looseRequest reads what it can of arguments that parseRequest refused, for
// the call to suggest: of a key that stands twice it takes the first. It is
// empty where the arguments are not a JSON object.
func looseRequest(raw []byte) request {
	req := request{}
	if len(raw) > MaxRequestBytes || !utf8.Valid(raw) {
		return req
	}
	j := jsonScanner{s: string(raw)}
	j.object(func(key string) {
		j.space()
		start := j.i
		if j.skip(); j.err == nil && req[key] == "" {
			req[key] = j.s[start:j.i]
		}
	})
	if j.end() != nil {
		return request{}
	}
	return req
}

func doubledKey(key string) error {
	return fmt.Errorf("the key %q stands twice in one object", oneLine(key, maxShownName))
}

// uniqueValue returns the text of one value in which no object holds a key
// twice.
func (j *jsonScanner) uniqueValue() string {
	j.space()
	start := j.i
	if j.unique(); j.err != nil {
		return ""
	}
	return j.s[start:j.i]
}

func (j *jsonScanner) unique() {
	switch j.peek() {
	case '{':
		seen := make(map[string]bool)
		j.object(func(key string) {
			if seen[key] {
				j.fail(doubledKey(key))
			}
			seen[key] = true
			j.unique()
		})
	case '[':
		j.array(j.unique)
	default:
		j.skip()
	}
}

// text returns a string value; ok is false where it is of another kind.
func (r request) text(key string) (s string, ok bool) {
	v, present := r[key]
	if !present {
		return "", true
	}
	if v[0] != '"' || json.Unmarshal([]byte(v), &s) != nil {
		return "", false
	}
	return strings.TrimSpace(s), true
}

// texts returns a list of strings; a single string counts as a list of one.
func (r request) texts(key string) (list []string, ok bool) {
	v, present := r[key]
	if !present {
		return nil, true
	}
	if s, isText := r.text(key); isText {
		return []string{s}, true
	}
	if json.Unmarshal([]byte(v), &list) != nil {
		return nil, false
	}
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return slices.DeleteFunc(list, func(s string) bool { return s == "" }), true
}

// number returns a whole number; ok is false where it is something else.
func (r request) number(key string) (n int, ok bool) {
	v, present := r[key]
	if !present {
		return 0, true
	}
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || f != float64(int32(f)) {
		return 0, false
	}
	return int(f), true
}

// nearNumber is the whole number from 1 to max that a number, or a string that
// holds one, leads to, rounded down; ok is false where there is none.
func (r request) nearNumber(key string, max int) (n int, ok bool) {
	v := r[key]
	if s, isText := r.text(key); isText {
		v = s
	}
	f, err := strconv.ParseFloat(v, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || f != f {
		return 0, false
	}
	switch {
	case f < 1:
		return 1, true
	case f > float64(max):
		return max, true
	}
	return int(f), true
}

// object returns the tool arguments: an object, or a string that holds one.
func (r request) object(key string) (json.RawMessage, error) {
	v := r[key]
	if strings.HasPrefix(v, `"`) {
		var s string
		if err := json.Unmarshal([]byte(v), &s); err != nil {
			return nil, errJSONSyntax
		}
		if s = strings.TrimSpace(s); s == "" {
			s = "{}"
		}
		v = s
	}
	j := jsonScanner{s: v}
	if j.peek() != '{' {
		return nil, errors.New("arguments is not a JSON object")
	}
	j.unique()
	if err := j.end(); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	return reencode([]byte(v))
}

// reencode writes an object anew, so that whoever reads it next sees what was
// decided on: compact, keys sorted, numbers kept.
func reencode(raw []byte) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v map[string]any
	if err := dec.Decode(&v); err != nil {
		return nil, errJSONSyntax
	}
	return plainJSON(v), nil
}

// strays lists the keys that no request has, sorted.
func (r request) strays() []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(r)) {
		if !slices.Contains(knownKeys, key) {
			out = append(out, key)
		}
	}
	return out
}

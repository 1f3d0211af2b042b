package argcheck

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// decoder turns JSON text into values as jsonschema wants them (nil, bool,
// string, json.Number, []any, map[string]any) under limits that encoding/json
// does not have. The text must have passed validJSON.
type decoder struct {
	data      string
	pos       int
	depth     int
	values    int
	maxDepth  int
	maxValues int
	unique    bool // refuse an object that has a key twice

	// path leads to the value being read: keys as string, indexes as int.
	path []any
}

// A decodeError says why JSON is refused, and where. tooMuch tells a limit of
// ours from a fault of the text.
type decodeError struct {
	path    []any
	problem string
	tooMuch bool
}

func (e *decodeError) Error() string { return e.problem }

// validJSON reports why data is not one JSON text in UTF-8, or "".
func validJSON(data []byte) string {
	if !utf8.Valid(data) {
		return "the text is not valid UTF-8"
	}
	if json.Valid(data) {
		return ""
	}
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err.Error()
	}
	return "the text is not valid JSON"
}

func (d *decoder) decode() (any, error) {
	d.space()
	return d.value()
}

func (d *decoder) fail(tooMuch bool, format string, args ...any) error {
	path := append([]any(nil), d.path...)
	return &decodeError{path: path, problem: fmt.Sprintf(format, args...), tooMuch: tooMuch}
}

func (d *decoder) space() {
	for d.pos < len(d.data) {
		switch d.data[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

func (d *decoder) value() (any, error) {
	if d.values++; d.values > d.maxValues {
		return nil, d.fail(true, "more than %d values", d.maxValues)
	}
	switch d.data[d.pos] {
	case '{':
		return d.object()
	case '[':
		return d.array()
	case '"':
		return d.str(), nil
	case 't':
		d.pos += len("true")
		return true, nil
	case 'f':
		d.pos += len("false")
		return false, nil
	case 'n':
		d.pos += len("null")
		return nil, nil
	}
	return d.number()
}

func (d *decoder) enter() error {
	if d.depth++; d.depth > d.maxDepth {
		return d.fail(true, "nested deeper than %d levels", d.maxDepth)
	}
	d.pos++
	d.space()
	d.path = append(d.path, nil)
	return nil
}

func (d *decoder) leave() {
	d.depth--
	d.pos++
	d.path = d.path[:len(d.path)-1]
}

// next skips a comma and reports whether another element follows.
func (d *decoder) next(end byte) bool {
	d.space()
	if d.data[d.pos] == end {
		return false
	}
	if d.data[d.pos] == ',' {
		d.pos++
		d.space()
	}
	return true
}

func (d *decoder) object() (any, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	obj := map[string]any{}
	for d.next('}') {
		key := d.str()
		if _, twice := obj[key]; twice && d.unique {
			d.path = d.path[:len(d.path)-1]
			return nil, d.fail(false, "property %s twice", quote(key))
		}
		d.space()
		d.pos++ // the colon
		d.space()
		d.path[len(d.path)-1] = key
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		obj[key] = v
	}
	d.leave()
	return obj, nil
}

func (d *decoder) array() (any, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	arr := []any{}
	for d.next(']') {
		d.path[len(d.path)-1] = len(arr)
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		arr = append(arr, v)
	}
	d.leave()
	return arr, nil
}

func (d *decoder) str() string {
	start, escaped := d.pos, false
	for d.pos++; d.data[d.pos] != '"'; d.pos++ {
		if d.data[d.pos] == '\\' {
			escaped = true
			d.pos++
		}
	}
	d.pos++
	if !escaped {
		return d.data[start+1 : d.pos-1]
	}
	var s string
	// Valid JSON by validJSON, so this cannot fail; a lone surrogate becomes U+FFFD.
	_ = json.Unmarshal([]byte(d.data[start:d.pos]), &s)
	return s
}

func (d *decoder) number() (any, error) {
	start := d.pos
	for d.pos < len(d.data) && strings.IndexByte("+-.0123456789Ee", d.data[d.pos]) >= 0 {
		d.pos++
	}
	lit := d.data[start:d.pos]
	if len(lit) > maxNumberLength {
		return nil, d.fail(false, "a number of %d characters", len(lit))
	}
	if i := strings.IndexAny(lit, "eE"); i >= 0 {
		if exp, err := strconv.Atoi(lit[i+1:]); err != nil || exp > maxExponent || exp < -maxExponent {
			return nil, d.fail(false, "the number %s, which is beyond the range of a double", clip(lit, maxValueRunes))
		}
	}
	return json.Number(lit), nil
}

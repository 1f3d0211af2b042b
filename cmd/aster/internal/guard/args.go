package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Bounds on the arguments of one call.
const (
	MaxArgumentBytes = 16 << 20
	maxArgumentDepth = 128
)

// ErrBadArguments refuses arguments that are not one JSON object with one meaning.
var ErrBadArguments = errors.New("the arguments cannot be used")

// DecodeArguments reads the arguments of a call and returns them decoded and encoded
// anew: compact, keys sorted, numbers as they were written. The decision is made on the
// first and the second is forwarded, so no server can read something else than what was
// decided on. Absent arguments and null are an empty object.
//
// It refuses, with [ErrBadArguments], what two readers may read differently: a key that
// stands twice in one object (escapes resolved), text that is not UTF-8, something behind
// the object, anything but an object, and what is over [MaxArgumentBytes] or 128 levels.
// Keys that differ in case only are two keys; see [Rule] for how conditions treat them.
func DecodeArguments(raw json.RawMessage) (map[string]any, json.RawMessage, error) {
	if len(raw) > MaxArgumentBytes {
		return nil, nil, fmt.Errorf("%w: over %d MiB", ErrBadArguments, MaxArgumentBytes>>20)
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return map[string]any{}, json.RawMessage("{}"), nil
	}
	if !utf8.Valid(raw) {
		return nil, nil, fmt.Errorf("%w: not valid UTF-8", ErrBadArguments)
	}
	if raw[0] != '{' {
		return nil, nil, fmt.Errorf("%w: not a JSON object", ErrBadArguments)
	}
	v, err := decodeStrict(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %v", ErrBadArguments, err)
	}
	again, err := encode(v)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %v", ErrBadArguments, err)
	}
	return v.(map[string]any), again, nil
}

// encode is json.Marshal without the escapes for HTML, which would make a shown text
// harder to read. Keys come out sorted.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// decodeStrict decodes one JSON value in which no object holds a key twice, numbers as
// json.Number.
func decodeStrict(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, err := strictValue(dec, 0)
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errors.New("not valid JSON: it ends too early")
		}
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not valid JSON: something follows the value")
	}
	return v, nil
}

func strictValue(dec *json.Decoder, depth int) (any, error) {
	if depth > maxArgumentDepth {
		return nil, fmt.Errorf("nested over %d levels", maxArgumentDepth)
	}
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok {
	case json.Delim('{'):
		return strictObject(dec, depth)
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			v, err := strictValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := dec.Token()
		return list, err
	}
	return tok, nil
}

func strictObject(dec *json.Decoder, depth int) (any, error) {
	object := map[string]any{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, ok := tok.(string)
		if !ok {
			return nil, errors.New("not valid JSON: a key is not a string")
		}
		if _, twice := object[key]; twice {
			return nil, fmt.Errorf("the key %q stands twice in one object", Clean(key, maxShownName))
		}
		if object[key], err = strictValue(dec, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := dec.Token()
	return object, err
}

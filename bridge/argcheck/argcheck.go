package argcheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"
)

// A Checker holds arguments against one schema. It is immutable and safe for
// concurrent use. Compiling costs a thousand times what a small check does, so
// callers keep it.
type Checker struct {
	root *node
}

// New compiles a schema. It never loads anything and does no more work than
// [MaxSchemaBytes] and its kin allow. The error is always an
// [*UnsupportedError]: it means that arguments cannot be checked, not that the
// tool cannot be called.
func New(schema json.RawMessage) (c *Checker, err error) {
	defer func() {
		// The libraries behind this have panicked on odd input before.
		if p := recover(); p != nil {
			c, err = nil, unsupported("its schema upsets the compiler: %v", p)
		}
	}()
	doc, err := precheck(schema)
	if err != nil {
		return nil, err
	}
	root, err := compile(doc)
	if err != nil {
		return nil, err
	}
	return &Checker{root: root}, nil
}

// Check holds args against the schema: nil and nil say that they fit. Absent
// args count as {}. Arguments that are not JSON, that name a property twice
// (which readers of JSON take differently) or that hold a number beyond a
// double's range never fit. The error is always an [*UnsupportedError], for
// arguments that are too large for the bounds or a pattern that is too slow;
// whether they fit is unknown then.
func (c *Checker) Check(args json.RawMessage) (m *Mismatch, err error) {
	defer func() {
		if p := recover(); p != nil {
			m, err = nil, unsupported("the check broke off: %v", p)
		}
	}()
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("{}")
	}
	v, m, err := decodeArguments(args)
	if m != nil || err != nil {
		return m, err
	}
	r := run{stepsLeft: MaxSteps, deadline: time.Now().Add(MaxCheckTime)}
	fits := r.eval(c.root, v, nil, nil)
	if r.err != nil {
		return nil, r.err
	}
	if fits {
		return nil, nil
	}
	return r.mismatch(), nil
}

// decodeArguments reads args, or says why they are none.
func decodeArguments(args json.RawMessage) (any, *Mismatch, error) {
	if len(args) > MaxArgumentBytes {
		return nil, nil, unsupported("arguments of %d bytes are over the limit of %d", len(args), MaxArgumentBytes)
	}
	if problem := validJSON(args); problem != "" {
		return nil, &Mismatch{Places: []Place{{Want: "valid JSON", Got: clean(problem, maxReasonRunes)}}}, nil
	}
	d := decoder{data: string(args), maxDepth: MaxArgumentDepth, maxValues: MaxArgumentValues, unique: true}
	v, err := d.decode()
	var de *decodeError
	switch {
	case err == nil:
		return v, nil, nil
	case errors.As(err, &de) && !de.tooMuch:
		return nil, &Mismatch{Places: []Place{placeAt(de.path, "", de.problem)}}, nil
	}
	return nil, nil, unsupported("the arguments have %v", err)
}

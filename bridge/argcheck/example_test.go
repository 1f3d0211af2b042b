package argcheck_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aster-mcp/aster/bridge/argcheck"
)

func Example() {
	checker, err := argcheck.New(json.RawMessage(`{
		"type": "object",
		"properties": {"count": {"type": "integer"}, "title": {"type": "string"}},
		"required": ["title"]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	mismatch, err := checker.Check(json.RawMessage(`{"count": "x"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	if mismatch != nil {
		fmt.Println(mismatch)
		fmt.Println(mismatch.Places[0].Path)
	}
	// Output:
	// arguments do not fit the tool's schema: at /count: want integer, got string "x"; at (root): missing property "title"
	// count
}

func ExampleNew_unsupported() {
	_, err := argcheck.New(json.RawMessage(`{"type": "object", "$ref": "#"}`))
	var unsupported *argcheck.UnsupportedError
	if errors.As(err, &unsupported) {
		fmt.Println(unsupported)
	}
	// Output:
	// arguments not checked: its schema refers to itself in a circle
}

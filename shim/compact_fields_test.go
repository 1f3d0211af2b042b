package shim_test

import (
	"testing"

	"github.com/aster-mcp/aster/shim"
)

// The script's own fields get short names too, those that a page or the browser gives
// meaning to do not.
func TestCompactFields(t *testing.T) {
	t.Parallel()
	const source = "X.previous = {previous, other, handed: X.exposedTo};"
	if got, want := shim.Compact(source), "X._n={_n:a,other:b,_g:X.exposedTo};"; got != want {
		t.Errorf("%q becomes %q, want %q", source, got, want)
	}
}

//go:build !race

package readable

import (
	"bytes"
	"strings"
	"testing"
)

// Searching for the end of what does not end must not be done at every start.
func TestThinLinear(t *testing.T) {
	for _, s := range []string{"<script>", "<script json ", "<!--", "<style>", "<svg>", "<svg><p>", "</"} {
		in := bytes.Repeat([]byte(s), 4<<20/len(s))
		thin(nil, in)
	}
	if got := thin(nil, []byte(strings.Repeat("<svg>", 100))); len(got) != 500 {
		t.Errorf("%d bytes left of 500", len(got))
	}
}

package guard_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
)

// Definitions whose fields hold the same text one after the other are told apart, and the
// same definition written in another way is not, also when a digest was asked for before.
func TestDigest(t *testing.T) {
	schema, loose := json.RawMessage(`{"a":1,"b":2}`), json.RawMessage("{ \"b\": 2,\n \"a\": 1 }")
	yes := true
	different := []bridge.Tool{
		{Name: "ab", Title: "c"},
		{Name: "a", Title: "bc"},
		{Name: "a", Description: "bc"},
		{Name: "1:a"},
		{Name: "a", Title: "0:"},
		{Name: "a", InputSchema: schema},
		{Name: "a", OutputSchema: schema},
		{Name: "a", Description: string(schema)},
		{Name: "a", Annotations: &bridge.Annotations{}},
		{Name: "a", Annotations: &bridge.Annotations{IdempotentHint: true}},
		{Name: "a", Annotations: &bridge.Annotations{OpenWorldHint: &yes}},
		{Name: "a"},
	}
	first := map[string]int{}
	for i, x := range different {
		if j, ok := first[guard.Digest(x)]; ok {
			t.Errorf("definitions %d and %d have one digest", i, j)
		}
		first[guard.Digest(x)] = i
	}
	for i, x := range different {
		if j, ok := first[guard.Digest(x)]; !ok || j != i {
			t.Errorf("definition %d has another digest the second time, that of %d (%v)", i, j, ok)
		}
	}
	a, b := bridge.Tool{Server: "s", Name: "a", InputSchema: schema}, bridge.Tool{Server: "t", Name: "a", InputSchema: loose}
	if guard.Digest(a) != guard.Digest(b) {
		t.Error("white space, the order of keys or the server's name make a difference")
	}
}

// More definitions than are remembered, asked for at once, keep their digests.
func TestDigestsOfMany(t *testing.T) {
	const many = 5000
	want := make([]string, many)
	for i := range want {
		want[i] = guard.Digest(bridge.Tool{Name: fmt.Sprint(i)})
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i, w := range want {
				if got := guard.Digest(bridge.Tool{Name: fmt.Sprint(i)}); got != w {
					t.Errorf("definition %d: %s, was %s", i, got, w)
					return
				}
			}
		})
	}
	wg.Wait()
}

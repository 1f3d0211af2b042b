package host

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Memory is given back after the start and after each busy time, and not after a few requests.
func TestSettler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		freed := 0
		s := newSettlerWith(func() { freed++ })
		handle := s.Middleware(func(context.Context, string, mcp.Request) (mcp.Result, error) { return nil, nil })
		requests := func(n int) {
			for range n {
				handle(t.Context(), "ping", nil)
			}
			time.Sleep(2 * settleAfter)
			synctest.Wait()
		}
		for _, c := range []struct{ requests, want int }{{0, 1}, {manyRequests - 1, 1}, {1, 2}, {1, 2}, {10 * manyRequests, 3}, {0, 3}} {
			requests(c.requests)
			if freed != c.want {
				t.Fatalf("after %d more requests memory was given back %d times, want %d", c.requests, freed, c.want)
			}
		}
		s.Stop()
	})
}

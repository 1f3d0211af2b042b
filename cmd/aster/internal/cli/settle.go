package cli

import (
	"context"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// settleAfter is how long after its start, or after the last of many requests, a server
	// gives back the memory that these took.
	settleAfter = 2 * time.Second
	// manyRequests leave enough behind. After fewer, taking the memory anew at the next
	// request would cost that one more than it is worth.
	manyRequests = 500
)

// A settler gives what a server's start and its busy times left over back to the system: a
// server waits for most of its life, and every client has one of its own. Safe for
// concurrent use.
type settler struct {
	free     func()
	timer    *time.Timer
	requests atomic.Int64 // since memory was last given back
}

// newSettler counts a server's start as the first busy time.
func newSettler() *settler { return newSettlerWith(debug.FreeOSMemory) }

func newSettlerWith(free func()) *settler {
	s := &settler{free: free}
	s.timer = time.AfterFunc(settleAfter, s.settle)
	return s
}

func (s *settler) settle() {
	s.requests.Store(0)
	s.free()
}

// stop is for the end of the server.
func (s *settler) stop() { s.timer.Stop() }

// middleware counts the requests of a server.
func (s *settler) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		defer func() {
			if s.requests.Add(1) >= manyRequests {
				s.timer.Reset(settleAfter)
			}
		}()
		return next(ctx, method, req)
	}
}

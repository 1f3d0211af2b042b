package host

import (
	"context"
	"os"
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

	// The garbage collector's percentages while a server starts and from then on; the runtime's
	// own 100 collects at each 4 MB, which is some seventy calls, as the SDK takes twice 32 KiB
	// to decode one. $GOGC is the user's own choice.
	startGC = 400
	callsGC = 200
)

// A Settler gives what a server's start and its busy times left over back to the system: a
// server waits for most of its life, and every client has one of its own. Safe for
// concurrent use.
type Settler struct {
	free     func()
	timer    *time.Timer
	requests atomic.Int64 // since memory was last given back
}

// NewSettler counts a server's start as the first busy time. It sets the percentage of the
// process's garbage collector, unless $GOGC does.
func NewSettler() *Settler {
	collect := func(percent int) {
		if os.Getenv("GOGC") == "" {
			debug.SetGCPercent(percent)
		}
	}
	collect(startGC)
	return newSettlerWith(func() {
		collect(callsGC)
		debug.FreeOSMemory()
		_ = releaseProgram() // it only saves memory
	})
}

func newSettlerWith(free func()) *Settler {
	s := &Settler{free: free}
	s.timer = time.AfterFunc(settleAfter, s.settle)
	return s
}

func (s *Settler) settle() {
	s.requests.Store(0)
	s.free()
}

// Stop is for the end of the server.
func (s *Settler) Stop() { s.timer.Stop() }

// Middleware counts the requests of a server. Where [Recover] is used, it goes around that.
func (s *Settler) Middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		defer func() {
			if s.requests.Add(1) >= manyRequests {
				s.timer.Reset(settleAfter)
			}
		}()
		return next(ctx, method, req)
	}
}

// Around is inner with the settler's middleware around it.
func (s *Settler) Around(inner mcp.Middleware) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler { return s.Middleware(inner(next)) }
}

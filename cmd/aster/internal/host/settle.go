package host

import (
	"context"
	"runtime/debug"
	"sync"
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

	// headroomBytes are garbage that a server may leave before it is collected, beside as much
	// as it holds. By itself the runtime collects at each 4 MB, which is some seventy calls, as
	// the SDK takes twice 32 KiB to decode one.
	headroomBytes = 8 << 20
)

// A Settler gives what a server's start and its busy times left over back to the system: a
// server waits for most of its life, and every client has one of its own. Safe for
// concurrent use.
type Settler struct {
	free     func()
	timer    *time.Timer
	requests atomic.Int64 // since memory was last given back
}

// headroom is counted by the collector as held, and takes no memory: it is never written to.
var headroom = sync.OnceValue(func() []byte { return make([]byte, headroomBytes) })

// NewSettler counts a server's start as the first busy time. From the first one on the
// process's garbage is collected less often.
func NewSettler() *Settler {
	headroom()
	return newSettlerWith(func() {
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

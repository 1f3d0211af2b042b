package source_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/bridge/source"
)

// starts is how often the fake "weak" was started.
func starts(file string) int {
	b, _ := os.ReadFile(file)
	return len(b)
}

// weak is a source of a server that comes up after some starts that failed.
func weak(t *testing.T, fails string) (s *source.Source, file string) {
	t.Helper()
	file = t.TempDir() + "/starts"
	spec := fake(t, "weak", "STARTS", file, "FAILS", fails)
	spec.Era = source.EraLegacy // the first rung is the right one
	s = open(t, spec, &source.Options{CloseGrace: 50 * time.Millisecond})
	source.SetFirstRetry(s, time.Millisecond)
	return s, file
}

// TestKeepTrying starts a server again without a call until it comes up, and no more then.
func TestKeepTrying(t *testing.T) {
	s, _ := weak(t, strings.Repeat("x", 6)) // each start has two rungs, each a process
	if f := failure(t, s); f.Kind != source.Crashed {
		t.Fatalf("the first start: %v, want crashed", f)
	}
	s.KeepTrying()
	eventually(t, "connected", func() bool { return s.Status().State == source.Connected })
	if n := len(s.Tools()); n != 1 {
		t.Errorf("%d tools, want 1", n)
	}
}

// TestKeepTryingUnasked leaves a server alone whose host does not ask for more.
func TestKeepTryingUnasked(t *testing.T) {
	s, _ := weak(t, strings.Repeat("x", 100))
	failure(t, s)
	if source.Retrying(s) {
		t.Error("a further try is to come")
	}
}

// TestKeepTryingEnds gives up after so many tries; a call still starts the server.
func TestKeepTryingEnds(t *testing.T) {
	s, file := weak(t, strings.Repeat("x", 1000))
	source.SetFirstRetry(s, time.Microsecond)
	failure(t, s)
	each := starts(file) // before a further try can add to them
	s.KeepTrying()
	eventually(t, "the last try", func() bool {
		return starts(file) == each*(1+source.MaxRetries) && s.Status().State == source.Failed
	})
	if source.Retrying(s) {
		t.Error("a further try is to come")
	}
	failure(t, s)
	if n, want := starts(file), each*(2+source.MaxRetries); n != want {
		t.Errorf("%d starts after one that was asked for, want %d", n, want)
	}
}

// TestKeepTryingRemote finds a remote server that came up later, behind a proxy's error
// page and where there was nothing.
func TestKeepTryingRemote(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	s := open(t, source.Spec{Name: "s", URL: "http://" + addr, StartTimeout: patience}, nil)
	source.SetFirstRetry(s, 50*time.Millisecond)
	if f := failure(t, s); f.Kind != source.NotResponding {
		t.Fatalf("nothing there: %v, want not responding", f)
	}
	down := make(chan struct{}, 1)
	down <- struct{}{}
	server := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return sdkServer() }, nil)
	if l, err = net.Listen("tcp", addr); err != nil {
		t.Skipf("the port was taken meanwhile: %v", err)
	}
	ts := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-down:
			http.Error(w, "<html>bad gateway", http.StatusBadGateway)
		default:
			server.ServeHTTP(w, r)
		}
	})}}
	ts.Start()
	defer ts.Close()
	defer s.Close() // first, since the server waits for the stream
	s.KeepTrying()
	eventually(t, "connected", func() bool { return s.Status().State == source.Connected })
}

// TestKeepTryingHopeless does not start again what only the user can put right.
func TestKeepTryingHopeless(t *testing.T) {
	s := open(t, source.Spec{Name: "s", Command: "/nowhere/aster-test"}, nil)
	source.SetFirstRetry(s, time.Microsecond)
	s.KeepTrying()
	if f := failure(t, s); f.Kind != source.NotInstalled {
		t.Fatalf("Start: %v, want not installed", f)
	}
	if source.Retrying(s) {
		t.Error("a further try is to come")
	}
}

// TestKeepTryingClose ends the wait for the next try.
func TestKeepTryingClose(t *testing.T) {
	s, _ := weak(t, strings.Repeat("x", 100))
	source.SetFirstRetry(s, time.Hour)
	s.KeepTrying()
	failure(t, s)
	if !source.Retrying(s) {
		t.Error("no further try is to come")
	}
	s.Close()
	if err := s.Start(ctxFor(t)); !errors.Is(err, source.ErrClosed) {
		t.Errorf("Start after Close: %v, want ErrClosed", err)
	}
	noGoroutines(t)
}

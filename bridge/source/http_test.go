package source_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aster-mcp/aster/bridge/source"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A seen is what a server got.
type seen struct {
	mu       sync.Mutex
	requests []*http.Request
}

func (s *seen) wrap(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r)
		s.mu.Unlock()
		h.ServeHTTP(w, r)
	})
}

func (s *seen) each(f func(*http.Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		f(r)
	}
}

// site serves h for the length of the test.
func site(t *testing.T, h http.Handler) (url string, got *seen) {
	t.Helper()
	got = &seen{}
	srv := httptest.NewServer(got.wrap(h))
	t.Cleanup(srv.Close)
	return srv.URL, got
}

func handler(opts *mcp.StreamableHTTPOptions) http.Handler {
	srv := sdkServer()
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return srv }, opts)
}

func TestHTTP(t *testing.T) {
	sseServer := sdkServer()
	for _, tt := range []struct {
		name    string
		handler http.Handler
		sse     bool
		version string
		deletes int
	}{
		{"stateless", handler(&mcp.StreamableHTTPOptions{Stateless: true}), false, "2026-07-28", 0},
		{"stateful", handler(nil), false, "2025-11-25", 1},
		{"json", handler(&mcp.StreamableHTTPOptions{JSONResponse: true}), false, "2025-11-25", 1},
		{"sse", mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return sseServer }, nil), true, "2025-11-25", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, got := site(t, tt.handler)
			s := open(t, source.Spec{Name: "s", URL: url + "/mcp", SSE: tt.sse, StartTimeout: patience,
				Headers: map[string]string{"X-Tenant": "acme", "Authorization": "Bearer tok-123456789"}}, nil)
			start(t, s)
			if v := s.Status().Version; v != tt.version {
				t.Errorf("version %s, want %s", v, tt.version)
			}
			if got := call(t, s, "echo", `{"a":12345678901234567890}`); got != `{"a":12345678901234567890}` {
				t.Errorf("echo returned %q", got)
			}
			if schema := string(s.Tools()[0].InputSchema); !strings.Contains(schema, "9007199254740993") {
				t.Errorf("schema %s", schema)
			}
			if tt.name == "stateful" || tt.sse {
				n := len(s.Tools())
				call(t, s, "grow", `{}`)
				eventually(t, "the new tool", func() bool { return len(s.Tools()) > n })
			}
			s.Close()
			deletes := 0
			got.each(func(r *http.Request) {
				if r.Header.Get("X-Tenant") != "acme" || r.Header.Get("Authorization") != "Bearer tok-123456789" {
					t.Errorf("%s without the headers", r.Method)
				}
				if r.Method == http.MethodDelete {
					deletes++
				}
			})
			if deletes != tt.deletes {
				t.Errorf("%d DELETEs, want %d", deletes, tt.deletes)
			}
		})
	}
}

// TestSessionLost finds its session gone and makes another one within the call.
func TestSessionLost(t *testing.T) {
	var mu sync.Mutex
	first := sdkServer()
	var h http.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return first }, nil)
	url, _ := site(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		now := h
		mu.Unlock()
		now.ServeHTTP(w, r)
	}))
	s := open(t, source.Spec{Name: "s", URL: url, StartTimeout: patience}, nil)
	start(t, s)
	mu.Lock()
	h = handler(nil) // the server was started again
	mu.Unlock()
	for old := range first.Sessions() {
		old.Close()
	}
	if got := call(t, s, "echo", `{"a":1}`); got != `{"a":1}` {
		t.Errorf("echo returned %q", got)
	}
}

// TestOrigin keeps requests and headers to one origin.
func TestOrigin(t *testing.T) {
	other, stolen := site(t, handler(nil))
	for _, code := range []int{301, 302, 303, 307, 308} {
		t.Run("security row 22, pitfall row 16: "+fmt.Sprint(code), func(t *testing.T) {
			url, _ := site(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, code) }))
			s := open(t, source.Spec{Name: "s", URL: url, Headers: map[string]string{"X-Key": "secret-secret"}}, nil)
			f := failure(t, s)
			if f.Kind != source.Rejected || !strings.Contains(f.Error(), "leads to another origin, "+other) {
				t.Errorf("failure %q", f)
			}
		})
	}
	t.Run("sse endpoint", func(t *testing.T) {
		url, _ := site(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: endpoint\ndata: %s/steal\n\n", other)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}))
		s := open(t, source.Spec{Name: "s", URL: url, SSE: true, Headers: map[string]string{"X-Key": "secret-secret"}}, nil)
		if f := failure(t, s); !strings.Contains(f.Error(), "leads to another origin") {
			t.Errorf("failure %q", f)
		}
	})
	stolen.each(func(r *http.Request) { t.Errorf("the other origin got %s %s with %v", r.Method, r.URL, r.Header) })
	t.Run("same", func(t *testing.T) {
		h := handler(nil)
		mux := http.NewServeMux()
		mux.Handle("/old", http.RedirectHandler("/new", http.StatusPermanentRedirect))
		mux.Handle("/new", h)
		url, _ := site(t, mux)
		s := open(t, source.Spec{Name: "s", URL: url + "/old", StartTimeout: patience}, nil)
		start(t, s)
		call(t, s, "echo", `{}`)
	})
}

func TestHTTPFailures(t *testing.T) {
	answer := func(status int, media, body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", media)
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="https://evil.example/x"`)
			w.WriteHeader(status)
			io.WriteString(w, body)
		})
	}
	big := strings.Repeat("x", 1<<20)
	for _, tt := range []struct {
		name    string
		handler http.Handler
		kind    source.FailureKind
		want    string
	}{
		{"html", answer(200, "text/html", "<!doctype html>\n<title>Home</title>"), source.NotMCP, "not MCP: <!doctype html> <title>Home</title>"},
		{"json that is no message", answer(200, "application/json", `{"hello":"world"}`), source.NotMCP, `not MCP: {"hello":"world"}`},
		{"401", answer(401, "text/plain", ""), source.NeedsSignIn, "needs sign-in at http://127.0.0.1"},
		{"404", answer(404, "text/plain", big), source.Rejected, "refused: answers 404 Not Found"},
		{"503", answer(503, "text/plain", ""), source.NotResponding, "not responding: answers 503 Service Unavailable"},
		{"502 of a proxy", answer(502, "text/html", "<html><h1>502 Bad Gateway</h1>"), source.NotResponding, "not responding: answers 502 Bad Gateway"},
		{"503 of a proxy", answer(503, "application/json", `{"error":"no upstream"}`), source.NotResponding, "not responding: answers 503 Service Unavailable"},
		{"504 of a proxy", answer(504, "text/plain", "upstream timed out"), source.NotResponding, "not responding: answers 504 Gateway Timeout"},
		{"521 of a proxy", answer(521, "text/html", "<html>Web server is down"), source.NotResponding, "not responding: answers 521"},
		{"500 with a page", answer(500, "text/html", "<html>a trace"), source.NotResponding, "not responding: answers 500 Internal Server Error"},
		{"endless", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for {
				if _, err := io.WriteString(w, big); err != nil {
					return
				}
			}
		}), source.Rejected, "over 32 MiB"},
		{"silent", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { io.ReadAll(r.Body); <-r.Context().Done() }),
			source.NotResponding, "no answer within"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, _ := site(t, tt.handler)
			spec := source.Spec{Name: "s", URL: url + "/path?key=secret-secret", StartTimeout: patience}
			if tt.name == "silent" {
				spec.StartTimeout = time.Second
			}
			s := open(t, spec, &source.Options{DiscoverTimeout: 300 * time.Millisecond})
			f := failure(t, s)
			if f.Kind != tt.kind || !strings.Contains(f.Error(), tt.want) || strings.Contains(f.Error(), "secret") {
				t.Errorf("failure %q (%v), want %v with %q", f, f.Kind, tt.kind, tt.want)
			}
		})
	}
	t.Run("nobody", func(t *testing.T) {
		srv := httptest.NewServer(http.NotFoundHandler())
		url := srv.URL
		srv.Close()
		s := open(t, source.Spec{Name: "s", URL: url + "/?key=secret-secret"}, nil)
		if f := failure(t, s); f.Kind != source.NotResponding || !strings.Contains(f.Error(), "refused") || strings.Contains(f.Error(), "secret") {
			t.Errorf("failure %q", f)
		}
	})
}

// TestHTTPEras connects to a server that leaves server/discover unanswered, and to
// one that never opens the stream of a listen request.
func TestHTTPEras(t *testing.T) {
	for _, method := range []string{"server/discover", "subscriptions/listen"} {
		t.Run(method, func(t *testing.T) {
			h := handler(&mcp.StreamableHTTPOptions{Stateless: true})
			url, _ := site(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if strings.Contains(string(body), `"method":"`+method+`"`) {
					<-r.Context().Done()
					return
				}
				r.Body = io.NopCloser(strings.NewReader(string(body)))
				h.ServeHTTP(w, r)
			}))
			s := open(t, source.Spec{Name: "s", URL: url, StartTimeout: patience}, &source.Options{DiscoverTimeout: 300 * time.Millisecond})
			start(t, s)
			call(t, s, "echo", `{}`)
		})
	}
}

// TestEvents reads a stream that is not well made.
func TestEvents(t *testing.T) {
	url, _ := site(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		if json.NewDecoder(r.Body).Decode(&m); len(m.ID) == 0 {
			w.WriteHeader(map[bool]int{true: http.StatusAccepted, false: http.StatusMethodNotAllowed}[r.Method == http.MethodPost])
			return
		}
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		fmt.Fprintf(w, ": comment\r\ndata: not json\r\n\r\nid: 7\n\nevent: ping\ndata: x\n\n")
		// One message over several lines, in a batch.
		fmt.Fprintf(w, "event: message\ndata: [{\"jsonrpc\":\"2.0\",\ndata: \"id\":%s,%s}]\n\n", m.ID, legacy(m))
	}))
	s := open(t, source.Spec{Name: "s", URL: url, Era: source.EraLegacy, StartTimeout: patience}, nil)
	start(t, s)
	if got := call(t, s, "echo", `{"a":1}`); got != `{"a":1}` {
		t.Errorf("echo returned %q", got)
	}
	if s.Status().Dropped == 0 {
		t.Error("no dropped message is reported")
	}
}

// TestHTTPCancel tells the server of a call that was given up.
func TestHTTPCancel(t *testing.T) {
	for _, stateless := range []bool{false, true} {
		url, _ := site(t, handler(&mcp.StreamableHTTPOptions{Stateless: stateless, PropagateRequestCancellation: true}))
		s := open(t, source.Spec{Name: "s", URL: url, StartTimeout: patience}, nil)
		start(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := s.Call(ctx, "hang", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Call: %v", err)
		}
		call(t, s, "echo", `{}`)
	}
}

// TestBearer sends a token, and asks for another one when it is refused.
func TestBearer(t *testing.T) {
	for _, sse := range []bool{false, true} {
		srv := sdkServer()
		get := func(*http.Request) *mcp.Server { return srv }
		h := http.Handler(mcp.NewStreamableHTTPHandler(get, nil))
		if sse {
			h = mcp.NewSSEHandler(get, nil)
		}
		url, _ := site(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer good" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			h.ServeHTTP(w, r)
		}))
		var mu sync.Mutex
		token := "old"
		bearer := func(_ context.Context, refused string) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			if refused == "old" {
				token = "good"
			}
			return token, nil
		}
		s := open(t, source.Spec{Name: "s", URL: url, SSE: sse, StartTimeout: patience, Bearer: bearer}, nil)
		start(t, s)
		call(t, s, "echo", `{}`)
		s.Close()
		token = "" // none, until the server wants one
		late := open(t, source.Spec{Name: "s", URL: url, SSE: sse, StartTimeout: patience, Bearer: func(_ context.Context, refused string) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			if refused == source.NoToken {
				token = "good"
			}
			return token, nil
		}}, nil)
		start(t, late)
		late.Close()
		none := open(t, source.Spec{Name: "s", URL: url, SSE: sse, Bearer: func(context.Context, string) (string, error) {
			return "", fmt.Errorf("%w: run aster mcp login s", source.ErrNeedsSignIn)
		}}, nil)
		if f := failure(t, none); f.Kind != source.NeedsSignIn || f.URL != url {
			t.Errorf("failure %q", f)
		}
	}
}

// TestRefusedStream has a server refuse the stream beside the calls, which is its right, and
// then fail a call: the refusal is not the reason.
func TestRefusedStream(t *testing.T) {
	url, _ := site(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		switch json.NewDecoder(r.Body).Decode(&m); {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case len(m.ID) == 0:
			w.WriteHeader(http.StatusAccepted)
		case m.Method == "tools/call":
			panic(http.ErrAbortHandler) // cuts the connection
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, legacy(m))
		}
	}))
	s := open(t, source.Spec{Name: "s", URL: url, Era: source.EraLegacy, StartTimeout: patience}, nil)
	start(t, s)
	if _, err := s.Call(t.Context(), "echo", nil, nil); err == nil || strings.Contains(err.Error(), "405") {
		t.Errorf("Call: %v", err)
	}
}

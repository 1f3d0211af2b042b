package cdp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/cdp/cdptest"
)

// TestFinderHostileVersion shows that no answer leads anywhere but to the port asked.
func TestFinderHostileVersion(t *testing.T) {
	const body = `{"Browser":"Chrome/1","webSocketDebuggerUrl":%q}`
	text := func(s string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, s) }
	}
	var mu sync.Mutex
	trap := 0
	other := cdptest.NewEndpoint(t, nil)
	tests := []struct {
		name    string
		handler http.HandlerFunc
		remote  bool
		says    string
	}{
		{"other host", text(fmt.Sprintf(body, "ws://evil.example/devtools/browser/x")), true, "evil.example"},
		{"other address", text(fmt.Sprintf(body, "ws://192.0.2.1/devtools/browser/x")), true, "192.0.2.1"},
		{"other port", text(fmt.Sprintf(body, other.WS())), true, "elsewhere"},
		{"host in disguise", text(fmt.Sprintf(body, "ws://127.0.0.1.evil.example/devtools/browser/x")), true, "elsewhere"},
		{"userinfo", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, body, "ws://user:pw@"+r.Host+"/devtools/browser/x")
		}, false, "password"},
		{"host as userinfo", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, body, "ws://"+r.Host+"@evil.example/devtools/browser/x")
		}, false, "password"},
		{"other scheme", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, body, "http://"+r.Host+"/devtools/browser/x")
		}, false, "not a websocket"},
		{"page", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, body, "ws://"+r.Host+"/devtools/page/x")
		}, false, "not a browser's"},
		{"path with dots", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, body, "ws://"+r.Host+"/devtools/browser/../../x")
		}, false, "not a browser's"},
		{"query", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, body, "ws://"+r.Host+"/devtools/browser/x?y")
		}, false, "not a browser's"},
		{"no URL", text(`{"Browser":"node.js/v20.1.0","Protocol-Version":"1.1"}`), false, "webSocketDebuggerUrl"},
		{"not JSON", text("<html>hello</html>"), false, "no JSON"},
		{"array", text("[]"), false, "no JSON"},
		{"huge", text(`{"Browser":"` + strings.Repeat("x", 70<<10) + `"}`), false, "larger than 65536 bytes"},
		{"endless", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat(" ", 1<<16)); err != nil {
					return
				}
			}
		}, false, "larger than"},
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.HTTP+"/json/version", http.StatusFound)
		}, false, "redirect"},
		{"error", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", 500) }, false, "status 500"},
		{"cut", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "400")
			io.WriteString(w, "{")
		}, false, "EOF"},
		{"slow", func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			trap++
			mu.Unlock()
			<-r.Context().Done()
		}, false, "no answer within 2s"},
	}
	for _, tt := range tests {
		t.Run("security row 19: "+tt.name, func(t *testing.T) {
			t.Parallel()
			e := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Version: tt.handler})
			f, err := cdp.NewFinder(e.HTTP, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := find(t, f)
			if !errors.Is(err, cdp.ErrNoBrowser) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %+v and %v, want ErrNoBrowser with %q", got, err, tt.says)
			}
			if errors.Is(err, cdp.ErrRemote) != tt.remote {
				t.Errorf("is ErrRemote: %v; %v", !tt.remote, err)
			}
			if e.Upgrades() != 0 {
				t.Error("a websocket was opened")
			}
		})
	}
	t.Cleanup(func() {
		if other.Gets() != 0 {
			t.Error("a redirect was followed")
		}
		if mu.Lock(); trap == 0 {
			t.Error("the slow answer was not asked for")
		}
	})
}

// TestFinderHostHeader asks with Host: localhost where Chrome would refuse the name,
// and takes only the path of the answer.
func TestFinderHostHeader(t *testing.T) {
	e := cdptest.NewEndpoint(t, nil)
	opts := elsewhere(t)
	opts.AllowRemote = []string{"host.docker.internal"}
	opts.HTTPClient = &http.Client{Transport: &http.Transport{ // the name resolves to the fake
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(e.HTTP, "http://"))
		},
	}}
	f, err := cdp.NewFinder("http://host.docker.internal:4444", opts)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := find(t, f)
	if err != nil || got.WS != "ws://host.docker.internal:4444"+e.Path() || got.Host != "localhost" {
		t.Errorf("got %+v, %v", got, err)
	}
	if hosts := e.Hosts(); len(hosts) != 1 || hosts[0] != "localhost" {
		t.Errorf("Host headers: %q", hosts)
	}
}

// TestFinderNames404 covers the toggle at chrome://inspect, where /json/version is 404.
func TestFinderNames404(t *testing.T) {
	e := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Consent: true})
	addr := strings.TrimPrefix(e.HTTP, "http://")
	for _, spec := range []string{"http://" + addr, "ws://" + addr, "ws://" + addr + "/devtools/browser"} {
		opts := elsewhere(t)
		f, err := cdp.NewFinder(spec, opts)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := find(t, f)
		if err != nil || got.WS != "ws://"+addr+"/devtools/browser" || !got.Consent || got.HTTP != "" {
			t.Errorf("%s: got %+v, %v", spec, got, err)
		}
		// With the profile known, the file tells which start it is.
		e.WritePortFile(t, filepath.Join(opts.Home, ".config", "microsoft-edge"))
		got, _, err = find(t, f)
		if err != nil || got.WS != e.WS() || !got.Consent || got.Browser != "Edge" || got.PortFile == "" {
			t.Errorf("%s: got %+v, %v", spec, got, err)
		}
	}
	if e.Upgrades() != 0 {
		t.Errorf("%d websockets were opened", e.Upgrades())
	}
	// A websocket elsewhere than in a browser: only the form ws:// says that there is one.
	e.SetVersion(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "upgrade required", http.StatusUpgradeRequired)
	})
	for spec, want := range map[string]string{"ws://" + addr: "ws://" + addr + "/devtools/browser", "http://" + addr: ""} {
		f, err := cdp.NewFinder(spec, elsewhere(t))
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := find(t, f); got.WS != want || got.Consent || (err == nil) != (want != "") {
			t.Errorf("%s: got %+v, %v", spec, got, err)
		}
	}
}

package cdp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/cdp/cdptest"
)

// trip is an http.RoundTripper that is a func.
type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// refused is what a port gives where nothing listens.
var refused = &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}

func answer(r *http.Request, status int, body string, header ...string) (*http.Response, error) {
	h := http.Header{}
	for _, line := range header {
		k, v, _ := strings.Cut(line, ": ")
		h.Set(k, v)
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func versionJSON(url string) string {
	return fmt.Sprintf(`{"Browser":"Chrome/156.0.8078.114","webSocketDebuggerUrl":%q}`, url)
}

// chrome answers as Chrome does, building its URL from the Host header.
func chrome(r *http.Request) (*http.Response, error) {
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	return answer(r, 200, versionJSON("ws://"+host+"/devtools/browser/b1"))
}

// elsewhere are options that keep a test off this system's browsers: an empty home,
// and a client for which nothing listens on the usual port.
func elsewhere(t *testing.T) *cdp.FinderOptions {
	t.Helper()
	return &cdp.FinderOptions{
		GOOS: "linux", Home: t.TempDir(), Getenv: func(string) string { return "" },
		HTTPClient: &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Port() == "9222" {
				return nil, refused
			}
			tr := &http.Transport{DisableKeepAlives: true}
			return tr.RoundTrip(r)
		})},
	}
}

func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// find is f.Find for an answer of substance: on a machine under load even a browser
// that is well may once miss its two seconds.
func find(t *testing.T, f *cdp.Finder) (found cdp.Endpoint, others []cdp.Endpoint, err error) {
	t.Helper()
	for range 5 {
		found, others, err = f.Find(soon(t))
		if err == nil || !strings.Contains(err.Error(), "no answer within") {
			break
		}
	}
	return found, others, err
}

func TestFinderSpecs(t *testing.T) {
	const id = "/devtools/browser/b1"
	tests := []struct {
		spec  string
		allow string // AllowRemote, separated by blanks
		ws    string // endpoint when a Chrome answers there
		host  string // Endpoint.Host
		err   error
		says  string
	}{
		{spec: "http://127.0.0.1:9222", ws: "ws://127.0.0.1:9222" + id},
		{spec: "  http://127.0.0.1:9222/\n", ws: "ws://127.0.0.1:9222" + id},
		{spec: "HTTP://127.0.0.1:9222/json/version", ws: "ws://127.0.0.1:9222" + id},
		{spec: "http://127.0.0.1:9222/json/", ws: "ws://127.0.0.1:9222" + id},
		{spec: "http://127.8.9.10:1", ws: "ws://127.8.9.10:1" + id},
		{spec: "http://localhost:9222", ws: "ws://127.0.0.1:9222" + id},
		{spec: "http://LOCALHOST.:09222", ws: "ws://127.0.0.1:9222" + id},
		{spec: "http://chrome.localhost:9222", ws: "ws://127.0.0.1:9222" + id, host: "chrome.localhost:9222"},
		{spec: "http://[::1]:9222", ws: "ws://[::1]:9222" + id},
		{spec: "http://[::ffff:127.0.0.1]:9222", ws: "ws://127.0.0.1:9222" + id},
		{spec: "https://127.0.0.1", ws: "wss://127.0.0.1:443" + id},
		{spec: "ws://127.0.0.1:9222", ws: "ws://127.0.0.1:9222" + id},
		{spec: "ws://127.0.0.1:9222/", ws: "ws://127.0.0.1:9222" + id},
		{spec: "ws://localhost:9222/devtools/browser", ws: "ws://127.0.0.1:9222" + id},
		{spec: "ws://localhost:9222/devtools/browser/", ws: "ws://127.0.0.1:9222" + id},
		{spec: "ws://127.0.0.1:9222/devtools/browser/other", ws: "ws://127.0.0.1:9222/devtools/browser/other"},
		{spec: "wss://127.0.0.1/devtools/browser/other?token=s", ws: "wss://127.0.0.1:443/devtools/browser/other?token=s"},
		{spec: "ws://[::1]:9222/devtools/browser/other", ws: "ws://[::1]:9222/devtools/browser/other"},
		{spec: "http://host.docker.internal:9222", allow: "Host.Docker.Internal", ws: "ws://host.docker.internal:9222" + id, host: "localhost"},
		{spec: "ws://chrome:9222/devtools/browser/x", allow: "other chrome", ws: "ws://chrome:9222/devtools/browser/x", host: "localhost"},
		{spec: "http://192.0.2.7:9222", allow: "192.0.2.7", ws: "ws://192.0.2.7:9222" + id},
		{spec: "http://[2001:db8::7]:9222", allow: "[2001:DB8:0::7]", ws: "ws://[2001:db8::7]:9222" + id},

		{spec: "http://192.0.2.7:9222", err: cdp.ErrRemote, says: "--allow-remote-cdp 192.0.2.7"},
		{spec: "http://192.0.2.7:9222", allow: "192.0.2.8", err: cdp.ErrRemote},
		{spec: "ws://evil.example:9222/devtools/browser/x", err: cdp.ErrRemote},
		{spec: "http://evil.example:9222", allow: "example", err: cdp.ErrRemote},
		{spec: "http://0.0.0.0:9222", err: cdp.ErrRemote},
		{spec: "http://[::]:9222", err: cdp.ErrRemote},
		{spec: "http://[::1%25lo]:9222", err: cdp.ErrRemote},
		{spec: "http://127.1:9222", err: cdp.ErrRemote},
		{spec: "http://2130706433:9222", err: cdp.ErrRemote},
		{spec: "http://0x7f000001:9222", err: cdp.ErrRemote},
		{spec: "http://127.0.0.1.evil.example:9222", err: cdp.ErrRemote},
		{spec: "http://notlocalhost:9222", err: cdp.ErrRemote},
		{spec: "http://localhost.evil.example:9222", err: cdp.ErrRemote},

		{spec: "launch", err: cdp.ErrLaunch},
		{spec: "9222", err: cdp.ErrSpec, says: "http://127.0.0.1:9222"},
		{spec: "localhost:9222", err: cdp.ErrSpec, says: "did you mean http://localhost:9222"},
		{spec: "chrome", err: cdp.ErrSpec, says: "profile:DIR"},
		{spec: "AUTO", err: cdp.ErrSpec},
		{spec: "/home/u/.config/google-chrome", err: cdp.ErrSpec, says: "profile:/home"},
		{spec: "http://127.0.0.1", err: cdp.ErrSpec, says: "9222"},
		{spec: "http://127.0.0.1:0", err: cdp.ErrSpec},
		{spec: "http://127.0.0.1:65536", err: cdp.ErrSpec},
		{spec: "http://127.0.0.1:x", err: cdp.ErrSpec},
		{spec: "http://:9222", err: cdp.ErrSpec},
		{spec: "http://u:pw@127.0.0.1:9222", err: cdp.ErrSpec},
		{spec: "http://127.0.0.1:9222/devtools/browser/x", err: cdp.ErrSpec, says: "ws://"},
		{spec: "http://127.0.0.1:9222/?a=secret", err: cdp.ErrSpec},
		{spec: "ws://127.0.0.1:9222/devtools/page/x", err: cdp.ErrSpec, says: "page"},
		{spec: "ws://127.0.0.1:9222/devtools/browserx/y", err: cdp.ErrSpec},
		{spec: "ws://127.0.0.1:9222/#x", err: cdp.ErrSpec},
		{spec: "http://bad host:9222", err: cdp.ErrSpec},
		{spec: "http://bad,host:9222", err: cdp.ErrSpec},
		{spec: "ftp://127.0.0.1:9222", err: cdp.ErrSpec},
		{spec: "file:///tmp/x", err: cdp.ErrSpec},
		{spec: "profile:", err: cdp.ErrSpec},
		{spec: "profile:/no/such/place", err: cdp.ErrSpec, says: "no such directory"},
		{spec: "profile:$NOT_SET/x", err: cdp.ErrSpec, says: "NOT_SET"},
		{spec: strings.Repeat("a", 5000), err: cdp.ErrSpec},
		{spec: "http://127.0.0.1:9222", allow: "*", err: cdp.ErrSpec},
		{spec: "http://127.0.0.1:9222", allow: "host:9222", err: cdp.ErrSpec},
	}
	for _, tt := range tests {
		t.Run(tt.spec[:min(len(tt.spec), 60)]+" "+tt.allow, func(t *testing.T) {
			opts := elsewhere(t)
			opts.AllowRemote = strings.Fields(tt.allow)
			opts.HTTPClient = &http.Client{Transport: trip(chrome)}
			f, err := cdp.NewFinder(tt.spec, opts)
			if !errors.Is(err, tt.err) || (err != nil && !strings.Contains(err.Error(), tt.says)) {
				t.Fatalf("error is %v, want %v with %q", err, tt.err, tt.says)
			}
			if err != nil {
				for _, secret := range []string{"pw", "secret"} {
					if strings.Contains(tt.spec, secret) && strings.Contains(err.Error(), secret) {
						t.Errorf("the error repeats the secret: %v", err)
					}
				}
				return
			}
			e, others, err := find(t, f)
			if err != nil || len(others) != 0 {
				t.Fatalf("others %v, error %v", others, err)
			}
			if e.WS != tt.ws || e.Host != tt.host || e.Consent || e.Browser != "Chrome" {
				t.Errorf("got %+v, want %s with Host %q", e, tt.ws, tt.host)
			}
			if strings.Contains(e.Source, "token") {
				t.Errorf("the source repeats the query: %s", e.Source)
			}
		})
	}
}

// TestFinderTriesBothLoopbacks has a browser that listens on IPv6 alone.
func TestFinderTriesBothLoopbacks(t *testing.T) {
	for _, spec := range []string{"auto", "http://localhost:9222", "ws://b.localhost:9222"} {
		opts := elsewhere(t)
		opts.HTTPClient = &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Host != "[::1]:9222" {
				return nil, refused
			}
			return chrome(r)
		})}
		f, err := cdp.NewFinder(spec, opts)
		if err != nil {
			t.Fatal(err)
		}
		if e, _, err := find(t, f); err != nil || e.WS != "ws://[::1]:9222/devtools/browser/b1" {
			t.Errorf("%s: got %+v, %v", spec, e, err)
		}
	}
}

func TestFinderProfileSpec(t *testing.T) {
	e := cdptest.NewEndpoint(t, nil)
	root := t.TempDir()
	data := filepath.Join(root, "my data")
	e.WritePortFile(t, data)
	if err := os.MkdirAll(filepath.Join(data, "Default"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "Local State"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	literal := filepath.Join(root, "$ROOT")
	e.WritePortFile(t, literal)
	t.Chdir(root)
	for _, dir := range []string{data, "~/my data", "$ROOT/my data", "${ROOT}/my data", "%ROOT%/my data", "my data", data + "/Default", "$ROOT"} {
		opts := elsewhere(t)
		opts.Home = root
		opts.Getenv = func(k string) string { return map[string]string{"ROOT": root}[k] }
		f, err := cdp.NewFinder("profile:"+dir, opts)
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		got, _, err := find(t, f)
		want := filepath.Join(data, "DevToolsActivePort")
		if dir == "$ROOT" {
			want = filepath.Join(literal, "DevToolsActivePort")
		}
		if err != nil || got.WS != e.WS() || got.HTTP != e.HTTP || got.PortFile != want {
			t.Errorf("%s: got %+v, %v", dir, got, err)
		}
	}
}

func TestNotFoundErrorSaysWhatToDo(t *testing.T) {
	port := freePort(t)
	for goos, command := range map[string]string{
		"linux":   `google-chrome --remote-debugging-port=9222 --user-data-dir="$HOME/.aster/chrome"`,
		"darwin":  `open -na "Google Chrome" --args --remote-debugging-port=9222 --user-data-dir="$HOME/.aster/chrome"`,
		"windows": `chrome.exe" --remote-debugging-port=9222 --user-data-dir="`,
	} {
		for _, spec := range []string{"auto", "http://localhost:" + strconv.Itoa(port), fmt.Sprintf("ws://127.0.0.1:%d/devtools/browser/x", port), "profile:" + t.TempDir()} {
			opts := elsewhere(t)
			opts.GOOS = goos
			f, err := cdp.NewFinder(spec, opts)
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = find(t, f)
			var nf *cdp.NotFoundError
			if !errors.Is(err, cdp.ErrNoBrowser) || !errors.As(err, &nf) || len(nf.Tried) == 0 {
				t.Fatalf("%s %s: %v", goos, spec, err)
			}
			for _, want := range []string{"chrome://inspect/#remote-debugging", "144", command, "136", "--cdp-url launch", nf.Tried[0].Source} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s %s: %q is missing in\n%v", goos, spec, want, err)
				}
			}
		}
	}
}

func TestFindEndsWithItsContext(t *testing.T) {
	e := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Version: func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }})
	f, err := cdp.NewFinder(e.HTTP, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, _, err := f.Find(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, cdp.ErrNoBrowser) {
		t.Errorf("error is %v", err)
	}
}

// freePort is a port where nothing listens.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

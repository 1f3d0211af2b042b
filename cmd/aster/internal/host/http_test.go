package host_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

const testToken = "token-of-a-test-0123"

// serveHTTP serves a guarded server whose tool act asks the user; it returns the address.
func serveHTTP(t *testing.T, o *host.HTTPOptions) (addr string, stop func() time.Duration) {
	t.Helper()
	f, err := host.NewFront(&host.SessionOptions{Config: config.Default(), StateDir: t.TempDir(), Approve: guard.ModeAster}, host.Builtin{Name: "shortcuts", Server: fakeServer("shortcuts", "act")})
	if err != nil {
		t.Fatal(err)
	}
	l, err := host.ListenHTTP(t.Context(), "127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- host.ServeHTTP(ctx, f.Server(), l, o) }()
	ended := false
	stop = func() time.Duration {
		if ended {
			return 0
		}
		ended = true
		from := time.Now()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("ServeHTTP: %v", err)
		}
		took := time.Since(from)
		f.Close()
		return took
	}
	t.Cleanup(func() { stop() })
	return l.Addr().String(), stop
}

// bearer shows a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// dialHTTP connects a client whose user answers each question with word.
func dialHTTP(t *testing.T, addr, revision, word string) (*mcp.ClientSession, *int) {
	t.Helper()
	asked := new(int)
	client := mcp.NewClient(&mcp.Implementation{Name: "http", Version: "1"}, &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		*asked++
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": word}}, nil
	}})
	cs, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: "http://" + addr + host.HTTPPath, HTTPClient: &http.Client{Transport: bearer(testToken)}}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cs.Close() })
	return cs, asked
}

func callHTTP(t *testing.T, cs *mcp.ClientSession) *mcp.CallToolResult {
	t.Helper()
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "act"})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Two clients at once have approvals of their own; on 2026-07-28, which has no sessions,
// "for this session" holds for no other request.
func TestHTTPClients(t *testing.T) {
	addr, stop := serveHTTP(t, &host.HTTPOptions{Token: testToken})
	yes, asked := dialHTTP(t, addr, "2025-11-25", "session")
	no, askedNo := dialHTTP(t, addr, "2025-11-25", "no")
	for range 2 {
		if res := callHTTP(t, yes); res.IsError {
			t.Errorf("the first client's call: %v", res.Content[0])
		}
		if res := callHTTP(t, no); !res.IsError {
			t.Error("one client's approval held for another")
		}
	}
	if *asked != 1 || *askedNo != 2 {
		t.Errorf("asked %d and %d times, want 1 and 2", *asked, *askedNo)
	}
	if yes.ID() == "" || yes.ID() == no.ID() {
		t.Errorf("session ids %q and %q", yes.ID(), no.ID())
	}
	modern, askedModern := dialHTTP(t, addr, "2026-07-28", "session")
	other, askedOther := dialHTTP(t, addr, "2026-07-28", "no")
	if res := callHTTP(t, modern); res.IsError || *askedModern != 1 {
		t.Errorf("2026-07-28: %v, asked %d times", res.Content[0], *askedModern)
	}
	if res := callHTTP(t, other); !res.IsError || *askedOther != 1 {
		t.Errorf("2026-07-28: another's answer counted; asked %d times", *askedOther)
	}
	if took := stop(); took > time.Second {
		t.Errorf("it took %v to end with clients connected", took)
	}
}

// send sends one request and returns the status.
func send(t *testing.T, addr, method, path, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+addr+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+testToken)
	for _, line := range header {
		k, v, _ := strings.Cut(line, ": ")
		if k == "Host" {
			req.Host = v
			continue
		}
		req.Header.Del(k)
		if v != "" {
			req.Header.Set(k, v)
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return 0, err.Error()
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return res.StatusCode, res.Header.Get("Mcp-Session-Id") + "\n" + string(text)
}

// mcp-host.md §5, row 18: Host and Origin are checked, and a bearer token is needed.
func TestHTTPRefuses(t *testing.T) {
	addr, _ := serveHTTP(t, &host.HTTPOptions{Token: testToken, MaxBodyBytes: 2000})
	_, port, _ := net.SplitHostPort(addr)
	hello := initialize(1, "2025-11-25")
	for _, tt := range []struct {
		name   string
		body   string
		header []string
		want   int
	}{
		{"as it should be", hello, nil, 200},
		{"by the name localhost", hello, []string{"Host: localhost:" + port}, 200},
		{"own origin", hello, []string{"Origin: http://" + addr}, 200},
		{"rebinding", hello, []string{"Host: evil.example:" + port}, 403},
		{"rebinding without port", hello, []string{"Host: evil.example"}, 403},
		{"another port", hello, []string{"Host: 127.0.0.1:1"}, 403},
		{"a name that begins well", hello, []string{"Host: localhost.evil.example:" + port}, 403},
		{"foreign origin", hello, []string{"Origin: https://evil.example"}, 403},
		{"origin of another local port", hello, []string{"Origin: http://localhost:1"}, 403},
		{"opaque origin", hello, []string{"Origin: null"}, 403},
		{"cross-site fetch", hello, []string{"Sec-Fetch-Site: cross-site"}, 403},
		{"no token", hello, []string{"Authorization: "}, 401},
		{"wrong token", hello, []string{"Authorization: Bearer " + testToken + "x"}, 401},
		{"another scheme", hello, []string{"Authorization: Basic " + testToken}, 401},
		{"over the bound", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"p":"` + strings.Repeat("x", 3000) + `"}}`, nil, 413},
		{"made-up session", hello, []string{"Mcp-Session-Id: guess"}, 404},
	} {
		t.Run("security row 18: "+tt.name, func(t *testing.T) {
			if got, text := send(t, addr, "POST", host.HTTPPath, tt.body, tt.header...); got != tt.want {
				t.Errorf("%d, want %d: %s", got, tt.want, text)
			} else if strings.Contains(text, testToken) {
				t.Errorf("the answer holds the token: %s", text)
			}
		})
	}
	if got, _ := send(t, addr, "POST", "/", hello); got != 404 {
		t.Errorf("another path: %d", got)
	}
	if got, _ := send(t, addr, "OPTIONS", host.HTTPPath, "", "Origin: https://evil.example"); got != 403 {
		t.Errorf("a preflight of another origin: %d", got)
	}
}

// A body that does not come is given up, and the number of clients is bounded; DELETE
// makes room.
func TestHTTPBounds(t *testing.T) {
	addr, _ := serveHTTP(t, &host.HTTPOptions{Token: testToken, BodyTimeout: 200 * time.Millisecond, MaxSessions: 2})
	for length, want := range map[string]string{"100": "408", "99999999999": "413"} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %s\r\n\r\n{", host.HTTPPath, addr, testToken, length)
		conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, want) {
			t.Errorf("a body of %s bytes that does not come: %q %v, want %s", length, line, err, want)
		}
	}
	var first string
	for i := range 3 {
		code, text := send(t, addr, "POST", host.HTTPPath, initialize(1, "2025-11-25"))
		if want := map[bool]int{true: 200, false: 503}[i < 2]; code != want {
			t.Fatalf("client %d: %d, want %d: %s", i+1, code, want, text)
		}
		if i == 0 {
			first, _, _ = strings.Cut(text, "\n")
		}
	}
	if code, text := send(t, addr, "DELETE", host.HTTPPath, "", "Mcp-Session-Id: "+first); code != http.StatusNoContent {
		t.Fatalf("DELETE: %d %s", code, text)
	}
	if code, _ := send(t, addr, "POST", host.HTTPPath, initialize(1, "2025-11-25"), "Mcp-Session-Id: "+first); code != 404 {
		t.Errorf("a session that was ended: %d", code)
	}
	if code, text := send(t, addr, "POST", host.HTTPPath, initialize(1, "2025-11-25")); code != 200 {
		t.Errorf("after one left: %d %s", code, text)
	}
}

// As many clients as fit may come at once: one that is being counted twice is in nobody's way.
func TestHTTPClientsAtOnce(t *testing.T) {
	const clients = 40
	addr, _ := serveHTTP(t, &host.HTTPOptions{Token: testToken, MaxSessions: clients})
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			if code, text := send(t, addr, "POST", host.HTTPPath, initialize(1, "2025-11-25")); code != 200 {
				t.Errorf("client %d: %d %s", i, code, text)
			}
		})
	}
	wg.Wait()
	if code, _ := send(t, addr, "POST", host.HTTPPath, initialize(1, "2025-11-25")); code != 503 {
		t.Errorf("one client more than fit: %d", code)
	}
}

func TestHTTPIdleSessionsEnd(t *testing.T) {
	addr, _ := serveHTTP(t, &host.HTTPOptions{Token: testToken, SessionIdle: 50 * time.Millisecond})
	_, text := send(t, addr, "POST", host.HTTPPath, initialize(1, "2025-11-25"))
	id, _, _ := strings.Cut(text, "\n")
	ping := `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	for end, pause := time.Now().Add(20*time.Second), 100*time.Millisecond; ; pause *= 2 { // each request starts the time anew
		time.Sleep(pause)
		if code, _ := send(t, addr, "POST", host.HTTPPath, ping, "Mcp-Session-Id: "+id); code == 404 {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the session did not end")
		}
	}
}

func TestListenHTTP(t *testing.T) {
	for _, bad := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.7:0", "example.com:0"} {
		if l, err := host.ListenHTTP(t.Context(), bad, nil); !errors.Is(err, host.ErrNotLoopback) {
			t.Errorf("%s: %v %v, want a refusal", bad, l, err)
		}
	}
	l, err := host.ListenHTTP(t.Context(), "0.0.0.0:0", []string{"box.example"})
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

func TestTokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	made, err := host.TokenFile(path)
	if err != nil || len(made) < 32 {
		t.Fatalf("%q %v", made, err)
	}
	if again, err := host.TokenFile(path); err != nil || again != made {
		t.Errorf("read back as %q, %v", again, err)
	}
	if fi, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
	if runtime.GOOS != "windows" {
		os.Chmod(path, 0o644)
		if _, err := host.TokenFile(path); err == nil {
			t.Error("a token that others can read")
		}
	}
	short := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(short, []byte("abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := host.TokenFile(short); err == nil {
		t.Error("a short token")
	}
}

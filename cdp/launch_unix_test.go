//go:build unix

package cdp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aster-mcp/aster/cdp"
)

// TestLaunchAfterOneThatLeaves starts a browser that takes the profile while the port
// file still names another, which answers once more and is gone: the address is that of
// the new one.
func TestLaunchAfterOneThatLeaves(t *testing.T) {
	const old, own = "/devtools/browser/00000000-0000-4000-8000-00000000000a", "/devtools/browser/00000000-0000-4000-8000-00000000000b"
	dir := profileDir(t)
	serve := func(path string, answers int64) (port string) {
		var asked atomic.Int64
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1) > answers {
				// The other one's address comes when this one's has been seen.
				os.WriteFile(filepath.Join(dir, "gone"), nil, 0o600)
				http.NotFound(w, r)
				return
			}
			fmt.Fprintf(w, `{"Browser":"Chrome/156.0.0.0","Protocol-Version":"1.3","webSocketDebuggerUrl":"ws://%s%s"}`, r.Host, path)
		}))
		t.Cleanup(s.Close)
		return s.URL[strings.LastIndexByte(s.URL, ':')+1:]
	}
	first, second := serve(old, 1), serve(own, 1<<62)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "browser")
	script := fmt.Sprintf(`#!/bin/sh
cd '%s'
ln -s "%s-$$" SingletonLock
printf '%%s\n%%s' %s %s >new && mv new DevToolsActivePort
while [ ! -e gone ]; do sleep 0.05; done
printf '%%s\n%%s' %s %s >new && mv new DevToolsActivePort
echo "DevTools listening on ws://127.0.0.1:%s%s" >&2
exec sleep 60
`, dir, host, first, old, second, own, second, own)
	if err := os.WriteFile(exe, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := cdp.Launch(soon(t), &cdp.LaunchOptions{ProfileDir: dir, Headless: true, Executable: exe})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if l.Reused() || !strings.HasSuffix(l.Endpoint.WS, own) {
		t.Errorf("got %+v, reused %v", l.Endpoint, l.Reused())
	}
}

package webmcp_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/webmcp"
)

// TestSlowLink opens pages while each command to the browser may be late, as it is on a
// machine that is busy: whatever of attaching overtakes whatever of the page, its tools are
// listed and can be called.
func TestSlowLink(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		link := slowLink(t, cdptest.Shared(t, native).HTTP, anyOf(120*time.Millisecond))
		r := newRig(t, native, func(o *webmcp.Options) { o.Finder = finder(t, link) })
		r.Page("/said", `<!doctype html><title>said</title><script type="application/ld+json">"ok"</script>`)
		tool := func(i int) string { return fmt.Sprintf("late%d", i) }
		early := func(name string) string {
			return script(`(function look() { if (document.modelContext) {` + register(name, "() => 'ok'") + `} else setTimeout(look, 5); })()`)
		}
		// A page that registers at once, one with a form, one with a frame of another site: each
		// by a tab that then goes there, one that is opened there, and by a script of a page.
		pages := []func(name string) string{
			early,
			func(name string) string {
				return fmt.Sprintf(`<!doctype html><title>form</title><form toolname="%s" tooldescription="Sends it" toolautosubmit action="/said"><button>Send</button></form>`, name)
			},
			func(name string) string {
				r.Page("/in-"+name, early(name))
				return fmt.Sprintf(`<!doctype html><title>frame</title><iframe allow="tools" src="%s"></iframe>`, r.At("b.localhost", "/in-"+name))
			},
		}
		n := 0
		next := func() string { n++; return tool(n - 1) }
		for _, page := range pages {
			name := next()
			opener := r.browser.NewPage(t, r.Page("/"+name, page(name)))
			t.Cleanup(func() { opener.TryEval("w1.close(), w2.close(), 0") })
			name = next()
			openAt(t, r.browser, r.Page("/"+name, page(name)))
			name = next()
			opener.Eval(t, fmt.Sprintf("window.w1 = window.open(%q); 0", r.Page("/"+name, page(name))))
			name = next()
			opener.Eval(t, fmt.Sprintf("window.w2 = window.open(''); w2.document.title; w2.location = %q; 0", r.Page("/"+name, page(name))))
		}
		r.awaitTools(t, n)
		for i := range n {
			wantText(t, r.call(t, "webmcp_call", map[string]any{"name": tool(i), "arguments": map[string]any{}}), false, "ok")
		}
	})
}

// anyOf holds one in three messages for at most delay.
func anyOf(delay time.Duration) func([]byte) time.Duration {
	return func([]byte) time.Duration {
		if rand.IntN(3) == 0 {
			return rand.N(delay)
		}
		return 0
	}
}

// slowLink forwards connections to a browser's address, and holds messages to it, and what
// comes after them, for as long as delay says.
func slowLink(t *testing.T, to string, delay func(message []byte) time.Duration) string {
	t.Helper()
	to = strings.TrimPrefix(to, "http://")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			b, err := net.Dial("tcp", to)
			if err != nil {
				c.Close()
				return
			}
			go func() { io.Copy(c, b); c.Close() }()
			go func() { slowFrames(b, bufio.NewReader(c), delay); b.Close() }()
		}
	}()
	return "http://" + l.Addr().String()
}

// slowFrames copies a request and the WebSocket frames after it.
func slowFrames(w io.Writer, r *bufio.Reader, delay func([]byte) time.Duration) {
	upgrade := false
	for {
		line, err := r.ReadString('\n')
		if _, werr := io.WriteString(w, line); err != nil || werr != nil {
			return
		}
		upgrade = upgrade || strings.HasPrefix(strings.ToLower(line), "upgrade:")
		if line == "\r\n" && upgrade {
			break
		}
	}
	for {
		head, err := r.Peek(2)
		if err != nil {
			return
		}
		n, size := 2+4, int64(head[1]&0x7f) // a client's frames are masked
		switch size {
		case 126:
			if head, err = r.Peek(4); err != nil {
				return
			}
			n, size = n+2, int64(binary.BigEndian.Uint16(head[2:]))
		case 127:
			if head, err = r.Peek(10); err != nil {
				return
			}
			n, size = n+8, int64(binary.BigEndian.Uint64(head[2:]))
		}
		frame := make([]byte, int64(n)+size)
		if _, err := io.ReadFull(r, frame); err != nil {
			return
		}
		message := bytes.Clone(frame[n:])
		for i := range message {
			message[i] ^= frame[n-4+i%4] // the mask
		}
		time.Sleep(delay(message))
		if _, err := w.Write(frame); err != nil {
			return
		}
	}
}

// TestFirstCallOverASlowLink calls a tool that the client knows from before, as the first
// request of all, while the pages that are open take longer than a list would wait.
func TestFirstCallOverASlowLink(t *testing.T) {
	link := slowLink(t, cdptest.Shared(t, true).HTTP, anyOf(700*time.Millisecond))
	r := &rig{Server: cdptest.Serve(t), browser: cdptest.Shared(t, true)}
	r.browser.NewPage(t, r.Page("/known", script(register("known", "() => 'ok'"))))
	for _, call := range []struct {
		name string
		args map[string]any
	}{{"known", nil}, {"webmcp_call", map[string]any{"name": "known"}}} {
		r.attachQuiet(t, func(o *webmcp.Options) { o.Finder = finder(t, link) })
		wantText(t, r.call(t, call.name, call.args), false, "ok")
		r.stop()
	}
}

// TestListWaitsForRulings has a page ask for the tools of a frame that it knows to have some
// before it is known whether that frame may have any: under native WebMCP it gets them.
func TestListWaitsForRulings(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		link := slowLink(t, cdptest.Shared(t, native).HTTP, func(m []byte) time.Duration {
			if bytes.Contains(m, []byte("DOM.getFrameOwner")) {
				return 700 * time.Millisecond
			}
			return 0
		})
		r := newRig(t, native, func(o *webmcp.Options) { o.Finder = finder(t, link) })
		outer := strings.TrimSuffix(r.At("a.localhost", ""), "/")
		r.Page("/inner", script(fmt.Sprintf(`document.modelContext.registerTool({name: 'shared', description: 'd', execute: () => 'ok'}, {exposedTo: [%q]});
		  parent.postMessage('ready', '*'); // before the registration is through`, outer)))
		r.Page("/outer", fmt.Sprintf(`<!doctype html><script>
		  globalThis.tools = new Promise((done) => { onmessage = () => done(); })
		    .then(() => document.modelContext.getTools({fromOrigins: [new URL(%[1]q).origin]}))
		    .then((tools) => Promise.all(tools.map((t) => document.modelContext.executeTool(t, {}))));
		</script><iframe src=%[1]q allow="tools"></iframe>`, r.At("b.localhost", "/inner")))
		p := r.browser.NewPage(t, outer+"/outer")
		if got := string(p.Eval(t, "tools")); got != `["ok"]` {
			t.Errorf("the frame's tools answer %s, want [\"ok\"]", got)
		}
	})
}

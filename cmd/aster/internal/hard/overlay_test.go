//go:build unix

package hard_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cdp/cdptest"
)

func TestOverlay(t *testing.T) { play(t, "overlay", overlayAttacks()) }

// overlayAttacks need what no test can change from outside: the clock, and who answers for
// names. They build the program once more, with that in other hands.
func overlayAttacks() []attack {
	return []attack{
		{name: "clock-jumps", long: true, did: "the clock of a running gateway jumps by hours, years and back, in calls and between them", run: overlayClock},
		{name: "rebinding", rows: []int{16}, long: true, did: "names that are public when they are looked up first, and this machine's after that, for each web tool, with the browser too", run: overlayRebinding},
	}
}

// The overlay: time.Now is ahead by what a file says, and names are asked of one server.
const (
	clockNow  = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	clockMore = clockNow + "\tsec += hardShift.Load()\n"
	clockStd  = "package time\n\nimport \"sync/atomic\"\n\nvar hardShift atomic.Int64\n\nfunc HardShift(seconds int64) { hardShift.Store(seconds) }\n"
	clockMain = `package main

import (
	"context"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

func init() {
	if file := os.Getenv("ASTER_HARD_CLOCK"); file != "" {
		set := func() {
			text, _ := os.ReadFile(file)
			if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
				time.HardShift(n)
			}
		}
		set()
		go func() {
			for {
				time.Sleep(5 * time.Millisecond)
				set()
			}
		}()
	}
	if server := os.Getenv("ASTER_HARD_DNS"); server != "" {
		net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "udp", server)
		}}
	}
}
`
)

var overlayExe = sync.OnceValues(buildOverlay)

// buildOverlay builds the program with the overlay, beside the other.
func buildOverlay() (exe string, err error) {
	dir := filepath.Dir(fakeExe)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	std := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	text, err := os.ReadFile(filepath.Join(std, "time.go"))
	if err != nil {
		return "", err
	}
	changed := strings.Replace(string(text), clockNow, clockMore, 1)
	if changed == string(text) {
		return "", fmt.Errorf("%s: time.Now is another one", std)
	}
	main, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for i, f := range [][2]string{{filepath.Join(std, "time.go"), changed}, {filepath.Join(std, "hard_shift.go"), clockStd}, {filepath.Join(main, "hard_shift.go"), clockMain}} {
		path := filepath.Join(dir, fmt.Sprintf("overlay%d.go", i))
		if err := os.WriteFile(path, []byte(f[1]), 0o600); err != nil {
			return "", err
		}
		replace[f[0]] = path
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, list, 0o600); err != nil {
		return "", err
	}
	exe = filepath.Join(dir, "aster-overlay")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-overlay", file, "-o", exe, "github.com/aster-mcp/aster/cmd/aster").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return exe, nil
}

// overlaid is the program with the overlay.
func (a *arena) overlaid(args ...string) *exec.Cmd {
	a.Helper()
	exe, err := overlayExe()
	if err != nil {
		a.Fatal(err)
	}
	return exec.Command(exe, args...)
}

// clockJumps are what the clock is ahead by, one after the other.
var clockJumps = []time.Duration{time.Hour, 0, -time.Hour, 24 * time.Hour, -24 * time.Hour, 50 * 365 * 24 * time.Hour, -50 * 365 * 24 * time.Hour, 11 * time.Second, -11 * time.Second, 200 * 365 * 24 * time.Hour, 0}

func overlayClock(a *arena) {
	a.config([]string{"good: good"}, "policy: {approve: never}", "audit: {max_bytes: 4096, keep: 50}", "call_timeout: 60s")
	shift := a.write("shift", "0")
	jump := func(d time.Duration) {
		next := a.write("shift.next", fmt.Sprint(int64(d/time.Second)))
		if err := os.Rename(next, shift); err != nil {
			a.Fatal(err)
		}
	}
	env := []string{"ASTER_HARD_CLOCK=" + shift}
	c := newClient(a.startCommand(env, a.overlaid("mcp", "serve", "--expose", "both")))
	c.initialize()
	c.awaitTool("good__echo")
	calls := 0
	for i, d := range clockJumps {
		// One call is under way while the clock jumps, more come after it.
		ch, err := c.begin("tools/call", `{"name":"good__sleep","arguments":{"n":200}}`)
		if err != nil {
			a.Fatal(err)
		}
		jump(d)
		select {
		case r := <-ch:
			if text, failed := r.isError(); failed || text != "late" {
				a.Errorf("%v: the call under way came to %q", d, text)
			}
		case <-time.After(callTimeout):
			a.Fatalf("%v: the call under way is not answered", d)
		}
		for range 10 {
			calls++
			if text := c.call("good__echo", `{"text":"after"}`).text(); text != "echo after" {
				a.Errorf("%v: %q", d, text)
			}
		}
		// Another process lives in the same time, and edits, calls and reads.
		for _, args := range [][]string{{"mcp", "call", "good/echo", `{"text":"x"}`}, {"mcp", "add", fmt.Sprint("new", i), "--global", "--disabled", "--", "sh"}, {"mcp", "log", "--last", "0"}, {"mcp", "list"}, {"config", "check"}} {
			p := a.startCommand(env, a.overlaid(args...))
			p.stdin.Close()
			if out := a.output(p); p.err != nil {
				a.Errorf("%v: aster %q: %v, %q, %q", d, args, p.err, out, p.stderr.String())
			}
		}
	}
	c.close()
	if open := unended(a.audit()); len(open) > 0 {
		a.Errorf("the record has no end of %d calls", len(open))
	}
	text, err := os.ReadFile(filepath.Join(a.home, "aster.yaml"))
	if err != nil {
		a.Fatal(err)
	}
	for i := range clockJumps {
		if !strings.Contains(string(text), fmt.Sprintf("new%d:", i)) {
			a.Errorf("the edit of jump %d is not in the file", i)
		}
	}
	a.holds("calls under way and after it are answered, edits are kept, the record is whole")
	a.figure("%d jumps, %d calls", len(clockJumps), calls)
}

// publicNowhere is a public address of a range that nobody was given: no test leaves the
// machine.
const publicNowhere = "3000::1"

// rebinder answers for every name, with a public address for the first times that it is
// asked for the name and this machine's after that.
func rebinder(a *arena, public int) (addr string, asked func() int) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		a.Fatal(err)
	}
	a.Cleanup(func() { conn.Close() })
	var mu sync.Mutex
	counts, total := map[string]int{}, 0
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			question := questionOf(buf[:n])
			if question == nil {
				continue
			}
			kind := question[len(question)-3]
			mu.Lock()
			first := counts[string(question)] < public
			counts[string(question)]++
			total++
			mu.Unlock()
			var address []byte
			switch {
			case kind == typeAAAA && first:
				address = netip.MustParseAddr(publicNowhere).AsSlice()
			case kind == typeA && !first:
				address = []byte{127, 0, 0, 1}
			}
			out := append([]byte{buf[0], buf[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, question...)
			if address != nil {
				out[7] = 1 // one answer, of the question's name, for no time
				out = append(out, 0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 0, 0, byte(len(address)))
				out = append(out, address...)
			}
			conn.WriteTo(out, from)
		}
	}()
	return conn.LocalAddr().String(), func() int { mu.Lock(); defer mu.Unlock(); return total }
}

// trapAtWeb is a trap on port 80, since names of public hosts are followed to few ports
// only; where this user may not have it, on any.
func trapAtWeb(a *arena) (t *trap, port string) {
	a.Helper()
	t = newTrap(a)
	port = t.URL[strings.LastIndexByte(t.URL, ':')+1:]
	l, err := net.Listen("tcp", "127.0.0.1:80")
	if err != nil {
		a.holds("on port %s, for want of port 80", port)
		return t, port
	}
	// Browsers on this machine may call home by names that lead here.
	web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.Host, ".example") {
			t.Config.Handler.ServeHTTP(w, r)
		}
	})}
	go web.Serve(l)
	a.Cleanup(func() { web.Close() })
	return t, "80"
}

// Types of addresses in DNS.
const (
	typeA    = 1
	typeAAAA = 28
)

// questionOf is the one question of a DNS message with its type and class, nil for none.
func questionOf(message []byte) []byte {
	const head, tail = 12, 4
	for i := head; i < len(message); i += 1 + int(message[i]) {
		if message[i] == 0 && i+1+tail <= len(message) {
			return message[head : i+1+tail]
		}
	}
	return nil
}

func overlayRebinding(a *arena) {
	t, port := trapAtWeb(a)
	redirect := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://hop"+r.URL.Query().Get("n")+".example:"+port+"/", http.StatusFound)
	}))
	a.Cleanup(redirect.Close)
	lookups, calls, dialled := 0, 0, 0
	for _, chromium := range []string{"off", cdptest.Find()} {
		for _, public := range []int{1, 2} { // look-ups that are answered with a public address
			dns, asked := rebinder(a, public)
			a.config(nil, "policy: {approve: never}", "web: {limits: {timeout: 3s}}")
			c := newClient(a.startCommand([]string{"ASTER_HARD_DNS=" + dns}, a.overlaid("mcp", "serve", "web", "--local-only", "--chromium", chromium, "--approve", "never", "--allow-private", strings.TrimPrefix(redirect.URL, "http://"))))
			c.initialize()
			for tool, arguments := range addressTools {
				for _, url := range []string{fmt.Sprintf("http://%s%d.example:%s/", tool, public, port), fmt.Sprintf("%s/?n=%s%d", redirect.URL, tool, public)} {
					text := c.call(tool, fmt.Sprintf(arguments, quote(url))).text()
					calls++
					if !strings.Contains(text, "not a public address") {
						dialled++
					}
					if strings.Contains(text, "trapped-inside") || text == "" {
						a.Errorf("%s %s, browser %s: %.300q", tool, url, chromium, text)
					}
					t.check(a, fmt.Sprintf("%s %s, %d public answers, browser %s", tool, url, public, chromium))
				}
			}
			lookups += asked()
			c.close()
		}
	}
	if lookups == 0 || dialled == 0 {
		a.Errorf("%d look-ups, %d calls for an address that may be dialled", lookups, dialled)
	}
	a.holds("each connection goes to the address that was judged; nothing reached this machine's port")
	a.figure("%d calls, %d look-ups, %d calls that dialled a public address", calls, lookups, dialled)
}

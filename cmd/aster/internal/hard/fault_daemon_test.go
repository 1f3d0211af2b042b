//go:build unix

package hard_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestDaemonFaults(t *testing.T) {
	play(t, "daemon", []attack{
		{name: "killed", did: fmt.Sprintf("the daemon is killed at %d random moments of clients that join and call", pick(3, 60)), run: daemonKilled},
		{name: "left-behind", did: "in the place of its socket or lock lie a dead socket, a file, a directory, a link to another file, noise", run: daemonLeftBehind},
		{name: "forged", did: fmt.Sprintf("another program of the same user listens at its socket, in %d ways", len(forgedDaemons())), run: daemonForged},
		{name: "disk-full", did: "no file may grow where the daemon is to run", run: daemonDiskFull},
		{name: "handover", did: "a newer aster takes over 20 times from a daemon in use, and one of the two daemons is killed on the way", long: true, run: daemonHandover},
	})
}

// sharing is the environment of programs that share a daemon, which finds no browser.
var sharing = []string{"ASTER_DAEMON=on", "XDG_RUNTIME_DIR=", "ASTER_WEBMCP_CDP_URL=http://127.0.0.1:1"}

var serveShared = []string{"mcp", "serve", "webmcp", "--approve", "never"}

// daemons are the process IDs of the case's daemons.
func (a *arena) daemons() (pids []int) {
	for _, line := range a.descendants() {
		pid, rest, _ := strings.Cut(line, " ")
		if n, err := strconv.Atoi(pid); err == nil && strings.Contains(rest, " daemon run ") {
			pids = append(pids, n)
		}
	}
	return pids
}

// stopDaemon ends the daemon of the case, with TERM if it has to be.
func (a *arena) stopDaemon() {
	a.Helper()
	a.run(sharing, "daemon", "stop")
	for _, pid := range a.daemons() { // one that cannot be reached any more
		syscall.Kill(pid, syscall.SIGTERM)
	}
	a.eventually(goneTimeout, "a daemon runs on", func() bool { return len(a.daemons()) == 0 })
}

// tabs calls a tool of the server that the daemon gives its clients.
func (c *client) tabs() (text string, took time.Duration) {
	c.a.Helper()
	begun := time.Now()
	text, _ = c.call("webmcp_tabs", `{}`).isError()
	return text, time.Since(begun)
}

// serves waits until the tool answers as it should.
func (c *client) serves(when string) {
	c.a.Helper()
	var text string
	for deadline := time.Now().Add(awaitTimeout); !strings.Contains(text, "Browser:"); {
		if text, _ = c.tabs(); time.Now().After(deadline) {
			c.a.Fatalf("%s: webmcp_tabs says %q; stderr:\n%s", when, text, c.stderr.String())
		}
	}
}

func daemonKilled(a *arena) {
	rnd, kills := random("daemon"), 0
	first := a.open(sharing, serveShared...)
	first.serves("at first")
	for range pick(3, 60) {
		wait := time.Duration(rnd.IntN(300)) * time.Millisecond
		killed := make(chan int)
		go func() {
			time.Sleep(wait)
			pids := a.daemons()
			for _, pid := range pids {
				syscall.Kill(pid, syscall.SIGKILL)
			}
			killed <- len(pids)
		}()
		c := a.open(sharing, serveShared...)
		if text, took := c.tabs(); text == "" || took > slackTime {
			a.Errorf("killed after %v (seed %d): a call came to %q after %v", wait, seed, text, took)
		}
		kills += <-killed
		when := fmt.Sprintf("killed after %v (seed %d)", wait, seed)
		first.serves(when + ", the client that was there")
		c.serves(when + ", the client that came")
		c.close()
	}
	first.close()
	if out, errs, code := a.run(sharing, "daemon", "status"); code != 0 || out == "" {
		a.Errorf("daemon status: exit code %d, %q, %q", code, out, errs)
	}
	a.stopDaemon()
	a.holds("each call answered, all clients served in the end")
	a.figure("%d daemons killed", kills)
}

// daemonFiles are the paths of the socket and the lock, known once a daemon ran.
func (a *arena) daemonFiles() (socket, lock string) {
	a.Helper()
	c := a.open(sharing, serveShared...)
	c.serves("at first")
	found, _ := filepath.Glob(filepath.Join(a.home, "run", "*.sock"))
	c.close()
	a.stopDaemon()
	if len(found) != 1 {
		a.Fatalf("sockets: %q", found)
	}
	return found[0], strings.TrimSuffix(found[0], ".sock") + ".lock"
}

func daemonLeftBehind(a *arena) {
	socket, lock := a.daemonFiles()
	elsewhere := a.write("elsewhere", "mine")
	plants := map[string]func(path string) error{
		"dead socket": func(path string) error {
			l, err := net.Listen("unix", path)
			if err == nil {
				l.(*net.UnixListener).SetUnlinkOnClose(false)
				err = l.Close()
			}
			return err
		},
		"file":      func(path string) error { return os.WriteFile(path, []byte("noise\x00\xff"), 0o600) },
		"directory": func(path string) error { return os.MkdirAll(filepath.Join(path, "full"), 0o700) },
		"link":      func(path string) error { return os.Symlink(elsewhere, path) },
		"dangling":  func(path string) error { return os.Symlink(elsewhere+"-none", path) },
	}
	said := 0
	for kind, plant := range plants {
		for _, path := range []string{socket, lock} {
			if path == lock && (kind == "dead socket" || kind == "dangling") {
				continue
			}
			os.RemoveAll(path)
			if err := plant(path); err != nil {
				a.Fatal(err)
			}
			c := a.open(sharing, serveShared...)
			c.serves(kind + " at " + filepath.Base(path))
			if strings.Contains(c.stderr.String(), "no shared daemon") {
				said++
			}
			c.close()
			if _, errs, code := a.run(sharing, "daemon", "status"); code < 0 || code > 3 || strings.Contains(errs, "panic") {
				a.Errorf("%s: daemon status: exit code %d, %q", kind, code, errs)
			}
			a.stopDaemon()
			os.RemoveAll(path)
		}
	}
	if text, err := os.ReadFile(elsewhere); err != nil || len(text) > 0 && !strings.HasPrefix(string(text), "mine") && !strings.HasPrefix(string(text), "{") {
		a.Errorf("the file behind the link: %q, %v", text, err)
	}
	a.holds("served, by a daemon or without one")
	a.figure("%d places, %d times alone with a word why", 2*len(plants)-2, said)
}

// forgedDaemons are programs that listen at the daemon's socket; each deals with one
// connection.
func forgedDaemons() map[string]func(net.Conn) {
	answer := func(line string) func(net.Conn) {
		return func(c net.Conn) {
			bufio.NewReader(c).ReadString('\n')
			io.WriteString(c, line)
		}
	}
	forged := map[string]func(net.Conn){
		"leaves":  func(net.Conn) {},
		"noise":   answer("HTTP/1.1 400 Bad Request\r\n\r\n"),
		"evil":    answer(`{"aster":"v9.9.9","protocol":99,"error":"\u001b[2Jpwned\u0007\u202e"}` + "\n"),
		"old":     answer(`{"aster":"v0.0.1","protocol":1,"old":true,"error":"old"}` + "\n"),
		"usage":   answer(`{"error":"no","protocol":1}` + "\n"),
		"endless": func(c net.Conn) { io.Copy(c, endless{}) },
		"no server": func(c net.Conn) {
			r := bufio.NewReader(c)
			r.ReadString('\n')
			io.WriteString(c, `{"aster":"(devel)","protocol":1,"pid":1}`+"\n{\n[]\nnull\n"+`{"jsonrpc":"2.0","id":1,"result":5}`+"\n")
		},
	}
	if long { // these wait for time limits
		forged["silent"] = func(c net.Conn) { io.Copy(io.Discard, c) }
		forged["server is silent"] = func(c net.Conn) {
			bufio.NewReader(c).ReadString('\n')
			io.WriteString(c, `{"aster":"(devel)","protocol":1,"pid":1}`+"\n")
			io.Copy(io.Discard, c)
		}
	}
	return forged
}

// endless is a line that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func daemonForged(a *arena) {
	socket, _ := a.daemonFiles()
	var worst time.Duration
	for name, deal := range forgedDaemons() {
		os.Remove(socket)
		l, err := net.Listen("unix", socket)
		if err != nil {
			a.Fatal(err)
		}
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer conn.Close()
					deal(conn)
				}()
			}
		}()
		begun := time.Now()
		c := a.open(sharing, serveShared...)
		c.serves(name)
		worst = max(worst, time.Since(begun))
		c.close()
		if text := c.stderr.String(); strings.ContainsAny(text, "\x1b\x07\u202e") || !strings.Contains(text, "aster: ") {
			a.Errorf("%s: stderr %q", name, text)
		}
		for _, args := range [][]string{{"daemon", "status"}, {"daemon", "stop"}} {
			out, errs, code := a.run(sharing, args...)
			if code < 0 || code > 12 || strings.ContainsAny(out+errs, "\x1b\x07\u202e") {
				a.Errorf("%s: aster %q: exit code %d, %q, %q", name, args, code, out, errs)
			}
		}
		l.Close()
		a.stopDaemon() // where one could be started all the same
	}
	a.holds("served without it, with a word why, no control character on a terminal")
	a.figure("at most %s", ms(worst))
}

func daemonDiskFull(a *arena) {
	for _, blocks := range []int{0, 1} {
		cmd := exec.Command("/bin/sh", append([]string{"-c", fmt.Sprintf(`trap '' XFSZ; ulimit -f %d; exec "$0" "$@"`, blocks), asterExe}, serveShared...)...)
		c := newClient(a.startCommand(sharing, cmd))
		c.initialize()
		var text string
		for range 30 {
			var took time.Duration
			if text, took = c.tabs(); text == "" || took > slackTime {
				a.Errorf("%d blocks: %q after %v", blocks, text, took)
			}
		}
		c.close()
		a.holds("%d blocks: %.60q", blocks, text)
		a.stopDaemon()
		if logs, _ := filepath.Glob(filepath.Join(a.home, "run", "*.log")); len(logs) > 0 {
			os.Remove(logs[0]) // cut by the limit
		}
		a.mendTorn()
		a.removeEmptyRun()
	}
	c := a.open(sharing, serveShared...)
	c.serves("with room again")
	c.close()
	a.stopDaemon()
}

func daemonHandover(a *arena) {
	const symbol = "github.com/aster-mcp/aster/cmd/aster/internal/cli.version"
	exes := make([]string, 2)
	for i := range exes {
		exes[i] = filepath.Join(a.dir, fmt.Sprintf("aster%d", i+1))
		if out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags", fmt.Sprintf("-X %s=v%d.0.0", symbol, i+1), "-o", exes[i], "github.com/aster-mcp/aster/cmd/aster").CombinedOutput(); err != nil {
			a.Fatalf("%v\n%s", err, out)
		}
	}
	open := func(exe string) *client {
		c := newClient(a.startCommand(sharing, exec.Command(exe, serveShared...)))
		c.initialize()
		return c
	}
	rnd, kills := random("handover"), 0
	for range 20 {
		older := open(exes[0])
		older.serves("the older one")
		wait := time.Duration(rnd.IntN(400)) * time.Millisecond
		killed := make(chan int)
		go func() {
			time.Sleep(wait)
			pids := a.daemons()
			slices.Sort(pids)
			if len(pids) > 0 {
				syscall.Kill(pids[rnd.IntN(len(pids))], syscall.SIGKILL)
			}
			killed <- min(len(pids), 1)
		}()
		newer := open(exes[1])
		kills += <-killed
		when := fmt.Sprintf("killed after %v (seed %d): ", wait, seed)
		older.serves(when + "the older one")
		newer.serves(when + "the newer one")
		newer.close()
		older.close()
		a.stopDaemon()
	}
	a.holds("both are served in the end")
	a.figure("20 times, %d daemons killed on the way", kills)
}

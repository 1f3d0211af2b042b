//go:build unix

package hard_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cdp/cdptest"
)

func TestSecrets(t *testing.T) {
	cdptest.Require(t)
	play(t, "secrets", secretAttacks())
}

func secretAttacks() []attack {
	return []attack{
		{name: "commands", rows: []int{14}, did: "canaries in variables, headers, the browser's address, keys and arguments; a server that repeats them in errors, logs and stderr; every command that prints", run: secretCommands},
		{name: "crash", rows: []int{14}, did: "the gateway, the endpoint and the daemon end with a dump of all goroutines while they hold canaries", run: secretCrash},
		{name: "pages", rows: []int{14}, did: "canaries in a page's text, cookie, form, storage and results, with a daemon that logs all that it can", run: secretPages},
		{name: "ui", rows: []int{14}, did: "what the page of aster ui is told of servers, calls and tabs that hold canaries", run: secretUI},
		{name: "man", rows: []int{14}, did: "man pages and help written with canaries in every variable that is read", run: secretMan},
	}
}

// loudServers configures a server that tells all that it knows, a remote one with a key and
// a good one, and returns the variables that hold their canaries.
func (a *arena) loudServers() (vars []string) {
	a.Helper()
	a.config([]string{"loud: secret-noise", "good: good"}, "policy: {approve: never}")
	path := filepath.Join(a.home, "aster.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		a.Fatal(err)
	}
	config := strings.Replace(string(text), "      args: [secret-noise]\n", "      args: [secret-noise]\n      env: {SERVER_TOKEN: \"${TOKEN}\"}\n", 1)
	config = strings.Replace(config, "    good:\n", fmt.Sprintf("    away: {url: \"http://127.0.0.1:1/mcp\", headers: {Authorization: %q}}\n    good:\n", "Bearer ${AUTH}"), 1)
	a.write(path, config)
	return []string{"TOKEN=" + a.secret("variable"), "AUTH=" + a.secret("auth"), "EXA_API_KEY=" + a.secret("exa"), "JINA_API_KEY=" + a.secret("jina")}
}

// secretCommands looks for canaries in all that commands write.
func secretCommands(a *arena) {
	argument := a.secret("password")
	vars := a.loudServers()
	a.write(".cursor/mcp.json", fmt.Sprintf(`{"mcpServers":{"theirs":{"command":"sh","env":{"API_KEY":%q}},"far":{"url":"https://far.example/mcp","headers":{"Authorization":%q}}}}`, a.secret("imported"), "Bearer "+a.secret("bearer")))
	for _, args := range [][]string{
		{"mcp", "list"}, {"mcp", "list", "--json"}, {"mcp", "list", "--no-connect", "--json"}, {"mcp", "get", "loud"}, {"mcp", "get", "away"}, {"mcp", "get", "away", "--json"}, {"mcp", "call", "loud/echo", "{}"}, {"mcp", "call", "--json", "loud/echo", "{}"},
		{"mcp", "call", "good/echo", `{"text":"x","password":` + quote(argument) + `}`}, {"mcp", "doctor"}, {"mcp", "doctor", "--json"}, {"doctor"}, {"doctor", "--json"}, {"doctor", "loud", "--json"}, {"doctor", "away", "--json"}, {"mcp", "tools", "--json"},
		{"mcp", "search", "echo", "--json"}, {"mcp", "log"}, {"mcp", "log", "--json"}, {"mcp", "stats"}, {"mcp", "stats", "--json"}, {"config", "check"}, {"config", "path"}, {"daemon", "status"}, {"mcp", "restart", "loud"}, {"mcp", "import", "--dry-run"}, {"doctor", "--json", "--cdp-url", "http://user:" + a.secret("userinfo") + "@127.0.0.1:1/"}, {"web", "--help"}, {"version"},
	} {
		out, errs, _ := a.run(vars, append(args, "--log-level", "debug")...)
		if out+errs == "" {
			a.Errorf("aster %q says nothing", args[:1])
		}
		a.clean(fmt.Sprintf("aster %q", args[:min(len(args), 3)]), out+errs)
	}
	c := a.open(vars, "mcp", "serve", "--expose", "both", "--log-level", "debug")
	c.awaitTool("loud__echo")
	r := c.call("loud__echo", `{}`)
	if why, failed := r.isError(); !failed || why == "" {
		a.Errorf("the server's error came as %q", why)
	}
	raw, err := json.Marshal(r)
	if err != nil {
		a.Fatal(err)
	}
	a.clean("the answer", string(raw))
	c.close()
	a.holds("in no output, log, record, kept list or answer")
	a.figure("%d canaries", len(a.canaries))
}

// secretCrash ends programs as a crash does, with the stacks of all goroutines.
func secretCrash(a *arena) {
	vars := append(a.loudServers(), "GOTRACEBACK=system", "ASTER_WEBMCP_CDP_URL=http://127.0.0.1:1")
	dump := func(what string, p *program) {
		a.Helper()
		p.signal(syscall.SIGQUIT)
		if !p.ended(leaveTimeout) {
			a.Fatalf("%s does not end on QUIT", what)
		}
		text := p.stderr.String()
		if !strings.Contains(text, "goroutine ") {
			a.Errorf("%s left no dump: %.300q", what, text)
		}
		a.clean("the dump of "+what, text)
		a.figure("%s %d bytes", what, len(text))
	}
	c := a.open(vars, "mcp", "serve", "--expose", "both")
	c.awaitTool("loud__echo")
	if _, err := c.begin("tools/call", `{"name":"good__sleep","arguments":{"n":60000,"password":`+quote(a.secret("argument"))+`}}`); err != nil {
		a.Fatal(err)
	}
	c.call("loud__echo", `{}`)
	dump("the gateway", c.program)
	e := a.serveHTTP()
	if h, err := e.open(); err != nil {
		a.Error(err)
	} else {
		h.http.CloseIdleConnections()
	}
	dump("the endpoint", e.program)
	for deadline := time.Now().Add(goneTimeout); len(a.descendants()) > 0 && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
	}
	// The daemon's dump goes to its log.
	d := a.open(append(vars, append(sharing[:2:2], "ASTER_LOG=debug")...), serveShared...)
	d.serves("the daemon's client")
	quit := a.daemons()
	for _, pid := range quit {
		syscall.Kill(pid, syscall.SIGQUIT)
	}
	a.eventually(goneTimeout, "the daemon runs on", func() bool { // its client may start another
		return !slices.ContainsFunc(a.daemons(), func(pid int) bool { return slices.Contains(quit, pid) })
	})
	d.close()
	a.stopDaemon()
	a.holds("no canary in a dump of the gateway, the endpoint or the daemon")
}

// secretPages has pages hold canaries, and looks at all that is written but the answers
// that carry them.
func secretPages(a *arena) {
	b := cdptest.Shared(a.T, false)
	srv := cdptest.Serve(a.T)
	const host = "secret.localhost"
	inPage, result, argument := a.secret("page"), a.secret("result"), a.secret("password")
	srv.Page("/secret.html", "<!doctype html><title>t</title><p>"+inPage+"</p><input type=password value="+inPage+"><script>document.cookie = 'session="+inPage+"'; localStorage.key = '"+inPage+"'; console.log('"+inPage+"');"+
		register+`reg('read', () => '`+result+`'); </script>`)
	env := []string{"ASTER_DAEMON=on", "XDG_RUNTIME_DIR=", "ASTER_LOG=debug", "ASTER_WEBMCP_CDP_URL=" + b.WS}
	c := a.open(env, "mcp", "serve", "webmcp", "--approve", "never", "--origin", "http://"+host+":*")
	c.serves("at first")
	page := b.NewPage(a.T, srv.At(host, "/secret.html"))
	c.awaitTool("read")
	if text, failed := c.call("read", `{"text":"x","password":`+quote(argument)+`}`).isError(); failed || !strings.Contains(text, result) {
		a.Errorf("the tool: %q", text)
	}
	for _, tool := range []string{"webmcp_tabs", "webmcp_tools"} {
		a.clean(tool, c.call(tool, `{}`).text())
	}
	for _, args := range [][]string{{"doctor", "--json"}, {"daemon", "status"}, {"daemon", "logs"}, {"mcp", "log", "--json"}, {"mcp", "stats", "--json"}, {"mcp", "list", "--json"}} {
		out, errs, _ := a.run(env, args...)
		if out+errs == "" {
			a.Errorf("aster %q says nothing", args)
		}
		a.clean(fmt.Sprintf("aster %q", args), out+errs)
	}
	page.Close(a.T)
	c.close()
	a.stopDaemon()
	if logs, _ := filepath.Glob(filepath.Join(a.home, "run", "*.log")); len(logs) == 0 {
		a.Error("the daemon kept no log")
	}
	a.holds("in no log of the daemon's, no record and no output; only the answer has the page's words")
}

var uiAddress = regexp.MustCompile(`http://(127\.0\.0\.1:\d+)/#token=(\S+)`)

func secretUI(a *arena) {
	vars := a.loudServers()
	p := a.start(vars, "ui", "--no-tabs", "--log-level", "debug")
	line, err := bufio.NewReader(p.stdout).ReadString('\n')
	m := uiAddress.FindStringSubmatch(line)
	if err != nil || m == nil {
		a.Fatalf("aster ui says %q, %v; stderr:\n%s", line, err, p.stderr.String())
	}
	req, err := http.NewRequestWithContext(a.Context(), http.MethodGet, "http://"+m[1]+"/events?token="+m[2], nil)
	if err != nil {
		a.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		a.Fatal(err)
	}
	defer resp.Body.Close()
	late := time.AfterFunc(awaitTimeout, func() { resp.Body.Close() })
	defer late.Stop()
	for _, args := range [][]string{{"mcp", "call", "loud/echo", "{}"}, {"mcp", "call", "good/echo", `{"text":"x","password":` + quote(a.secret("argument")) + `}`}} {
		a.run(vars, args...)
	}
	// Until the servers and the calls are there.
	var seen strings.Builder
	in := bufio.NewScanner(resp.Body)
	in.Buffer(nil, 8<<20)
	for !strings.Contains(seen.String(), "loud/echo") || !strings.Contains(seen.String(), `"away"`) {
		if !in.Scan() {
			a.Fatalf("status %d, %v: the page is told %.2000s", resp.StatusCode, in.Err(), seen.String())
		}
		seen.WriteString(in.Text() + "\n")
	}
	a.clean("what the page is told", seen.String())
	p.signal(syscall.SIGTERM)
	if !p.ended(leaveTimeout) {
		a.Error("aster ui does not end on TERM")
	}
	a.clean("stderr", p.stderr.String())
	a.holds("in nothing that the page is told")
	a.figure("%d bytes", seen.Len())
}

func secretMan(a *arena) {
	vars := a.loudServers()
	dir := filepath.Join(a.dir, "man")
	if _, errs, code := a.run(vars, "man", dir); code != 0 {
		a.Fatalf("exit code %d: %s", code, errs)
	}
	pages := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		a.clean(d.Name(), string(text))
		pages++
		return err
	})
	if err != nil || pages == 0 {
		a.Errorf("%d man pages, %v", pages, err)
	}
	for _, args := range [][]string{{"help", "environment"}, {"help", "commands"}, {"man", "--markdown"}, {"config", "schema"}, {"completion", "bash"}, {"mcp", "serve", "--help"}} {
		out, errs, code := a.run(vars, args...)
		if code != 0 {
			a.Errorf("aster %q: exit code %d", args, code)
		}
		a.clean(fmt.Sprintf("aster %q", args), out+errs)
	}
	a.holds("none")
	a.figure("%d pages", pages)
}

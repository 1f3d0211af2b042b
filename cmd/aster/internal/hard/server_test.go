//go:build unix

package hard_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestServers(t *testing.T) { play(t, "servers", serverAttacks()) }

func serverAttacks() []attack {
	return []attack{
		{name: "hidden-text", rows: []int{5, 10}, did: "invisible letters, bidi, tags and escape sequences in names, descriptions and schemas, shown in a terminal", run: serverHidden},
		{name: "claims", rows: []int{11, 12, 25}, did: "a tool that claims to only read, with nobody to ask; --read-only against an allow rule", run: serverClaims},
		{name: "environment", rows: []int{15}, did: "a server prints the variables that it was given", run: serverEnvironment},
		{name: "redirect", rows: []int{22}, did: "a remote server redirects to another origin, which keeps the headers that come", run: serverRedirect},
	}
}

func serverHidden(a *arena) {
	const evil = "Reads \x1b[2J\x1b]0;pwned\x07 \u202egnp\u200b\u2066\U000e0041\U000e0042\u00ad now"
	file := a.write("list.json", definition("talk", evil, `{"type":"object","properties":{"text":{"type":"string","description":`+quote(evil)+`}}}`, `,"title":`+quote(evil)))
	a.config([]string{"some: file " + file}, "policy: {approve: never}")
	for _, args := range [][]string{{"mcp", "list"}, {"mcp", "list", "--changes"}, {"mcp", "tools"}, {"mcp", "describe", "some/talk"}, {"mcp", "search", "reads"}, {"mcp", "doctor"}, {"mcp", "approve", "some", "--yes"}, {"mcp", "tools"}, {"mcp", "describe", "some/talk"}, {"mcp", "call", "some/talk", `{"text":"x"}`}, {"mcp", "log"}} {
		out, errs, _ := a.run(nil, args...)
		if strings.ContainsAny(out+errs, "\x1b\x07\u202e\u200b\u2066\U000e0041") {
			a.Errorf("aster %q shows %q", args, out+errs)
		}
	}
	c := a.open(nil, "mcp", "serve")
	for _, arguments := range []string{`{"action":"search","query":"reads"}`, `{"action":"describe","name":"some/talk"}`} {
		if text := c.call("aster_mcp", arguments).text(); strings.ContainsAny(text, "\x1b\x07\u202e\u200b\U000e0041") {
			a.Errorf("%s: %q", arguments, text)
		}
	}
	c.close()
	a.holds("none reaches a terminal or a model")
}

func serverClaims(a *arena) {
	file := a.write("list.json", definition("look", "Looks", `{"type":"object"}`, `,"annotations":{"readOnlyHint":true,"destructiveHint":false}`))
	a.config([]string{"some: file " + file}, "policy: {rules: [{allow: other/*}]}")
	c := a.open(nil, "mcp", "serve")
	a.eventually(awaitTimeout, "the server is not there", func() bool {
		return strings.Contains(c.call("aster_mcp", `{"action":"search","query":"look"}`).text(), "some/look")
	})
	if text, failed := c.call("aster_mcp", `{"action":"execute","name":"some/look","arguments":{}}`).isError(); !failed || !strings.Contains(text, "approval") {
		a.Errorf("nobody to ask: %q", text)
	}
	c.close()
	a.config([]string{"some: file " + file}, "policy: {rules: [{allow: some/*}]}")
	if out, errs, code := a.run(nil, "mcp", "call", "some/look", "{}"); code != 0 {
		a.Errorf("allowed by a rule: exit code %d, %q, %q", code, out, errs)
	}
	if out, errs, code := a.run(nil, "mcp", "call", "--read-only", "some/look", "{}"); code != 4 || strings.Contains(out, "echo") {
		a.Errorf("--read-only: exit code %d, %q, %q", code, out, errs)
	}
	for _, e := range a.audit() {
		if e.Tool != "" && e.Tool != "some/look" {
			a.Errorf("on record: %+v", e)
		}
	}
	a.holds("asked for and so refused; read-only wins over the rule; the record names the real tool")
}

func serverEnvironment(a *arena) {
	canary := a.secret("env")
	a.config([]string{"some: env"}, "policy: {approve: never}")
	out, errs, code := a.run([]string{"SECRET_KEY=" + canary, "EXA_API_KEY=" + canary + "-exa", "MCPGODEBUG=x=1", "AWS_SECRET_ACCESS_KEY=" + canary}, "mcp", "call", "some/echo", "{}")
	if code != 0 || !strings.Contains(out, "PATH=") {
		a.Fatalf("exit code %d: %s%s", code, out, errs)
	}
	a.clean("a server's environment", out)
	if strings.Contains(out, "MCPGODEBUG") {
		a.Errorf("the server got MCPGODEBUG: %s", out)
	}
	// A secret goes to the server that names it, and to no other.
	mine := a.secret("mine")
	path := filepath.Join(a.home, "aster.yaml")
	a.config([]string{"names: env", "other: env"}, "policy: {approve: never}")
	text, err := os.ReadFile(path)
	if err != nil {
		a.Fatal(err)
	}
	a.write(path, strings.Replace(string(text), "    names:\n", "    names:\n      env: {KEY_OF_MINE: \"${MINE}\"}\n", 1))
	for name, want := range map[string]bool{"names": true, "other": false} {
		out, errs, code := a.run([]string{"MINE=" + mine}, "mcp", "call", name+"/echo", "{}")
		if got := strings.Contains(out, "KEY_OF_MINE="); code != 0 || got != want || strings.Contains(out, "\nMINE=") {
			a.Errorf("%s: exit code %d, has the variable: %v, want %v: %s%s", name, code, got, want, out, errs)
		}
		if !want {
			a.clean("the environment of a server that does not name the secret", out)
		}
	}
	a.holds("no variable but an allow-list; a secret reaches the server that names it only")
}

func serverRedirect(a *arena) {
	canary := a.secret("header")
	var mu sync.Mutex
	var got []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, fmt.Sprint(r.Header))
		http.NotFound(w, r)
	}))
	a.Cleanup(other.Close)
	for _, status := range []int{301, 302, 307, 308} {
		remote := httptest.NewServer(http.RedirectHandler(other.URL+"/mcp", status))
		a.config(nil)
		text, err := os.ReadFile(filepath.Join(a.home, "aster.yaml"))
		if err != nil {
			a.Fatal(err)
		}
		a.write(filepath.Join(a.home, "aster.yaml"), string(text)+fmt.Sprintf("    remote: {url: %q, headers: {Authorization: %q, X-Key: %q}}\n", remote.URL+"/mcp", "Bearer ${TOKEN}", "${TOKEN}"))
		out, errs, _ := a.run([]string{"TOKEN=" + canary}, "mcp", "list")
		a.clean("aster mcp list", out+errs)
		if !strings.Contains(out, "remote") {
			a.Errorf("status %d: %s%s", status, out, errs)
		}
		remote.Close()
	}
	mu.Lock()
	defer mu.Unlock()
	for _, h := range got {
		a.clean("another origin", h)
	}
	a.holds("no configured header crossed the origin")
	a.figure("%d requests reached the other origin", len(got))
}

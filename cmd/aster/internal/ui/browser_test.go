package ui_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// markup runs its handler wherever it comes to be HTML, and turns what follows it around.
const markup = "<img src=x onerror=\"window.ran=1\"><script>window.ran=1</script>\u202egnitsil"

// shown is how guard.Show writes markup.
const shown = `<img src=x onerror="window.ran=1"><script>window.ran=1</script>\u{202e}gnitsil`

// hostile is a server whose tools are markup all over; one is a page's.
func hostile() host.Builtin {
	s := mcp.NewServer(&mcp.Implementation{Name: "pages", Version: "1"}, nil)
	answer := func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{}, nil
	}
	for _, name := range []string{"page_tool", "own_tool", markup} {
		s.AddTool(&mcp.Tool{Name: name, Title: "title " + markup, Description: "about " + markup, InputSchema: json.RawMessage(`{"type":"object"}`)}, answer)
	}
	return host.Builtin{Name: "pages", Server: s, Origin: func(tool string) (string, bool) {
		if tool != "page_tool" {
			return "", false
		}
		return "https://shop.example", true
	}}
}

// await polls until js is true on the page.
func await(t *testing.T, p *cdptest.Page, what, js string) {
	t.Helper()
	for end := time.Now().Add(cdptest.PageTimeout); ; time.Sleep(20 * time.Millisecond) {
		if string(p.Eval(t, js)) == "true" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: not %s on %s", what, js, p.EvalString(t, "document.body.innerText"))
		}
	}
}

func TestPage(t *testing.T) {
	b := cdptest.Shared(t, false)
	audit := filepath.Join(t.TempDir(), "audit.jsonl")
	base := serve(t, audit, hostile())
	p := b.NewPage(t, "about:blank")
	p.Call(t, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `
		window.faults = [];
		addEventListener('securitypolicyviolation', (e) => faults.push(e.violatedDirective + ' ' + e.blockedURI));
		addEventListener('error', (e) => faults.push(String(e.message)), true);
		addEventListener('unhandledrejection', (e) => faults.push(String(e.reason)));`})
	p.Navigate(t, base+"/")
	await(t, p, "the refusal", `document.getElementById('live').textContent.startsWith('not served: open the address')`)
	p.Eval(t, `location.hash = 'token=right'`) // which loads the page again
	await(t, p, "the stream", `document.getElementById('live')?.textContent === 'live'`)
	if at := p.EvalString(t, "location.href"); at != base+"/" {
		t.Errorf("the address is %s, want none with the token", at)
	}
	await(t, p, "the server", `document.querySelector('#servers summary')?.textContent.startsWith('pages connected, 3 tools') && [...document.querySelectorAll('#servers li b')].some((b) => b.textContent === 'own_tool')`)
	await(t, p, "the page", `document.querySelector('#pages summary')?.textContent.startsWith('https://shop.example ') && document.querySelector('#pages li b')?.textContent === 'page_tool'`)
	await(t, p, "the manifest", `/^[1-9]\d* of \d+ tokens/.test(document.getElementById('tokens').textContent) && document.getElementById('manifest').textContent.includes('page_tool')`)
	if name := p.EvalString(t, `document.querySelector('#servers li b').textContent`); name != shown {
		t.Errorf("the first tool is %q, want %q", name, shown)
	}
	for _, id := range []string{"servers", "pages"} {
		text := p.EvalString(t, fmt.Sprintf(`document.querySelector('#%s li:last-child').textContent`, id))
		if !strings.Contains(text, "(title "+shown+")") || !strings.Contains(text, ": about "+shown) {
			t.Errorf("%s: the tool is %q", id, text)
		}
	}

	// A call that any process writes down is there without a reload, first without an outcome.
	log := guard.NewLog(audit, nil)
	defer log.Close()
	e := &guard.Entry{Event: "begin", Time: time.Unix(1_800_000_000, 0), Tool: "pages/page_tool", Client: &guard.Client{Name: "client " + markup}, Decision: "deny", By: "rule"}
	for i := 0; string(p.Eval(t, "document.querySelectorAll('#calls tr').length > 0")) != "true"; i++ { // entries count from when the log is followed
		if e.ID = fmt.Sprint(i); i > 1000 {
			t.Fatal("no call is shown")
		}
		if err := log.Begin(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	await(t, p, "the call", `document.querySelector('#calls').closest('.wide').checkVisibility() && document.querySelector('#calls tr').cells[1].textContent === 'pages/page_tool' && document.querySelector('#calls tr').cells[4].textContent === 'running'`)
	if text := p.EvalString(t, `document.querySelector('#calls tr').cells[2].textContent`); text != "client "+shown {
		t.Errorf("the client is %q", text)
	}
	if err := log.End(t.Context(), &guard.Entry{ID: e.ID, Event: "end", Time: time.Unix(1_800_000_001, 0), Outcome: guard.OutcomeDenied, DurationMS: 12.5}); err != nil {
		t.Fatal(err)
	}
	await(t, p, "the end of the call", `[...document.querySelectorAll('#calls tr')].some((tr) => tr.cells[4].textContent === 'denied' && tr.cells[5].textContent === '12.5 ms' && tr.querySelector('td.deny'))`)
	if got := string(p.Eval(t, `window.ran === undefined && document.querySelectorAll('img, main script').length === 0`)); got != "true" {
		t.Error("words of a tool came to be markup")
	}
	if got := string(p.Eval(t, "faults")); got != "[]" {
		t.Errorf("the browser complains: %s", got)
	}
}

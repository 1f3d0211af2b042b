package webmcp_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aster-mcp/aster/cdp/cdptest"
)

// crossOrigin is a scenario of testdata/crossorigin.js: a script in a page whose frames
// are of other origins.
type crossOrigin struct{ name, header, body string }

// crossOriginScenarios reads the scenarios. One begins with a line "//// name" or
// "//// name | Header: value".
func crossOriginScenarios(t testing.TB) (list []crossOrigin) {
	t.Helper()
	only := os.Getenv("ASTER_TEST_SCENARIO")
	for _, part := range strings.Split("\n"+readFile(t, "testdata/crossorigin.js"), "\n//// ")[1:] {
		title, body, _ := strings.Cut(part, "\n")
		title, header, _ := strings.Cut(title, " | ")
		if strings.Contains(title, only) {
			list = append(list, crossOrigin{title, header, body})
		}
	}
	if len(list) == 0 {
		t.Fatal("no scenarios")
	}
	return list
}

func readFile(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// serveAgents makes the pages that the scenarios open and returns a maker of their own.
func serveAgents(t testing.TB, s *cdptest.Server) func(crossOrigin) (url string) {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	origins := map[string]string{"A": "a", "B": "b", "C": "c", "S": "s.a"}
	var consts strings.Builder
	for name, host := range origins {
		origins[name] = "http://" + host + ".localhost:" + u.Port()
		fmt.Fprintf(&consts, "globalThis.%s = %q;\n", name, origins[name])
	}
	agent := "<!doctype html><title>agent</title><body><script>globalThis.hadContext = 'modelContext' in Document.prototype;" + consts.String() +
		readFile(t, "../shim/testdata/prelude.js") + readFile(t, "testdata/crossorigin-agent.js") + "</script>"
	s.Page("/agent", agent)
	s.Page("/form", "<!doctype html><form toolname=form tooldescription=d><input name=a></form>")
	for name, value := range map[string]string{"none": "()", "all": "*", "self": "(self)", "b": `(self "` + origins["B"] + `")`} {
		s.Page("/agent-"+name, agent, "Permissions-Policy: tools="+value)
	}
	n := 0
	return func(c crossOrigin) string {
		if c.header == "" {
			return s.At("a.localhost", "/agent")
		}
		n++
		path := fmt.Sprintf("/top-%d", n)
		s.Page(path, agent, strings.NewReplacer("$A", origins["A"], "$B", origins["B"], "$PORT", u.Port()).Replace(c.header))
		return s.At("a.localhost", path)
	}
}

// trace runs a scenario in a tab of its own and gives what it logged.
func (c crossOrigin) trace(t testing.TB, b *cdptest.Browser, url string) []string {
	tab := b.NewPage(t, "about:blank")
	defer tab.Close(t)
	// A tab that is on its way before aster has it begins without the shim.
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		tab.Navigate(t, url)
		if had, err := tab.TryEval("hadContext"); err == nil && string(had) == "true" || time.Now().After(end) {
			break
		}
	}
	raw, err := tab.TryEval("(async () => {\ntry {\n" + c.body + "\n} catch (e) { log('SCENARIO FAILED', e, e && e.stack); }\nreturn TRACE;\n})()")
	if err != nil {
		return []string{fmt.Sprintf("no answer: %v", err)}
	}
	var lines []string
	if err := json.Unmarshal(raw, &lines); err != nil {
		return []string{fmt.Sprintf("bad answer: %s", raw)}
	}
	return lines
}

// allowedCrossOrigin names the scenarios that may, and must, differ, with the reason.
var allowedCrossOrigin = map[string]string{}

// Frames of other origins see and run under the shim what they see and run under native
// WebMCP.
func TestCrossOriginDifferential(t *testing.T) {
	cdptest.Require(t)
	// Several tabs work at once, of which only one is in front: timers must run in all.
	args := []string{"--disable-background-timer-throttling", "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows"}
	nativeBrowser := cdptest.New(t, &cdptest.Options{Native: true, Args: args})
	r := &rig{Server: cdptest.Serve(t), browser: cdptest.New(t, &cdptest.Options{Args: args})}
	r.attach(t, nil)
	url := serveAgents(t, r.Server)
	list := crossOriginScenarios(t)
	native, shimmed := make([][]string, len(list)), make([][]string, len(list))
	var wg sync.WaitGroup
	for i, c := range list {
		at := url(c)
		wg.Go(func() { native[i] = c.trace(t, nativeBrowser, at) })
		wg.Go(func() { shimmed[i] = c.trace(t, r.browser, at) })
		if i%4 == 3 {
			wg.Wait()
		}
	}
	wg.Wait()
	equal := 0
	for i, c := range list {
		want := native[i]
		if os.Getenv("ASTER_TEST_SCENARIO") != "" {
			t.Logf("%s\n%s", c.name, strings.Join(want, "\n"))
		}
		if text := strings.Join(want, "\n"); text == "" || strings.Contains(text, "FAILED") || strings.Contains(text, "NEVER") || strings.Contains(text, "no answer") {
			t.Errorf("%s: fails under native WebMCP:\n%s", c.name, text)
			continue
		}
		diff := cmp.Diff(want, shimmed[i])
		reason, allowed := allowedCrossOrigin[c.name]
		switch {
		case diff == "":
			equal++
			if allowed {
				t.Errorf("%s: no longer differs, take it off the table (%s)", c.name, reason)
			}
		case !allowed:
			t.Errorf("%s: native (-) and shim (+) differ:\n%s", c.name, diff)
		}
	}
	t.Logf("%d scenarios, %d equal, %d allowed to differ", len(list), equal, len(allowedCrossOrigin))
}

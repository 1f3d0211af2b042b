package shim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/shim"
)

// scenario is a script that runs in a fresh document of both browsers.
type scenario struct {
	name   string
	header string // a response header of its document; such a document has an origin of its own
	body   string
}

// scenarios reads testdata/scenarios/*.js. A scenario begins with a line
// "//// name" or "//// name | Header: value".
func scenarios(t testing.TB) []scenario {
	t.Helper()
	files, err := filepath.Glob("testdata/scenarios/*.js")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	sort.Strings(files)
	var out []scenario
	seen := map[string]bool{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		family := strings.TrimSuffix(filepath.Base(f), ".js")
		for _, part := range strings.Split("\n"+string(b), "\n//// ")[1:] {
			title, body, _ := strings.Cut(part, "\n")
			title, header, _ := strings.Cut(title, " | ")
			s := scenario{family + ": " + title, header, body}
			if seen[s.name] {
				t.Fatalf("two scenarios are named %q", s.name)
			}
			seen[s.name] = true
			out = append(out, s)
		}
	}
	return out
}

// player runs scenarios one after the other in one tab.
type player struct {
	b       *cdptest.Browser
	prelude string
	tab     *cdptest.Page
}

// unseenTab opens a tab that is visible and focused for its page, but has no place in the
// browser's window: drawing that one takes more than half the time of a navigation.
func unseenTab(t testing.TB, b *cdptest.Browser) *cdptest.Page {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), cdptest.PageTimeout)
	defer cancel()
	raw, err := b.User(t).Call(ctx, "", "Target.createTarget", map[string]any{"url": "about:blank", "hidden": true})
	if err != nil {
		t.Fatal(err)
	}
	var r struct{ TargetID string }
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	p := b.AttachPage(t, r.TargetID)
	p.Call(t, "Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true})
	return p
}

// trace runs a scenario and returns what it logged.
func (p *player) trace(t testing.TB, s scenario) []string {
	url := server().At("localhost", "/blank")
	if s.header != "" {
		path := "/header/" + strings.ReplaceAll(strings.ToLower(s.name), " ", "-")
		server().Page(path, blank, s.header)
		url = server().At("own.localhost", path)
	}
	opensWindow := strings.Contains(s.body, "window.open(")
	alone := s.header != "" || opensWindow
	if p.tab == nil || alone {
		if p.tab != nil {
			p.tab.Close(t)
		}
		if opensWindow {
			p.tab = p.b.NewPage(t, "about:blank")
		} else {
			p.tab = unseenTab(t, p.b)
		}
	}
	p.tab.Navigate(t, url)
	js := p.prelude + "\n;(async () => {\ntry {\n" + s.body + "\n} catch (e) { log('SCENARIO FAILED', e, e && e.stack); }\nreturn TRACE;\n})()"
	raw, err := p.tab.TryEval(js)
	if err != nil {
		p.tab = nil
		return []string{fmt.Sprintf("no answer: %v", err)}
	}
	var lines []string
	if err := json.Unmarshal(raw, &lines); err != nil {
		return []string{fmt.Sprintf("bad answer: %s", raw)}
	}
	if alone {
		p.tab.Close(t)
		p.tab = nil
	}
	return lines
}

// play runs every scenario in one browser, with a few tabs at once.
func play(t testing.TB, b *cdptest.Browser, list []scenario) map[string][]string {
	const tabs = 2
	prelude := testdata(t, "prelude.js")
	out := make(map[string][]string, len(list))
	before := b.Targets(t, "page")
	var mu sync.Mutex
	next := make(chan scenario)
	var wg sync.WaitGroup
	for range tabs {
		wg.Go(func() {
			p := &player{b: b, prelude: prelude}
			for s := range next {
				lines := p.trace(t, s)
				mu.Lock()
				out[s.name] = lines
				mu.Unlock()
			}
			if p.tab != nil {
				p.tab.Close(t)
			}
		})
	}
	for _, s := range list {
		next <- s
	}
	close(next)
	wg.Wait()
	// A window that a scenario leaves behind works on, in the renderer of those that follow.
	eventually(t, "the scenarios leave no window behind", func() bool { return len(b.Targets(t, "page")) <= len(before) })
	return out
}

// Every scenario gives the same trace under native WebMCP and under the shim, but for
// the differences of allowedDifferences, each of which must be there.
func TestDifferential(t *testing.T) {
	cdptest.Require(t)
	list := scenarios(t)
	if only := os.Getenv("ASTER_TEST_SCENARIO"); only != "" {
		kept := list[:0]
		for _, s := range list {
			if strings.Contains(s.name, only) {
				kept = append(kept, s)
			}
		}
		list = kept
	}
	native, shimmed := playBoth(t, list)
	compare(t, list, native, shimmed)
}

// playBoth plays scenarios under native WebMCP and under the shim.
func playBoth(t *testing.T, list []scenario) (native, shimmed map[string][]string) {
	var wg sync.WaitGroup
	wg.Go(func() { native = play(t, nativeBrowser(), list) })
	wg.Go(func() { shimmed = underShim(t, list) })
	wg.Wait()
	settleRaces(t, list, native, shimmed)
	return native, shimmed
}

// played keeps what underShim found.
var played = struct {
	mu     sync.Mutex
	traces map[string][]string // guarded by mu
}{traces: map[string][]string{}}

// underShim plays scenarios under the shim, those that no test played before, and
// returns the traces of all.
func underShim(t testing.TB, list []scenario) map[string][]string {
	played.mu.Lock()
	defer played.mu.Unlock()
	var fresh []scenario
	for _, s := range list {
		if played.traces[s.name] == nil {
			fresh = append(fresh, s)
		}
	}
	if len(fresh) > 0 {
		stop := injectAll(t, plainBrowser(), shim.Config{})
		defer stop()
		maps.Copy(played.traces, play(t, plainBrowser(), fresh))
	}
	out := make(map[string][]string, len(list))
	for _, s := range list {
		out[s.name] = played.traces[s.name]
	}
	return out
}

// settleRaces plays again, alone, what differs unexpectedly: native WebMCP goes through
// another process, which on a loaded machine may take its time or lose an answer. The
// shim has no such excuse: its traces must be the same each time.
func settleRaces(t *testing.T, list []scenario, native, shimmed map[string][]string) {
	for range 3 {
		var again []scenario
		for _, s := range list {
			if _, allowed := allowedDifferences[s.name]; !allowed && !cmp.Equal(native[s.name], shimmed[s.name]) {
				again = append(again, s)
			}
		}
		if len(again) == 0 || len(again) > 20 {
			return
		}
		maps.Copy(native, play(t, nativeBrowser(), again))
		for name, lines := range playAgain(t, again) {
			if diff := cmp.Diff(shimmed[name], lines); diff != "" {
				t.Errorf("%s: two traces under the shim differ:\n%s", name, diff)
			}
		}
	}
}

func playAgain(t testing.TB, list []scenario) map[string][]string {
	stop := injectAll(t, plainBrowser(), shim.Config{})
	defer stop()
	return play(t, plainBrowser(), list)
}

func compare(t *testing.T, list []scenario, native, shimmed map[string][]string) {
	verbose := os.Getenv("ASTER_TEST_SCENARIO") != ""
	equal := 0
	names := map[string]bool{}
	for _, s := range list {
		names[s.name] = true
		n, h := native[s.name], shimmed[s.name]
		if verbose {
			t.Logf("%s\n%s", s.name, strings.Join(n, "\n"))
		}
		if strings.Contains(strings.Join(n, "\n"), "SCENARIO FAILED") || len(n) == 0 {
			t.Errorf("%s: fails under native WebMCP:\n%s", s.name, strings.Join(n, "\n"))
			continue
		}
		diff := cmp.Diff(n, h)
		reason, allowed := allowedDifferences[s.name]
		switch {
		case diff == "":
			equal++
			if allowed {
				t.Errorf("%s: no longer differs, take it off the table of allowed differences (%s)", s.name, reason)
			}
		case !allowed:
			t.Errorf("%s: native (-) and shim (+) differ:\n%s", s.name, diff)
		}
	}
	if os.Getenv("ASTER_TEST_SCENARIO") == "" {
		for name := range allowedDifferences {
			if !names[name] {
				t.Errorf("allowed difference %q names no scenario", name)
			}
		}
	}
	t.Logf("%d scenarios, %d equal, %d allowed to differ", len(list), equal, len(allowedDifferences))
}

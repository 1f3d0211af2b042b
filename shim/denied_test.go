package shim_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/shim"
)

// family is a page with every kind of child frame that inherits or hides its origin. The
// frames that it cannot look into send it their snapshot.
func family(t testing.TB) string {
	snapshot := testdata(t, "snapshot.js")
	inner := "<!doctype html><script>" + snapshot + "parent.postMessage(snapshot(), '*')</script>"
	server().Page("/inner", inner)
	return server().Page("/family", "<!doctype html><title>family</title><body><script>"+snapshot+`
	const arrived = {};
	const open = (name, set) => new Promise((done) => {
	  const f = document.createElement('iframe');
	  f.name = name;
	  set(f);
	  if (['sandboxed', 'sandboxedPage', 'data', 'other'].includes(name)) {
	    addEventListener('message', (e) => { if (e.source === f.contentWindow) { arrived[name] = e.data; done(); } });
	  } else f.onload = done;
	  document.body.append(f);
	});
	globalThis.inner = `+quoteJS(inner)+`;
	(async () => {
	  await open('blank', () => {});
	  await open('srcdoc', (f) => { f.srcdoc = '<p>x'; });
	  await open('page', (f) => { f.src = '/blank'; });
	  await open('sandboxed', (f) => { f.sandbox = 'allow-scripts'; f.srcdoc = inner; });
	  await open('sandboxedPage', (f) => { f.sandbox = 'allow-scripts'; f.src = '/inner'; });
	  await open('data', (f) => { f.src = 'data:text/html,' + encodeURIComponent(inner); });
	  await open('other', (f) => { f.src = `+quoteJS(server().At("a.localhost", "/inner"))+`; });
	  globalThis.all = {top: snapshot(), blank: snapshot(frames.blank), srcdoc: snapshot(frames.srcdoc), page: snapshot(frames.page), ...arrived};
	})();
	</script>`)
}

func quoteJS(s string) string {
	b, err := json.Marshal(s) // escapes "<", so the text cannot end the script element
	if err != nil {
		panic(err)
	}
	return string(b)
}

// snapshots gives the digest of each document of the family.
func snapshots(t testing.TB, tab *cdptest.Page) map[string]string {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); string(tab.Eval(t, "typeof all")) != `"object"`; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after a minute only %s have loaded", tab.Eval(t, "Object.keys(arrived)"))
		}
	}
	var got map[string]string
	if err := json.Unmarshal(tab.Eval(t, "Object.fromEntries(Object.entries(all).map(([k, v]) => [k, digest(v)]))"), &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 8 {
		t.Fatalf("snapshots of %d documents", len(got))
	}
	return got
}

// lines gives the whole snapshot of a document of the family.
func lines(t testing.TB, tab *cdptest.Page, name string) []string {
	t.Helper()
	var got []string
	if err := json.Unmarshal(tab.Eval(t, "all["+quoteJS(name)+"]"), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// On a denied origin nothing can be told from a browser that aster is not attached to, in
// the page and in its child frames, and nothing is sent.
func TestDeniedOriginSeesNothing(t *testing.T) {
	url := family(t)
	cleanTab := openPlain(t, url)
	clean := snapshots(t, cleanTab)
	for _, tc := range []struct {
		name string
		cfg  shim.Config
	}{
		{"denied, though allowed", shim.Config{Deny: []string{"http://loc*:*"}, Allow: []string{"http://*localhost:*"}}},
		{"not allowed", shim.Config{Allow: []string{"https://*.example"}}},
		{"denied, with the legacy API", shim.Config{Deny: []string{"http://localhost:*"}, Legacy: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			stop := injectAll(t, plainBrowser(), tc.cfg)
			defer stop()
			tab := openPlain(t, "about:blank")
			p := newPeer(t, plainBrowser(), tab.Target)
			tab.Navigate(t, url)
			for name, digest := range snapshots(t, tab) {
				if digest != clean[name] {
					t.Errorf("%s differs (-clean +denied):\n%.2000s", name, cmp.Diff(lines(t, cleanTab, name), lines(t, tab, name)))
				}
			}
			if h := p.heard(); len(h) != 0 {
				t.Errorf("%d messages", len(h))
			}
		})
	}
}

// The test above can tell: where the shim is, it shows.
func TestSnapshotShowsTheShim(t *testing.T) {
	clean := snapshots(t, openPlain(t, family(t)))
	stop := injectAll(t, plainBrowser(), shim.Config{})
	defer stop()
	for name, digest := range snapshots(t, openPlain(t, family(t))) {
		// A data: document is no secure context. Chromium does not hold a sandboxed srcdoc
		// frame for us, which is in a process of its own: it is for a late attach.
		want := name != "data" && name != "sandboxed"
		if got := clean[name] != digest; got != want {
			t.Errorf("%s: the shim shows: %v, want %v", name, got, want)
		}
	}
}

// The origins of a page and its frames are judged each for itself, but a denied ancestor
// denies everything inside.
func TestScopeOfFrames(t *testing.T) {
	const look = `<!doctype html><body><script>
	  addEventListener('message', (e) => { if (e.data === 'look') e.source.postMessage('modelContext' in document, '*'); });
	</script>`
	server().Page("/look", look)
	host := func(name string) string { return strings.TrimSuffix(server().At(name, ""), "/") }
	for _, tc := range []struct {
		name       string
		cfg        shim.Config
		top, child bool
	}{
		{"no scope", shim.Config{}, true, true},
		{"child denied", shim.Config{Deny: []string{host("a.localhost")}}, true, false},
		{"top denied", shim.Config{Deny: []string{host("localhost")}}, false, false},
		{"top allowed", shim.Config{Allow: []string{host("localhost")}}, true, false},
		{"child allowed", shim.Config{Allow: []string{host("a.localhost")}}, false, true},
		{"both allowed", shim.Config{Allow: []string{"http://*localhost:*"}}, true, true},
		{"others", shim.Config{Allow: []string{"https://*"}, Deny: []string{"https://x"}}, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			stop := injectAll(t, plainBrowser(), tc.cfg)
			defer stop()
			tab := openPlain(t, server().At("localhost", "/look"))
			got := string(tab.Eval(t, `new Promise((done) => {
			  const f = document.createElement('iframe');
			  f.src = `+quoteJS(server().At("a.localhost", "/look"))+`;
			  onmessage = (e) => { if (typeof e.data === 'boolean') done(['modelContext' in document, e.data]); };
			  f.onload = () => f.contentWindow.postMessage('look', '*');
			  document.body.append(f);
			})`))
			want, _ := json.Marshal([]bool{tc.top, tc.child})
			if got != string(want) {
				t.Errorf("page and frame have modelContext: %s, want %s", got, want)
			}
		})
	}
}

package shim_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/shim"
)

// trial signs origin-trial tokens; a browser believes them that was started with its flag.
type trial struct {
	key  ed25519.PrivateKey
	flag string
}

func newTrial(t testing.TB) trial {
	t.Helper()
	pub, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return trial{key, "--origin-trial-public-key=" + base64.StdEncoding.EncodeToString(pub)}
}

// token turns WebMCP on for an origin. Its format is version 3 of Chromium's origin
// trial tokens: version, signature, length and JSON payload; version, length and
// payload are signed.
func (tr trial) token(t testing.TB, origin string) string {
	t.Helper()
	payload, err := json.Marshal(map[string]any{"origin": origin, "feature": "WebMCP", "expiry": time.Now().Add(time.Hour).Unix()})
	if err != nil {
		t.Fatal(err)
	}
	sized := append(binary.BigEndian.AppendUint32(nil, uint32(len(payload))), payload...)
	token := []byte{3}
	token = append(token, ed25519.Sign(tr.key, append([]byte{3}, sized...))...)
	return base64.StdEncoding.EncodeToString(append(token, sized...))
}

// A token that comes late (a <meta>, or one that a script adds) brings native WebMCP in
// mid-page: the tools move there, none is lost and none is there twice.
func TestOriginTrialTakeover(t *testing.T) {
	t.Parallel()
	cdptest.Require(t)
	tr := newTrial(t)
	b := cdptest.New(t, &cdptest.Options{Args: []string{tr.flag}})
	token := tr.token(t, strings.TrimSuffix(server().At("localhost", ""), "/"))
	meta := `<meta http-equiv="origin-trial" content="` + token + `">`
	const early = `<script>
	  globalThis.old = document.modelContext;
	  globalThis.c = new AbortController();
	  globalThis.seen = [];
	  old.ontoolchange = () => seen.push('change');
	  old.addEventListener('toolactivated', (e) => seen.push('activated ' + e.toolName + (e instanceof Event)));
	  const T = (name, more) => ({name, description: 'd', execute: (i, {signal}) => name + String(signal), ...more});
	  old.registerTool(T('plain', {title: 't', inputSchema: {type: 'object', properties: {z: {}, a: {}}}, annotations: {readOnlyHint: true}})).then(() => seen.push('resolved'));
	  old.registerTool(T('left'), {signal: c.signal});
	  old.registerTool(T('odd', {inputSchema: {toJSON: () => 'text'}}));
	  globalThis.isOurs = () => document.modelContext === old;
	</script>`
	server().Page("/trial-none", "<!doctype html>"+early+"<body>")
	server().Page("/trial-meta", "<!doctype html>"+early+meta+"<body>")
	server().Page("/trial-header", "<!doctype html><body>", "Origin-Trial: "+token)

	open := func(t *testing.T, path string) (*page, *peer) {
		tab := b.NewPage(t, "about:blank")
		p := newPeer(t, b, tab.Target)
		p.inject(t, shim.Config{})
		tab.Navigate(t, server().At("localhost", path))
		return &page{tab, t}, p
	}
	t.Run("a meta element", func(t *testing.T) {
		pg, p := open(t, "/trial-meta")
		eventually(t, "the tools have gone from the shim", func() bool { m := p.messages(t); return len(m) > 1 && p.tools(t) == "" })
		handedOver(t, pg, p)
	})
	t.Run("a meta element that a script adds", func(t *testing.T) {
		pg, p := open(t, "/trial-none")
		eventually(t, "the shim's tools", func() bool { return p.tools(t) == "plain,left,odd" })
		pg.eval(`document.head.insertAdjacentHTML('beforeend', ` + quoteJS(meta) + `); old.getTools().then(() => 1)`)
		eventually(t, "the tools have gone from the shim", func() bool { return p.tools(t) == "" })
		handedOver(t, pg, p)
	})
	t.Run("a header", func(t *testing.T) {
		pg, p := open(t, "/trial-header")
		pg.eval(`document.modelContext.registerTool({name: 'a', description: 'd', execute() {}})`)
		if got := string(pg.eval(`Function.prototype.toString.call(document.modelContext.getTools).includes('[native code]')`)); got != "true" {
			t.Error("the shim is in a document that has native WebMCP")
		}
		if h := p.heard(); len(h) != 0 {
			t.Errorf("%d messages", len(h))
		}
	})
}

// handedOver checks a page whose tools were registered with the shim and are native now.
func handedOver(t *testing.T, pg *page, p *peer) {
	t.Helper()
	for _, tc := range []struct{ name, js, want string }{
		{"native is there", `[isOurs(), old instanceof ModelContext, document.modelContext instanceof ModelContext].join()`, `"false,false,true"`},
		{"native lists the tools", `document.modelContext.getTools().then((l) => JSON.stringify(l.map(({window, origin, ...t}) => t)))`,
			`"[{\"description\":\"d\",\"name\":\"left\",\"title\":\"\"},{\"annotations\":{\"consequentialHint\":false,\"debugging\":false,\"readOnlyHint\":true,\"untrustedContentHint\":false},\"description\":\"d\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"z\":{},\"a\":{}}},\"name\":\"plain\",\"title\":\"t\"}]"`},
		{"the old object lists the same", `old.getTools().then((l) => l.map((t) => t.name).join())`, `"left,plain"`},
		{"native runs them", `document.modelContext.getTools().then((l) => document.modelContext.executeTool(l[1]))`, `"plain[object AbortSignal]"`},
		{"the old object runs them", `old.getTools().then((l) => old.executeTool(l[1]))`, `"plain[object AbortSignal]"`},
		{"the old object registers natively", `old.registerTool({name: 'new', description: 'd', execute() {}}).then(() => document.modelContext.getTools()).then((l) => l.length)`, `3`},
		{"duplicates are found", `old.registerTool({name: 'left', description: 'd', execute() {}}).catch((e) => e.message)`, `"Duplicate tool name"`},
		{"the hidden tool is there too", `old.registerTool({name: 'odd', description: 'd', execute() {}}).catch((e) => e.message)`, `"Duplicate tool name"`},
		{"errors are native", `old.registerTool(5).catch((e) => e.message)`, `"Failed to execute 'registerTool' on 'ModelContext': The provided value is not of type 'ModelContextTool'."`},
		{"the page's signal unregisters", `(c.abort(), document.modelContext.getTools().then((l) => l.map((t) => t.name).join()))`, `"new,plain"`},
		{"listeners of the old object hear of native runs", `[seen.includes('activated plaintrue'), seen.includes('change'), seen.includes('resolved')].join()`, `"true,true,true"`},
	} {
		if got := string(pg.eval(tc.js)); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	messages := p.messages(t)
	last := messages[len(messages)-1]
	if last.Tools == nil || !last.Tools.Reset || len(last.Tools.Add) != 0 {
		t.Errorf("the last message is %+v, not a reset to nothing", last)
	}
	if r := p.run(t, p.api(t), "plain", "{}"); !r.NotFound {
		t.Errorf("a call through the shim: %+v", *r)
	}
}

package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestDefaults(t *testing.T) {
	for name, o := range map[string]*config.Options{"nil": nil, "nowhere": {}, "empty directory": {UserDir: t.TempDir(), Dir: t.TempDir()}} {
		c, err := config.Load(o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(config.Default(), c, cmpopts.IgnoreUnexported(config.Config{}, config.Tools{}), cmpopts.IgnoreFields(config.Config{}, "Home", "Project", "Files")); diff != "" {
			t.Errorf("%s: not the defaults (-want +got):\n%s", name, diff)
		}
	}
}

const everything = `# all keys
mcp:
  servers:
    files:
      command: npx
      args: [-y, "@mcp/files", 8080]
      env: {TOKEN: "${TOKEN}", PORT: 8080, DEBUG: true}
      cwd: work
      timeout: 90
      start_timeout: 1m
      trust: true
      sampling: true
    wiki:
      url: https://wiki.example/mcp
      headers:
        X-Tenant: acme
      oauth:
        client_id: abc
        client_secret: ${SECRET}
        scopes: [read]
        callback_port: 8123
    old:
      type: sse
      url: https://old.example/sse
      disabled: true
    web: {disabled: true}
  tools:
    allow: [files, "wiki/*"]
    deny: ["files/rm*"]
  context_tokens: 42_000
  inventory_percent: 2
  search_limit: 7
  start_timeout: 5s
  call_timeout: 45s
  result_tokens: 9000
  show_disabled: true
  daemon_idle: 1h
  webmcp:
    enabled: true
    cdp_url: http://127.0.0.1:9222
    allow_remote_cdp: [box]
    headless: true
    origins: ["https://*.example.com"]
    deny_origins: ["https://bank.example.com"]
    expose: tools
    call_timeout: 20s
    max_result_tokens: 5000
    dialogs: dismiss
    active_tab: true
    debugging: true
    legacy_api: true
    compat: "159"
  web:
    order: {search: [duckduckgo, exa]}
    providers:
      jina: {disabled: true}
      firecrawl: {base_url: "https://fire.example"}
    local_only: true
    user_agent: me/1
    chromium: /usr/bin/chromium
    allow_private: [localhost, "10.0.0.1:80", 10.0.0.0/8]
    allow_domains: [example.com]
    deny_domains: [ads.example]
    limits: {timeout: 9s, crawl_timeout: 1m, max_body_bytes: 4096, result_tokens: 500, crawl_pages: 9, host_rate: 0.5, max_concurrent: 3}
    cache: {disabled: true, max_bytes: 100, max_age: 1h}
  shortcuts: {folders: [AI], as_tools: true, timeout: 30s}
  policy:
    read_only: true
    approve: aster
    rules:
      - deny: github/delete_*
        reason: too dangerous
      - ask: ["webmcp/*", "shortcuts/run"]
        origins: https://bank.example
      - allow: files/read
        args: {path: "/home/**"}
        definition: sha256:1
  audit: {enabled: false, file: log.jsonl, max_bytes: 5000, keep: 2, max_argument_bytes: 0}
`

func TestEveryKey(t *testing.T) {
	w := newWorld(t)
	w.user(everything)
	c := w.load()
	if p := problems(c); p != "" || len(c.Pending) != 0 {
		t.Errorf("problems %q, pending %v", p, c.Pending)
	}
	want := config.Default()
	want.Servers = []*config.Server{
		{Name: "files", Transport: config.Stdio, Command: "npx", Args: []string{"-y", "@mcp/files", "8080"},
			Env: map[string]string{"TOKEN": "${TOKEN}", "PORT": "8080", "DEBUG": "true"}, Cwd: w.path("home/.aster/work"),
			Timeout: 90 * time.Second, StartTimeout: time.Minute, Trust: true, Sampling: true},
		{Name: "old", Transport: config.SSE, URL: "https://old.example/sse", Disabled: true},
		{Name: "wiki", Transport: config.StreamableHTTP, URL: "https://wiki.example/mcp", Headers: map[string]string{"X-Tenant": "acme"},
			OAuth: config.OAuth{ClientID: "abc", ClientSecret: "${SECRET}", Scopes: []string{"read"}, CallbackPort: 8123}},
	}
	want.Tools = config.Tools{Allow: []config.Pattern{{Text: "files"}, {Text: "wiki/*"}}, Deny: []config.Pattern{{Text: "files/rm*"}}}
	want.ContextTokens, want.InventoryPercent, want.SearchLimit = 42000, 2, 7
	want.StartTimeout, want.CallTimeout, want.ResultTokens = 5*time.Second, 45*time.Second, 9000
	want.ShowDisabled, want.DaemonIdle = true, time.Hour
	want.WebMCP = config.WebMCP{Enabled: true, CDPURL: "http://127.0.0.1:9222", AllowRemote: []string{"box"}, Headless: true,
		Origins: []string{"https://*.example.com"}, DenyOrigins: []string{"https://bank.example.com"}, Expose: "tools",
		CallTimeout: 20 * time.Second, MaxResultTokens: 5000, Dialogs: "dismiss", ActiveTab: true, Debugging: true, LegacyAPI: true, Compat: "159"}
	want.Web = config.Web{Order: map[string][]string{"search": {"duckduckgo", "exa"}},
		Providers: map[string]config.WebProvider{"jina": {Disabled: true}, "firecrawl": {BaseURL: "https://fire.example"}},
		LocalOnly: true, UserAgent: "me/1", Chromium: "/usr/bin/chromium", AllowPrivate: []string{"localhost", "10.0.0.1:80", "10.0.0.0/8"},
		AllowDomains: []string{"example.com"}, DenyDomains: []string{"ads.example"},
		Limits: config.WebLimits{Timeout: 9 * time.Second, CrawlTimeout: time.Minute, MaxBodyBytes: 4096, ResultTokens: 500, CrawlPages: 9, HostRate: 0.5, MaxConcurrent: 3},
		Cache:  config.WebCache{Disabled: true, MaxBytes: 100, MaxAge: time.Hour}}
	want.Shortcuts = config.Shortcuts{Folders: []string{"AI"}, AsTools: true, Timeout: 30 * time.Second}
	want.Policy = config.Policy{ReadOnly: true, Approve: "aster", Rules: []config.Rule{
		{Decision: config.Deny, Tools: []config.Pattern{{Text: "github/delete_*"}}, Reason: "too dangerous"},
		{Decision: config.Ask, Tools: []config.Pattern{{Text: "webmcp/*"}, {Text: "shortcuts/run"}}, Origins: []string{"https://bank.example"}},
		{Decision: config.Allow, Tools: []config.Pattern{{Text: "files/read"}}, Args: map[string]string{"path": "/home/**"}, Definition: "sha256:1"},
	}}
	want.Audit = config.Audit{File: w.path("home/.aster/log.jsonl"), MaxBytes: 5000, Keep: 2}
	ignore := cmp.Options{
		cmpopts.IgnoreUnexported(config.Config{}, config.Tools{}, config.Pattern{}),
		cmpopts.IgnoreFields(config.Config{}, "Home", "Project", "Files"),
		cmpopts.IgnoreTypes(config.Place{}),
	}
	if diff := cmp.Diff(want, c, ignore); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := c.Place("mcp.web.user_agent"); got.Line != 59 || got.Column != 5 || got.File != w.path("home/.aster/aster.yaml") {
		t.Errorf("mcp.web.user_agent is at %v", got)
	}
	if on, by := c.Builtin("web"); on || by.Line != 26 {
		t.Errorf("web is on: %v, said at %v", on, by)
	}
	if got := c.Tools.Deny[0].Place.Line; got != 29 {
		t.Errorf("the deny rule is in line %d, want 29", got)
	}
	if got := c.Server("old").DisabledBy.Line; got != 25 {
		t.Errorf("old is disabled in line %d, want 25", got)
	}
}

func TestLocate(t *testing.T) {
	tests := []struct {
		name  string
		files []string // besides project/.git
		dir   string
		want  string // the project's file, "" for none
		json  string
	}{
		{"none", nil, "project", "", ""},
		{"yaml", []string{"project/aster.yaml", "project/aster.yml"}, "project", "project/aster.yaml", ""},
		{"yml before the hidden one", []string{"project/.aster.yaml", "project/aster.yml"}, "project", "project/aster.yml", ""},
		{"hidden", []string{"project/.aster.yaml"}, "project", "project/.aster.yaml", ""},
		{"from below", []string{"project/aster.yaml"}, "project/a/b", "project/aster.yaml", ""},
		{"the nearest", []string{"project/aster.yaml", "project/a/.aster.yaml"}, "project/a/b", "project/a/.aster.yaml", ""},
		{"not beyond the repository", []string{"aster.yaml", ".mcp.json"}, "project/a", "", ""},
		{"no parents outside of one", []string{"loose/aster.yaml"}, "loose/a", "", ""},
		{"outside of one", []string{"loose/aster.yaml", "loose/.mcp.json"}, "loose", "loose/aster.yaml", "loose/.mcp.json"},
		{"json", []string{"project/.mcp.json"}, "project/a", "", "project/.mcp.json"},
		{"the user's own is no project's", []string{"home/.aster/aster.yaml"}, "home/.aster", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			for _, f := range tt.files {
				w.write(f, "")
			}
			if err := os.MkdirAll(w.path(tt.dir), 0o755); err != nil {
				t.Fatal(err)
			}
			w.opts.Dir = w.path(tt.dir)
			p, err := config.Locate(&w.opts)
			if err != nil {
				t.Fatal(err)
			}
			rel := func(s string) string {
				if s == "" {
					return ""
				}
				r, _ := filepath.Rel(w.root, s)
				return filepath.ToSlash(r)
			}
			if rel(p.Project) != tt.want || rel(p.ProjectServers) != tt.json {
				t.Errorf("got %q and %q, want %q and %q", rel(p.Project), rel(p.ProjectServers), tt.want, tt.json)
			}
			if got := rel(p.User); got != "home/.aster/aster.yaml" {
				t.Errorf("the user's file is %q", got)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	const f = "home/.aster/aster.yaml:"
	tests := []struct{ name, text, want string }{
		{"unknown key", "mcp:\n  serverz: {}\n", f + "2:3: unknown key \"serverz\" under mcp; did you mean \"servers\"?\n  2 |   serverz: {}\n    |   ^^^^^^^"},
		{"key of another level", "servers: {}\n", f + "1:1: unknown key \"servers\"; it belongs under \"mcp\"\n  1 | servers: {}\n    | ^^^^^^^"},
		{"nothing near", "mcp:\n  shortcuts: {zzz: 1}\n", f + `2:15: unknown key "zzz" under mcp.shortcuts; known: folders, as_tools, timeout`},
		{"dash for underscore", "mcp:\n  search-limit: 1\n", `did you mean "search_limit"?`},
		{"server key", "mcp:\n  servers:\n    x:\n      comand: y\n", f + `4:7: unknown key "comand" under mcp.servers.x; did you mean "command"?`},
		{"doubled key", "mcp:\n  search_limit: 1\n  search_limit: 2\n", f + "3:3: the key \"search_limit\" is doubled; it is also in line 2\n  3 |   search_limit: 2\n    |   ^^^^^^^^^^^^"},
		{"doubled server", "mcp:\n  servers:\n    a: {command: x}\n    b: {command: x}\n    a: {command: y}\n", f + `5:5: the key "a" is doubled; it is also in line 3`},
		{"several", "mcp:\n  search_limit: x\n  context_tokens: 0\n  shwo_disabled: true\n", "2:17: mcp.search_limit must be a whole number, and is a text"},
		{"several, the second", "mcp:\n  search_limit: x\n  context_tokens: 0\n", "3:19: mcp.context_tokens must be at least 1"},
		{"quoted number", "mcp:\n  search_limit: \"5\"\n", `2:17: mcp.search_limit must be a whole number, and is a text; leave the quotes out` + "\n  2 |   search_limit: \"5\"\n    |                 ^^^"},
		{"yes", "mcp: {show_disabled: yes}\n", `1:22: mcp.show_disabled must be true or false, and is a text; write true`},
		{"large number for a text", "mcp: {web: {user_agent: -99999999999999999999}}\n", `mcp.web.user_agent must be a text, and is a whole number; put it in quotes: "-99999999999999999999"`},
		{"number for a text", "mcp: {web: {user_agent: 5}}\n", `mcp.web.user_agent must be a text, and is a whole number; put it in quotes: "5"`},
		{"text for a list", "mcp: {tools: {deny: web}}\n", `mcp.tools.deny must be a list, and is a text; write ["web"]`},
		{"list for a map", "mcp: [a]\n", f + "1:6: mcp must be a map, and is a list"},
		{"no map at all", "hello\n", f + `1:1: the file must be a map, and is a text; begin with "mcp:"`},
		{"above", "mcp: {inventory_percent: 0}\n", "mcp.inventory_percent must be above 0"},
		{"beyond", "mcp: {inventory_percent: 100.5}\n", "mcp.inventory_percent must be at most 100"},
		{"limit", "mcp: {search_limit: 21}\n", "mcp.search_limit must be at most 20"},
		{"no number", "mcp: {inventory_percent: .nan}\n", "1:26: nan cannot be used here"},
		{"time", "mcp: {call_timeout: soon}\n", `1:21: mcp.call_timeout: a time is written as "30s", "2m" or a number of seconds`},
		{"negative time", "mcp: {call_timeout: -1s}\n", `mcp.call_timeout must be above 0s`},
		{"enumeration", "mcp: {webmcp: {expose: bot}}\n", `mcp.webmcp.expose cannot be "bot"; did you mean "both"?`},
		{"type", "mcp: {servers: {a: {type: htpp, url: https://x}}}\n", `mcp.servers.a.type cannot be "htpp"; did you mean "http"?`},
		{"name", "mcp: {servers: {a/b: {command: x}}}\n", `the name of a server holds no "/"; call it "a-b"`},
		{"reserved name", "mcp: {servers: {web: {command: x}}}\n", `"web" is a server inside aster; choose another name`},
		{"settings of a server inside", "mcp: {servers: {webmcp: {timeout: 5s}}}\n", `its settings are under mcp.webmcp`},
		{"neither", "mcp: {servers: {a: {args: [x]}}}\n", "mcp.servers.a: there is neither a command nor a url"},
		{"both", "mcp: {servers: {a: {command: x, url: https://x}}}\n", "there is both a command and a url; keep one of them"},
		{"type needs url", "mcp: {servers: {a: {command: x, type: sse}}}\n", "type sse needs a url"},
		{"type needs command", "mcp: {servers: {a: {url: https://x, type: stdio}}}\n", "type stdio needs a command"},
		{"type and transport", "mcp: {servers: {a: {url: https://x, type: sse, transport: http}}}\n", "another type and transport"},
		{"headers of a command", "mcp: {servers: {a: {command: x, headers: {A: b}}}}\n", "headers is not for a server of type stdio; leave it out"},
		{"args of a url", "mcp: {servers: {a: {url: https://x, args: [b]}}}\n", "args is not for a server of type streamable-http"},
		{"no web address", "mcp: {servers: {a: {url: x.example}}}\n", "an address begins with https:// or http://"},
		{"password in the address", "mcp: {servers: {a: {url: \"https://u:p@x\"}}}\n", "an address holds no user name or password"},
		{"header name", "mcp: {servers: {a: {url: https://x, headers: {\"A B\": c}}}}\n", `"A B" is no name of a header`},
		{"header value", "mcp: {servers: {a: {url: https://x, headers: {A: \"b\\r\\nC: d\"}}}}\n", "a header holds no control characters"},
		{"null value", "mcp: {servers: {a: {command: x, env: {A: }}}}\n", `mcp.servers.a.env.A must be a text, and is nothing; write "" for an empty text`},
		{"rule without decision", "mcp: {policy: {rules: [{reason: x}]}}\n", "mcp.policy.rules[0] needs one of allow, ask and deny"},
		{"rule with two", "mcp: {policy: {rules: [{allow: a, deny: b}]}}\n", "has both allow and deny; make two rules of it"},
		{"bad glob in a rule", "mcp: {policy: {rules: [{deny: \"a/[\"}]}}\n", "bad pattern"},
		{"empty origins in a rule", "mcp: {policy: {rules: [{allow: a, origins: []}]}}\n", "must hold at least 1"},
		{"tab", "mcp:\n\tsearch_limit: 1\n", f + "2:1: a tab begins the line; indent with spaces"},
		{"syntax", "mcp: [a\n", f + "1:6: "},
		{"two documents", "mcp: {}\n---\nmcp: {}\n", "aster.yaml:2:1: a second document: the file may hold only one\n  2 | ---\n    | ^^^"},
		{"unknown alias", "mcp: {tools: {deny: *x}}\n", "no anchor &x stands before this"},
		{"tag", "mcp: !foo {}\n", "the tag !foo is not known; leave it out"},
		{"control character", "mcp: {} # \x1b[31m\n", f + "1:11: a character that no text holds"},
		{"not UTF-8", "mcp:\n  x: \xff\n", f + "2:6: a byte that is no UTF-8: 0xff; save it as UTF-8"},
		{"too deep", "mcp: " + strings.Repeat("[", 40) + "\n", "nested deeper than 32"},
		{"too deep by dashes", "mcp: \n  " + strings.Repeat("- ", 40) + "x\n", "nested deeper than 32"},
		{"too large", "# " + strings.Repeat("x", 300<<10) + "\n", "larger than 64 KiB"},
		{"too many by aliases", "x-a: &a [1,2,3,4,5,6,7,8,9,0]\nx-b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nx-c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nx-d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\nx-e: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n", "more than 20000 values"},
		{"wide characters", "mcp: {x日本: 1}\n", "  1 | mcp: {x日本: 1}\n    |       ^^^^^"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.user(tt.text)
			if got := w.loadError(); !strings.Contains(got, tt.want) {
				t.Errorf("got:\n%s\nwant in it:\n%s", got, tt.want)
			}
		})
	}
}

func TestManyErrors(t *testing.T) {
	w := newWorld(t)
	var b strings.Builder
	b.WriteString("mcp:\n")
	for i := range 30 {
		fmt.Fprintf(&b, "  k%d: 1\n", i)
	}
	w.user(b.String())
	got := w.loadError()
	if n := strings.Count(got, "unknown key"); n != 10 {
		t.Errorf("%d errors are shown, want 10", n)
	}
	if !strings.Contains(got, "and 20 more") {
		t.Errorf("the rest is not counted:\n%s", got)
	}
}

func TestAnchors(t *testing.T) {
	w := newWorld(t)
	w.user(`x-env: &env
  A: one
  B: two
mcp:
  servers:
    a:
      command: x
      env: *env
    b:
      command: !!str 7
      env:
        <<: *env
        B: own
`)
	c := w.load()
	if diff := cmp.Diff(map[string]string{"A": "one", "B": "two"}, c.Server("a").Env); diff != "" {
		t.Errorf("alias: %s", diff)
	}
	if diff := cmp.Diff(map[string]string{"A": "one", "B": "own"}, c.Server("b").Env); diff != "" {
		t.Errorf("merge key: %s", diff)
	}
	if c.Server("b").Command != "7" {
		t.Errorf("the command is %q", c.Server("b").Command)
	}
}

func TestEmptyFiles(t *testing.T) {
	for _, text := range []string{"", "\n", "# only a comment\n", "---\n", "mcp:\n", "mcp:\n  servers:\n  tools:\n    deny:\n  policy:\n    rules:\n", "\ufeffmcp: {}\n", "mcp: {}\r\n", "$schema: x\nx-y: [1]\n"} {
		w := newWorld(t)
		w.user(text)
		if c := w.load(); len(c.Servers) != 0 || len(c.Problems) != 0 {
			t.Errorf("%q: %v", text, c.Problems)
		}
	}
}

func TestSchemaFile(t *testing.T) {
	path := config.SchemaFile
	if *update {
		if err := os.WriteFile(path, config.Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := os.ReadFile(path); string(got) != string(config.Schema()) {
		t.Errorf("%s is stale: run go test ./cmd/aster/internal/config -run TestSchemaFile -update", path)
	}
}

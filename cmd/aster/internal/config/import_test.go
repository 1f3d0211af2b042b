package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestImport(t *testing.T) {
	type server = config.Server
	tests := []struct {
		client, file, text string
		want               []*server
		deny, notes        []string
	}{
		{"claude", "home/.claude.json", `{"numStartups": 3, "mcpServers": {"a": {"type": "stdio", "command": "x", "args": ["${A}"], "env": {"E": "1"}}, "b": {"type": "http", "url": "https://b", "headers": {"H": "${T:-d}"}}}}`,
			[]*server{{Name: "a", Transport: config.Stdio, Command: "x", Args: []string{"${A}"}, Env: map[string]string{"E": "1"}},
				{Name: "b", Transport: config.StreamableHTTP, URL: "https://b", Headers: map[string]string{"H": "${T:-d}"}}}, nil, nil},
		{"claude-desktop", "home/.config/Claude/claude_desktop_config.json", `{"mcpServers": {"My Server": {"command": "x", "args": ["${literal}"]}}}`,
			[]*server{{Name: "My-Server", Transport: config.Stdio, Command: "x", Args: []string{"$${literal}"}}}, nil, []string{`called "My-Server" here`}},
		{"codex", "home/.codex/config.toml", `# comment
model = "o"
[mcp_servers.docs]
command = "npx"
args = ["-y", 'C:\x', """
multi "q" \
   line""",] # c
env = { "A" = "b\t\u00e9", B = 1_000 }
startup_timeout_sec = 20
tool_timeout_sec = 1.5
enabled = false
env_vars = ["TOKEN"]
[mcp_servers."far.away"]
url = "https://far"
bearer_token_env_var = "TOK"
http_headers = { X = "y" }
env_http_headers = { "X-Z" = "ZZ" }
disabled_tools = ["rm", "a*"]
[other]
mcp_servers = 1
`, []*server{
			{Name: "docs", Transport: config.Stdio, Command: "npx", Args: []string{"-y", `C:\x`, `multi "q" line`}, Env: map[string]string{"A": "b\té", "B": "1_000", "TOKEN": "${TOKEN:-}"},
				StartTimeout: 20 * time.Second, Timeout: 1500 * time.Millisecond, Disabled: true},
			{Name: "far.away", Transport: config.StreamableHTTP, URL: "https://far", Headers: map[string]string{"X": "y", "X-Z": "${ZZ}", "Authorization": "Bearer ${TOK}"}},
		}, []string{"far.away/rm", `far.away/a\*`}, nil},
		{"cursor", "home/.cursor/mcp.json", `{"mcpServers": {"a": {"command": "${userHome}/x", "args": ["${workspaceFolder}/y", "${env:A}", "${odd:1}"], "envFile": ".env"}}}`,
			[]*server{{Name: "a", Transport: config.Stdio, Command: "HOME/x", Args: []string{"DIR/y", "${A}", "$${odd:1}"}}}, nil,
			[]string{"args[2]: ${odd:1} is not known here and stays as it is", ".env is not read: put its variables under env"}},
		{"gemini", "home/.gemini/settings.json", `{"theme": "x", "mcpServers": {"a": {"command": "x", "args": ["$A"], "env": {"P": "$P-${Q}%R%$", "S": "%x"}, "timeout": 600000, "trust": true, "excludeTools": ["t"]}, "s": {"url": "https://s"}, "h": {"httpUrl": "https://h"}}}`,
			[]*server{
				{Name: "a", Transport: config.Stdio, Command: "x", Args: []string{"$A"}, Env: map[string]string{"P": "${P:-}-${Q:-}${R:-}$", "S": "%x"}, Timeout: 10 * time.Minute},
				{Name: "s", Transport: config.SSE, URL: "https://s"}, {Name: "h", Transport: config.StreamableHTTP, URL: "https://h"},
			}, []string{"a/t"}, []string{"trust is not taken over: write trust: true yourself if you mean it"}},
		{"opencode", "home/.config/opencode/opencode.json", `{// c
 "mcp": {"a": {"type": "local", "command": ["x", "y"], "environment": {"A": "{env:A}"}, "enabled": false, "timeout": 5000,}, "b": {"type": "remote", "url": "https://b"}}}`,
			[]*server{{Name: "a", Transport: config.Stdio, Command: "x", Args: []string{"y"}, Env: map[string]string{"A": "${A:-}"}, Disabled: true, Timeout: 5 * time.Second},
				{Name: "b", Transport: config.StreamableHTTP, URL: "https://b"}}, nil, nil},
		{"vscode", "project/.vscode/mcp.json", `{"inputs": [{"id": "api-key"}], "servers": {"a": {"type": "sse", "url": "https://a", "headers": {"K": "${input:api-key}"}}}}`,
			[]*server{{Name: "a", Transport: config.SSE, URL: "https://a", Headers: map[string]string{"K": "${API_KEY}"}}}, nil, []string{"headers.K: set the variable API_KEY, which the client asked for"}},
		{"windsurf", "home/.codeium/windsurf/mcp_config.json", `{"mcpServers": {"web": {"serverUrl": "https://w"}}}`,
			[]*server{{Name: "web-windsurf", Transport: config.StreamableHTTP, URL: "https://w"}}, nil, []string{`called "web-windsurf" here, as "web" is a server inside aster`}},
		{"zed", "home/.config/zed/settings.json", `{/* c */ "context_servers": {"old": {"command": {"path": "x", "args": ["y"], "env": {"A": "b"}}}, "new": {"source": "custom", "command": "z", "args": []}}}`,
			[]*server{{Name: "old", Transport: config.Stdio, Command: "x", Args: []string{"y"}, Env: map[string]string{"A": "b"}}, {Name: "new", Transport: config.Stdio, Command: "z"}}, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.client, func(t *testing.T) {
			w := newWorld(t)
			w.write(tt.file, tt.text)
			all, err := config.Import(tt.client, &config.ImportOptions{Home: w.path("home"), Dir: w.path("project"), GOOS: "linux"})
			if err != nil {
				t.Fatal(err)
			}
			var got []*server
			var deny, notes []string
			for _, i := range all {
				if i.Err != nil {
					continue
				}
				s := i.Server
				s.Command = strings.ReplaceAll(s.Command, w.path("home"), "HOME")
				for j := range s.Args {
					s.Args[j] = strings.ReplaceAll(s.Args[j], w.path("project"), "DIR")
				}
				got = append(got, s)
				deny, notes = append(deny, i.Deny...), append(notes, i.Notes...)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreTypes(config.Place{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.deny, deny); diff != "" {
				t.Errorf("denied tools (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.notes, notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestImportCodexFaults holds that one server that cannot be taken over costs itself.
func TestImportCodexFaults(t *testing.T) {
	w := newWorld(t)
	w.write("home/.codex/config.toml", "[mcp_servers.a]\ncommand = 'x'\nenv = { C.D = 'no' }\n[mcp_servers.b]\ncommand = 'y'\nstartup_timeout_sec = 20\ntool_timeout_sec = 1.5\nenabled = false\nenv_vars = ['T']\n")
	all, err := config.Import("codex", &config.ImportOptions{Home: w.path("home")})
	if err != nil || len(all) != 2 {
		t.Fatalf("%d servers, %v", len(all), err)
	}
	if all[0].Err == nil || !strings.Contains(all[0].Err.Error(), "env.C must be a text") {
		t.Errorf("a: %v", all[0].Err)
	}
	want := &config.Server{Name: "b", Transport: config.Stdio, Command: "y", StartTimeout: 20 * time.Second, Timeout: 1500 * time.Millisecond, Disabled: true, Env: map[string]string{"T": "${T:-}"}}
	if diff := cmp.Diff(want, all[1].Server, cmpopts.IgnoreTypes(config.Place{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestImportClaudeProject(t *testing.T) {
	w := newWorld(t)
	w.write("home/.claude.json", `{"mcpServers": {"a": {"command": "user"}, "b": {"command": "user"}}, "projects": {`+quoted(w.path("project"))+`: {"mcpServers": {"a": {"command": "local"}}}}}`)
	all, err := config.Import("claude", &config.ImportOptions{Home: w.path("home"), Dir: w.path("project")})
	if err != nil || len(all) != 2 {
		t.Fatalf("%d servers, %v", len(all), err)
	}
	if all[0].Server.Command != "local" || all[1].Server.Command != "user" {
		t.Errorf("got %+v and %+v", all[0].Server, all[1].Server)
	}
}

func TestBadTOML(t *testing.T) {
	for _, text := range []string{"a", "a =", "a = 1 2", "[a", "[[a]", "a = \"x", "a = 'x\n'", "a = [1", "a = {b = 1", "a = 1\na = 2", "a = 1\n[a]", "= 1", "a = \"\\q\"", "a = \"\"\"x", "a = " + strings.Repeat("[", 100), "a = @", "a.b.c = 1\na.b = 2\n", strings.Repeat("a.", 100) + "a = 1"} {
		w := newWorld(t)
		w.write("home/.codex/config.toml", text)
		if all, err := config.Import("codex", &config.ImportOptions{Home: w.path("home")}); err == nil {
			t.Errorf("%q is read: %v", text, all)
		}
	}
}

func FuzzImport(f *testing.F) {
	f.Add("[mcp_servers.a]\ncommand = \"x\"\nargs = ['y', \"\"\"z\"\"\"]\n")
	f.Add(`{"mcpServers": {"a": {"command": "${env:X}", "args": ["$A"]}}}`)
	f.Add("[[a]]\n[a.b]\nc = {d = 1}\n")
	f.Fuzz(func(t *testing.T, text string) {
		w := newWorld(t)
		w.write("home/.codex/config.toml", text)
		w.write("home/.cursor/mcp.json", text)
		w.write("home/.gemini/settings.json", text)
		all, _ := config.Import("", &config.ImportOptions{Home: w.path("home"), GOOS: "linux"})
		for _, i := range all {
			if (i.Server == nil) == (i.Err == nil) {
				t.Errorf("server %v, error %v", i.Server, i.Err)
			}
		}
	})
}

package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/google/go-cmp/cmp"
)

func pages() *config.Server {
	return &config.Server{Name: "webmcp", Command: "/opt/aster", Args: []string{"mcp", "serve", "webmcp"}}
}

func TestConnect(t *testing.T) {
	const entry = `"command": "/opt/aster",
IN"args": ["mcp", "serve", "webmcp"]`
	pretty := func(indent string) string { return strings.ReplaceAll(entry, "IN", indent) }
	tests := []struct{ name, client, file, before, after string }{
		{"new file", "cursor", ".cursor/mcp.json", "", "{\n  \"mcpServers\": {\n    \"webmcp\": {\n      " + pretty("      ") + "\n    }\n  }\n}\n"},
		{"no servers yet, other settings", "claude", ".claude.json", `{
  "numStartups": 3,
  "projects": {"/p": {"mcpServers": {}}}
}
`, `{
  "numStartups": 3,
  "projects": {"/p": {"mcpServers": {}}},
  "mcpServers": {
    "webmcp": {
      "type": "stdio",
      ` + pretty("      ") + `
    }
  }
}
`},
		{"beside another, tabs, no line end", "claude-desktop", ".config/Claude/claude_desktop_config.json",
			"{\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"x\"}\n\t}\n}",
			"{\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"x\"},\n\t\t\"webmcp\": {\n\t\t\t" + pretty("\t\t\t") + "\n\t\t}\n\t}\n}"},
		{"carriage returns", "gemini", ".gemini/settings.json",
			"{\r\n  \"mcpServers\": {}\r\n}\r\n",
			strings.ReplaceAll("{\n  \"mcpServers\": {\n    \"webmcp\": {\n      "+pretty("      ")+"\n    }\n  }\n}\n", "\n", "\r\n")},
		{"one line", "cursor", ".cursor/mcp.json", `{"mcpServers": {"a": {"url": "https://a"}}, "z": [1, {"b": "}"}]}`,
			`{"mcpServers": {"a": {"url": "https://a"}, "webmcp": {"command": "/opt/aster", "args": ["mcp", "serve", "webmcp"]}}, "z": [1, {"b": "}"}]}`},
		{"comments and a comma at the end", "vscode", ".config/Code/User/mcp.json", `// mine
{
    "servers": {
        /* kept */
        "a": { "command": "x" }, // the last, "}" for now
        // a word at the end
    }, // after
    "inputs": []
}
`, `// mine
{
    "servers": {
        /* kept */
        "a": { "command": "x" }, // the last, "}" for now
        // a word at the end
        "webmcp": {
            "type": "stdio",
            ` + pretty("            ") + `
        },
    }, // after
    "inputs": []
}
`},
		{"a comment behind the last value", "zed", ".config/zed/settings.json", `{
  "theme": "One", // dark
  "context_servers": {
    "a": { "command": "x" } // mine
  }
}
`, `{
  "theme": "One", // dark
  "context_servers": {
    "a": { "command": "x" }, // mine
    "webmcp": {
      ` + pretty("      ") + `
    }
  }
}
`},
		{"only a comment", "zed", ".config/zed/settings.json", "{\n  // nothing yet\n}\n",
			"{\n  // nothing yet\n  \"context_servers\": {\n    \"webmcp\": {\n      " + pretty("      ") + "\n    }\n  }\n}\n"},
		{"a command that is a list", "opencode", ".config/opencode/opencode.json", "{\n  \"mcp\": {\n  }\n}\n",
			"{\n  \"mcp\": {\n    \"webmcp\": {\n      \"type\": \"local\",\n      \"command\": [\"/opt/aster\", \"mcp\", \"serve\", \"webmcp\"],\n      \"enabled\": true\n    }\n  }\n}\n"},
		{"an older entry keeps its other keys", "cursor", ".cursor/mcp.json",
			`{"mcpServers": {"webmcp": {"args": [ "mcp", /* x */ "serve" ], "env": {"A": "secret"}, "command": "C:\\old\\Aster.EXE"}}}`,
			`{"mcpServers": {"webmcp": {"args": ["mcp", "serve", "webmcp"], "env": {"A": "secret"}, "command": "/opt/aster"}}}`},
		{"an older entry without arguments", "cursor", ".cursor/mcp.json", `{"mcpServers": {"webmcp": {"command": "aster"}}}`,
			`{"mcpServers": {"webmcp": {"command": "/opt/aster", "args": ["mcp", "serve", "webmcp"]}}}`},
		{"TOML", "codex", ".codex/config.toml", "# mine\nmodel = \"o\"\n\n[mcp_servers.docs] # here\ncommand = \"npx\"\n\n[tui]\nx = '''\n[mcp_servers.webmcp]\n'''",
			"# mine\nmodel = \"o\"\n\n[mcp_servers.docs] # here\ncommand = \"npx\"\n\n[tui]\nx = '''\n[mcp_servers.webmcp]\n'''\n\n[mcp_servers.webmcp]\ncommand = \"/opt/aster\"\nargs = [\"mcp\", \"serve\", \"webmcp\"]\n"},
		{"new TOML", "codex", ".codex/config.toml", "", "[mcp_servers.webmcp]\ncommand = \"/opt/aster\"\nargs = [\"mcp\", \"serve\", \"webmcp\"]\n"},
		{"older TOML", "codex", ".codex/config.toml", "[mcp_servers.webmcp]\nargs = [\n  \"mcp\", # one\n]\nenabled = true # on\ncommand = 'aster' # here\n[z]\n",
			"[mcp_servers.webmcp]\nargs = [\"mcp\", \"serve\", \"webmcp\"]\nenabled = true # on\ncommand = \"/opt/aster\" # here\n[z]\n"},
		{"older TOML without arguments", "codex", ".codex/config.toml", "[mcp_servers.webmcp]\ncommand = 'aster' # here\n",
			"[mcp_servers.webmcp]\nargs = [\"mcp\", \"serve\", \"webmcp\"]\ncommand = \"/opt/aster\" # here\n"},
	}
	for _, tt := range tests {
		t.Run(tt.client+" "+tt.name, func(t *testing.T) {
			w := newWorld(t)
			if tt.before != "" {
				w.write("home/"+tt.file, tt.before)
			}
			o := &config.ImportOptions{Home: w.path("home"), GOOS: "linux"}
			c, err := config.Connect(tt.client, pages(), false, o)
			if err != nil {
				t.Fatal(err)
			}
			if want := w.path("home/" + tt.file); c.Path != want || c.Found != (tt.before != "") || !c.Changed() {
				t.Errorf("%s, found %v, changed %v, want %s", c.Path, c.Found, c.Changed(), want)
			}
			if diff := cmp.Diff(tt.after, c.After); diff != "" {
				t.Errorf("the file (-want +got):\n%s", diff)
			}
			if err := c.Save(); err != nil {
				t.Fatal(err)
			}
			again, err := config.Connect(tt.client, pages(), false, o)
			if err != nil || again.Changed() {
				t.Errorf("a second time: %v, changed %v:\n%s", err, again.Changed(), again.After)
			}
			all, err := config.Import(tt.client, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range all { // the client's own reading of what we wrote
				if strings.HasPrefix(i.Name, "webmcp") && i.Server.Command == "/opt/aster" && len(i.Server.Args) == 3 {
					return
				}
			}
			t.Errorf("the server is not found again: %v", all)
		})
	}
}

func TestConnectRefuses(t *testing.T) {
	tests := []struct {
		name, client, file, text string
		is                       error
		says                     string
	}{
		{"broken JSON", "cursor", ".cursor/mcp.json", "{\n  \"mcpServers\": {\n", nil, "mcp.json:3:1: this is no JSON"},
		{"broken TOML", "codex", ".codex/config.toml", "a = 1\n[mcp_servers\n", nil, "config.toml:2:"},
		{"a list", "zed", ".config/zed/settings.json", "[]", nil, "settings.json:1:1: the file must be a map, and is a list"},
		{"servers that are none", "cursor", ".cursor/mcp.json", "{\n \"mcpServers\": []}", nil, "mcp.json:2:2: mcpServers must be a map"},
		{"an entry that is none", "cursor", ".cursor/mcp.json", `{"mcpServers": {"webmcp": 1}}`, nil, "must be a map"},
		{"another's entry", "cursor", ".cursor/mcp.json", `{"mcpServers": {"webmcp": {"command": "npx"}}}`, config.ErrTaken, "mcp.json:1:17: a server \"webmcp\" of another program"},
		{"a remote entry", "cursor", ".cursor/mcp.json", `{"mcpServers": {"webmcp": {"url": "https://x"}}}`, config.ErrTaken, "another program"},
		{"another's TOML", "codex", ".codex/config.toml", "\n[mcp_servers.webmcp]\ncommand = \"npx\"\n", config.ErrTaken, "config.toml:3:1: a server"},
		{"TOML in one line", "codex", ".codex/config.toml", "mcp_servers = { a = { command = \"x\" } }\n", config.ErrShape, "config.toml:1:1: mcp_servers is written in one line"},
		{"an older entry of TOML in one line", "codex", ".codex/config.toml", "[mcp_servers]\nwebmcp = { command = \"aster\" }\n", config.ErrShape, "without touching more"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.write("home/"+tt.file, tt.text)
			_, err := config.Connect(tt.client, pages(), false, &config.ImportOptions{Home: w.path("home"), GOOS: "linux"})
			if err == nil || !strings.Contains(err.Error(), tt.says) || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("got %v, want it to be %v and to say %q", err, tt.is, tt.says)
			}
		})
	}
	for _, s := range []*config.Server{{Name: "a b", Command: "x"}, {Name: "a", Command: "x\ny"}} {
		if _, err := config.Connect("cursor", s, false, &config.ImportOptions{Home: t.TempDir()}); err == nil {
			t.Errorf("%+v is taken", s)
		}
	}
	if _, err := config.Connect("curser", pages(), false, &config.ImportOptions{Home: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "cursor") {
		t.Errorf("an unknown client: %v", err)
	}
}

func TestConnectPlaces(t *testing.T) {
	w := newWorld(t)
	w.write("project/.git/x", "")
	w.write("project/sub/.cursor/mcp.json", "{}")
	w.write("home/.config/opencode/opencode.jsonc", "{}")
	tests := []struct {
		client, goos string
		project      bool
		want         string
	}{
		{"claude", "linux", false, "home/.claude.json"},
		{"claude", "linux", true, "project/.mcp.json"},
		{"claude-desktop", "darwin", false, "home/Library/Application Support/Claude/claude_desktop_config.json"},
		{"claude-desktop", "windows", false, "appdata/Claude/claude_desktop_config.json"},
		{"vscode", "darwin", false, "home/Library/Application Support/Code/User/mcp.json"},
		{"vscode", "windows", false, "appdata/Code/User/mcp.json"},
		{"vscode", "linux", true, "project/.vscode/mcp.json"},
		{"cursor", "linux", true, "project/sub/.cursor/mcp.json"},
		{"codex", "linux", true, "project/.codex/config.toml"},
		{"gemini", "linux", true, "project/.gemini/settings.json"},
		{"zed", "darwin", false, "home/.config/zed/settings.json"},
		{"zed", "windows", false, "appdata/Zed/settings.json"},
		{"zed", "linux", true, "project/.zed/settings.json"},
		{"opencode", "linux", false, "home/.config/opencode/opencode.jsonc"},
		{"opencode", "linux", true, "project/opencode.json"},
	}
	for _, tt := range tests {
		o := &config.ImportOptions{Home: w.path("home"), Dir: w.path("project/sub"), GOOS: tt.goos, Getenv: func(name string) string {
			if name == "APPDATA" {
				return w.path("appdata")
			}
			return ""
		}}
		c, err := config.Connect(tt.client, pages(), tt.project, o)
		if err != nil {
			t.Errorf("%s on %s: %v", tt.client, tt.goos, err)
		} else if c.Path != w.path(tt.want) {
			t.Errorf("%s on %s: %s, want %s", tt.client, tt.goos, c.Path, w.path(tt.want))
		}
	}
	if _, err := config.Connect("claude-desktop", pages(), true, &config.ImportOptions{Home: w.path("home"), Dir: w.path("project")}); err == nil {
		t.Error("claude-desktop has a file in a project")
	}
}

func TestConnectSave(t *testing.T) {
	w := newWorld(t)
	w.write("home/.cursor/mcp.json", "{}")
	path := w.path("home/.cursor/mcp.json")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	o := &config.ImportOptions{Home: w.path("home"), GOOS: "linux"}
	c, err := config.Connect("cursor", pages(), false, o)
	if err != nil {
		t.Fatal(err)
	}
	w.write("home/.cursor/mcp.json", `{"other": 1}`)
	if err := c.Save(); !errors.Is(err, config.ErrChanged) {
		t.Errorf("a file that changed meanwhile: %v", err)
	}
	if c, err = config.Connect("cursor", pages(), false, o); err != nil {
		t.Fatal(err)
	}
	if err := c.Save(); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 {
		t.Errorf("files left: %v", left)
	}
}

// FuzzConnect: whatever the file, what is written means the same and the server.
func FuzzConnect(f *testing.F) {
	f.Add(true, "{\n  \"mcpServers\": {\"a\": {}}, // x\n}")
	f.Add(true, `{"mcpServers":{"webmcp":{"command":"aster","args":[1,]}}}`)
	f.Add(false, "[mcp_servers.a]\ncommand = 'x'\n")
	f.Add(false, "mcp_servers.webmcp.command = \"aster\"\n")
	f.Fuzz(func(t *testing.T, json bool, text string) {
		home := t.TempDir()
		client, file := "cursor", filepath.Join(home, ".cursor", "mcp.json")
		if !json {
			client, file = "codex", filepath.Join(home, ".codex", "config.toml")
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		o := &config.ImportOptions{Home: home, GOOS: "linux"}
		c, err := config.Connect(client, pages(), false, o)
		if err != nil {
			return
		}
		if err := os.WriteFile(file, []byte(c.After), 0o600); err != nil { // Save waits for the disk
			t.Fatal(err)
		}
		again, err := config.Connect(client, pages(), false, o)
		if err != nil || again.Changed() {
			t.Errorf("%q became %q, and a second time: %v", text, c.After, err)
		}
	})
}

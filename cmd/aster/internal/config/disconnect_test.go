package config_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
)

const (
	cursorFile = ".cursor/mcp.json"
	codexFile  = ".codex/config.toml"
)

func TestDisconnect(t *testing.T) {
	const entry = `"webmcp": {"command": "/old/aster", "args": ["mcp"], "env": {"A": "}"}}`
	tests := []struct{ name, client, file, before, after string }{
		{"no file", "cursor", cursorFile, "", ""},
		{"no such server", "cursor", cursorFile, `{"mcpServers": {"a": {"command": "x"}}}`, `{"mcpServers": {"a": {"command": "x"}}}`},
		{"no servers", "cursor", cursorFile, `{"webmcp": {"command": "x"}}`, `{"webmcp": {"command": "x"}}`},
		{"the only one", "cursor", cursorFile, "{\n  \"mcpServers\": {\n    " + entry + "\n  }\n}\n", "{\n  \"mcpServers\": {}\n}\n"},
		{"the only one on one line", "cursor", cursorFile, `{"mcpServers": { ` + entry + ` }, "z": 1}`, `{"mcpServers": {}, "z": 1}`},
		{"first on one line", "cursor", cursorFile, `{"mcpServers": {` + entry + `, "b": {"command": "x"}}}`, `{"mcpServers": {"b": {"command": "x"}}}`},
		{"between others on one line", "cursor", cursorFile, `{"mcpServers": {"a": {"command": "x"}, ` + entry + `, "b": {"command": "x"}}}`, `{"mcpServers": {"a": {"command": "x"}, "b": {"command": "x"}}}`},
		{"last on one line", "cursor", cursorFile, `{"mcpServers": {"a": {"command": "x"}, ` + entry + `}}`, `{"mcpServers": {"a": {"command": "x"}}}`},
		{"first", "cursor", cursorFile, "{\n  \"mcpServers\": {\n    " + entry + ",\n    \"b\": {\"command\": \"x\"}\n  }\n}", "{\n  \"mcpServers\": {\n    \"b\": {\"command\": \"x\"}\n  }\n}"},
		{"last, carriage returns", "cursor", cursorFile, "{\r\n  \"mcpServers\": {\r\n    \"b\": {\"command\": \"x\"},\r\n    " + entry + "\r\n  }\r\n}", "{\r\n  \"mcpServers\": {\r\n    \"b\": {\"command\": \"x\"}\r\n  }\r\n}"},
		{"comments and a comma at the end", "zed", ".config/zed/settings.json",
			"// mine\n{\n  \"context_servers\": {\n    \"a\": {\"command\": \"x\"}, // a, b\n    // ours, }\n    " + entry + ", // the end\n    // kept\n  },\n}\n",
			"// mine\n{\n  \"context_servers\": {\n    \"a\": {\"command\": \"x\"}, // a, b\n    // ours, }\n     // the end\n    // kept\n  },\n}\n"},
		{"a comment before the comma", "zed", ".config/zed/settings.json",
			"{\"context_servers\": {\n  " + entry + " /* , */ ,\n  \"b\": {\"command\": \"x\"}\n}}", "{\"context_servers\": {\n   /* , */ \n  \"b\": {\"command\": \"x\"}\n}}"},
		{"a command that is a list", "opencode", ".config/opencode/opencode.json",
			"{\n  \"mcp\": {\n    \"webmcp\": {\n      \"type\": \"local\",\n      \"command\": [\"/opt/aster\", \"mcp\"]\n    }\n  }\n}\n", "{\n  \"mcp\": {}\n}\n"},
		{"TOML", "codex", codexFile,
			"# mine\nx = 1\n\n[mcp_servers.webmcp] # ours\ncommand = \"aster\"\n# inside\nargs = [\n  \"mcp\", # one\n]\n\n[mcp_servers.webmcp.env]\nA = '''\n[z]\n'''\n\n# of z\n[z]\ny = 2\n",
			"# mine\nx = 1\n\n# of z\n[z]\ny = 2\n"},
		{"TOML at the end", "codex", codexFile, "x = 1\n\n[mcp_servers.webmcp]\ncommand = \"aster\"\n", "x = 1\n"},
		{"TOML in another's table", "codex", codexFile, "[mcp_servers]\na = {command = \"x\"}\nwebmcp = {command = \"aster\"} # ours\nb = {command = \"y\"}", "[mcp_servers]\na = {command = \"x\"}\nb = {command = \"y\"}"},
	}
	for _, tt := range tests {
		t.Run(tt.client+" "+tt.name, func(t *testing.T) {
			w := newWorld(t)
			if tt.before != "" {
				w.write("home/"+tt.file, tt.before)
			}
			o := &config.ImportOptions{Home: w.path("home"), GOOS: "linux"}
			c, err := config.Disconnect(tt.client, pages(), false, o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.after, c.After); diff != "" || c.Changed() != (tt.before != tt.after) {
				t.Fatalf("changed %v, the file (-want +got):\n%s", c.Changed(), diff)
			}
			if !c.Changed() {
				return
			}
			if err := c.Save(); err != nil {
				t.Fatal(err)
			}
			if again, err := config.Disconnect(tt.client, pages(), false, o); err != nil || again.Changed() {
				t.Errorf("a second time: %v", err)
			}
		})
	}
}

// TestDisconnectRefuses: what is not ours, or cannot be taken out alone, stays.
func TestDisconnectRefuses(t *testing.T) {
	tests := []struct {
		name, client, file, text string
		is                       error
	}{
		{"another program", "cursor", cursorFile, `{"mcpServers": {"webmcp": {"command": "npx"}}}`, config.ErrTaken},
		{"another program in TOML", "codex", codexFile, "[mcp_servers.webmcp]\ncommand = \"npx\"\n", config.ErrTaken},
		{"all servers on one line of TOML", "codex", codexFile, "mcp_servers = {webmcp = {command = \"aster\"}, a = {command = \"x\"}}\n", config.ErrShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.write("home/"+tt.file, tt.text)
			if c, err := config.Disconnect(tt.client, pages(), false, &config.ImportOptions{Home: w.path("home"), GOOS: "linux"}); !errors.Is(err, tt.is) {
				t.Errorf("%v, want %v: %v", err, tt.is, c)
			}
		})
	}
}

// TestConnectThereAndBack: what Connect puts in, Disconnect takes out again.
func TestConnectThereAndBack(t *testing.T) {
	for client, file := range map[string]string{"cursor": cursorFile, "codex": codexFile} {
		for _, before := range map[string][]string{
			"cursor": {"{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}\n  }\n}\n", `{"mcpServers": {"a": {"command": "x"}}}`, `{"mcpServers": {}}`},
			"codex":  {"model = \"o\"\n\n[mcp_servers.docs]\ncommand = \"x\"\n", "model = \"o\" # mine\n"},
		}[client] {
			w := newWorld(t)
			w.write("home/"+file, before)
			o := &config.ImportOptions{Home: w.path("home"), GOOS: "linux"}
			c, err := config.Connect(client, pages(), false, o)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Save(); err != nil {
				t.Fatal(err)
			}
			back, err := config.Disconnect(client, pages(), false, o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, back.After); diff != "" {
				t.Errorf("%s (-want +got):\n%s", client, diff)
			}
		}
	}
}

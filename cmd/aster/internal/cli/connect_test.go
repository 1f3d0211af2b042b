package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/cmd/aster/internal/cli"
)

// connect runs aster mcp connect with a home of its own.
func connect(t *testing.T, home, answer string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	env := &cli.Env{Args: append([]string{"mcp", "connect"}, args...), Home: home, Executable: "/opt/bin/aster", Terminal: answer != "", Stdin: strings.NewReader(answer)}
	return run(t, env)
}

func TestConnect(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, ".cursor", "mcp.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	const before = `{
  "mcpServers": {
    "a": {"command": "x", "env": {"T": "s3cret"}}
  }
}
`
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	is := func(want string) {
		t.Helper()
		got, err := os.ReadFile(file)
		if err != nil || string(got) != want {
			t.Fatalf("%v, the file:\n%s", err, got)
		}
	}
	code, stdout, _ := connect(t, home, "", "cursor", "--print")
	if want := `    3 + … ,
    4 +     "webmcp": {
    5 +       "command": "/opt/bin/aster",
    6 +       "args": ["mcp", "serve", "webmcp"]
    7 +     }
`; code != cli.ExitOK || !strings.Contains(stdout, want) || strings.Contains(stdout, "s3cret") {
		t.Errorf("--print: exit code %d\n%s", code, stdout)
	}
	is(before)
	if code, _, stderr := connect(t, home, "", "cursor"); code != cli.ExitUsage || !strings.Contains(stderr, "nobody to ask") {
		t.Errorf("without a terminal: exit code %d, %s", code, stderr)
	}
	if code, stdout, _ := connect(t, home, "n\n", "cursor"); code != cli.ExitFailed || !strings.Contains(stdout, "nothing written") {
		t.Errorf("a no: exit code %d, %s", code, stdout)
	}
	is(before)
	if code, stdout, stderr := connect(t, home, "y\n", "cursor"); code != cli.ExitOK || !strings.Contains(stdout, "wrote "+file) {
		t.Errorf("a yes: exit code %d, %s%s", code, stdout, stderr)
	}
	after := strings.Replace(before, "}}\n", `}},
    "webmcp": {
      "command": "/opt/bin/aster",
      "args": ["mcp", "serve", "webmcp"]
    }
`, 1)
	is(after)
	if code, stdout, _ := connect(t, home, "", "cursor"); code != cli.ExitOK || !strings.Contains(stdout, "cursor has webmcp already") {
		t.Errorf("a second time: exit code %d, %s", code, stdout)
	}
	is(after)
	if code, stdout, _ := connect(t, home, ""); code != cli.ExitOK || !strings.Contains(stdout, "cursor          has webmcp") || !strings.Contains(stdout, "zed             no file yet") {
		t.Errorf("the list: exit code %d\n%s", code, stdout)
	}
	if code, _, stderr := connect(t, home, "", "cursor", "--server", "gateway", "--yes", "--", "--http", "127.0.0.1:0"); code != cli.ExitOK {
		t.Fatalf("a second server: exit code %d, %s", code, stderr)
	}
	if _, stdout, _ := connect(t, home, ""); !strings.Contains(stdout, "cursor          has webmcp, aster  "+file) {
		t.Errorf("the list, after a second server with arguments of its own:\n%s", stdout)
	}
}

func TestConnectArguments(t *testing.T) {
	tests := []struct {
		args, stdout, stderr string
		code                 int
	}{
		{"codex --yes --server gateway", "[mcp_servers.aster]", "", cli.ExitOK},
		{"codex --print --server web --name search", "[mcp_servers.search]", "", cli.ExitOK},
		{"codex --print -- --cdp-url launch", `args = ["mcp", "serve", "webmcp", "--cdp-url", "launch"]`, "", cli.ExitOK},
		{"zed --print --command /other/aster", `"/other/aster"`, "", cli.ExitOK},
		{"curser", "", `known: claude, claude-desktop`, cli.ExitUsage},
		{"cursor --server all", "", "it must be one of webmcp, web, shortcuts, gateway", cli.ExitUsage},
		{"cursor zed", "", "takes one client", cli.ExitUsage},
		{"cursor --command /tmp/go-build1/aster", "", "go install ./cmd/aster", cli.ExitUsage},
		{"claude-desktop --project --yes", "", "has no file in a project", cli.ExitFailed},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			code, stdout, stderr := connect(t, t.TempDir(), "", fields(tt.args)...)
			if code != tt.code || !strings.Contains(stdout, tt.stdout) || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("exit code %d, want %d\n%s%s", code, tt.code, stdout, stderr)
			}
		})
	}
}

// TestConnectHostileFile: a client's file moves no terminal.
func TestConnectHostileFile(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".codex"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "[mcp_servers.webmcp]\ncommand = \"aster\" # \x1b[2J\n"
	if err := os.WriteFile(filepath.Join(home, ".codex", "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := connect(t, home, "", "codex", "--print")
	if code != cli.ExitOK || strings.ContainsRune(stdout+stderr, 0x1b) {
		t.Errorf("exit code %d: %q", code, stdout+stderr)
	}
}

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/cmd/aster/internal/cli"
)

func TestDisconnect(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, ".cursor", "mcp.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	const without = `{
  "mcpServers": {
    "a": {"command": "x", "env": {"T": "s3cret"}}
  }
}
`
	const with = `{
  "mcpServers": {
    "a": {"command": "x", "env": {"T": "s3cret"}},
    "webmcp": {
      "command": "/old/aster",
      "args": ["mcp", "serve", "webmcp"]
    }
  }
}
`
	if err := os.WriteFile(file, []byte(with), 0o600); err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		answer, args, stdout, stderr, after string
		code                                int
	}{
		{"", "cursor --print", "    4 -     \"webmcp\": {\n", "", with, cli.ExitOK},
		{"", "cursor", "", "nobody to ask", with, cli.ExitUsage},
		{"n\n", "cursor", "nothing written", "", with, cli.ExitFailed},
		{"", "cursor --server gateway --yes", "cursor has no aster", "", with, cli.ExitOK},
		{"", "cursor --name a --yes", "", "another program", with, cli.ExitFailed},
		{"", "curser", "", "known: claude, claude-desktop", with, cli.ExitUsage},
		{"", "", "", "takes one client", with, cli.ExitUsage},
		{"y\n", "cursor", "wrote " + file, "", without, cli.ExitOK},
		{"", "cursor", "cursor has no webmcp", "", without, cli.ExitOK},
	}
	for _, s := range steps {
		env := &cli.Env{Args: append([]string{"mcp", "disconnect"}, strings.Fields(s.args)...), Home: home, Executable: "/opt/bin/aster", Terminal: s.answer != "", Stdin: strings.NewReader(s.answer)}
		code, stdout, stderr := run(t, env)
		if code != s.code || !strings.Contains(stdout, s.stdout) || !strings.Contains(stderr, s.stderr) || strings.Contains(stdout+stderr, "s3cret") {
			t.Errorf("%q: exit code %d, want %d\n%s%s", s.args, code, s.code, stdout, stderr)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != s.after {
			t.Fatalf("%q: %v, the file:\n%s", s.args, err, got)
		}
	}
}

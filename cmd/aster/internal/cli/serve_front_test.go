package cli_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/cmd/aster/internal/cli"
	"github.com/aster-mcp/aster/shortcuts"
)

// Shortcuts that are served by themselves pass the guard: list reads, run is the
// client's to ask about, and nothing that acts passes in read-only mode.
func TestServeShortcutsIsGuarded(t *testing.T) {
	const requests = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"script","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list","arguments":{}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"run","arguments":{"id":"A-1","input":"x"}}}
`
	for _, tt := range []struct {
		name  string
		flags []string
		want  string // in the answer to run
		ran   int
	}{
		{"default", nil, "ran with x", 1},
		{"read-only", []string{"--read-only"}, "shortcuts/run was not called: read-only mode", 0},
		{"aster asks, the client cannot be asked", []string{"--approve", "aster"}, "there is no way to ask the user here", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fake, home := &fakeShortcuts{}, t.TempDir()
			run := func(stdin string, args ...string) string {
				var stdout, stderr bytes.Buffer
				if code := cli.Run(context.Background(), &cli.Env{Args: args, Stdin: strings.NewReader(stdin), Stdout: &stdout, Stderr: &stderr, Home: home,
					ShortcutsRunner: func() (shortcuts.Runner, error) { return fake, nil }}); code != 0 {
					t.Fatalf("%q: exit code %d, %s", args, code, stderr.String())
				}
				return stdout.String()
			}
			out := run(requests, append([]string{"mcp", "serve", "shortcuts"}, tt.flags...)...)
			if !strings.Contains(out, "Café") || !strings.Contains(out, tt.want) || len(fake.ran) != tt.ran {
				t.Errorf("ran %q, want %d runs and %q in the answer:\n%s", fake.ran, tt.ran, tt.want, out)
			}
			if log := run("", "mcp", "log"); strings.Count(log, "shortcuts/list") != 1 || strings.Count(log, "shortcuts/run") != 1 {
				t.Errorf("each call is not on record once:\n%s", log)
			}
		})
	}
}

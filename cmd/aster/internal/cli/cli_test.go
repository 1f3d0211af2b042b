package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/cmd/aster/internal/cli"
)

// run runs a command in process.
func run(t *testing.T, env *cli.Env) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	env.Stdout, env.Stderr, env.Docs = &out, &err, os.DirFS("../../docs")
	code = cli.Run(t.Context(), env)
	return code, out.String(), err.String()
}

// vars is a Getenv over pairs of name and value.
func vars(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestCommandLine(t *testing.T) {
	tests := []struct {
		name           string
		args           string
		env            []string
		code           int
		stdout, stderr string // parts
	}{
		{"no command", "", nil, cli.ExitOK, "aster demo", ""},
		{"help", "help", nil, cli.ExitOK, "Usage:", ""},
		{"help flag", "version --help", nil, cli.ExitOK, "--json", ""},
		{"help with a bad level", "help", []string{"ASTER_LOG", "loud"}, cli.ExitOK, "Usage:", ""},
		{"exit codes", "help exit-codes", nil, cli.ExitOK, "130  Ctrl-C", ""},
		{"variables", "help environment", nil, cli.ExitOK, "ASTER_LOG", ""},
		{"unknown command", "verison", nil, cli.ExitUsage, "", `did you mean "version"?`},
		{"nothing like it", "frobnicate", nil, cli.ExitUsage, "", `has no command "frobnicate"`},
		{"unknown flag", "version --frob", nil, cli.ExitUsage, "", `Run "aster help version"`},
		{"an argument too many", "version now", nil, cli.ExitUsage, "", `takes no argument`},
		{"control characters in an argument", "\x1b[31mred", nil, cli.ExitUsage, "", `\x1b[31mred`},
		{"level by flag", "version --log-level loud", nil, cli.ExitUsage, "", `--log-level: unknown log level "loud": choose one of debug, info, warn, error`},
		{"level by variable", "version", []string{"ASTER_LOG", "loud"}, cli.ExitUsage, "", `ASTER_LOG: unknown log level`},
		{"flag counts before variable", "version --log-level info", []string{"ASTER_LOG", "loud"}, cli.ExitOK, "aster ", ""},
		{"empty variable counts as unset", "version", []string{"ASTER_LOG", ""}, cli.ExitOK, "aster ", ""},
		{"case of a level", "version --log-level DEBUG", nil, cli.ExitOK, "aster ", ""},
		{"version flag", "--version", nil, cli.ExitOK, "aster ", ""},
		{"completion", "completion bash", nil, cli.ExitOK, "complete", ""},
		{"completion for PowerShell", "completion powershell", nil, cli.ExitOK, "Register-ArgumentCompleter", ""},
		{"completed values", "__complete mcp serve webmcp --expose ", nil, cli.ExitOK, "fixed\n", ""},
		{"completed names", "__complete ver", nil, cli.ExitOK, "version\tPrint the version", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := run(t, &cli.Env{Args: fields(tt.args), Getenv: vars(tt.env...)})
			if code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if !strings.Contains(stdout, tt.stdout) {
				t.Errorf("stdout lacks %q:\n%s", tt.stdout, stdout)
			}
			if !strings.Contains(stderr, tt.stderr) {
				t.Errorf("stderr lacks %q:\n%s", tt.stderr, stderr)
			}
			if strings.ContainsRune(stdout+stderr, 0x1b) {
				t.Errorf("an escape character came out:\n%q", stdout+stderr)
			}
			if code == cli.ExitUsage && stdout != "" {
				t.Errorf("a usage error prints to stdout: %s", stdout)
			}
		})
	}
}

func TestVersionJSON(t *testing.T) {
	code, stdout, _ := run(t, &cli.Env{Args: []string{"version", "--json"}})
	var v map[string]string
	if err := json.Unmarshal([]byte(stdout), &v); err != nil || code != cli.ExitOK {
		t.Fatalf("exit code %d, %v: %s", code, err, stdout)
	}
	for _, key := range []string{"version", "go", "os", "arch"} {
		if v[key] == "" {
			t.Errorf("%q is missing in %s", key, stdout)
		}
	}
}

// TestInterrupted ends commands as Ctrl-C does: one word, whatever the work made of it.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	home := t.TempDir()
	for _, args := range [][]string{
		{"web", "search", "cats"}, {"mcp", "tools", "web"}, {"mcp", "describe", "web/search"},
		{"mcp", "call", "web/search", `{"query":"cats"}`}, {"mcp", "doctor", "web"}, {"web", "extract", "https://example.com"},
	} {
		for _, flag := range []string{"", "--json"} {
			var out, errs bytes.Buffer
			env := &cli.Env{Args: args, Getenv: vars("ASTER_HOME", home), Home: home, Stdout: &out, Stderr: &errs, Docs: os.DirFS("../../docs")}
			want := "aster: interrupted\n"
			if flag != "" {
				env.Args, want = append(slices.Clone(args), flag), `{"error":{"code":"interrupted","message":"interrupted"}}`+"\n"
			}
			if code := cli.Run(ctx, env); code != cli.ExitInterrupted || errs.String() != want {
				t.Errorf("%q: exit code %d, %q", env.Args, code, errs.String())
			}
		}
	}
}

// TestInterruptedQuestion takes Ctrl-C in place of an answer for what it is, not for a no.
func TestInterruptedQuestion(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "aster.yaml"), []byte("mcp: {policy: {rules: [{ask: [web/search]}]}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, typing := io.Pipe()
	defer typing.Close()
	var asked bool
	errs := writer(func(p []byte) {
		if bytes.Contains(p, []byte("Allow?")) {
			asked = true
			cancel()
		}
	})
	env := &cli.Env{Args: []string{"mcp", "call", "web/search", `{"query":"x"}`, "--approve", "aster"}, Getenv: vars("ASTER_HOME", home), Home: home,
		Stdin: in, Stdout: io.Discard, Stderr: errs, Terminal: true, Docs: os.DirFS("../../docs")}
	if code := cli.Run(ctx, env); code != cli.ExitInterrupted || !asked {
		t.Errorf("exit code %d, asked: %v", code, asked)
	}
}

// A writer is a function that gets what is written.
type writer func([]byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

// fields splits a command line; a space at the end begins an empty argument.
func fields(s string) []string {
	args := strings.Fields(s)
	if strings.HasSuffix(s, " ") {
		args = append(args, "")
	}
	return args
}

func ExampleRun() {
	code := cli.Run(context.Background(), &cli.Env{Args: []string{"verison"}, Stderr: os.Stdout})
	fmt.Println("exit code", code)
	// Output:
	// aster: aster has no command "verison"; did you mean "version"?
	// Run "aster help" for how to use it.
	// exit code 2
}

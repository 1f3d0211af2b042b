package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/aster-mcp/aster/cmd/aster/internal/cli"
)

const canary = "canary-0123456789-abcdef"

// steering is text that a terminal would obey: it clears, names the window, sets a link,
// speaks in 8 bits, turns the direction of text, and returns to the start of the line.
const steering = "\x1b[2Jred\x1b]0;owned\x07\x1b]8;;http://evil.example\x1b\\x\u009b31m\u202eback\rover\x08\x00\u2066\U000e0041"

// hostileSite is a server of MCP that puts steering, and the key that it is sent, into
// everything that it says.
func hostileSite(t *testing.T) string {
	t.Helper()
	evil, _ := json.Marshal(steering)
	text := string(evil)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Name string `json:"name"`
			} `json:"params"`
		}
		if r.Method != http.MethodPost || json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if len(m.ID) == 0 {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		key := r.Header.Get("X-Key")
		var answer string
		switch m.Method {
		case "initialize":
			answer = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":` + text + `,"version":"1"},"instructions":` + text + `}`
		case "tools/list":
			answer = `"result":{"tools":[{"name":"look","title":` + text + `,"description":` + text + `,"inputSchema":{"type":"object","description":` + text + `}},` +
				`{"name":` + text + `,"description":"d","inputSchema":{"type":"object"}},{"name":"fail","description":"d","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":` + text + `}}]}`
		case "tools/call":
			answer = `"error":{"code":-32000,"message":"no entry with ` + key + ` and \u001b[31mred"}`
			if m.Params.Name == "look" {
				answer = `"result":{"content":[{"type":"text","text":` + text + `}],"structuredContent":{"t":` + text + `}}`
			}
		default:
			answer = `"error":{"code":-32601,"message":"no such method for ` + key + `"}`
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, answer)
	}))
	t.Cleanup(func() { site.CloseClientConnections(); site.Close() })
	return site.URL
}

// Whatever servers say, a terminal is not steered, in words and in JSON, and the values of
// configured headers and variables are shown nowhere.
func TestHostileServer(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "aster.yaml")
	yaml := fmt.Sprintf("mcp:\n  servers:\n    far: {url: %q, headers: {X-Key: %s}, trust: true}\n"+
		"    gone: {command: no-such-program-anywhere, env: {TOKEN: %s}}\n    off: {command: x, env: {TOKEN: %s}, disabled: true}\n", hostileSite(t), canary, canary, canary)
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"mcp list", "mcp list --changes", "mcp approve far --yes", "mcp call far/look {}", "mcp call far/fail {}", `mcp call far/look {"a":"` + canary + `"}`, "mcp list", "mcp list --no-connect", "mcp tools", "mcp tools far",
		"mcp search red", "mcp search look --explain", "mcp describe far/look", "mcp get far", "mcp get gone", "mcp get off", "mcp doctor", "mcp doctor far", "mcp log", "mcp stats", "mcp restart far",
	} {
		for _, args := range []string{command, command + " --json"} {
			t.Run(args, func(t *testing.T) {
				env := &cli.Env{Args: fields(args), Home: home, Getenv: vars("HOME", home, "ASTER_HOME", home)}
				_, stdout, stderr := run(t, env)
				out := stdout + stderr
				if out == "" {
					t.Error("security row 10: it prints nothing, so that nothing is shown")
				}
				for _, r := range out {
					if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
						t.Fatalf("security row 10: %U comes out:\n%q", r, out)
					}
				}
				if strings.Contains(out, canary) {
					t.Errorf("security row 14: the secret comes out:\n%s", out)
				}
			})
		}
	}
	t.Run("security row 14: files", func(t *testing.T) {
		err := filepath.WalkDir(home, func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() || path == file {
				return err
			}
			text, err := os.ReadFile(path)
			if strings.Contains(string(text), canary) {
				t.Errorf("%s holds the secret", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

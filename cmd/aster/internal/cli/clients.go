package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
)

// serverName is what clients call the server. With the prefix mcp__webmcp__ that they put
// before a tool's name, 51 characters are left of the 64 that models allow.
const serverName = "webmcp"

// recipe tells how one client is given the server.
type recipe struct {
	client string
	where  string // file to edit or place to run the lines
	lines  string
}

// recipes are the lines to paste into the clients that people use most, for the program
// at exe on the system goos.
func recipes(exe, goos string, args ...string) []recipe {
	args = append([]string{"mcp", "serve", serverName}, args...)
	entry := `"command": ` + jsonLine(exe) + `, "args": ` + jsonLine(args)
	command := shellQuote(goos, append([]string{exe}, args...))
	desktop := map[string]string{
		"darwin":  "~/Library/Application Support/Claude/claude_desktop_config.json",
		"windows": `%APPDATA%\Claude\claude_desktop_config.json`,
	}[goos]
	if desktop == "" {
		desktop = "~/.config/Claude/claude_desktop_config.json"
	}
	return []recipe{
		{"Claude Code", "a terminal", "claude mcp add --scope user " + serverName + " -- " + command},
		{"Claude Desktop", desktop, jsonConfig("mcpServers", entry)},
		{"Cursor", "~/.cursor/mcp.json", jsonConfig("mcpServers", entry)},
		{"VS Code", ".vscode/mcp.json", jsonConfig("servers", `"type": "stdio", `+entry)},
		{"Codex", "a terminal", "codex mcp add " + serverName + " -- " + command},
	}
}

// jsonConfig is a client's configuration file with nothing else in it.
func jsonConfig(key, entry string) string {
	return "{\n  " + jsonLine(key) + ": {\n    " + jsonLine(serverName) + ": { " + entry + " }\n  }\n}"
}

// jsonLine is the JSON of a string or of strings, on one line with a space after a comma.
func jsonLine(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(v) // strings always encode
	return strings.ReplaceAll(strings.TrimSpace(b.String()), `","`, `", "`)
}

// shellQuote joins words for the system's shell: a POSIX one, or cmd and PowerShell, which
// agree on double quotes for what can be in a path on Windows.
func shellQuote(goos string, words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		plain := w != "" && !strings.ContainsFunc(w, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@,+", r) || goos == "windows" && r == '\\')
		})
		switch {
		case plain:
			quoted[i] = w
		case goos == "windows":
			quoted[i] = `"` + w + `"`
		default:
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// printRecipes prints them, and a word of warning where exe will not be there tomorrow.
func printRecipes(env *Env, w io.Writer) {
	exe := env.Executable
	if temporary(exe) {
		exe = installPath(env)
		fmt.Fprintf(w, "   This program was built for one run. For the lines below, first install it with\n   the Go command, in the folder of its source:\n\n     go install ./cmd/aster\n\n")
	}
	fmt.Fprintf(w, "   This shows the change of your client's file, and makes it once you agree:\n\n     %s mcp connect claude\n\n   or %s. By hand:\n\n",
		shellQuote(runtime.GOOS, []string{exe}), orList(slices.DeleteFunc(config.ConnectClients(), func(c string) bool { return c == "claude" })))
	for _, r := range recipes(exe, runtime.GOOS) {
		fmt.Fprintf(w, "   %s, in %s:\n\n", env.paint(bold, r.client), r.where)
		for _, l := range strings.Split(r.lines, "\n") {
			fmt.Fprintf(w, "     %s\n", l)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, `   In a file that is there already, put the entry beside the others.

   This serves the browser you use, which has to allow connections: "aster doctor" tells how.
   To have aster start a browser of its own instead, add the arguments --cdp-url and launch.
`)
}

// orList joins words as in "a, b or c".
func orList(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// temporary reports whether a path is that of go run, which removes it afterwards.
func temporary(exe string) bool {
	return strings.Contains(filepath.ToSlash(exe), "/go-build")
}

// installPath is where go install puts the program.
func installPath(env *Env) string {
	name := "aster"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if dir := env.Getenv("GOBIN"); dir != "" {
		return filepath.Join(dir, name)
	}
	if dir := env.Getenv("GOPATH"); dir != "" {
		return filepath.Join(filepath.SplitList(dir)[0], "bin", name)
	}
	return filepath.Join(env.Home, filepath.FromSlash(path.Join("go", "bin")), name)
}

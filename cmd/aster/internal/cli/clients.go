package cli

import (
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

// printConnect prints how a client is given aster, and a word of warning where this program
// will not be there tomorrow.
func printConnect(env *Env, w io.Writer) {
	exe := env.Executable
	if temporary(exe) {
		exe = installPath(env)
		fmt.Fprint(w, "   This program was built for one run. First install it with the Go command, in the\n   folder of its source:\n\n     go install ./cmd/aster\n\n")
	}
	fmt.Fprintf(w, `   This shows the change of your client's file, and makes it once you agree:

     %s mcp connect claude

   or %s.
   "--print" only shows it, for another client to copy; "aster mcp disconnect" takes it back.

   This serves the browser you use, which has to allow connections: "aster doctor" tells how.
   To have aster start a browser of its own instead, add -- --cdp-url launch to that line.
`, shellQuote(runtime.GOOS, []string{exe}), orList(slices.DeleteFunc(config.ConnectClients(), func(c string) bool { return c == "claude" })))
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

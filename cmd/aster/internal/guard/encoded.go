package guard

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds on encoded text.
const (
	minEncoded    = 16 // characters of a run that may be base64 or hex
	maxEncoded    = 64 << 10
	maxEncodings  = 3 // one in another
	maxEncodedRun = 200
)

// encodedWarnings finds base64 and hex that decodes to a shell command.
func encodedWarnings(field, text string) (out []Warning) {
	for _, command := range encodedCommands(text, maxEncodings) {
		out = append(out, Warning{Check: "encoded", Field: field, Hard: true,
			Text: fmt.Sprintf("%s holds an encoded command: %s", field, Show(command, maxShownName))})
	}
	return out
}

// encodedCommands returns the commands that runs of s decode to, in the order of the runs.
func encodedCommands(s string, depth int) (out []string) {
	seen := map[string]bool{}
	n := 0
	for run := range runs(s) {
		if n++; n > maxEncodedRun {
			break
		}
		for _, plain := range decodings(run) {
			if !utf8.ValidString(plain) || !mostlyText(plain) {
				continue
			}
			if looksLikeCommand(plain) {
				if !seen[plain] {
					seen[plain] = true
					out = append(out, plain)
				}
				continue
			}
			if depth > 1 {
				out = append(out, encodedCommands(plain, depth-1)...)
			}
		}
	}
	return out
}

// runs yields the stretches of s that may be base64 or hex, \x41 escapes included.
func runs(s string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start := -1
		for i := 0; i <= len(s); i++ {
			if i < len(s) && encodedByte(s[i]) {
				if start < 0 {
					start = i
				}
				continue
			}
			if start >= 0 && i-start >= minEncoded && i-start <= maxEncoded && !yield(s[start:i]) {
				return
			}
			start = -1
		}
	}
}

func encodedByte(c byte) bool {
	return 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("+/-_\\", c) >= 0
}

// decodings are what a run may stand for.
func decodings(run string) (out []string) {
	hexRun := strings.NewReplacer(`\x`, "", `\X`, "", `\`, "").Replace(strings.TrimPrefix(run, "0x"))
	if raw, err := hex.DecodeString(hexRun); err == nil {
		out = append(out, string(raw))
	}
	b64 := strings.NewReplacer("-", "+", "_", "/").Replace(run) // runs end before the padding
	for _, cut := range [...]int{0, 1, 2, 3} {                  // what stands before it may have been taken along
		if cut < len(b64) && !strings.Contains(b64[cut:], `\`) {
			tail := b64[cut:]
			if raw, err := base64.RawStdEncoding.DecodeString(tail[:len(tail)-btoi(len(tail)%4 == 1)]); err == nil {
				out = append(out, string(raw))
			}
		}
	}
	return out
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// mostlyText reports whether s could be a command line: printable, with few exceptions.
func mostlyText(s string) bool {
	bad := 0
	for _, r := range s {
		if r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0x7f {
			bad++
		}
	}
	return len(s) >= 6 && bad == 0
}

// commandPatterns are the beginnings and the joints of commands that fetch, run or
// destroy.
var commandPatterns = lazy(`(?i)(?:^|[\s;|&` + "`" + `(])(?:` +
	`(?:curl|wget|fetch)\s+\S*(?:-|http|\$|[\w.-]+\.[a-z]{2,})|` +
	`(?:ba|z|da|k)?sh\s+-[a-z]*c\b|` +
	`(?:/usr)?/bin/(?:ba|z|da|k)?sh\b|` +
	`rm\s+-[a-z]*[rf]|` +
	`(?:nc|ncat|netcat|socat)\s+\S|` +
	`(?:powershell|pwsh)(?:\.exe)?\s+-|cmd(?:\.exe)?\s+/c|iex\s*\(|` +
	`(?:python|perl|ruby|node|php)[0-9.]*\s+-[a-z]*[cer]\b|` +
	`chmod\s+(?:\+x|[0-7]{3,4})|` +
	`(?:cat|tar|scp|cp|base64)\s+\S*(?:~|/etc/|\.ssh|\.aws|\.env)|` +
	`(?:crontab|launchctl|systemctl|osascript|mkfifo|eval|sudo|dd)\s+\S)|` +
	`/dev/(?:tcp|udp)/|\|\s*(?:ba|z|da)?sh\b|\$\(\s*(?:curl|wget|cat)\b`)

func looksLikeCommand(s string) bool { return commandPatterns.get().MatchString(s) }

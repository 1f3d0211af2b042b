// Command fake plays osascript, shortcuts and sips for the tests: it records what it was
// started with, and answers as the file "plan" in its own folder says. Both files hold
// quoted texts, a record a line. It imports little, so that it is built and started fast.
package main

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() { os.Exit(fake(filepath.Dir(os.Args[0]), os.Args[1:])) }

// role tells which answer is meant, the mark of the scripts, and where data is to go.
func role(args []string) (key, mark, data string) {
	switch name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"); {
	case name == "sips":
		return "sips", "", args[len(args)-1]
	case name == "shortcuts" && args[1] == "--folders":
		return "folders", "", ""
	case name == "shortcuts" && len(args) > 2:
		return "folder " + strings.TrimPrefix(args[2], "--folder-name="), "", ""
	case name == "shortcuts":
		return "tool", "", ""
	case len(args) > 4:
		return "run", args[3], args[8]
	}
	return "list", args[3], ""
}

func fake(dir string, args []string) int {
	key, mark, data := role(args)
	stdin, _ := io.ReadAll(os.Stdin)
	record := strconv.Quote(key) + " " + strconv.Quote(string(stdin))
	for _, a := range args {
		record += " " + strconv.Quote(a)
	}
	f, err := os.OpenFile(filepath.Join(dir, "starts"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 99
	}
	f.WriteString(record + "\n")
	f.Close()
	plan, err := os.ReadFile(filepath.Join(dir, "plan"))
	if err != nil {
		return 98
	}
	for line := range strings.Lines(string(plan)) {
		if step := fields(line); step[0] == key {
			return play(step[1:], mark, data)
		}
	}
	os.Stderr.WriteString("execution error: no plan (-2700)")
	return 1
}

// play is one step of a plan: stdout, stderr, exit code, whether to hang, the data, and
// how many zeros follow the data, or the stdout where there is none.
func play(step []string, mark, data string) int {
	pad, err := strconv.Atoi(step[5])
	if err != nil {
		return 94
	}
	zeros := strings.Repeat("\x00", pad)
	if step[4] != "" {
		if err := os.WriteFile(data, []byte(step[4]+zeros), 0o600); err != nil {
			return 97
		}
		zeros = ""
	}
	os.Stderr.WriteString(step[1])
	os.Stdout.WriteString(strings.NewReplacer("‹F›", mark+"f", "‹R›", mark+"r", "‹E›", mark+"e", "‹BAD›", "\xff\x8e").Replace(step[0]) + zeros)
	if step[3] == "true" {
		time.Sleep(10 * time.Minute)
	}
	code, err := strconv.Atoi(step[2])
	if err != nil {
		return 96
	}
	return code
}

func fields(line string) (out []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimPrefix(line, " ") {
		q, err := strconv.QuotedPrefix(line)
		if err != nil {
			os.Exit(95)
		}
		s, _ := strconv.Unquote(q)
		out, line = append(out, s), line[len(q):]
	}
	return out
}

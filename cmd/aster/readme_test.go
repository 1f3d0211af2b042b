package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestReadme keeps the README's commands true: each aster command in it exists, with the
// flags that it is given, and each file that it links to.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)`aster ([^`]+)`|(?:^|-- )aster (.+)$|cmd/aster (.+)$").FindAllStringSubmatch(string(text), -1) {
		commands[m[1]+m[2]+m[3]] = true
	}
	if len(commands) < 6 {
		t.Fatalf("only these commands found: %v", commands)
	}
	for c := range commands {
		args := strings.Fields(c)
		if args[0] == "help" {
			args = args[1:]
		}
		help, err := exec.Command("aster", append([]string{"help"}, plain(args)...)...).CombinedOutput()
		if err != nil || strings.Contains(string(help), "Unknown help topic") {
			t.Errorf("aster %s: no such command\n%s", c, help)
		}
		for _, a := range args {
			if strings.HasPrefix(a, "--") && !strings.Contains(string(help), a) {
				t.Errorf("aster %s: its help does not know %s", c, a)
			}
		}
	}
	help, err := exec.Command("aster", "help", "mcp", "serve", "webmcp").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `--.*").FindAllString(string(text), -1) {
		for _, flag := range regexp.MustCompile("`(--[a-z-]+)`").FindAllStringSubmatch(m, -1) {
			if !strings.Contains(string(help), flag[1]+" ") {
				t.Errorf("aster mcp serve webmcp does not know %s", flag[1])
			}
		}
	}
	for _, m := range regexp.MustCompile(`\]\(([^):]+)\)`).FindAllStringSubmatch(string(text), -1) {
		if _, err := os.Stat("../../" + m[1]); err != nil {
			t.Errorf("link to %s: %v", m[1], err)
		}
	}
}

// plain leaves out flags.
func plain(args []string) (words []string) {
	for _, a := range args {
		if strings.HasPrefix(a, "-") {
			break
		}
		words = append(words, a)
	}
	return words
}

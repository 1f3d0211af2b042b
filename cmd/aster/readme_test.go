package main

import (
	"os"
	"path/filepath"
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
	commands := commandsIn(string(text))
	if len(commands) < 6 {
		t.Fatalf("only these commands found: %v", commands)
	}
	for c := range commands {
		args := strings.Fields(c)
		if args[0] == "help" {
			args = args[1:]
		}
		help := inProcess(t, append([]string{"help"}, plain(args)...)...)
		for _, a := range args {
			if strings.HasPrefix(a, "--") && !strings.Contains(help, a) {
				t.Errorf("aster %s: its help does not know %s", c, a)
			}
		}
	}
	for c := range commandsIn(string(text)) {
		if !run(t, c) {
			t.Errorf("aster %s: no script in testdata/script runs it", c)
		}
	}
	_, table, _ := strings.Cut(string(text), "\n## Commands\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, c := range inTable(table) {
		if !run(t, c) {
			t.Errorf("aster %s: the table of commands has it, and no script in testdata/script runs it", c)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^## aster (?:mcp )?([a-z]+)$`).FindAllStringSubmatch(doc(t, "commands.md"), -1) {
		if m[1] != "mcp" && !regexp.MustCompile(`\b`+m[1]+`\b`).MatchString(table) {
			t.Errorf("the table of commands lacks %s", m[1])
		}
	}
	if _, yaml, _ := strings.Cut(string(text), "# ~/.aster/aster.yaml\n"); !strings.Contains(stories(t), yaml[:max(strings.Index(yaml, "```"), 0)]) {
		t.Error("the configuration is not the one that testdata/script/readme.txtar checks")
	}
	help := inProcess(t, "help", "mcp", "serve", "webmcp")
	for _, m := range regexp.MustCompile("(?m)^\\| `--.*").FindAllString(string(text), -1) {
		for _, flag := range regexp.MustCompile("`(--[a-z-]+)`").FindAllStringSubmatch(m, -1) {
			if !strings.Contains(help, flag[1]+" ") {
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

// run reports whether a script runs a command as it stands, up to its first placeholder.
func run(t *testing.T, command string) bool {
	t.Helper()
	words := strings.Fields(command)
	for i, w := range words {
		if regexp.MustCompile(`^[A-Z]+$`).MatchString(w) {
			words = words[:i]
			break
		}
	}
	return regexp.MustCompile(`(?m)^(!? ?exec|exitcode \d+) aster ` + regexp.QuoteMeta(strings.Join(words, " ")) + `( |$)`).MatchString(stories(t))
}

// inTable are the commands in the first column of a table: behind one, those in backticks
// stand in place of its last word.
func inTable(table string) (commands []string) {
	for _, row := range regexp.MustCompile("(?m)^\\| (`aster [^|]*) \\|").FindAllStringSubmatch(table, -1) {
		var above []string
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			words := strings.Fields(m[1])
			if words[0] == "aster" {
				above = words[1:]
			} else {
				above = append(above[:len(above)-1:len(above)-1], words...)
			}
			commands = append(commands, strings.Join(above, " "))
		}
	}
	return commands
}

// stories are the scripts in testdata/script, one behind the other.
func stories(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// commandsIn are the aster commands of a Markdown text: those in backticks, and the lines of
// fenced blocks.
func commandsIn(text string) map[string]bool {
	prose, line := regexp.MustCompile("`aster ([^`]+)`"), regexp.MustCompile(`(?:^(?:\$ )?|-- |&& |cmd/)aster ([a-z][^#]*)`)
	found, fenced := map[string]bool{}, false
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\n")
		if strings.HasPrefix(l, "```") {
			fenced = !fenced
			continue
		}
		if m := line.FindStringSubmatch(l); fenced && m != nil {
			found[strings.TrimSpace(m[1])] = true
		}
		for _, m := range prose.FindAllStringSubmatch(l, -1) {
			if !fenced {
				found[m[1]] = true
			}
		}
	}
	return found
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

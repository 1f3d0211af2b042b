package shim_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// rowCounts is the number of rows of each table that was measured.
var rowCounts = map[string]int{
	"2.1": 19, "2.2": 6, "2.3": 21, "2.4": 3, "2.5": 12, "3.1": 7, "3.2": 19, "3.3": 17, "5.5": 6,
	"6": 14, "9": 4,
}

// Each row of the tables is played by a scenario or a test, and those are there.
func TestRowsArePlayed(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, s := range scenarios(t) {
		known[s.name] = true
	}
	other, err := os.ReadFile("../webmcp/testdata/crossorigin.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^//// (.*)$`).FindAllStringSubmatch(string(other), -1) {
		name, _, _ := strings.Cut(m[1], " | ")
		known["crossorigin: "+name] = true
	}
	for pkg, dir := range map[string]string{"shim": ".", "webmcp": "../webmcp", "cdp": "../cdp"} {
		files, err := filepath.Glob(dir + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(b), -1) {
				known["test: "+pkg+" "+m[1]] = true
			}
		}
	}
	counts := map[string]int{}
	for _, line := range strings.Split(testdata(t, "rows.txt"), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		row, players, _ := strings.Cut(line, " = ")
		table, _, _ := strings.Cut(row, " ")
		counts[table]++
		if strings.TrimSpace(players) == "" {
			t.Errorf("nothing plays %s", row)
			continue
		}
		for _, name := range strings.Split(players, ";") {
			if name = strings.TrimSpace(name); !known[name] {
				t.Errorf("%s is played by %q, which is not there", row, name)
			}
		}
	}
	for table, want := range rowCounts {
		if counts[table] != want {
			t.Errorf("table %s has %d rows, want %d", table, counts[table], want)
		}
	}
}

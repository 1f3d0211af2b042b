package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// fileText reads a file of the repository.
func fileText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestManPages writes the pages and looks for what would be read as a request.
func TestManPages(t *testing.T) {
	dir := t.TempDir()
	inProcess(t, "man", dir)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 50 {
		t.Fatalf("%d pages, %v", len(files), err)
	}
	request := regexp.MustCompile(`^\.(TH|SH [A-Z]|PP$|TP$|IP \\\(bu 2$|RS 4$|RE$|nf$|fi$)`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), ".TH \"ASTER") {
			t.Errorf("%s does not begin with .TH: %.40s", filepath.Base(file), text)
		}
		for n, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, ".") && !request.MatchString(line) || strings.HasPrefix(line, "'") {
				t.Errorf("%s:%d: %q would be read as a request", filepath.Base(file), n+1, line)
			}
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "aster-mcp-serve-webmcp.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`\fB\-\-cdp\-url\fR \fIbrowser\fR`, ".SH EXAMPLES", `\fBaster\-mcp\-serve\fR(1)`} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page of aster mcp serve webmcp lacks %s", want)
		}
	}
}

// TestRelease holds the release's files to what they name.
func TestRelease(t *testing.T) {
	config, version := fileText(t, ".goreleaser.yaml"), fileText(t, "cmd/aster/internal/cli/version.go")
	stamps := regexp.MustCompile(`-X (\S+)\.(\w+)=`).FindAllStringSubmatch(config, -1)
	if len(stamps) != 3 {
		t.Errorf("%d stamps, want 3", len(stamps))
	}
	for _, m := range stamps {
		if m[1] != module+"/cmd/aster/internal/cli" || !regexp.MustCompile(`(?m)^var .*\b`+m[2]+`\b.* string`).MatchString(version) {
			t.Errorf("the release stamps %s.%s, which is no variable", m[1], m[2])
		}
	}
	_, list, _ := strings.Cut(config, "    files:\n")
	tool, formula := fileText(t, ".ci/tools/completions"), fileText(t, ".github/release/aster.rb.tmpl")
	for _, m := range regexp.MustCompile(`(?m)^      - (\S+)$`).FindAllStringSubmatch(list, -1) {
		if dir, ok := strings.CutSuffix(m[1], "/*"); ok {
			if !strings.Contains(tool, dir) || !strings.Contains(formula, dir+"/") {
				t.Errorf("an archive holds %s: the tool must write it and the formula install it", m[1])
			}
			continue
		}
		fileText(t, m[1])
	}
	for _, m := range regexp.MustCompile(`\.cache/completions/\S+?"`).FindAllString(formula, -1) {
		if !strings.Contains(tool, `"$out/`+strings.TrimPrefix(m, ".cache/completions/")) {
			t.Errorf("the formula installs %s, which nothing writes", m)
		}
	}
}

// TestRegistryEntry checks what the MCP registry refuses.
func TestRegistryEntry(t *testing.T) {
	var s struct{ Schema, Name, Title, Description, Version string }
	text := fileText(t, ".github/release/server.json.tmpl")
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^[a-z0-9.-]+/[A-Za-z0-9._-]+$`).MatchString(s.Name) || s.Version != "VERSION" || s.Title == "" {
		t.Errorf("%+v", s)
	}
	if n := len(s.Description); n == 0 || n > 100 {
		t.Errorf("the description has %d characters; the registry takes 1 to 100", n)
	}
}

// TestReleaseRuns holds the workflows and the release's hooks to programs that are there, and
// to the targets that the formula names.
func TestReleaseRuns(t *testing.T) {
	config := fileText(t, ".goreleaser.yaml")
	texts := map[string]string{".goreleaser.yaml": config}
	for _, name := range []string{"release.yml", "test.yml"} {
		texts[name] = fileText(t, ".github/workflows/"+name)
	}
	for name, text := range texts {
		var parsed map[string]any
		if err := yaml.Unmarshal([]byte(text), &parsed); err != nil || len(parsed) == 0 {
			t.Errorf("%s: %v", name, err)
		}
		for _, at := range regexp.MustCompile(`(?:^|\s)(\.?/?(?:\.ci|\.github|cmd|bridge|shortcuts)/[\w./-]+)`).FindAllStringSubmatch(text, -1) {
			file := filepath.Join("..", "..", filepath.FromSlash(strings.TrimSuffix(at[1], "/...")))
			info, err := os.Stat(file)
			if err != nil {
				t.Errorf("%s names %s, which is not there", name, at[1])
			} else if strings.HasPrefix(at[1], ".ci/") && !strings.HasSuffix(at[1], ".go") && runtime.GOOS != "windows" && info.Mode()&0o111 == 0 {
				t.Errorf("%s runs %s, which is no program", name, at[1])
			}
		}
	}
	formula := fileText(t, ".github/release/aster.rb.tmpl")
	var targets struct {
		Builds []struct{ GOOS, GOARCH []string }
	}
	if err := yaml.Unmarshal([]byte(config), &targets); err != nil || len(targets.Builds) != 1 {
		t.Fatalf("%d builds: %v", len(targets.Builds), err)
	}
	for _, system := range targets.Builds[0].GOOS {
		for _, arch := range targets.Builds[0].GOARCH {
			if archive := "aster_VERSION_" + system + "_" + arch + ".tar.gz"; system != "windows" && !strings.Contains(formula, archive) {
				t.Errorf("the formula lacks %s", archive)
			}
		}
	}
	if got := strings.Count(formula, "/releases/download/"); got != 4 {
		t.Errorf("the formula has %d archives, want 4", got)
	}
}

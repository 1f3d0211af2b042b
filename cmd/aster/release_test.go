package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
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

// registryEntry is a server.json, as far as the MCP registry's schema of 2025-12-11 has
// rules for what is in ours.
type registryEntry struct {
	Schema                            string `json:"$schema"`
	Name, Title, Description, Version string
	WebsiteURL                        string
	Repository                        struct{ URL, Source string }
	Packages                          []struct {
		RegistryType, Identifier, FileSHA256 string
		Transport                            struct{ Type string }
	}
}

// TestRegistryEntry makes a server.json of small archives as a release does, and checks what
// the MCP registry refuses.
func TestRegistryEntry(t *testing.T) {
	dist := t.TempDir()
	for _, system := range []string{"linux", "darwin"} {
		writeArchive(t, filepath.Join(dist, "aster_1.2.3_"+system+"_amd64.tar.gz"), "a program")
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", ".ci/tools/bundle.go", "v1.2.3", dist)
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("bundle: %v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dist, "server.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s registryEntry
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	if want := "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"; s.Schema != want {
		t.Errorf("$schema is %q, want %q", s.Schema, want)
	}
	if !regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`).MatchString(s.Name) || len(s.Name) > 200 {
		t.Errorf("the registry takes no such name: %q", s.Name)
	}
	for what, text := range map[string]string{"title": s.Title, "description": s.Description} {
		if n := len(text); n == 0 || n > 100 {
			t.Errorf("the %s has %d characters; the registry takes 1 to 100", what, n)
		}
	}
	if home := "https://" + module; s.Version != "1.2.3" || s.Repository.URL != home || s.Repository.Source != "github" || s.WebsiteURL != home {
		t.Errorf("version %q, repository %+v, websiteUrl %q", s.Version, s.Repository, s.WebsiteURL)
	}
	if len(s.Packages) != 2 {
		t.Errorf("%d packages, want 2", len(s.Packages))
	}
	for _, p := range s.Packages {
		bundle, err := os.ReadFile(filepath.Join(dist, path.Base(p.Identifier)))
		if err != nil {
			t.Error(err)
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(bundle)); p.FileSHA256 != sum {
			t.Errorf("%s: the sum is %s, want %s", p.Identifier, p.FileSHA256, sum)
		}
		if p.RegistryType != "mcpb" || p.Transport.Type != "stdio" || !strings.HasPrefix(p.Identifier, "https://"+module+"/releases/download/v1.2.3/") {
			t.Errorf("package %+v", p)
		}
	}
}

// writeArchive makes a release's archive with a program in it.
func writeArchive(t *testing.T, file, program string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	err := w.WriteHeader(&tar.Header{Name: "aster", Mode: 0o755, Size: int64(len(program)), Typeflag: tar.TypeReg})
	if err == nil {
		_, err = w.Write([]byte(program))
	}
	if err := errors.Join(err, w.Close(), z.Close(), os.WriteFile(file, b.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
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
	if !strings.Contains(texts["test.yml"], "args: check}") {
		t.Error("test.yml does not run goreleaser check")
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

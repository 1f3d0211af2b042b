package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module   = "github.com/aster-mcp/aster"
	sdk      = "github.com/modelcontextprotocol/go-sdk/..."
	cdproto  = "github.com/chromedp/cdproto/..."
	remote   = "github.com/chromedp/chromedp/remote"
	internal = module + "/cmd/aster/internal/"
)

// rule is one row of the package map.
type rule struct {
	pkg string   // directory below the module, with slashes
	may []string // what it may import beyond the standard library; "x/..." covers all below x
	// bans are standard packages that it must not import; "net" covers all that reaches
	// the network, however far down.
	bans []string
	why  string // the reason, told when the rule is broken
}

// rules hold for the files of a package that are not tests. A package that is not here
// needs a row first; a row without a package is harmless.
var rules = []rule{
	{"bridge", nil, []string{"os", "net", "os/exec", "syscall", "unsafe", "plugin"},
		"the catalogue must not be able to reach credentials, files or a socket, whatever a tool's text makes it do"},
	{"bridge/argcheck", []string{"github.com/dlclark/regexp2", "github.com/santhosh-tekuri/jsonschema/v6"}, // the latter is its tests' oracle

		[]string{"net/http", "os/exec"}, "a stranger's schema must not fetch anything"},
	{"bridge/chat", []string{"golang.org/x/image/..."}, []string{"net", "os/exec"}, "it shapes messages and sends none"},
	{"bridge/source", []string{module + "/bridge", sdk}, nil, "it joins MCP servers to a catalogue and knows no product"},
	{"cdp", []string{remote, cdproto}, nil, "it carries the protocol and knows neither MCP nor WebMCP"},
	{"cdp/cdptest", []string{module + "/cdp", "github.com/chromedp/chromedp/...", cdproto}, nil, "tests of every package over cdp use it"},
	{"shim", nil, []string{"net", "os", "os/exec"}, "it holds a script and a message format"},
	{"webmcp", []string{module + "/cdp", module + "/shim", module + "/bridge", module + "/bridge/argcheck", cdproto, sdk}, []string{"os/exec"},
		"page tools reach the world through the browser only"},
	{"websrv", []string{module + "/websrv/internal/...", sdk, "github.com/PuerkitoBio/goquery", "github.com/chromedp/...", "golang.org/x/net/...", "golang.org/x/text/...", "golang.org/x/time/rate",
		"golang.org/x/image/...", "code.dny.dev/ssrf", "github.com/mmcdole/gofeed/...", "github.com/andybalholm/brotli", "github.com/klauspost/compress/..."}, nil, "it knows none of the other servers"},
	{"websrv/internal/readable", []string{"github.com/PuerkitoBio/goquery", "github.com/andybalholm/cascadia", "golang.org/x/net/html/...", "golang.org/x/net/publicsuffix", "golang.org/x/text/...",
		"codeberg.org/readeck/go-readability/v2/...", "github.com/JohannesKaufmann/html-to-markdown/v2/..."}, []string{"net/http", "os/exec"}, "it turns bytes into text"},
	{"websrv/internal/readable/train", []string{module + "/websrv/internal/readable", "golang.org/x/net/html/...", "codeberg.org/readeck/go-readability/v2"}, []string{"net/http", "os/exec"}, "it fits weights to labelled pages"},
	{"websrv/internal/boundxml", nil, []string{"net", "os"}, "it bounds what a decoder reads"},
	{"websrv/internal/content", []string{module + "/websrv/internal/boundxml", "golang.org/x/net/html/...", "golang.org/x/text/...", "github.com/mmcdole/gofeed/...", "github.com/gogs/chardet/..."},
		[]string{"os/exec"}, "it turns bytes into text"},
	{"websrv/internal/robots", nil, []string{"os", "os/exec"}, "it reads a file's text"},
	{"websrv/internal/sitemap", []string{module + "/websrv/internal/boundxml", module + "/websrv/internal/robots", "github.com/mmcdole/gofeed/..."}, []string{"os/exec"}, "it reads a file's text"},
	{"shortcuts", []string{sdk, "golang.org/x/text/..."}, []string{"net/http"}, "it runs the Mac's shortcuts and nothing else"},
	{"cmd/aster", []string{internal + "cli"}, nil, "main only calls cli.Main"},
	{"cmd/aster/examples/host", []string{module + "/bridge", module + "/bridge/chat", module + "/bridge/source", module + "/cdp", module + "/webmcp", module + "/websrv", module + "/shortcuts", sdk},
		nil, "it shows what a host outside the module can do, so it may have nothing internal"},
	{"cmd/aster/internal/cli", append(below("config", "host", "guard", "daemon", "ui"), module+"/bridge", module+"/bridge/source", module+"/cdp", module+"/webmcp", module+"/websrv", module+"/shortcuts", "github.com/spf13/cobra"),
		nil, "it parses and prints; what speaks MCP is in host"},
	{"cmd/aster/internal/filelock", nil, []string{"net", "os/exec"}, "it creates and removes one file"},
	{"cmd/aster/internal/config", []string{internal + "filelock", "github.com/goccy/go-yaml/...", "github.com/bmatcuk/doublestar/v4"}, []string{"net/http", "os/exec"}, "reading a file starts nothing"},
	{"cmd/aster/internal/upstream", append(below("config", "filelock"), module+"/bridge/source", sdk, "github.com/zalando/go-keyring"), nil, "it keeps one server connected"},
	{"cmd/aster/internal/guard", []string{internal + "filelock", module + "/bridge", sdk}, []string{"os/exec"}, "the decision about a call must not depend on who calls"},
	{"cmd/aster/internal/daemon", []string{module + "/webmcp", sdk}, nil, "it shares one attachment over a local socket"},
	{"cmd/aster/internal/host", append(below("config", "upstream", "guard", "daemon"), module+"/bridge", module+"/bridge/chat", module+"/bridge/source", module+"/cdp", module+"/webmcp",
		module+"/websrv", module+"/shortcuts", cdproto, sdk), nil, "it wires all servers and is below cli"},
	{"cmd/aster/internal/ui", append(below("config", "guard", "host"), module+"/bridge", module+"/webmcp", sdk), []string{"os/exec"}, "it shows what is there and answers questions"},
	{"cmd/aster/internal/hard", nil, nil, "it meets the program from outside only"},
	{"cmd/aster/internal/hard/fake", nil, nil, "it must be able to send what no library would"},
}

// testOnly is what tests may import on top of their package's row, the module's own
// packages and the libraries that these speak for.
var testOnly = []string{"github.com/google/go-cmp/...", "github.com/goccy/go-yaml", "github.com/rogpeppe/go-internal/...", "github.com/chromedp/...", sdk, module + "/..."}

func below(names ...string) (paths []string) {
	for _, n := range names {
		paths = append(paths, internal+n)
	}
	return paths
}

// goFile is a parsed file of the module.
type goFile struct {
	path string // below the module, with slashes
	ast  *ast.File
	test bool
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		t.Fatalf("the module is not at %s: %v", dir, err)
	}
	return dir
}

// packages parses the module, by directory.
func packages(t *testing.T) map[string][]goFile {
	t.Helper()
	dir, fset, pkgs := root(t), token.NewFileSet(), map[string][]goFile{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && p != dir && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(fset, p, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		pkgs[path.Dir(rel)] = append(pkgs[path.Dir(rel)], goFile{rel, f, strings.HasSuffix(name, "_test.go")})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pkgs
}

func TestTopLevel(t *testing.T) {
	allowed := []string{"README.md", "CHANGELOG.md", "go.mod", "go.sum", "LICENSE",
		"cmd", "cdp", "shim", "webmcp", "websrv", "shortcuts", "bridge", "testdata"}
	ignored, _ := os.ReadFile(filepath.Join(root(t), ".gitignore"))
	entries, err := os.ReadDir(root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || slices.Contains(allowed, name) || slices.ContainsFunc(strings.Fields(string(ignored)), func(pattern string) bool {
			ok, _ := path.Match(strings.Trim(pattern, "/"), name)
			return ok
		}) {
			continue
		}
		t.Errorf("%s has no place at the top level", name)
	}
}

func TestImports(t *testing.T) {
	for dir, files := range packages(t) {
		i := slices.IndexFunc(rules, func(r rule) bool { return r.pkg == dir })
		if i < 0 {
			t.Errorf("package %s has no row in the table of rules", dir)
			continue
		}
		for _, f := range files {
			for _, spec := range f.ast.Imports {
				imp, _ := strconv.Unquote(spec.Path.Value)
				if why := rules[i].refuses(t, imp, f.test); why != "" {
					t.Errorf("%s imports %s: %s (%s)", f.path, imp, why, rules[i].why)
				}
			}
		}
	}
}

// refuses says why a file of the package may not import imp, "" if it may.
func (r rule) refuses(t *testing.T, imp string, test bool) string {
	if first, _, _ := strings.Cut(imp, "/"); strings.Contains(first, ".") {
		may := r.may
		if test {
			may = slices.Concat(may, testOnly)
		}
		if !slices.ContainsFunc(may, func(m string) bool { return covers(m, imp) }) {
			return "not in its row"
		}
		return ""
	}
	if test {
		return ""
	}
	for _, ban := range r.bans {
		if imp == ban || ban == "net" && reachesNet(t, imp) {
			return "banned: " + ban
		}
	}
	return ""
}

// covers reports whether a pattern of a row covers an import path.
func covers(pattern, imp string) bool {
	base, all := strings.CutSuffix(pattern, "/...")
	return imp == base || all && strings.HasPrefix(imp, base+"/")
}

// reachable remembers the answers of reachesNet. Tests here run one after another.
var reachable = map[string]bool{"net": true, "unsafe": false, "C": false}

// reachesNet reports whether a package of the standard library imports net, directly or
// through others of it.
func reachesNet(t *testing.T, pkg string) bool {
	t.Helper()
	if known, ok := reachable[pkg]; ok {
		return known
	}
	src := filepath.Join(build.Default.GOROOT, "src")
	dir := filepath.Join(src, filepath.FromSlash(pkg))
	if _, err := os.Stat(dir); err != nil {
		dir = filepath.Join(src, "vendor", filepath.FromSlash(pkg))
	}
	p, err := build.ImportDir(dir, 0)
	if err != nil {
		t.Fatalf("standard package %s: %v", pkg, err)
	}
	reachable[pkg] = slices.ContainsFunc(p.Imports, func(i string) bool { return reachesNet(t, i) })
	return reachable[pkg]
}

// TestRules checks the checker.
func TestRules(t *testing.T) {
	for pkg, want := range map[string]bool{"fmt": false, "encoding/json": false, "log/slog": false, "net/http": true, "expvar": true, "net/netip": false} {
		if got := reachesNet(t, pkg); got != want {
			t.Errorf("reachesNet(%q) = %v, want %v", pkg, got, want)
		}
	}
	r := rule{pkg: "x", may: []string{"a.b/c/..."}, bans: []string{"os"}}
	for imp, want := range map[string]bool{"a.b/c": true, "a.b/c/d": true, "a.b/cd": false, "os": false, "os/signal": true, "d.e/f": false} {
		if got := r.refuses(t, imp, false) == ""; got != want {
			t.Errorf("import of %q allowed: %v, want %v", imp, got, want)
		}
	}
}

func TestPackageComments(t *testing.T) {
	for dir, files := range packages(t) {
		var with []string
		for _, f := range files {
			if f.ast.Doc == nil {
				continue
			}
			with = append(with, f.path)
			want := "Package " + f.ast.Name.Name + " "
			if f.ast.Name.Name == "main" {
				want = "Command " + path.Base(dir) + " "
			}
			if text := f.ast.Doc.Text(); !strings.HasPrefix(text, want) {
				t.Errorf("%s: the package comment begins %q, want %q", f.path, strings.SplitN(text, "\n", 2)[0], want+"…")
			}
		}
		if onlyTests := !slices.ContainsFunc(files, func(f goFile) bool { return !f.test }); len(with) != 1 && !onlyTests {
			t.Errorf("package %s has %d package comments, want 1: %v", dir, len(with), with)
		}
	}
}

// TestFileLength keeps files short. A longer file of tests is a question, not a fault.
func TestFileLength(t *testing.T) {
	const most = 400
	for _, files := range packages(t) {
		for _, f := range files {
			text, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(f.path)))
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(text, []byte("\n")); n > most && f.test {
				t.Logf("%s has %d lines; the aim is %d", f.path, n, most)
			} else if n > most {
				t.Errorf("%s has %d lines, want %d at most: split it by noun", f.path, n, most)
			}
		}
	}
}

var (
	decisionName = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}-[a-z0-9]+(-[a-z0-9]+)*\.md$`)
	statusLine   = regexp.MustCompile(`(?m)^Status: \S`)
)

// TestDecisions keeps the index of decisions: one line each, newest first and then by
// name, with the title of the file. Run with -update to write it anew.
func TestDecisions(t *testing.T) {
	dir := filepath.Join("docs", "decisions")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range entries {
		if e.Name() == "README.md" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(text), "\n")
		title, ok := strings.CutPrefix(strings.TrimSpace(first), "# ")
		switch {
		case !decisionName.MatchString(e.Name()):
			t.Errorf("%s: the name must be YYYY-MM-DD-short-title.md", e.Name())
		case !ok || title == "":
			t.Errorf("%s: the first line must be its title, as # Title", e.Name())
		case !statusLine.Match(text):
			t.Errorf("%s: there is no line that begins with Status:", e.Name())
		}
		lines = append(lines, fmt.Sprintf("- %s [%s](%s)", e.Name()[:min(10, len(e.Name()))], title, e.Name()))
	}
	slices.SortFunc(lines, func(a, b string) int {
		if c := strings.Compare(b[:12], a[:12]); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	want := decisionsHead + strings.Join(lines, "\n") + "\n"
	index := filepath.Join(dir, "README.md")
	if *update {
		if err := os.WriteFile(index, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := os.ReadFile(index); string(got) != want {
		t.Errorf("%s is not the index of its folder: run go test ./cmd/aster -run TestDecisions -update", index)
	}
}

const decisionsHead = `# Decisions

One page each: the question, the choice and what was given up. A decision that is replaced
stays, with a status that names the new one.

`

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A row is one of a list that aster is to keep, and the tests that fail without it. Each
// of them says the row in the name of a subtest, as "security row 5" or "pitfall row 5", or,
// where it has none, in its comment.
type row struct {
	what  string
	tests string // "folder Name", separated by commas
}

// securityRows are the checks on servers, pages and what they say. 26, whose content of
// strangers a forge knows, has no place here.
var securityRows = map[int]row{
	1:  {"a changed definition is blocked and shown", "cmd/aster/internal/guard TestEveryFieldIsPinned, cmd/aster/internal/host TestChangedToolsAreHeldBack"},
	2:  {"the first list is the baseline", "cmd/aster/internal/host TestChangedToolsAreHeldBack"},
	3:  {"one status drives search, describe and execute", "cmd/aster/internal/guard TestPinStatusesDriveAll, cmd/aster/internal/host TestChangedToolsAreHeldBack"},
	4:  {"a project's server waits for consent", "cmd/aster/internal/config TestHostileProject, cmd/aster/internal/config TestConsentIsForWhatRuns"},
	5:  {"hidden characters", "cmd/aster/internal/guard TestHiddenCharacters, cmd/aster/internal/guard TestHiddenInEveryField"},
	6:  {"copies and look-alikes across servers", "cmd/aster/internal/guard TestShadowing"},
	7:  {"encoded commands, phrases, secrets", "cmd/aster/internal/guard TestEncodedCommands, cmd/aster/internal/guard TestPhrasesAndSecrets"},
	8:  {"detection is offline and total", "cmd/aster/internal/guard TestDetectionIsOffline"},
	9:  {"text of servers is data", "cmd/aster/internal/host TestTextOfServersIsData"},
	10: {"no control characters on a terminal", "cmd/aster/internal/cli TestHostileServer, cmd/aster/internal/guard TestCleanAndShow"},
	11: {"hints of strangers loosen nothing", "cmd/aster/internal/host TestClaimsLoosenNothing"},
	12: {"the real tool is judged and recorded", "cmd/aster/internal/host TestClaimsLoosenNothing"},
	13: {"the record of calls", "cmd/aster/internal/guard TestInvokeRecordsEveryOutcome, cmd/aster/internal/guard TestLogWritesLines"},
	14: {"secrets come out nowhere", "cmd/aster/internal/cli TestHostileServer, cmd/aster/internal/guard TestCanary"},
	15: {"the environment of children", "bridge/source TestEnvironment"},
	16: {"fetch tools reach nothing inside", "websrv TestSSRFGo"},
	17: {"bodies are bounded in size and time", "websrv TestSlowBody"},
	18: {"Host, Origin and token of the HTTP endpoint", "cmd/aster/internal/host TestHTTPRefuses"},
	19: {"no debugging endpoint elsewhere", "cdp TestFinderHostileVersion"},
	20: {"approval of a page tool is for its origin and definition", "cmd/aster/internal/guard TestPageAnswerIsBound"},
	21: {"schemas are bounded", "cmd/aster/internal/host TestHostileSchemas, bridge/argcheck TestUnsupported, bridge/argcheck TestCheckIsBounded"},
	22: {"redirects keep to one origin", "bridge/source TestOrigin"},
	23: {"pages to open", "bridge/source TestPagesToOpen, cmd/aster/internal/upstream TestCheckPage"},
	24: {"names that collide", "cmd/aster/internal/host TestCollisions"},
	25: {"read-only wins", "cmd/aster/internal/guard TestReadOnlyBeatsAll, cmd/aster/internal/host TestClaimsLoosenNothing"},
	27: {"no sampling, no roots", "cmd/aster/internal/host TestClaimsLoosenNothing"},
}

// pitfallRows are the ways in which the MCP library or a server of others brings down what
// is built on it without care, in the order of the measurements.
var pitfallRows = map[int]row{
	1:  {"AddTool panics on a schema", "cmd/aster/internal/host TestHostileSchemas, webmcp TestNormalizeSchema"},
	2:  {"the typed AddTool panics on foreign schemas", "cmd/aster/internal/host TestHostileSchemas, cmd/aster/internal/host TestForeignSchemasAreNeverTyped"},
	3:  {"a panic or a nil result ends the process", "cmd/aster/internal/host TestRecover"},
	4:  {"a circle of references ends the process", "cmd/aster/internal/host TestHostileSchemas, bridge/argcheck TestUnsupported"},
	5:  {"validation never ends", "cmd/aster/internal/host TestHostileSchemas, bridge/argcheck TestCheckIsBounded"},
	6:  {"a server is silent at server/discover", "bridge/source TestEras"},
	7:  {"a server leaves at server/discover", "bridge/source TestEras"},
	8:  {"a line on stdout that is not JSON", "bridge/source TestNoiseOnStdout"},
	9:  {"a line on stdin that is not JSON", "cmd/aster/internal/host TestHostileLines"},
	10: {"one bad hint costs the list", "bridge/source TestBadTools"},
	11: {"content that the library does not decode", "bridge/source TestResults"},
	12: {"tools without schema or name, and twice", "bridge/source TestBadTools, cmd/aster/internal/host TestHostileSchemas"},
	13: {"a list without end", "bridge/source TestListBounds"},
	14: {"a server that does not want to end", "bridge/source TestEnd"},
	15: {"processes that outlive a server", "bridge/source TestEnd"},
	16: {"headers reach another origin", "bridge/source TestOrigin"},
}

// TestRows fails for a row that no test keeps.
func TestRows(t *testing.T) {
	files := map[string][]*ast.File{}
	for kind, list := range map[string]struct {
		rows map[int]row
		last int
		none []int
	}{"security": {securityRows, 27, []int{26}}, "pitfall": {pitfallRows, 16, nil}} {
		for n := 1; n <= list.last; n++ {
			r, ok := list.rows[n]
			if !ok {
				if !slices.Contains(list.none, n) {
					t.Errorf("%s row %d has no test", kind, n)
				}
				continue
			}
			for _, test := range strings.Split(r.tests, ", ") {
				dir, name, _ := strings.Cut(test, " ")
				if files[dir] == nil {
					files[dir] = testFiles(t, dir)
				}
				if why := keepsRow(files[dir], name, fmt.Sprintf("%s row %d", kind, n)); why != "" {
					t.Errorf("%s row %d, %s: %s %s", kind, n, r.what, test, why)
				}
			}
		}
	}
}

// testFiles are the test files of a folder of the module.
func testFiles(t *testing.T, dir string) (files []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root(t), filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// keepsRow says why a test of a package does not name a row, "" if it does. The row may
// stand in a table beside the test, in the same file.
func keepsRow(files []*ast.File, test, row string) string {
	for _, f := range files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Name.Name != test || fn.Recv != nil {
				continue
			}
			if fn.Doc != nil && names(fn.Doc.Text(), row) || hasText(fn.Body, row) {
				return ""
			}
			for _, d := range f.Decls {
				if table, ok := d.(*ast.GenDecl); ok && hasText(table, row) {
					return ""
				}
			}
			return "does not name it"
		}
	}
	return "is not there"
}

// hasText reports whether a string below a node names a row.
func hasText(n ast.Node, row string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, err := strconv.Unquote(lit.Value)
			found = found || err == nil && names(text, row)
		}
		return !found
	})
	return found
}

// names reports whether text has the row, and not only one whose number begins so.
func names(text, row string) bool {
	for {
		i := strings.Index(text, row)
		if i < 0 {
			return false
		}
		text = text[i+len(row):]
		if text == "" || text[0] < '0' || text[0] > '9' {
			return true
		}
	}
}

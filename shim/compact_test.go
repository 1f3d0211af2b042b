package shim_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/shim"
)

func TestCompact(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ source, want string }{
		{"// head\n\n(function (a) {\n  // note\n  return a + 1;  // end\n})", "(function(a){return a+1;})"},
		{"const s = ' //  x ' + \"it's // {\";\n", `const s=' //  x '+"it's // {";`},
		{`x = 'a\' // b' + "\\" // c`, `x='a\' // b'+"\\"`},
		{"a = b\nc = d", "a=b\nc=d"},
		{"if (x) y;\nelse z;", "if(x)y;else z;"},
		{"}\nget x() {\n}\n}", "}\nget x(){}}"},
		{"a + +b - -c; a++ + b", "a+ +b- -c;a++ +b"},
		{"return 'x' in o ? #p in o : `", "return'x'in o?#p in o:`"},
		{"a\n  .b", "a.b"},
		{"x = 'é' ;", "x='é';"},
	} {
		if got := shim.Compact(tc.source); got != tc.want {
			t.Errorf("%q becomes\n%q, want\n%q", tc.source, got, tc.want)
		}
	}
}

// The scripts hold nothing that compact does not understand.
func TestScriptsCanBeCompacted(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"modelcontext.js"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(b), "\n") {
			code, _, _ := strings.Cut(strings.TrimSpace(line), "//")
			for _, bad := range []string{"`", "/*"} {
				if strings.Contains(code, bad) {
					t.Errorf("%s:%d: %s in %s", name, i+1, bad, line)
				}
			}
		}
	}
}

// maxScriptBytes bounds what a page is given.
const maxScriptBytes = 60 << 10

func TestScriptIsSmall(t *testing.T) {
	t.Parallel()
	for _, script := range []string{shim.Script(shim.Config{Secret: testSecret}), shim.LateScript(shim.Config{Secret: testSecret})} {
		if len(script) > maxScriptBytes {
			t.Errorf("the script has %d bytes, more than %d", len(script), maxScriptBytes)
		}
	}
	t.Logf("%d bytes, %d as it is in the repository", len(shim.Script(shim.Config{})), len(shim.ReadableScript(shim.Config{})))
}

// The script as the page gets it and as it is in the repository behave alike.
func TestCompactBehavesAlike(t *testing.T) {
	cdptest.Require(t)
	var list []scenario
	for _, s := range scenarios(t) {
		if family, _, _ := strings.Cut(s.name, ":"); family == "register" || family == "surface" || family == "events" || strings.HasPrefix(family, "forms") {
			list = append(list, s)
		}
	}
	b := plainBrowser()
	stop := injectScript(t, b, shim.Script(shim.Config{Secret: testSecret}))
	small := play(t, b, list)
	stop()
	stop = injectScript(t, b, shim.ReadableScript(shim.Config{Secret: testSecret}))
	defer stop()
	readable := play(t, b, list)
	for _, s := range list {
		if diff := cmp.Diff(readable[s.name], small[s.name]); diff != "" {
			t.Errorf("%s: as in the repository (-) and as in the page (+):\n%s", s.name, diff)
		}
	}
}

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
		{"// head\n\n(function (arg) {\n  // note\n  return arg + 1;  // end\n})", "(function(a){return a+1;})"},
		{"const text = ' //  x ' + \"it's // {\";\n", `let a=' //  x '+"it's // {";`},
		{`X = 'a\' // b' + "\\" // c`, `X='a\' // b'+"\\"`},
		{"A = B\nC = D", "A=B\nC=D"},
		{"if (X) Y;\nelse Z;", "if(X)Y;else Z;"},
		{"}\nget x() {\n}\n}", "}\nget x(){}}"},
		{"A + +B - -C; A++ + B", "A+ +B- -C;A++ +B"},
		{"return 'x' in O ? #p in O : 1", "return'x'in O?#p in O:1"},
		{"A\n  .b", "A.b"},
		{"X = 'é' ;", "X='é';"},
		{"const {one, two} = three.one, four = {one, x: two, [two]: one ? two : four};", "let{one:b,two:a}=d.one,c={one:b,x:a,[a]:b?a:c};"},
		{"let one, two, three;\none(two, three);", "let b,c,a;b(c,a);"},
		{"X = {one() { two(); }, get two() {}, three: (...one) => two(...one)};", "X={one(){b();},get two(){},three:(...a)=>b(...a)};"},
		{"class X { static one(one) {} #two; }", "class X{static one(a){}#two;}"},
		{"function one({two}) { for (const x of two) if (x) { one(x); } }", "function a({two:b}){for(let c of b)if(c){a(c);}}"},
		{"const a = window.a, {b} = self, of = 1;", "let a=window.a,{b}=self,of=1;"},
		{"return true; X = undefined; if (false) Y();", "return!0;X=void 0;if(!1)Y();"},
		{"X = {true: undefined};", "X={true:void 0};"},
	} {
		if got := shim.Compact(tc.source); got != tc.want {
			t.Errorf("%q becomes\n%q, want\n%q", tc.source, got, tc.want)
		}
	}
}

// The scripts hold nothing that compact does not understand.
func TestScriptsCanBeCompacted(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"modelcontext.js", "forms.js"} {
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

// compactShare is the share of the scenarios that TestCompactBehavesAlike plays.
const compactShare = 4

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

// The script as the page gets it and as it is in the repository behave alike. The first
// is held against native WebMCP in every scenario, so some do for the other.
func TestCompactBehavesAlike(t *testing.T) {
	cdptest.Require(t)
	var list []scenario
	for i, s := range scenarios(t) {
		if i%compactShare != 0 {
			continue
		}
		if family, _, _ := strings.Cut(s.name, ":"); family == "register" || family == "execute" || family == "surface" || family == "events" || strings.HasPrefix(family, "forms") {
			list = append(list, s)
		}
	}
	small := underShim(t, list)
	stop := injectScript(t, plainBrowser(), shim.ReadableScript(shim.Config{Secret: testSecret}))
	defer stop()
	readable := play(t, plainBrowser(), list)
	for _, s := range list {
		if diff := cmp.Diff(readable[s.name], small[s.name]); diff != "" {
			t.Errorf("%s: as in the repository (-) and as in the page (+):\n%s", s.name, diff)
		}
	}
}

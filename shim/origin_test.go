package shim_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/shim"
)

var originTable = []struct {
	glob, origin string
	want         bool
}{
	{"https://example.com", "https://example.com", true},
	{"https://example.com", "https://example.com:8443", false},
	{"https://example.com", "http://example.com", false},
	{"https://example.com", "https://example.co", false},
	{"https://example.com", "https://example.comm", false},
	{"https://example.com", "", false},
	{"https://*.example.com", "https://a.example.com", true},
	{"https://*.example.com", "https://a.b.example.com", true},
	{"https://*.example.com", "https://example.com", false},
	{"https://*.example.com", "https://.example.com", true},
	{"https://*.example.com", "https://a.example.com.evil.net", false},
	{"https://*.example.com", "https://evil.net/.example.com", false},
	{"https://*example.com", "https://notexample.com", true},
	{"http://localhost:*", "http://localhost:8080", true},
	{"http://localhost:*", "http://localhost", false},
	{"http://localhost*", "http://localhost", true},
	{"http://localhost*", "http://localhost:1", true},
	{"http://localhost*", "http://localhost.evil", true},
	{"*://localhost:*", "https://localhost:1", true},
	{"*://*", "https://x.example:1", true},
	{"*://*", "file://", true},
	{"*", "https://x", false},
	{"*", "null", true},
	{"**", "ab", true},
	{"", "", true},
	{"", "a", false},
	{"*", "", true},
	{"file://", "file://", true},
	{"file://*", "file://", true},
	{"https://*.a.*", "https://x.a.b", true},
	{"https://*.a.*", "https://a.b", false},
	{"https://*.a.*.c", "https://x.a.b.a.b.c", true},
	{"https://*.a.*.c", "https://x.a.b.a.b.d", false},
	{"https://a*a*a", "https://aaa", true},
	{"https://a*a*a", "https://aa", false},
	{"https://a?", "https://ab", false},
	{"https://a?", "https://a?", true},
	{"https://[a]", "https://a", false},
	{"https://[::1]:*", "https://[::1]:9", true},
	{"https://a.b", "https://axb", false},
	{"HTTPS://x", "https://x", false},
	{"*/*/*", "https://x", true},
	{"*/*", "https://x", false},
	{"chrome-extension://*", "chrome-extension://abc", true},
	{"https://***.x", "https://a.x", true},
	{"*x*x*x*x*y", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", false},
}

func TestMatchOrigin(t *testing.T) {
	t.Parallel()
	for _, tc := range originTable {
		if got := shim.MatchOrigin(tc.glob, tc.origin); got != tc.want {
			t.Errorf("MatchOrigin(%q, %q) is %v, want %v", tc.glob, tc.origin, got, tc.want)
		}
	}
}

// The injected script matches as Go does. Its function is taken out of the script, since
// a page of every origin in the table cannot be served.
func TestMatchOriginInTheScript(t *testing.T) {
	t.Parallel()
	f := regexp.MustCompile(`(?s)\n  (function matches\(glob, origin\) \{.*?\n  \})\n`).FindStringSubmatch(shim.ReadableScript(shim.Config{}))
	if f == nil {
		t.Fatal("the script has no function matches(glob, origin)")
	}
	p := openPlain(t, "about:blank")
	var calls []string
	for _, tc := range originTable {
		calls = append(calls, fmt.Sprintf("f(%q, %q)", tc.glob, tc.origin))
	}
	var got []bool
	if err := json.Unmarshal(p.Eval(t, "(() => { const f = ("+f[1]+"); return ["+strings.Join(calls, ",")+"]; })()"), &got); err != nil {
		t.Fatal(err)
	}
	for i, tc := range originTable {
		if got[i] != tc.want {
			t.Errorf("matches(%q, %q) is %v, want %v", tc.glob, tc.origin, got[i], tc.want)
		}
	}
}

func TestValidOriginGlob(t *testing.T) {
	t.Parallel()
	for _, glob := range []string{"https://example.com", "https://*.example.com", "http://localhost:*", "*://*", "file://", "file://*", "http*://x", "https://[::1]:8", "chrome-extension://*", "https://xn--bcher-kva.example"} {
		if err := shim.ValidOriginGlob(glob); err != nil {
			t.Errorf("%q: %v", glob, err)
		}
	}
	for _, glob := range []string{"", "*", "example.com", "https:/x", "://x", "https://", "https://x/", "https://x/path", "https://X.example", "https://x y", "https://bücher.example", "https://x?", "https://a@b", "https://x\n", "https://x#", `https://a\b`, "https://" + strings.Repeat("x", 2000)} {
		if err := shim.ValidOriginGlob(glob); err == nil {
			t.Errorf("%.40q is accepted", glob)
		}
	}
}

package webmcp

import (
	"testing"

	cdpproto "github.com/chromedp/cdproto/cdp"
)

// All of it as measured in Chromium 156; TestCrossOriginDifferential has the same from
// the browser.
func TestPolicyOfHeaders(t *testing.T) {
	t.Parallel()
	const own, other = "https://a.example", "https://b.example"
	for _, tc := range []struct {
		name, header, value string
		own, other          bool
	}{
		{"nobody", headerPolicy, "tools=()", false, false},
		{"everybody", headerPolicy, "tools=*", true, true},
		{"everybody in a list", headerPolicy, "tools=(*)", true, true},
		{"itself", headerPolicy, "tools=(self)", true, false},
		{"itself without a list", headerPolicy, "camera=(), tools=self", true, false},
		{"itself and another", headerPolicy, `tools=(self "https://b.example")`, true, true},
		{"another with its port", headerPolicy, `tools=("https://b.example:443")`, false, true},
		{"another port", headerPolicy, `tools=("https://b.example:444")`, false, false},
		{"all below", headerPolicy, `tools=("https://*.example")`, true, true},
		{"not the name itself", headerPolicy, `tools=("https://*.b.example")`, false, false},
		{"the last counts", headerPolicy, "tools=*, tools=()", false, false},
		{"two headers", headerPolicy, "tools=*\ntools=()", false, false},
		{"parameters", headerPolicy, "tools=();report-to=x", false, false},
		{"parameters in the list", headerPolicy, `tools=(self;a "https://b.example";b=1)`, true, true},
		{"a flag", headerPolicy, "tools", false, false},
		{"a number", headerPolicy, "tools=1", false, false},
		{"an unknown word", headerPolicy, "tools=(none src)", false, false},
		{"another feature", headerPolicy, "camera=()", true, true},
		{"a broken list", headerPolicy, "tools=(", true, true},
		{"a broken member elsewhere", headerPolicy, "tools=(), =x", true, true},
		{"a comma at the end", headerPolicy, "tools=(),", true, true},
		{"capitals", headerPolicy, "TOOLS=()", true, true},
		{"an open string", headerPolicy, `tools="x`, true, true},
		{"the old header", headerOldPolicy, "camera *; tools 'none'", false, false},
		{"the old header without a list", headerOldPolicy, "tools", true, false},
		{"another header", "x-policy", "tools=()", true, true},
	} {
		p := readPolicy(map[string]string{tc.header: tc.value})
		for origin, want := range map[string]bool{own: tc.own, other: tc.other} {
			if got := !p.declared || p.list.matches(origin, own); got != want {
				t.Errorf("%s: %q allows %s: %v, want %v", tc.name, tc.value, origin, got, want)
			}
		}
	}
}

func TestSandboxOfHeaders(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"sandbox": true, "default-src *; SANDBOX allow-forms": true, "sandbox allow-scripts": false,
		"default-src 'self'": false, "default-src *, sandbox": true, "x\nsandbox allow-forms": true,
	} {
		if got := readPolicy(map[string]string{headerCSP: value}).noScript; got != want {
			t.Errorf("%q: no scripts %v, want %v", value, got, want)
		}
	}
}

func TestMayUseTools(t *testing.T) {
	t.Parallel()
	const a, b = "https://a.example", "https://b.example"
	header := func(value string) policy { return readPolicy(map[string]string{headerPolicy: value}) }
	top := place{origin: a, url: a + "/"}
	denied := place{origin: a, url: a + "/", policy: header("tools=()")}
	frame := func(origin, allow string) place { return place{origin: origin, src: origin + "/x", allow: allow} }
	sandbox := func(allow, flags string) place {
		return place{origin: "null", src: a + "/x", allow: allow, sandbox: flags, sandboxed: true}
	}
	for _, tc := range []struct {
		name  string
		chain []place
		want  bool
	}{
		{"a page", []place{top}, true},
		{"a page without the right", []place{denied}, false},
		{"the same origin", []place{top, frame(a, "")}, true},
		{"the same origin, forbidden", []place{top, frame(a, "tools 'none'")}, false},
		{"in a page without the right", []place{denied, frame(a, "tools *")}, false},
		{"another origin", []place{top, frame(b, "")}, false},
		{"another origin, allowed", []place{top, frame(b, "tools")}, true},
		{"allowed for another", []place{top, frame(b, "tools https://c.example")}, false},
		{"gone on to another origin", []place{top, {origin: b, src: "https://c.example/", allow: "tools"}}, false},
		{"src relative to the page", []place{top, {origin: a, src: "/x", allow: "tools 'src'"}}, true},
		{"allowed, but not by the header", []place{{origin: a, policy: header("tools=(self)")}, frame(b, "tools")}, false},
		{"the header does not allow by itself", []place{{origin: a, policy: header("tools=*")}, frame(b, "")}, false},
		{"its own header", []place{top, {origin: b, src: b, allow: "tools", policy: header("tools=()")}}, false},
		{"below a frame without the right", []place{top, frame(b, ""), frame(b, "tools *")}, false},
		{"back at the first origin", []place{top, frame(b, "tools"), frame(a, "tools")}, true},
		{"sandboxed", []place{top, sandbox("", "allow-scripts")}, false},
		{"sandboxed, allowed", []place{top, sandbox("tools", "allow-scripts")}, true},
		{"sandboxed, allowed to everybody", []place{top, sandbox("tools *", "allow-scripts")}, true},
		{"sandboxed, allowed to an origin", []place{top, sandbox("tools "+a, "allow-scripts")}, false},
		{"without scripts", []place{top, sandbox("tools *", "")}, false},
		{"srcdoc", []place{top, {origin: a, url: "about:srcdoc", srcdoc: true, allow: "tools"}}, true},
		{"data", []place{top, {origin: "null", url: "data:text/html,", src: "data:text/html,"}}, false},
		{"blank in a sandbox", []place{top, sandbox("tools", "allow-scripts"), {origin: "null", url: "about:blank"}}, true},
	} {
		if got := mayUseTools(tc.chain); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestPolicyCacheIsBounded(t *testing.T) {
	t.Parallel()
	var c policyCache
	for i := range maxPolicies + 10 {
		c.put(cdpproto.LoaderID(string(rune('a'+i%26))+string(rune(i+1000))), policy{})
		if len(c.byLoader) > maxPolicies || len(c.order) > maxPolicies {
			t.Fatalf("%d policies are kept", len(c.byLoader))
		}
	}
}

// What strangers write in headers and attributes does not crash us, and an origin that
// is not named is never let in by nonsense.
func FuzzPolicy(f *testing.F) {
	for _, s := range []string{"tools=()", `tools=(self "https://b.example"), x;a="\""`, "tools=:YQ==:, a=?1, b=@12, c=-1.5", "tools 'src'; x", "sandbox"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		readPolicy(map[string]string{headerPolicy: s, headerOldPolicy: s, headerCSP: s})
		parseAllow(s, allowlist{src: true})
		place{src: s, allow: s, sandbox: s, sandboxed: len(s)%2 == 0}.srcOrigin(place{origin: "https://a.example", url: s})
		if m, ok := parseDictionary(s); ok && s != "" && len(m) == 0 && len(s) > 0 && s[0] >= 'a' && s[0] <= 'z' {
			t.Errorf("%q reads as an empty dictionary", s)
		}
	})
}

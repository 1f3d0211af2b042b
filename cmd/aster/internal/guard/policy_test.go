package guard_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
)

func yes() *bool { b := true; return &b }

func decide(t testing.TB, p *guard.Policy, req guard.Request) guard.Decision {
	t.Helper()
	args, _, err := guard.DecodeArguments(req.Arguments)
	if err != nil {
		t.Fatal(err)
	}
	return p.Decide(&req, args)
}

func TestDefaults(t *testing.T) {
	claims := tool("gh", "x")
	claims.Annotations = &bridge.Annotations{ReadOnlyHint: true}
	destroys := tool("gh", "x")
	destroys.Annotations = &bridge.Annotations{DestructiveHint: yes()}
	for _, tt := range []struct {
		name                                             string
		req                                              guard.Request
		auto, direct, client, aster, never, readOnlyMode guard.Action
	}{
		{"built-in that reads", guard.Request{Tool: tool("web", "search"), Class: guard.ClassBuiltin, Effect: guard.EffectRead},
			guard.Allow, guard.Allow, guard.Allow, guard.Allow, guard.Allow, guard.Allow},
		{"built-in of unknown effect", guard.Request{Tool: tool("shortcuts", "run"), Class: guard.ClassBuiltin},
			guard.Ask, guard.Allow, guard.Allow, guard.Ask, guard.Allow, guard.Deny},
		{"built-in that destroys", guard.Request{Tool: tool("web", "purge"), Class: guard.ClassBuiltin, Effect: guard.EffectDestructive},
			guard.Ask, guard.Allow, guard.Allow, guard.Ask, guard.Allow, guard.Deny},
		{"page", guard.Request{Tool: tool("webmcp", "pay"), Class: guard.ClassPage, Origin: "https://a.example"},
			guard.Ask, guard.Allow, guard.Allow, guard.Ask, guard.Allow, guard.Deny},
		{"page that claims to read", guard.Request{Tool: claims, Class: guard.ClassPage, Trusted: true, Origin: "https://a.example"},
			guard.Ask, guard.Allow, guard.Allow, guard.Ask, guard.Allow, guard.Deny},
		{"server", guard.Request{Tool: tool("gh", "x")},
			guard.Ask, guard.Allow, guard.Allow, guard.Ask, guard.Allow, guard.Deny},
		{"server that claims to read", guard.Request{Tool: claims},
			guard.Ask, guard.Allow, guard.Allow, guard.Ask, guard.Allow, guard.Deny},
		{"trusted server", guard.Request{Tool: tool("gh", "x"), Trusted: true},
			guard.Allow, guard.Allow, guard.Allow, guard.Allow, guard.Allow, guard.Deny},
		{"trusted server that says it destroys", guard.Request{Tool: destroys, Trusted: true},
			guard.Ask, guard.Allow, guard.Allow, guard.Ask, guard.Allow, guard.Deny},
		{"trusted server that says it reads", guard.Request{Tool: claims, Trusted: true},
			guard.Allow, guard.Allow, guard.Allow, guard.Allow, guard.Allow, guard.Allow},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check := func(what string, opts guard.PolicyOptions, direct bool, want guard.Action) {
				t.Helper()
				req := tt.req
				req.Direct = direct
				if d := decide(t, policy(t, opts), req); d.Action != want || d.Reason == "" {
					t.Errorf("%s: %s (%s), want %s and a reason", what, d.Action, d.Reason, want)
				}
			}
			check("through an envelope", guard.PolicyOptions{}, false, tt.auto)
			check("under its own name", guard.PolicyOptions{}, true, tt.direct)
			check("approve: client", guard.PolicyOptions{Mode: guard.ModeClient}, false, tt.client)
			check("approve: aster", guard.PolicyOptions{Mode: guard.ModeAster}, true, tt.aster)
			check("approve: never", guard.PolicyOptions{Mode: guard.ModeNever}, false, tt.never)
			check("read-only", guard.PolicyOptions{ReadOnly: true, Mode: guard.ModeNever}, true, tt.readOnlyMode)
		})
	}
}

func TestRules(t *testing.T) {
	bank := guard.Request{Tool: tool("webmcp", "pay"), Class: guard.ClassPage, Origin: "https://bank.example", Arguments: json.RawMessage(`{"amount":1e3,"to":{"name":"Eve"},"Note":"hi","kind":"gift"}`)}
	for _, tt := range []struct {
		name string
		rule guard.Rule
		hold bool
	}{
		{"whole server", guard.Rule{Action: guard.Deny, Tools: []string{"webmcp"}}, true},
		{"everything", guard.Rule{Action: guard.Deny, Tools: []string{"*"}}, true},
		{"glob of the tool", guard.Rule{Action: guard.Deny, Tools: []string{"webmcp/p*"}}, true},
		{"alternatives", guard.Rule{Action: guard.Deny, Tools: []string{"{web,webmcp}/[a-p]?y"}}, true},
		{"other tool", guard.Rule{Action: guard.Deny, Tools: []string{"webmcp/pays"}}, false},
		{"origin", guard.Rule{Action: guard.Deny, Tools: []string{"*"}, Origins: []string{"https://*.example"}}, true},
		{"origin in capitals", guard.Rule{Action: guard.Deny, Tools: []string{"*"}, Origins: []string{"HTTPS://BANK.example"}}, true},
		{"other origin", guard.Rule{Action: guard.Deny, Tools: []string{"*"}, Origins: []string{"https://shop.example"}}, false},
		{"number in another form", guard.Rule{Action: guard.Deny, Tools: []string{"*"}, Args: map[string]string{"amount": "1000"}}, true},
		{"number as written", guard.Rule{Action: guard.Deny, Tools: []string{"*"}, Args: map[string]string{"amount": "1e3"}}, true},
		{"allow needs every form", guard.Rule{Action: guard.Allow, Tools: []string{"*"}, Args: map[string]string{"amount": "1000"}}, false},
		{"below", guard.Rule{Action: guard.Deny, Tools: []string{"*"}, Args: map[string]string{"to.name": "E*"}}, true},
		{"anything below", guard.Rule{Action: guard.Deny, Tools: []string{"*"}, Args: map[string]string{"to": "Eve"}}, true},
		{"key in another case", guard.Rule{Action: guard.Deny, Tools: []string{"*"}, Args: map[string]string{"NOTE": "hi"}}, true},
		{"key in a case that only Unicode knows", guard.Rule{Action: guard.Deny, Tools: []string{"*"}, Args: map[string]string{"\u212aind": "gift"}}, true},
		{"allow is strict about case", guard.Rule{Action: guard.Allow, Tools: []string{"*"}, Args: map[string]string{"note": "hi"}}, false},
		{"missing argument", guard.Rule{Action: guard.Deny, Tools: []string{"*"}, Args: map[string]string{"none": "*"}}, false},
		{"two conditions, one fails", guard.Rule{Action: guard.Deny, Tools: []string{"*"}, Args: map[string]string{"amount": "*", "Note": "x"}}, false},
		{"definition", guard.Rule{Action: guard.Allow, Tools: []string{"*"}, Definition: guard.Digest(tool("webmcp", "pay"))}, true},
		{"other definition", guard.Rule{Action: guard.Allow, Tools: []string{"*"}, Definition: guard.Digest(tool("webmcp", "pay2"))}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.rule.Place = "aster.yaml:7"
			d := decide(t, policy(t, guard.PolicyOptions{Rules: []guard.Rule{tt.rule}}), bank)
			if held := d.By == "rule"; held != tt.hold {
				t.Fatalf("decided by %s (%s), want the rule to hold: %v", d.By, d.Reason, tt.hold)
			}
			if tt.hold && (d.Action != tt.rule.Action || !strings.Contains(d.Reason, "aster.yaml:7")) {
				t.Errorf("%s because %q, want %s and the rule's place", d.Action, d.Reason, tt.rule.Action)
			}
		})
	}
	if d := decide(t, policy(t, guard.PolicyOptions{Rules: []guard.Rule{{Action: guard.Deny, Tools: []string{"*"}, Origins: []string{"*"}}}}), request("fs", "x", "")); d.By == "rule" {
		t.Error("a rule with origins holds for a tool without one")
	}
}

func TestAskRuleUnderModes(t *testing.T) {
	rule := []guard.Rule{{Action: guard.Ask, Tools: []string{"web/*"}}}
	req := guard.Request{Tool: tool("web", "search"), Class: guard.ClassBuiltin, Effect: guard.EffectRead}
	for _, tt := range []struct {
		mode   guard.Mode
		direct bool
		want   guard.Action
	}{
		{guard.ModeAuto, true, guard.Ask}, {guard.ModeAuto, false, guard.Ask}, {guard.ModeAster, true, guard.Ask},
		{guard.ModeClient, true, guard.Allow}, {guard.ModeClient, false, guard.Ask}, {guard.ModeNever, true, guard.Deny},
	} {
		req.Direct = tt.direct
		if d := decide(t, policy(t, guard.PolicyOptions{Mode: tt.mode, Rules: rule}), req); d.Action != tt.want {
			t.Errorf("mode %q, direct %v: %s, want %s", tt.mode, tt.direct, d.Action, tt.want)
		}
	}
}

func TestNewPolicyRefuses(t *testing.T) {
	for name, opts := range map[string]guard.PolicyOptions{
		"mode":            {Mode: "always"},
		"no tools":        {Rules: []guard.Rule{{Action: guard.Deny}}},
		"open class":      {Rules: []guard.Rule{{Action: guard.Deny, Tools: []string{"a/[b"}}}},
		"open brace":      {Rules: []guard.Rule{{Action: guard.Deny, Tools: []string{"a/{b,c"}}}},
		"no server":       {Rules: []guard.Rule{{Action: guard.Deny, Tools: []string{"/b"}}}},
		"backslash":       {Rules: []guard.Rule{{Action: guard.Deny, Tools: []string{`a/b\`}}}},
		"origin":          {Rules: []guard.Rule{{Action: guard.Deny, Tools: []string{"a"}, Origins: []string{"["}}}},
		"argument":        {Rules: []guard.Rule{{Action: guard.Deny, Tools: []string{"a"}, Args: map[string]string{"x": "["}}}},
		"action":          {Rules: []guard.Rule{{Action: 7, Tools: []string{"a"}}}},
		"flood of braces": {Rules: []guard.Rule{{Action: guard.Deny, Tools: []string{"a/" + strings.Repeat("{a,b}", 40)}}}},
		"read-only tools": {ReadOnlyTools: []string{"]["}},
	} {
		if _, err := guard.NewPolicy(&opts); err == nil {
			t.Errorf("%s: NewPolicy returned no error", name)
		}
	}
}

// Deny beats allow and ask, and ask beats allow, in whatever order rules stand.
func TestStrictestRuleWins(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	tools := []string{"*", "fs", "fs/*", "fs/re*", "other", "fs/write", "{fs,x}/read"}
	args := []map[string]string{nil, {"path": "/tmp/*"}, {"path": "/etc/*"}, {"path": "*"}}
	for n := range 600 {
		var rules []guard.Rule
		for range 1 + rnd.IntN(6) {
			rules = append(rules, guard.Rule{Action: guard.Action(rnd.IntN(3)), Tools: []string{tools[rnd.IntN(len(tools))]}, Args: args[rnd.IntN(len(args))]})
		}
		req := request("fs", "read", `{"path":"/tmp/x"}`)
		req.Trusted, req.Direct = rnd.IntN(2) == 0, rnd.IntN(2) == 0
		want := guard.Action(-1)
		for _, r := range rules {
			if d := decide(t, policy(t, guard.PolicyOptions{Rules: []guard.Rule{r}}), req); d.By == "rule" && (want < 0 || r.Action < want) {
				want = r.Action
			}
		}
		for range 3 {
			rnd.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
			d := decide(t, policy(t, guard.PolicyOptions{Rules: rules}), req)
			if want >= 0 && d.Action != want || (d.By == "rule") != (want >= 0) {
				t.Fatalf("round %d: %s by %s, want %s; rules %+v", n, d.Action, d.By, want, rules)
			}
		}
	}
}

// Read-only beats every rule, mode and hint of a tool that is not known to only read.
func TestReadOnlyBeatsAll(t *testing.T) {
	t.Run("security row 25: read-only wins", func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(3, 4))
		for n := range 600 {
			opts := guard.PolicyOptions{ReadOnly: true, Mode: []guard.Mode{guard.ModeAuto, guard.ModeClient, guard.ModeAster, guard.ModeNever}[rnd.IntN(4)]}
			for range rnd.IntN(4) {
				opts.Rules = append(opts.Rules, guard.Rule{Action: guard.Allow, Tools: []string{"*"}})
			}
			req := request("fs", "write", `{}`)
			req.Class, req.Effect, req.Trusted, req.Direct = guard.Class(rnd.IntN(3)), guard.Effect(rnd.IntN(4)), rnd.IntN(2) == 0, rnd.IntN(2) == 0
			if rnd.IntN(2) == 0 {
				req.Tool.Annotations = &bridge.Annotations{ReadOnlyHint: rnd.IntN(2) == 0}
				if rnd.IntN(2) == 0 {
					req.Tool.Annotations.DestructiveHint = yes()
				}
			}
			a := req.Tool.Annotations
			reads := req.Class == guard.ClassBuiltin && req.Effect == guard.EffectRead ||
				req.Class == guard.ClassServer && req.Trusted && a != nil && a.ReadOnlyHint && a.DestructiveHint == nil
			if d := decide(t, policy(t, opts), req); !reads && (d.Action != guard.Deny || d.By != "read-only") {
				t.Fatalf("round %d: %s by %s for %+v, want a denial by read-only", n, d.Action, d.By, req)
			}
		}
		p := policy(t, guard.PolicyOptions{ReadOnly: true, ReadOnlyTools: []string{"fs/read*"}, Rules: []guard.Rule{{Action: guard.Deny, Tools: []string{"fs/read_secret"}}, {Action: guard.Allow, Tools: []string{"fs"}}}})
		for name, want := range map[string]guard.Action{"read_file": guard.Allow, "read_secret": guard.Deny, "write": guard.Deny} {
			if d := decide(t, p, request("fs", name, "")); d.Action != want {
				t.Errorf("read-only with a list of readers: fs/%s: %s, want %s", name, d.Action, want)
			}
		}
	})
}

func TestGlobs(t *testing.T) {
	for _, tt := range []struct {
		pattern, id string
		want        bool
	}{
		{"fs", "fs/a/b", true}, {"fs/*", "fs/a/b", true}, {"fs/**", "fs/a/b", true}, {"*/a/*", "fs/a/b", true}, {"f?/a*b", "fs/a/b", true},
		{"fs/a", "fs/a/b", false}, {"f*", "fs2/x", true}, {"*s/x", "fs/x", true}, {"fs/*b*b*b", "fs/abbb", true}, {"fs/*b*b*b*b", "fs/abbb", false},
		{`fs/\*`, "fs/*", true}, {`fs/\*`, "fs/x", false}, {"fs/[!a-c]x", "fs/dx", true}, {"fs/[^a-c]x", "fs/ax", false}, {"fs/[]]", "fs/]", true},
		{"fs/{a,b{c,d}}", "fs/bd", true}, {"fs/{a,b{c,d}}", "fs/b", false}, {"fs/é?", "fs/éü", true}, {"{a,b}/x", "b/x", true}, {"fs/{,x}y", "fs/y", true},
	} {
		server, name, _ := strings.Cut(tt.id, "/")
		d := decide(t, policy(t, guard.PolicyOptions{Rules: []guard.Rule{{Action: guard.Deny, Tools: []string{tt.pattern}}}}), request(server, name, ""))
		if got := d.By == "rule"; got != tt.want {
			t.Errorf("pattern %q on %q: %v, want %v", tt.pattern, tt.id, got, tt.want)
		}
	}
}

func FuzzPolicy(f *testing.F) {
	f.Add("fs/*", "https://*", "path", "/tmp/*", `{"path":"/tmp/x"}`)
	f.Add("{a,b}/[x-z]", "*", "a.b.c", "1*", `{"a":{"b":[{"c":1e2}]}}`)
	f.Add("**********a", "", "", "", `{"":{"":""}}`)
	f.Fuzz(func(t *testing.T, pattern, origin, path, value, raw string) {
		args, _, err := guard.DecodeArguments(json.RawMessage(raw))
		if err != nil {
			return
		}
		rule := guard.Rule{Action: guard.Allow, Tools: []string{pattern}, Args: map[string]string{path: value}}
		if origin != "" {
			rule.Origins = []string{origin}
		}
		allow, err := guard.NewPolicy(&guard.PolicyOptions{Rules: []guard.Rule{rule}})
		if err != nil {
			return
		}
		rule.Action = guard.Deny
		deny := policy(t, guard.PolicyOptions{Rules: []guard.Rule{rule}})
		req := request("fs", "read", raw)
		req.Origin = "https://a.example"
		// Where an allow holds, the same denial does: it is never the looser reading.
		if allow.Decide(&req, args).By == "rule" && deny.Decide(&req, args).By != "rule" {
			t.Errorf("allow holds and deny does not: %+v on %s", rule, raw)
		}
	})
}

func ExampleNewPolicy() {
	p, err := guard.NewPolicy(&guard.PolicyOptions{Rules: []guard.Rule{
		{Action: guard.Allow, Tools: []string{"github/get_*", "github/list_*"}},
		{Action: guard.Ask, Tools: []string{"webmcp"}, Origins: []string{"https://bank.example"}},
		{Action: guard.Deny, Tools: []string{"*/*delete*"}, Reason: "nothing is deleted here"},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"get_issue", "delete_repo", "create_issue"} {
		req := guard.Request{Tool: bridge.Tool{Server: "github", Name: name}}
		d := p.Decide(&req, nil)
		fmt.Printf("%s: %s, %s\n", req.ID(), d.Action, d.Reason)
	}
	// Output:
	// github/get_issue: allow, the rule allow github/get_*, github/list_*
	// github/delete_repo: deny, the rule deny */*delete*: nothing is deleted here
	// github/create_issue: ask, the server is not trusted (trust: true)
}

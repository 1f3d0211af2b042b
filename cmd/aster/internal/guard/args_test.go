package guard_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
)

func TestDecodeArguments(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"absent", "", "{}"},
		{"null", " null ", "{}"},
		{"sorted and compact", ` { "b" : 1 , "a" : [ true , null ] } `, `{"a":[true,null],"b":1}`},
		{"numbers as written", `{"n":1.50,"big":123456789012345678901234567890,"e":1E+2}`, `{"big":123456789012345678901234567890,"e":1E+2,"n":1.50}`},
		{"escapes resolved", `{"\u0061":"\u003cb\u003e"}`, `{"a":"<b>"}`},
		{"case makes two keys", `{"Path":"x","path":"y"}`, `{"Path":"x","path":"y"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, got, err := guard.DecodeArguments(json.RawMessage(tt.in))
			if err != nil || string(got) != tt.want {
				t.Errorf("DecodeArguments(%s) = %s, %v, want %s", tt.in, got, err, tt.want)
			}
		})
	}
}

func TestDecodeArgumentsRefuses(t *testing.T) {
	for name, in := range map[string]string{
		"doubled key":         `{"path":"/tmp/x","path":"/etc/passwd"}`,
		"doubled by escape":   `{"path":"/tmp/x","p\u0061th":"/etc/passwd"}`,
		"doubled below":       `{"a":[{"b":1,"b":2}]}`,
		"list":                `[1]`,
		"text":                `"x"`,
		"two values":          `{} {}`,
		"cut":                 `{"a":1`,
		"cut in a list":       `{"a":[1`,
		"trailing comma":      `{"a":1,}`,
		"not UTF-8":           "{\"a\":\"\xff\"}",
		"single quotes":       `{'a':1}`,
		"comment":             `{"a":1/**/}`,
		"NaN":                 `{"a":NaN}`,
		"too deep":            `{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`,
		"closed by the wrong": `{"a":[1}`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, got, err := guard.DecodeArguments(json.RawMessage(in)); !errors.Is(err, guard.ErrBadArguments) {
				t.Errorf("DecodeArguments(%s) = %s, %v, want ErrBadArguments", in, got, err)
			}
		})
	}
}

// What is decided on is what is forwarded: a call that a rule on an argument lets pass
// carries an argument that the rule lets pass, for any reader.
func TestForwardsWhatWasDecided(t *testing.T) {
	p := policy(t, guard.PolicyOptions{Rules: []guard.Rule{
		{Action: guard.Allow, Tools: []string{"fs/read"}, Args: map[string]string{"path": "/tmp/*"}},
	}})
	for _, tt := range []struct {
		name, args string
		made       bool
	}{
		{"plain", `{"path":"/tmp/x"}`, true},
		{"other", `{"path":"/etc/x"}`, false},
		{"doubled, good last", `{"path":"/etc/x","path":"/tmp/x"}`, false},
		{"doubled, good first", `{"path":"/tmp/x","path":"/etc/x"}`, false},
		{"case variant beside", `{"path":"/tmp/x","PATH":"/etc/x"}`, false},
		{"case variant alone", `{"Path":"/tmp/x"}`, false},
		{"list with one bad", `{"path":["/tmp/x","/etc/x"]}`, false},
		{"list of good ones", `{"path":["/tmp/x","/tmp/y"]}`, true},
		{"object with one bad", `{"path":{"a":"/tmp/x","b":"/etc/x"}}`, false},
		{"missing", `{}`, false},
		{"escaped", `{"p\u0061th":"\/tmp\/x"}`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, _ := newGuard(t, guard.Options{Policy: p})
			var c calls
			err := g.Invoke(t.Context(), request("fs", "read", tt.args), c.call)
			if (err == nil) != tt.made || (len(c.made()) == 1) != tt.made {
				t.Fatalf("Invoke = %v with %d calls, want a call: %v", err, len(c.made()), tt.made)
			}
			if !tt.made {
				return
			}
			_, want, _ := guard.DecodeArguments(json.RawMessage(tt.args))
			if diff := cmp.Diff(string(want), c.made()[0]); diff != "" {
				t.Errorf("the forwarded arguments differ from the decided ones (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzDecodeArguments(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1,"A":2}`, `{"a":{"b":[1,2,{"c":null}]}}`, `{"a":1,"a":2}`, `null`, "{\"\x00\":1}", `{"a":"\ud800"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		args, out, err := guard.DecodeArguments(raw)
		if err != nil {
			if !errors.Is(err, guard.ErrBadArguments) {
				t.Fatalf("error %v is not ErrBadArguments", err)
			}
			return
		}
		// The output means the same to a strict reader, to encoding/json and the second time.
		_, again, err := guard.DecodeArguments(out)
		if err != nil || string(again) != string(out) {
			t.Fatalf("decoding %s again: %s, %v", out, again, err)
		}
		var lenient map[string]any
		if err := json.Unmarshal(out, &lenient); err != nil || len(lenient) != len(args) {
			t.Fatalf("encoding/json reads %d keys of %s, want %d (%v)", len(lenient), out, len(args), err)
		}
	})
}

func BenchmarkInvoke(b *testing.B) {
	log := guard.NewLog(logPath(b), nil)
	g, err := guard.New(&guard.Options{Auditor: log, Policy: policy(b, guard.PolicyOptions{Rules: []guard.Rule{{Action: guard.Allow, Tools: []string{"fs"}}}})})
	if err != nil {
		b.Fatal(err)
	}
	req := request("fs", "read", `{"path":"/tmp/x","options":{"force":true,"depth":3}}`)
	b.ReportAllocs()
	for b.Loop() {
		if err := g.Invoke(context.Background(), req, func(context.Context, json.RawMessage) (guard.Report, error) { return guard.Report{}, nil }); err != nil {
			b.Fatal(err)
		}
	}
}

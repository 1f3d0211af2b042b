package guard_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
)

func TestRedactor(t *testing.T) {
	const secret = "s3cr/t \"value+x"
	r := guard.NewRedactor(secret, "Bearer token-of-header", "Basic "+base64.StdEncoding.EncodeToString([]byte("user:swordfish")), "true", "short", "prefix-1", "prefix-1-longer")
	quoted, _ := json.Marshal(secret)
	for name, text := range map[string]string{
		"plain":               "a " + secret + " b",
		"in a query":          "?k=" + url.QueryEscape(secret),
		"in a path":           "/" + url.PathEscape(secret),
		"in JSON":             string(quoted),
		"in base64":           base64.StdEncoding.EncodeToString([]byte(secret)),
		"twice":               secret + secret,
		"header with scheme":  "Bearer token-of-header",
		"header alone":        "got token-of-header!",
		"password of a basic": "login as swordfish",
		"one in another":      "prefix-1-longer",
	} {
		got := r.String(text)
		for _, part := range []string{"s3cr", "token-of", "swordfish", "longer", "czNjci90"} {
			if strings.Contains(got, part) {
				t.Errorf("%s: %q became %q", name, text, got)
			}
		}
		if !strings.Contains(got, "[redacted]") {
			t.Errorf("%s: %q became %q, want a mark", name, text, got)
		}
	}
	for _, text := range []string{"it is true", "a short text", "", "nothing here"} {
		if got := r.String(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestRedactorPatterns(t *testing.T) {
	var r *guard.Redactor // knows the patterns
	for text, want := range map[string]string{
		"Authorization: Bearer abcdefghijklmnop": "Authorization: Bearer [redacted]",
		"ghp_0123456789abcdefghijABCDEFGHIJ0123": "[redacted]",
		"key sk-proj-0123456789abcdefgh.":        "key [redacted].",
		"https://u:pass@h/x?api_key=0123456789":  "https://u:[redacted]@h/x?api_key=[redacted]",
		`{"password":"hunter22","n":1}`:          `{"password":"[redacted]","n":1}`,
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x": "[redacted]",
		"basic 0123456789ab":                     "basic [redacted]",
		"basic 0123456789a":                      "basic 0123456789a",
		"secret=012345":                          "secret=[redacted]",
		"passwd:012345":                          "passwd:[redacted]",
		"secret=01234":                           "secret=01234",
		"AKIAABCDEFGHIJKLMNOP":                   "[redacted]",
		"xoxb-123456789012-abcdefghij":           "[redacted]",
		"-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\nrest": "[redacted]\nrest",
		"the password policy: at least 12":                                  "the password policy: at least 12",
		"https://example.com/a?b=c":                                         "https://example.com/a?b=c",
		"sketch of max_tokens=1000":                                         "sketch of max_tokens=1000",
	} {
		if got := r.String(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestRedactorValue(t *testing.T) {
	r := guard.NewRedactor("canary-1", "12345678")
	var in any
	dec := json.NewDecoder(strings.NewReader(`{"password":{"a":"b"},"apiKey":"x","X-Auth-Token":"y","max_tokens":5,"tokenizer":"bpe","token":"t","secret":true,"note":"has canary-1","list":["canary-1",1],
		"canary-1":1,"cookie":"","n":12345678,"deep":{"client_secret":"z","ok":null}}`))
	dec.UseNumber()
	if err := dec.Decode(&in); err != nil {
		t.Fatal(err)
	}
	before, _ := json.Marshal(in)
	got, err := json.Marshal(r.Value(in))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"X-Auth-Token":"[redacted]","[redacted]":1,"apiKey":"[redacted]","cookie":"","deep":{"client_secret":"[redacted]","ok":null},"list":["[redacted]",1],"max_tokens":5,` +
		`"n":"[redacted]","note":"has [redacted]","password":"[redacted]","secret":true,"token":"[redacted]","tokenizer":"bpe"}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
	if after, _ := json.Marshal(in); string(after) != string(before) {
		t.Error("the value was changed in place")
	}
}

func TestRedactorConcurrently(t *testing.T) {
	r := guard.NewRedactor()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			v := strings.Repeat(string(rune('a'+i)), 10)
			r.Add(v)
			if got := r.String(v); got != "[redacted]" {
				t.Errorf("%q became %q right after Add", v, got)
			}
		})
	}
	wg.Wait()
	if got := r.String("aaaaaaaaaa hhhhhhhhhh"); got != "[redacted] [redacted]" {
		t.Errorf("after all: %q", got)
	}
}

func FuzzRedactor(f *testing.F) {
	f.Add("secret-value", "a secret-value b", "{}")
	f.Add("Basic dXNlcjpwYXNz", "dXNlcjpwYXNz", `{"a":["Basic dXNlcjpwYXNz"]}`)
	f.Fuzz(func(t *testing.T, secret, text, raw string) {
		r := guard.NewRedactor(secret)
		if s := strings.TrimSpace(secret); len(s) >= 6 && !strings.Contains("[redacted]"+text+"[redacted]", s) && strings.Contains(r.String(text+s), s) && !strings.Contains("[redacted][redacted]", s) {
			t.Errorf("%q is left in %q", s, r.String(text+s))
		}
		if args, _, err := guard.DecodeArguments(json.RawMessage(raw)); err == nil {
			if _, err := json.Marshal(r.Value(args)); err != nil {
				t.Error(err)
			}
		}
	})
}

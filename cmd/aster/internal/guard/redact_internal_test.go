package guard

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestHintsLoseNothing compares the redactor with one that tries each pattern on each text.
func TestHintsLoseNothing(t *testing.T) {
	plainly := func(s string) string {
		for _, p := range secretPatterns {
			s = p.re.get().ReplaceAllString(s, p.with)
		}
		return s
	}
	parts := []string{
		"Bearer", "BASIC", "ba\u017fic", "bearer", " ", "\t", ":", "=", "apiKey", "api_\u212aEY", "access-token", "PassWord", "paSSwd", "\u017fecret", "SECRET",
		"abcdef1234567890", "QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "https://", "user:", "pass@", "host/", "é", "\"", "'", "key", "tokens", "-", "\xff", "sk-", "gh", "ghp_",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln", "x",
	}
	var r *Redactor
	changed := 0
	for range 20_000 {
		var b strings.Builder
		for range 1 + rand.IntN(8) {
			b.WriteString(parts[rand.IntN(len(parts))])
		}
		s := b.String()
		want := plainly(s)
		if got := r.String(s); got != want {
			t.Fatalf("%q: %q, want %q", s, got, want)
		}
		if want != s {
			changed++
		}
	}
	if changed < 1_000 {
		t.Errorf("%d of the texts held a secret: the test shows little", changed)
	}
}

package readable

import (
	"bytes"
	"testing"
)

func TestThin(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"text", "a < b <i>c</i>", "a < b <i>c</i>"},
		{"script", "a<script>if (a<b) {}</script>b", "ab"},
		{"script in capitals", "a<SCRIPT src=x>1</Script >b", "ab"},
		{"end tag of another name", "a<script>'</scripts>'</script>b", "ab"},
		{"data", `a<script type="application/ld+json">{"a":"<!--"}</script>b`, `a<script type="application/ld+json">{"a":"<!--"}</script>b`},
		{"script that does not end", "a<script>b", "a<script>b"},
		{"script in a comment", "a<!-- <script> -->b<script>c</script>d", "abd"},
		{"short comment", "a<!-->b-->c", "ab-->c"},
		{"comment that does not end", "a<!-- b", "a<!-- b"},
		{"style", "a<style>p{}</style>b", "ab"},
		{"drawing", "a<svg viewBox=0><path/><svg/><svg></svg></svg>b", "ab"},
		{"drawing with HTML", "a<svg><foreignObject><p>x</p></foreignObject></svg>b", "a<svg><foreignObject><p>x</p></foreignObject></svg>b"},
		{"bad bytes", "a\xffb", "a\uFFFDb"},
		{"end of input", "<", "<"},
		{"cut tag", "a<script", "a<script"},
		{"cut end tag", "a<style>b</styl", "a<style>b</styl"},
	} {
		if got := string(thin(nil, []byte(c.in))); got != c.want {
			t.Errorf("%s: thin(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

// The embedded table must be readable and fit the features.
func TestModel(t *testing.T) {
	m, err := ReadModel(weights)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Append(nil); !bytes.Equal(got, weights) {
		t.Errorf("the table does not survive reading and writing: %d bytes, %d embedded", len(got), len(weights))
	}
	for n := range 200 {
		if _, err := ReadModel(weights[:n*len(weights)/200]); err == nil {
			t.Errorf("a table cut to %d of 200 parts is read", n)
		}
	}
}

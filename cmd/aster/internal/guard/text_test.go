package guard_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
)

func TestCleanAndShow(t *testing.T) {
	for _, tt := range []struct{ name, in, clean, show string }{
		{"plain", "plain text", "plain text", "plain text"},
		{"colour", "a\x1b[31mb\x1b[0m", "ab", `a\u{1b}[31mb\u{1b}[0m`},
		{"title", "a\x1b]0;evil\x07b", "ab", `a\u{1b}]0;evil\u{7}b`},
		{"title with ST", "a\x1b]0;evil\x1b\\b", "ab", `a\u{1b}]0;evil\u{1b}\b`},
		{"open string hides nothing", "a\x1b]0;shown", "a0;shown", `a\u{1b}]0;shown`},
		{"C1 introducer", "a\u009b31mb", "ab", `a\u{9b}31mb`},
		{"cursor and clear", "\x1b[2J\x1b[Hx", "x", `\u{1b}[2J\u{1b}[Hx`},
		{"lone escape", "a\x1b", "a", `a\u{1b}`},
		{"backspace", "abc\b\b\bxyz", "abcxyz", `abc\u{8}\u{8}\u{8}xyz`},
		{"lines", " a\r\nb\tc\u2028d ", "a b c d", ` a\r\nb\tc\u{2028}d `},
		{"override", "a\u202eb", "ab", `a\u{202e}b`},
		{"tags", "a\U000e0041", "a", `a\u{e0041}`},
		{"not UTF-8", "a\xff", "a\ufffd", `a\u{fffd}`},
		{"emoji", "👩‍💻 ❤️", "👩‍💻 ❤️", "👩‍💻 ❤️"},
		{"other scripts", "日本語 עברית", "日本語 עברית", "日本語 עברית"},
		{"no-break space", "a\u00a0b", "a b", `a\u{a0}b`},
	} {
		t.Run("security row 10: "+tt.name, func(t *testing.T) {
			if got := guard.Clean(tt.in, 0); got != tt.clean {
				t.Errorf("Clean(%q) = %q, want %q", tt.in, got, tt.clean)
			}
			if got := guard.Show(tt.in, 0); got != tt.show {
				t.Errorf("Show(%q) = %q, want %q", tt.in, got, tt.show)
			}
		})
	}
	if got := guard.Clean("abc def", 4); got != "abc…" {
		t.Errorf("Clean cut to 4 = %q", got)
	}
	if got := guard.Show(strings.Repeat("x", 100)+"END", 8); got != "xxxxxx …[95 characters]… ND" {
		t.Errorf("Show cut to 8 = %q", got)
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"a\x1b[31mb", "\x1b]0;\x1b]0;", "\u009d\u009c", "🏴\U000e0067\U000e007f", "a\u200d", "\xff\xfe"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, out := range map[string]string{"Clean": guard.Clean(s, 50), "Show": guard.Show(s, 50)} {
			if !utf8.ValidString(out) {
				t.Fatalf("%s(%q) = %q is not UTF-8", name, s, out)
			}
			for _, r := range out {
				if unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
					t.Fatalf("%s(%q) = %q holds %U", name, s, out, r)
				}
			}
		}
		if strings.Contains(guard.Clean(guard.Clean(s, 0), 0), "\x1b") {
			t.Fatal("an escape is left")
		}
	})
}

package host_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

func TestRecover(t *testing.T) {
	tests := []struct{ tool, want, log string }{
		{"panic", `"isError":true`, "secret /home/user/key.pem"},
		{"nil", `"isError":true`, "handler returned nothing"},
		{"error", `"isError":true`, "permission denied"},
		{"badjson", `"isError":true`, "result cannot be encoded"},
		{"unencodable", `"structuredContent":{"a":1}`, ""},
		{"no such tool", `"code":-32602`, ""},
		{"echo", `{\"n\":1}`, ""},
	}
	for _, revision := range revisions {
		w := open(t, revision, nil)
		for i, tt := range tests {
			t.Run("pitfall row 3: "+revision+"/"+tt.tool, func(t *testing.T) {
				w.t = t
				w.send(call(10+i, tt.tool, revision))
				got := w.recv()
				if !strings.Contains(got, tt.want) {
					t.Errorf("answer %s, want %s in it", got, tt.want)
				}
				if strings.Contains(got, "/home") || strings.Contains(got, "goroutine") {
					t.Errorf("answer tells what it must not: %s", got)
				}
				if !strings.Contains(w.log.String(), tt.log) {
					t.Errorf("log lacks %q:\n%s", tt.log, w.log)
				}
			})
		}
		w.t = t
		if err := w.finish(); err != nil {
			t.Errorf("%s: ServeStdio ended with %v", revision, err)
		}
	}
}

func TestErrorsHaveCodes(t *testing.T) {
	w := startWire(t, nil)
	w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if got := w.recv(); !strings.Contains(got, `"code":-32600`) {
		t.Errorf("tools/list before initialize: %s", got)
	}
	w.send(initialize(2, "2025-11-25"))
	w.recv()
	w.send(initialize(3, "2025-11-25"))
	if got := w.recv(); !strings.Contains(got, `"code":-32600`) {
		t.Errorf("second initialize: %s", got)
	}
	w.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"` + strings.Repeat("x", 100_000) + `","arguments":5,"_meta":7}}`)
	if got := w.recv(); len(got) > 4096 || !strings.Contains(got, `"error"`) {
		t.Errorf("answer of %d bytes: %.200s", len(got), got)
	}
}

func TestCleanText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "Add to cart", "Add to cart"},
		{"colour", "a\x1b[31mred\x1b[0m b", "ared b"},
		{"title", "a\x1b]0;owned\x07b", "ab"},
		{"hyperlink", "\x1b]8;;http://evil\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"8-bit CSI", "a\u009b2Jb", "ab"},
		{"8-bit OSC", "a\u009d0;t\u009cb", "ab"},
		{"open OSC keeps the rest", "a\x1b]0;rest", "a0;rest"},
		{"lone ESC", "a\x1b", "a"},
		{"reset", "a\x1bcb", "ab"},
		{"lines", "a\r\nb\tc\u2028d", "a  b c d"},
		{"bell, NUL, DEL", "a\x07\x00\x7fb", "ab"},
		{"bidi", "a\u202eb\u2066c\u200fd", "abcd"},
		{"tags", "a\U000e0041\U000e007fb", "ab"},
		{"zero width", "a\u200bb\ufeffc", "abc"},
		{"emoji family stays", "👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"},
		{"scripts stay", "日本語 עברית العربية", "日本語 עברית العربية"},
		{"not UTF-8", "a\xffb", "a\ufffdb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := host.CleanText(tt.in); got != tt.want {
				t.Errorf("CleanText(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestCleanAttr(t *testing.T) {
	out := &lockedBuffer{}
	log := slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{ReplaceAttr: host.CleanAttr}))
	log.Info("page \x1b[2J said", "title", "\x1b]0;x\x07t", "n", 5, "list", []string{"\x1b[1m"}, "long", strings.Repeat("y", 1<<20))
	got := out.String()
	if strings.ContainsAny(got, "\x1b\x07") || !strings.Contains(got, "level=INFO") || !strings.Contains(got, "n=5") || !strings.Contains(got, `title=t`) {
		t.Errorf("log record %.300q", got)
	}
	if len(got) > host.MaxLogValueBytes+1000 {
		t.Errorf("log record of %d bytes", len(got))
	}
}

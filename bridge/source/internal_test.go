package source

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestPatient gives a start more time while it waits for the user.
func TestPatient(t *testing.T) {
	var waiting atomic.Bool
	waiting.Store(true)
	done := make(chan struct{})
	ctx, cancel := patient(t.Context(), done, time.Millisecond, waiting.Load)
	defer cancel()
	select {
	case <-ctx.Done():
		t.Fatal("it ended while the user was asked")
	case <-time.After(3 * clockPoll):
	}
	waiting.Store(false)
	<-ctx.Done()
	if cause := context.Cause(ctx); cause != context.DeadlineExceeded {
		t.Errorf("cause %v", cause)
	}
	ctx, cancel = patient(t.Context(), done, 0, waiting.Load)
	defer cancel()
	close(done)
	<-ctx.Done()
	if cause := context.Cause(ctx); !errors.Is(cause, ErrClosed) {
		t.Errorf("cause %v", cause)
	}
}

// TestStuck tells a server that is up and silent from one that is not up yet, or
// waits for the user: only the first is worth starting again.
func TestStuck(t *testing.T) {
	long, now := time.Now().Add(-2*stuckAfter), time.Now()
	for _, tt := range []struct {
		name            string
		message, stderr time.Time
		signIn          string
		want            bool
	}{
		{"not up", time.Time{}, time.Time{}, "", false},
		{"just up", time.Time{}, now, "", false},
		{"up", time.Time{}, long, "", true},
		{"spoke", long, now, "", true},
		{"asks", long, long, "https://x", false},
	} {
		var modern atomic.Bool
		c := newConn(&modern)
		c.tap.first, c.tail = tt.message, &tail{first: tt.stderr, signIn: tt.signIn}
		if got := c.stuck(); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// Underway is how many calls are under way on the connection.
func Underway(s *Source) int {
	s.mu.Lock()
	c := s.conn
	s.mu.Unlock()
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls)
}

// SetFirstRetry shortens the waits of KeepTrying.
func SetFirstRetry(s *Source, d time.Duration) { s.firstRetry = d }

// Retrying reports whether a try of KeepTrying is to come.
func Retrying(s *Source) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.retrying
}

// TestEnterWhileClosing ends a call that enters when a connection closes, whichever comes
// first.
func TestEnterWhileClosing(t *testing.T) {
	for range 200 {
		var modern atomic.Bool
		c := newConn(&modern)
		ctx, clock := newClock(t.Context(), 0, &c.asking)
		begun := make(chan struct{})
		go func() { defer close(begun); c.beginClose() }()
		leave, err := c.enter(ctx, clock)
		switch {
		case err == nil:
			<-ctx.Done()
			leave()
		case !errors.Is(err, context.Canceled):
			t.Fatalf("enter: %v, want Canceled", err)
		}
		<-begun
		clock.stop()
		if len(c.calls) != 0 || len(c.slots) != 0 {
			t.Fatalf("%d calls and %d slots are left", len(c.calls), len(c.slots))
		}
	}
}

func TestReason(t *testing.T) {
	for _, tt := range []struct{ name, lines, want string }{
		{"node", "node:internal/modules\n  throw err;\nError: Cannot find module '/x'\n    at Module._resolve\n  code: 'MODULE_NOT_FOUND',\n}\nNode.js v22.1.0", "Error: Cannot find module '/x'"},
		{"python", "Traceback (most recent call last):\n  File \"x\", line 1, in y\nKeyError: 'API_KEY'", "KeyError: 'API_KEY'"},
		{"go", "starting\npanic: boom\n\ngoroutine 1 [running]:", "panic: boom"},
		{"npm", "npm error code E404\nnpm error 404 Not Found - GET https://r/x\nnpm notice", "npm error 404 Not Found - GET https://r/x"},
		{"plain", "hello\nbye", "bye"},
		{"none", "", ""},
	} {
		var lines []string
		for l := range strings.SplitSeq(tt.lines, "\n") {
			if l = oneLine(l, tailChars); l != "" {
				lines = append(lines, l)
			}
		}
		if got := reason(lines); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestSignInURL(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"Please sign in: https://x.example/a?b=c.", "https://x.example/a?b=c"},
		{"Open this page to authorize:\nhttps://x.example/oauth", "https://x.example/oauth"},
		{"Listening on http://127.0.0.1:3000/login", ""},
		{"Docs: https://x.example/authorize", ""},
		{"hello", ""},
	} {
		if got := signInURL(strings.Split(tt.text, "\n")); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"a\n b\t\tc ", "a b c"},
		{"\x1b[31mred\x1b[0m \x1b]0;title\x07x", "red x"},
		{"a\u202eb\u200b\x00", "ab"},
		{"ééééééééééé", "éééééééééé…"},
	} {
		if got := oneLine(tt.in, 10); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}

// No number that a double cannot hold is taken for one that it can.
func TestLongNumbers(t *testing.T) {
	for text, want := range map[string]bool{
		`{"type":"object","maximum":12345678901234567890,"enum":[-0.25,"3 e","2026-07-28"]}`: false,
		`{"a":1e999}`:                                   true,
		`{"a":-1.5E+2}`:                                 true,
		`{"a":` + strings.Repeat("9", 310) + `}`:        true,
		`{"a":0.` + strings.Repeat("1", 310) + `}`:      true,
		`{"a":"` + strings.Repeat("1,", 310) + `"}`:     false,
		`[` + strings.Repeat("123456789,", 100) + `10]`: false,
	} {
		if got := longNumbers([]byte(text)); got != want {
			t.Errorf("%.40s: %t, want %t", text, got, want)
		}
		if reason := unreadableSchema(json.RawMessage(text)); !want && reason != "" {
			t.Errorf("%.40s %s", text, reason)
		}
	}
	for _, text := range []string{`{"a":1e999}`, `{"a":` + strings.Repeat("9", 310) + `}`} {
		if unreadableSchema(json.RawMessage(text)) == "" {
			t.Errorf("%.40s is taken for readable", text)
		}
	}
}

// FuzzTap reads what a server may send: whatever comes out is messages that the SDK can read.
func FuzzTap(f *testing.F) {
	for _, s := range []string{`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","annotations":1}]}}`, `[{}]`, `x`, `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"image","data":"-_"}]}}`,
		`{"jsonrpc":"2.0","id":2,"result":{"content":[1],"inputRequests":{},"isError":""}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var modern atomic.Bool
		tp := newTap(&modern)
		a, b := tp.open(nil), tp.open(nil)
		tp.outgoing([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":1}}}`))
		tp.outgoing([]byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":{"progressToken":2}}}`))
		check := newTap(&modern)
		for _, m := range tp.incoming(text) {
			if len(check.incoming(m)) != 1 {
				t.Errorf("%q became %q, which is no message", text, m)
			}
		}
		tp.release(a)
		l := &listing{}
		l.addPage("s", a.page, nil)
		if raw := tp.release(b); raw != nil {
			if out := cleanResult(raw); string(cleanResult(out)) != string(out) {
				t.Errorf("%q is cleaned to %q, and that again to %q", raw, out, cleanResult(out))
			}
		}
	})
}

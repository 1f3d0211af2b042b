package ui_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/ui"
)

// askingGuard is the guard of another process, which asks about every call on the page of
// the origin that it returns.
func askingGuard(t *testing.T, others ...guard.Approver) (*guard.Guard, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base := serveWith(t, &ui.Options{Questions: l})
	dial := func(ctx context.Context) []net.Conn {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
		if err != nil {
			return nil
		}
		return []net.Conn{conn}
	}
	g, err := guard.New(&guard.Options{Auditor: guard.NoAudit, Approver: guard.FirstAnswer(append(others, ui.Asker(dial))...)})
	if err != nil {
		t.Fatal(err)
	}
	return g, base
}

// call makes one call in the background. What it comes to is sent when it is over: nil is a
// call that was made.
func call(ctx context.Context, g *guard.Guard, tool string) <-chan error {
	done := make(chan error, 1)
	go func() {
		args, err := json.Marshal(map[string]string{"say": markup})
		if err != nil {
			done <- err
			return
		}
		req := guard.Request{Tool: bridge.Tool{Server: "files", Name: tool}, Arguments: args, Session: "one", Client: guard.Client{Name: "client " + markup}}
		made := false
		err = g.Invoke(ctx, req, func(context.Context, json.RawMessage) (guard.Report, error) {
			made = true
			return guard.Report{}, nil
		})
		if err == nil && !made {
			err = errors.New("no error, and no call")
		}
		done <- err
	}()
	return done
}

// button is the script expression of a button of the question about a tool.
func button(tool, word string) string {
	return `[...document.querySelectorAll('#asks article')].filter((a) => a.textContent.includes('files/` + tool + `')).flatMap((a) => [...a.querySelectorAll('button')]).find((b) => b.textContent.startsWith('` + word + `') && b.getAttribute('aria-disabled') !== 'true')`
}

// press focuses a button when it can be pressed, and presses Enter.
func press(t *testing.T, p *cdptest.Page, tool, word string) {
	t.Helper()
	await(t, p, "the button "+word, `(`+button(tool, word)+`) !== undefined`)
	p.Eval(t, button(tool, word)+`.focus()`)
	key(t, p, "Enter", "\r", 13)
}

// Questions of other processes are answered on the page, with the keyboard, and the guard
// that asked goes by the answer.
func TestQuestions(t *testing.T) {
	b := cdptest.Shared(t, false)
	elsewhere := make(chan guard.Answer)
	g, base := askingGuard(t, guard.ApproverFunc(func(ctx context.Context, q guard.Question) (guard.Answer, error) {
		select {
		case a := <-elsewhere:
			return a, nil
		case <-ctx.Done():
			return guard.AnswerNo, ctx.Err()
		}
	}))
	p := b.NewPage(t, base+"/#token=right")
	await(t, p, "the stream", `document.getElementById('live').textContent === 'live' && document.getElementById('no-asks').textContent.startsWith('No question.')`)

	once := call(t.Context(), g, "once")
	await(t, p, "the question", `document.querySelectorAll('#asks article').length === 1 && document.title === '(1) aster' && document.getElementById('no-asks').hidden`)
	text := p.EvalString(t, `document.querySelector('#asks pre').textContent`)
	for _, want := range []string{"client " + shown + " wants to call files/once", "  say: \"" + shown + "\"", "Asked because:"} {
		if !strings.Contains(text, want) {
			t.Errorf("the question lacks %q: %s", want, text)
		}
	}
	if words := p.EvalString(t, `[...document.querySelectorAll('#asks button')].map((b) => b.textContent).join()`); words != "Refuse,Allow this once,Allow for this session" {
		t.Errorf("the answers are %s", words)
	}
	if got := string(p.Eval(t, `document.querySelectorAll('#asks img, #asks script').length`)); got != "0" {
		t.Error("words of a question came to be markup")
	}
	await(t, p, "the button", `(`+button("once", "Refuse")+`) !== undefined`)
	p.Eval(t, button("once", "Refuse")+`.click()`) // which no person did
	press(t, p, "once", "Allow this once")
	if err := <-once; err != nil {
		t.Errorf("a call that was allowed: %v", err)
	}
	await(t, p, "the end of the question", `document.querySelectorAll('#asks article').length === 0 && document.title === 'aster' && document.activeElement.id === 'asks-title' && document.getElementById('told').textContent === 'Your answer: Allow this once.'`)

	// Several wait at once, each for its own answer.
	no, session := call(t.Context(), g, "no"), call(t.Context(), g, "session")
	press(t, p, "session", "Allow for this session")
	if err := <-session; err != nil {
		t.Errorf("a call that was allowed for the session: %v", err)
	}
	if err := <-call(t.Context(), g, "session"); err != nil {
		t.Errorf("the next call of the session: %v", err)
	}
	press(t, p, "no", "Refuse")
	if err := <-no; !errors.Is(err, bridge.ErrDenied) || !strings.Contains(err.Error(), "the user refused it") {
		t.Errorf("a call that was refused: %v", err)
	}

	// What is answered elsewhere, or needs no answer any more, goes.
	other := call(t.Context(), g, "other")
	await(t, p, "the question", `document.querySelectorAll('#asks article').length === 1`)
	elsewhere <- guard.AnswerOnce
	if err := <-other; err != nil {
		t.Errorf("a call that was allowed elsewhere: %v", err)
	}
	await(t, p, "the end of a question that was answered elsewhere", `document.querySelectorAll('#asks article').length === 0`)
	ctx, cancel := context.WithCancel(t.Context())
	gone := call(ctx, g, "gone")
	await(t, p, "the question", `document.querySelectorAll('#asks article').length === 1`)
	cancel()
	if err := <-gone; !errors.Is(err, bridge.ErrDenied) {
		t.Errorf("a call that was cancelled: %v", err)
	}
	await(t, p, "the end of a question whose call was cancelled", `document.querySelectorAll('#asks article').length === 0`)
}

// An answer counts once, for a question that waits; a word that it does not offer refuses.
func TestAnswers(t *testing.T) {
	g, base := askingGuard(t)
	client := newClient(t)
	answer := func(id, word string) int {
		t.Helper()
		body, err := json.Marshal(map[string]string{"id": id, "answer": word})
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), "POST", base+"/answer", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer right")
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	if code := answer("none", "once"); code != http.StatusGone {
		t.Errorf("an answer to no question: %d, want 410", code)
	}
	asked := call(t.Context(), g, "x")
	code, body := open(t, client, base)
	if code != 200 {
		t.Fatal(code)
	}
	var id string
	for dec := newEvents(body); id == ""; {
		var st struct{ Asks []struct{ ID string } }
		if err := dec(&st); err != nil {
			t.Fatal(err)
		}
		if len(st.Asks) > 0 {
			id = st.Asks[0].ID
		}
	}
	if code := answer(id, "always"); code != http.StatusNoContent {
		t.Errorf("the answer: %d, want 204", code)
	}
	if code := answer(id, "once"); code != http.StatusGone {
		t.Errorf("the second answer: %d, want 410", code)
	}
	if err := <-asked; !errors.Is(err, bridge.ErrDenied) {
		t.Errorf("always, which was not offered: %v, want a refusal", err)
	}
}

// Where no aster ui runs, or it leaves, the user cannot be asked there.
func TestNobodyToAsk(t *testing.T) {
	near, far := net.Pipe()
	go func() {
		far.Read(make([]byte, 1))
		far.Close()
	}()
	for name, conns := range map[string][]net.Conn{"none": nil, "one that leaves": {near}} {
		a := ui.Asker(func(context.Context) []net.Conn { return conns })
		if got, err := a.Approve(t.Context(), guard.Question{ID: "a/b"}); got != guard.AnswerNo || !errors.Is(err, guard.ErrNoWayToAsk) {
			t.Errorf("%s: %s, %v, want ErrNoWayToAsk", name, got, err)
		}
	}
}

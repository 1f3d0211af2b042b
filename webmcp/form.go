package webmcp

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/runtime"

	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/shim"
)

// A form without toolautosubmit waits for the user, and one that was submitted is
// answered by the document that comes next. Under native WebMCP the browser sees to the
// answer; under the shim we read it, as the browser would (measured in Chromium 156).

const (
	crossOriginAnswer = "Cannot return tool results after a cross-origin navigation"
	submittedAway     = "the form was submitted into another tab or window, where its answer cannot be read"
	submittedNowhere  = "the form was submitted, but no page came of it within %v: a download, or no answer of the server"
)

// waitingText says what a form that is filled in waits for.
func waitingText(button string) string {
	if button == "" {
		return "the form is filled in: waiting for the user to press its button"
	}
	return fmt.Sprintf("the form is filled in: waiting for the user to press %q", clip(oneLine(button, 200), 100))
}

// waitsForUser reports whether a call to the tool has the user send a form.
func waitsForUser(t *PageTool) bool {
	return t.Declarative && (t.Annotations == nil || !t.Annotations.Autosubmit)
}

// callOf finds a running call of the shim in a frame, with a.mu held.
func (a *attachment) callOf(f *cdp.Frame, id string) *call {
	if t := a.tabs[f.Session.Page()]; t != nil && t.docs[f] != nil {
		return t.docs[f].calls[id]
	}
	return nil
}

// shimWaiting tells the caller of a call that the user has to press a button now.
func (a *attachment) shimWaiting(f *cdp.Frame, m *shim.Waiting) {
	a.mu.Lock()
	c := a.callOf(f, m.ID)
	var tell progressFunc
	if c != nil {
		c.waiting = waitingText(m.Button)
		if w := a.watchers[c]; w != nil {
			tell = w.tell
		}
	}
	a.mu.Unlock()
	if tell != nil {
		tell(c.waiting)
	}
}

// tellWaiting tells what a call waits for already. Native WebMCP says nothing of it.
func (a *attachment) tellWaiting(c *call, tell progressFunc) {
	if tell == nil {
		return
	}
	a.mu.Lock()
	text := c.waiting
	if text == "" && c.tool.Native && waitsForUser(c.tool) {
		text = waitingText("")
	}
	a.mu.Unlock()
	if text != "" {
		tell(text)
	}
}

// submitted keeps a call alive until the form's target has its next document.
func (a *attachment) submitted(f *cdp.Frame, c *call, target string) {
	to := targetFrame(f, target)
	if to == nil {
		c.finish(outcome{kind: outcomeText, text: submittedAway})
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !c.ended {
		a.awaitAnswer(to, c)
	}
}

// awaitAnswer lets the next document of a frame answer a call, with a.mu held.
func (a *attachment) awaitAnswer(to *cdp.Frame, c *call) {
	c.waiting, c.submitted = "", to
	a.answers[to] = append(a.answers[to], c)
	if c.timer == nil {
		c.timer = time.AfterFunc(FormAnswerWait, func() {
			c.finish(outcome{kind: outcomeError, text: fmt.Sprintf(submittedNowhere, FormAnswerWait)})
		})
	}
}

// targetFrame is the frame that a form's target names, or nil for another tab.
func targetFrame(f *cdp.Frame, target string) *cdp.Frame {
	ancestors := f.Ancestors()
	switch target {
	case "", "_self":
		return f
	case "_parent":
		if len(ancestors) > 0 {
			return ancestors[0]
		}
		return f
	case "_top":
		if len(ancestors) > 0 {
			return ancestors[len(ancestors)-1]
		}
		return f
	}
	for _, other := range f.Session.Frames() {
		if other.Name == target {
			return other
		}
	}
	return nil
}

// dropAnswer forgets that a call waits for a document, with a.mu held.
func (a *attachment) dropAnswer(c *call) {
	if c.submitted == nil {
		return
	}
	list := a.answers[c.submitted]
	for i, other := range list {
		if other == c {
			list = append(list[:i:i], list[i+1:]...)
			break
		}
	}
	if len(list) == 0 {
		delete(a.answers, c.submitted)
	} else {
		a.answers[c.submitted] = list
	}
	c.submitted = nil
}

// answerScript collects what a document says for a form that led to it, once it is parsed.
const answerScript = `(async () => {
  if (document.readyState === 'loading') await new Promise((done) => document.addEventListener('DOMContentLoaded', done, {once: true}));
  const found = [];
  for (const s of document.querySelectorAll('script[type="application/ld+json" i]')) {
    try {
      found.push(JSON.parse(s.textContent));
    } catch {}
  }
  return JSON.stringify(found);
})()`

// readAnswer gives the calls that wait for a frame's new document what it says. On the
// reading goroutine.
func (a *attachment) readAnswer(f *cdp.Frame) {
	a.mu.Lock()
	list := append([]*call(nil), a.answers[f]...)
	a.mu.Unlock()
	if len(list) == 0 {
		return
	}
	origin := f.Origin
	var same []*call
	for _, c := range list {
		if origin == c.doc.origin && origin != "null" {
			same = append(same, c)
		} else {
			c.finish(outcome{kind: outcomeError, text: crossOriginAnswer})
		}
	}
	if len(same) == 0 {
		return
	}
	a.inWorld(f, answerScript, func(r runtime.EvaluateResult, err error) {
		var text string
		if err != nil || r.Result == nil || r.ExceptionDetails != nil || json.Unmarshal(r.Result.Value, &text) != nil {
			return // the timer ends the calls
		}
		o := outcome{kind: outcomeOutput, output: json.RawMessage(text)}
		if len(text) > shim.MaxMessageBytes || !json.Valid(o.output) {
			o = outcome{kind: outcomeError, text: fmt.Sprintf("the result is larger than %d bytes", shim.MaxMessageBytes)}
		}
		for _, c := range same {
			c.finish(o)
		}
	})
}

// endAnswers ends the calls that wait for a frame that is gone for good, with a.mu held.
func (a *attachment) endAnswers(f *cdp.Frame, why cdp.Reason) (ended []*call) {
	if why.Kind == cdp.Navigated || why.Kind == cdp.Reloaded {
		return nil
	}
	return append(ended, a.answers[f]...)
}

// pokeForms lets the shim of a window that is used again see its new document: it runs
// at the start of the window, not of the document.
func (a *attachment) pokeForms(f *cdp.Frame) {
	if !touchable(f) || !a.inScope(f) {
		return
	}
	cdp.Post(f.Session, runtime.Evaluate, runtime.EvaluateParams{Expression: "void document.modelContext", ContextID: f.Context}, nil)
}

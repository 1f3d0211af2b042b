package webmcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aster-mcp/aster/cdp"
)

const (
	// MaxCalls is the number of calls that may run at a time in all tabs.
	MaxCalls = 1_024
	// FormAnswerWait bounds the wait for the answer of a form that navigated: the new
	// document gives it, except after a download or into another tab, when none comes.
	FormAnswerWait = 30 * time.Second
	// ReloadWait bounds the wait of a call for a page that is being reloaded.
	ReloadWait = MaxStale

	maxTitle = 64 << 10
)

// ErrPageGone is the error of a call whose document is no longer there.
var ErrPageGone = errors.New("the page that offered the tool is gone")

// call is one run of a page tool.
type call struct {
	id   string
	tool *PageTool
	doc  *document
	done chan outcome // holds one; the first outcome wins

	// Guarded by the attachment's lock.
	invocation string // native: the browser's name for the run
	ended      bool
	timer      *time.Timer
	waiting    string     // what a form waits for, in words
	submitted  *cdp.Frame // whose next document answers a form of the shim
}

type outcomeKind int

const (
	outcomeOutput   outcomeKind = iota // the page answered, in JSON
	outcomeText                        // the page answered, in the text that native WebMCP would give
	outcomeError                       // the tool threw, or its form was refused
	outcomeCanceled                    // the page, or another client, cancelled the run
	outcomeNotFound                    // the tool was unregistered before it started
	outcomeRefused                     // the browser refused to start it
	outcomeGone                        // the document went away without an answer
)

// outcome is how a call ended.
type outcome struct {
	kind   outcomeKind
	output json.RawMessage
	text   string
}

// finish ends a call; a second outcome is dropped.
func (c *call) finish(o outcome) {
	select {
	case c.done <- o:
	default:
	}
}

// awaitNextDocument keeps a form's call alive over one navigation, with a.mu held.
func (c *call) awaitNextDocument(why cdp.Reason) {
	if c.timer == nil {
		c.timer = time.AfterFunc(FormAnswerWait, func() { c.finish(outcome{kind: outcomeGone, text: why.String()}) })
	}
}

// add puts a tool into a document, with the attachment's lock held; false when a
// bound is reached.
func (d *document) add(t *PageTool) bool {
	if len(d.tools) >= MaxDocumentTools && d.tools[t.PageName] == nil {
		d.dropped++
		return false
	}
	t.doc = d
	t.InputSchema, t.SchemaNote = normalizeSchema(t.rawSchema)
	var note string
	if t.OutputSchema, note = normalizeOutput(t.rawOutput); note != "" {
		t.SchemaNote = joinNotes(t.SchemaNote, note)
	}
	t.Origin, t.URL, t.TabID = d.origin, d.url, d.tab.id
	t.FrameID, t.Main = d.frameID, d.main
	t.key = toolKey{Target: d.tab.id, Origin: d.origin, Path: d.path, Frame: d.frame, Name: t.PageName}
	d.tools[t.PageName] = t
	return true
}

// withTitle is a copy of a tool under another title.
func (t *PageTool) withTitle(title string) *PageTool {
	return &PageTool{
		PageName: t.PageName, Title: title, Description: t.Description,
		InputSchema: t.InputSchema, SchemaNote: t.SchemaNote, OutputSchema: t.OutputSchema, Annotations: t.Annotations,
		Origin: t.Origin, URL: t.URL, TabID: t.TabID, FrameID: t.FrameID, Main: t.Main,
		Native: t.Native, Declarative: t.Declarative,
		key: t.key, doc: t.doc, toolID: t.toolID, rawSchema: t.rawSchema, rawOutput: t.rawOutput,
	}
}

// start begins a call in the page; its outcome comes on the call's channel.
func (a *attachment) start(t *PageTool, args json.RawMessage) (*call, error) {
	d := t.doc
	c := &call{tool: t, doc: d, done: make(chan outcome, 1)}
	a.mu.Lock()
	live := d.tools[t.PageName]
	switch {
	case d.gone:
		a.mu.Unlock()
		return nil, ErrPageGone
	case live == nil:
		a.mu.Unlock()
		return nil, fmt.Errorf("the page has taken the tool %q back", t.PageName)
	case len(d.calls) >= MaxDocumentCalls:
		a.mu.Unlock()
		return nil, fmt.Errorf("%d calls are running in this page already: wait for some to end", MaxDocumentCalls)
	}
	a.seq++
	c.id = strconv.FormatInt(a.seq, 36)
	c.tool = live
	d.calls[c.id] = c
	a.mu.Unlock()
	if live.Native {
		a.invokeNative(c, args)
		return c, nil
	}
	d.callAPI("invoke", func(err error) {
		if err != nil {
			c.finish(outcome{kind: outcomeRefused, text: err.Error()})
		}
	}, c.id, live.PageName, string(args))
	return c, nil
}

// end forgets a call, whatever became of it.
func (a *attachment) end(c *call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c.ended = true
	delete(c.doc.calls, c.id)
	a.dropAnswer(c)
	if c.timer != nil {
		c.timer.Stop()
	}
	if c.invocation != "" {
		delete(a.calls, c.invocation)
	}
}

// cancel aborts a call in the page. It does not wait.
func (a *attachment) cancel(c *call) {
	if c.tool.Native {
		a.mu.Lock()
		c.ended = true
		a.mu.Unlock()
		a.cancelNative(c)
		return
	}
	a.mu.Lock()
	gone := c.doc.gone
	a.mu.Unlock()
	if !gone {
		c.doc.callAPI("cancel", nil, c.id)
	}
}

// progressFunc tells the caller of a running call something; it does not wait for the client.
type progressFunc func(message string)

// run starts a call and waits for its end, for timeout at most.
func (a *attachment) run(ctx context.Context, t *PageTool, args json.RawMessage, timeout time.Duration, tell progressFunc) (outcome, error) {
	c, err := a.start(t, args)
	if err != nil {
		return outcome{}, err
	}
	defer a.end(c)
	unwatch := a.watchDialogs(c, tell)
	defer unwatch()
	a.tellWaiting(c, tell)
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case o := <-c.done:
		return o, nil
	case <-ctx.Done():
		a.cancel(c)
		return outcome{}, ctx.Err()
	case <-timer.C:
		text := a.timeoutText(c, timeout)
		a.cancel(c)
		return outcome{}, errors.New(text)
	}
}

// timeoutText says why a call may have had no answer, and what that means.
func (a *attachment) timeoutText(c *call, timeout time.Duration) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "no answer within %v; the run was cancelled in the page, but its outcome is unknown and it was not retried", timeout)
	t := c.doc.tab
	switch {
	case t.dialog != nil:
		fmt.Fprintf(&b, ". The page shows a dialog (%s, %q) that the user has to answer", t.dialog.kind, clip(t.dialog.message, 200))
	case c.submitted != nil:
		b.WriteString(". The form was submitted, but no page came of it")
	case waitsForUser(c.tool):
		b.WriteString(". The form is filled in and waits for the user to send it")
	}
	return b.String()
}

// clip cuts text that is shown to at most n characters, with a mark.
func clip(s string, n int) string {
	i := 0
	for pos := range s {
		if i++; i > n {
			return s[:pos] + "…"
		}
	}
	return s
}

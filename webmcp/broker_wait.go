package webmcp

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/runtime"

	"github.com/aster-mcp/aster/shim"
)

// pathWait bounds the wait for a frame to say where it is, and for its ruling. One that hangs
// holds up only those that ask for its tools; one that is slow, on a busy machine, must not be
// left out.
const pathWait = 10 * time.Second

// release runs what waited for the document's ruling.
func (p *party) release() {
	waiting := p.waiting
	p.waiting = nil
	for _, f := range waiting {
		f()
	}
}

// whenJudged runs then when the documents of these origins in p's page have their rulings,
// or pathWait later: a frame may ask for the tools of one that it knows to be there before
// we know whether that may have any.
func (a *attachment) whenJudged(p *party, origins []string, then func()) {
	var unjudged []*party
	for _, q := range a.broker.parties {
		if q != p && !q.judged && q.session.Page() == p.session.Page() && slices.Contains(origins, q.origin) && len(q.waiting) < maxHeldMessages {
			unjudged = append(unjudged, q)
		}
	}
	open := len(unjudged)
	if open == 0 {
		then()
		return
	}
	finish := a.once(then)
	for _, q := range unjudged {
		q.waiting = append(q.waiting, func() {
			if open--; open == 0 {
				finish()
			}
		})
	}
}

// once makes a func that runs then the first time that it is called. If it is not within
// pathWait then runs after that. Both are on the reading goroutine.
func (a *attachment) once(then func()) (finish func()) {
	var late *time.Timer
	finish = func() {
		if f := then; f != nil {
			then = nil
			late.Stop()
			f()
		}
	}
	// A command to the browser brings us back to the reading goroutine.
	late = time.AfterFunc(pathWait, func() {
		a.browser.Root().Post("Browser.getVersion", nil, func(_ jsonv2.Value, err error) {
			if err == nil {
				finish()
			}
		})
	})
	return finish
}

// locate finds out where frames are in their page, and tells then once, before long.
// Those that are gone by then, or do not answer, are left out.
func (a *attachment) locate(frames []*party, then func(map[*party]string)) {
	paths := map[*party]string{}
	open := len(frames)
	if open == 0 {
		then(paths)
		return
	}
	finish := a.once(func() { then(paths) })
	for _, q := range frames {
		a.inWorld(q.frame, shim.FramePath, func(r runtime.EvaluateResult, err error) {
			var path string
			if err == nil && r.ExceptionDetails == nil && r.Result != nil && json.Unmarshal(r.Result.Value, &path) == nil && !q.gone {
				paths[q] = path
			}
			if open--; open == 0 {
				finish()
			}
		})
	}
}

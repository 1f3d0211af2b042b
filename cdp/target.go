package cdp

import (
	"context"
	"fmt"
	"strings"

	cdpproto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
)

// Handler is told what happens in a browser, always on its reading goroutine and in
// the order of the wire. Its methods must not block and must not use [Session.Call].
// A panic in one is logged and costs that event only.
type Handler interface {
	// Attached: a page or an out-of-process frame is attached. What is posted here
	// goes out before the target's contexts are reported and before a new target,
	// which the browser holds until then, runs its first script.
	Attached(s *Session)
	// Enabled: as Attached, but what is posted here goes out after the target's contexts
	// are reported, so that its answers meet frames whose origin is known.
	Enabled(s *Session)
	// Detached: the session ended, its frames have been reported gone.
	Detached(s *Session, why Reason)
	// TargetInfo: a page has a new title or address. s is nil for a page that is not attached.
	TargetInfo(s *Session, info *target.Info)
	// DocumentGone: the frame's document is no longer there. It may be told more than
	// once for one document. f is removed after it where the frame itself is gone.
	DocumentGone(f *Frame, why Reason)
	// FrameNavigated: a new document is in the frame, before its first script ran;
	// restored means that it came out of the back/forward cache and has run long ago.
	FrameNavigated(f *Frame, restored bool)
	// ContextCreated: the frame has a main-world execution context. existing means
	// that its document was there before we attached, or came out of the cache.
	ContextCreated(f *Frame, existing bool)
	// Event: any event of a session, after the ones above that it led to.
	Event(s *Session, method string, params jsonv2.Value)
}

// Reason says why a document or session ended.
type Reason struct {
	Kind ReasonKind
	URL  string // where a navigation goes, as far as the browser has said; may be empty
}

// ReasonKind is the kind of a [Reason].
type ReasonKind int

// The reasons for which a document or a session ends.
const (
	Navigated    ReasonKind = iota // the frame went to another document
	Reloaded                       // the frame loads the same document again
	FrameRemoved                   // the page took the frame out
	TargetClosed                   // the tab, or the frame's process, went away
	Crashed                        // the renderer crashed
	Disconnected                   // the connection to the browser ended
)

// String is the reason in words, for messages to users.
func (r Reason) String() string {
	switch r.Kind {
	case Reloaded:
		return "the page was reloaded"
	case FrameRemoved:
		return "the frame was removed from the page"
	case TargetClosed:
		return "the tab was closed"
	case Crashed:
		return "the tab's renderer crashed"
	case Disconnected:
		return "the connection to the browser was lost"
	}
	if r.URL == "" {
		return "the page navigated away"
	}
	return "the page navigated to " + r.URL
}

type nopHandler struct{}

func (nopHandler) Attached(*Session)                    {}
func (nopHandler) Enabled(*Session)                     {}
func (nopHandler) Detached(*Session, Reason)            {}
func (nopHandler) TargetInfo(*Session, *target.Info)    {}
func (nopHandler) DocumentGone(*Frame, Reason)          {}
func (nopHandler) FrameNavigated(*Frame, bool)          {}
func (nopHandler) ContextCreated(*Frame, bool)          {}
func (nopHandler) Event(*Session, string, jsonv2.Value) {}

// targets is the reading goroutine's view of the browser.
type targets struct {
	sessions map[target.SessionID]*Session
	pages    map[target.ID]*Session // attached pages
	left     map[target.ID]bool     // pages that we leave alone, by their address
}

func (t *targets) init() {
	t.sessions, t.pages, t.left = map[target.SessionID]*Session{}, map[target.ID]*Session{}, map[target.ID]bool{}
}

func pageFilter() target.Filter  { return target.Filter{{Type: "page"}} }
func frameFilter() target.Filter { return target.Filter{{Type: "iframe"}} }

// Attach attaches to every page of the browser, now and from now on, and to their
// out-of-process frames. Workers, extension pages and DevTools windows are left
// alone. It returns when the browser has taken the order; no tab is waited for.
func (b *Browser) Attach(ctx context.Context) error {
	flatten := true
	if _, err := cdpproto.Call(ctx, b.root, target.SetDiscoverTargets, target.SetDiscoverTargetsParams{Discover: true, Filter: pageFilter()}); err != nil {
		return err
	}
	_, err := cdpproto.Call(ctx, b.root, target.SetAutoAttach, target.SetAutoAttachParams{
		AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: &flatten, Filter: pageFilter(),
	})
	return err
}

// leaveAlone reports whether a page is none of ours by its address.
func leaveAlone(info *target.Info) bool {
	scheme, _, _ := strings.Cut(info.URL, ":")
	return scheme == "devtools" || scheme == "chrome-extension" || scheme == "chrome-untrusted"
}

// event dispatches one event of the wire.
func (b *Browser) event(id target.SessionID, method string, params jsonv2.Value) {
	defer func() {
		if r := recover(); r != nil {
			b.log.Error("event handler panicked", "method", method, "panic", fmt.Sprint(r))
		}
	}()
	s := b.root
	if id != "" {
		if s = b.targets.sessions[id]; s == nil {
			return // a session that we have left
		}
	}
	b.track(s, method, params)
	s.publish(method, params)
	if s != b.root {
		b.handler.Event(s, method, params)
	}
}

// on decodes an event and handles it; one that does not decode is logged.
func on[E any](b *Browser, raw jsonv2.Value, f func(*E)) {
	ev := new(E)
	if err := decode(raw, ev); err != nil {
		b.log.Warn("event not understood", "type", fmt.Sprintf("%T", ev), "err", err)
		return
	}
	f(ev)
}

// track keeps targets, frames and contexts in step with the browser.
func (b *Browser) track(s *Session, method string, params jsonv2.Value) {
	switch method {
	case target.AttachedToTarget.Method:
		on(b, params, func(e *target.EventAttachedToTarget) { b.attached(s, e) })
	case target.DetachedFromTarget.Method:
		on(b, params, func(e *target.EventDetachedFromTarget) {
			b.detach(b.targets.sessions[e.SessionID], Reason{Kind: TargetClosed})
		})
	case target.TargetCreated.Method:
		on(b, params, func(e *target.EventTargetCreated) { b.targetInfo(e.TargetInfo) })
	case target.TargetInfoChanged.Method:
		on(b, params, func(e *target.EventTargetInfoChanged) { b.targetInfo(e.TargetInfo) })
	case target.TargetDestroyed.Method:
		on(b, params, func(e *target.EventTargetDestroyed) { delete(b.targets.left, e.TargetID) })
	case inspector.TargetCrashed.Method:
		s.documentsGone(Reason{Kind: Crashed})
	case page.FrameAttached.Method:
		on(b, params, s.frameAttached)
	case page.FrameDetached.Method:
		on(b, params, s.frameDetached)
	case page.FrameStartedNavigating.Method:
		on(b, params, s.frameStartedNavigating)
	case page.FrameNavigated.Method:
		on(b, params, s.frameNavigated)
	case page.NavigatedWithinDocument.Method:
		on(b, params, s.navigatedWithinDocument)
	case runtime.ExecutionContextCreated.Method:
		on(b, params, s.contextCreated)
	case runtime.ExecutionContextDestroyed.Method:
		on(b, params, s.contextDestroyed)
	case runtime.ExecutionContextsCleared.Method:
		s.contextsCleared()
	}
}

func (b *Browser) targetInfo(info *target.Info) {
	if info == nil || info.Type != "page" {
		return
	}
	s := b.targets.pages[info.TargetID]
	if s != nil {
		s.info = *info
	} else if b.targets.left[info.TargetID] && !leaveAlone(info) {
		delete(b.targets.left, info.TargetID)
		flatten := true
		Post(b.root, target.AttachToTarget, target.AttachToTargetParams{TargetID: info.TargetID, Flatten: &flatten}, nil)
	}
	b.handler.TargetInfo(s, info)
}

// attached sets a new session up. Nothing is waited for: the commands are queued in
// order, and a target that the browser holds is let go after them on every path.
func (b *Browser) attached(parent *Session, e *target.EventAttachedToTarget) {
	if b.targets.sessions[e.SessionID] != nil {
		return // told twice; a detach would end the one that is there
	}
	s := &Session{b: b, id: e.SessionID, info: *e.TargetInfo, held: e.WaitingForDebugger}
	if parent != b.root {
		s.parent = parent
	}
	// Deferred, so that a panicking handler does not keep the user's tab waiting.
	defer func() {
		if s.held {
			Post(s, runtime.RunIfWaitingForDebugger, cdpproto.Empty{}, nil)
		}
		if b.targets.sessions[s.id] != s {
			Post(b.root, target.DetachFromTarget, target.DetachFromTargetParams{SessionID: s.id}, nil)
		}
	}()
	if kind := s.info.Type; (kind != "page" && kind != "iframe") || leaveAlone(&s.info) || b.targets.pages[s.info.TargetID] != nil {
		if kind == "page" && leaveAlone(&s.info) {
			b.targets.left[s.info.TargetID] = true
		}
		return
	}
	b.targets.sessions[s.id] = s
	if s.parent == nil {
		b.targets.pages[s.info.TargetID] = s
	}
	s.frames.init()
	if p := s.parent; p != nil && !p.answered && !s.held {
		// What a frame is part of decides whether it is left alone: first the page's
		// frames, then this one. A new frame cannot wait; its page's address must do.
		p.children = append(p.children, s.enable)
		return
	}
	s.enable()
}

// enable queues the commands that every session starts with.
func (s *Session) enable() {
	if s.b.targets.sessions[s.id] != s {
		return // gone while it waited for its page
	}
	flatten := true
	Post(s, page.Enable, page.EnableParams{}, nil)
	Post(s, target.SetAutoAttach, target.SetAutoAttachParams{AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: &flatten, Filter: frameFilter()}, nil)
	s.readFrameTree(func() {
		s.answered = true
		for _, child := range s.children {
			child()
		}
		s.children = nil
	})
	s.b.handler.Attached(s)
	s.frames.enabling = !s.held
	Post(s, runtime.Enable, cdpproto.Empty{}, func(cdpproto.Empty, error) { s.frames.enabling = false })
	s.b.handler.Enabled(s)
}

// detach ends a session and those of the frames in it.
func (b *Browser) detach(s *Session, why Reason) {
	if s == nil || b.targets.sessions[s.id] != s {
		return
	}
	for _, child := range b.targets.sessions {
		if child.parent == s {
			b.detach(child, why)
		}
	}
	delete(b.targets.sessions, s.id)
	if b.targets.pages[s.info.TargetID] == s {
		delete(b.targets.pages, s.info.TargetID)
	}
	s.documentsGone(why)
	b.failPending(func(p pending) bool { return p.session == s.id }, ErrDetached)
	s.end()
	b.handler.Detached(s, why)
}

// detachAll ends every session when the connection ends.
func (b *Browser) detachAll() {
	for len(b.targets.sessions) > 0 {
		for _, s := range b.targets.sessions {
			b.detach(s, Reason{Kind: Disconnected})
			break
		}
	}
	b.root.end()
}

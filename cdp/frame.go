package cdp

import (
	"net/url"
	"slices"
	"strings"

	cdpproto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// MaxFrames is the number of frames that a session keeps track of; frames beyond it
// are unknown to us, and so are their tools.
const MaxFrames = 10_000

// Frame is one frame of a session. Its fields belong to the reading goroutine: read
// them in a [Handler] or a Post callback only.
type Frame struct {
	ID      cdpproto.FrameID
	Parent  *Frame // in the same session; nil for the session's root frame
	Session *Session
	// URL is the document's address without fragment, Origin its serialised origin
	// as the browser states it ("https://host", "file://", "null" when opaque).
	// A frame that never left its initial about:blank has its parent's origin.
	URL, Origin string
	Name        string // the frame's name attribute
	LoaderID    cdpproto.LoaderID
	// Context is the main-world execution context, 0 when there is none.
	Context runtime.ExecutionContextID
	// ContextUID is the same as a browser-wide identifier, "" when there is none.
	ContextUID string

	pending string // URL that a navigation has started to, "" when none is under way
	reload  bool   // that navigation is a reload
}

// Main reports whether f is the top frame of its tab.
func (f *Frame) Main() bool { return f.Session.parent == nil && f.Session.frames.root == f }

// Ancestors lists the frames above f, nearest first, across processes where the
// browser has told which frame holds which.
func (f *Frame) Ancestors() []*Frame {
	var up []*Frame
	for range MaxFrames {
		if f = f.above(); f == nil {
			break
		}
		up = append(up, f)
	}
	return up
}

func (f *Frame) above() *Frame {
	if f.Parent != nil {
		return f.Parent
	}
	p := f.Session.parent
	if p == nil {
		return nil
	}
	if holder := p.frames.byID[f.Session.info.ParentFrameID]; holder != nil {
		return holder
	}
	if p.frames.root != nil {
		return p.frames.root
	}
	return p.unknownRoot()
}

// unknownRoot stands for the top frame of a page that has not told its frames yet.
func (s *Session) unknownRoot() *Frame {
	f := &Frame{Session: s, URL: s.info.URL, Origin: "null"}
	if u, err := url.Parse(s.info.URL); err == nil && u.Scheme != "" && (u.Host != "" || u.Scheme == "file") {
		f.Origin = u.Scheme + "://" + u.Host
	}
	return f
}

// frames is the frame tree of one session.
type frames struct {
	byID      map[cdpproto.FrameID]*Frame
	byContext map[runtime.ExecutionContextID]*Frame
	root      *Frame
	enabling  bool // contexts reported now were there before us
}

func (fs *frames) init() {
	fs.byID, fs.byContext = map[cdpproto.FrameID]*Frame{}, map[runtime.ExecutionContextID]*Frame{}
}

// Frame finds a frame by its ID; nil when the session has none such.
func (s *Session) Frame(id cdpproto.FrameID) *Frame { return s.frames.byID[id] }

// FrameOf finds the frame of a main-world execution context; nil when there is none.
func (s *Session) FrameOf(id runtime.ExecutionContextID) *Frame { return s.frames.byContext[id] }

// RootFrame is the top frame of the session; nil until the browser has told it.
func (s *Session) RootFrame() *Frame { return s.frames.root }

// Frames lists the session's frames, parents first, in no other promised order.
func (s *Session) Frames() []*Frame {
	all := make([]*Frame, 0, len(s.frames.byID))
	for _, f := range s.frames.byID {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *Frame) int {
		if d := a.depth() - b.depth(); d != 0 {
			return d
		}
		return strings.Compare(string(a.ID), string(b.ID))
	})
	return all
}

func (f *Frame) depth() (n int) {
	for ; f.Parent != nil; f = f.Parent {
		n++
	}
	return n
}

// frame finds a frame or makes one; nil when the session has too many.
func (s *Session) frame(id, parent cdpproto.FrameID) *Frame {
	f := s.frames.byID[id]
	if f == nil {
		if len(s.frames.byID) >= MaxFrames {
			return nil
		}
		f = &Frame{ID: id, Session: s}
		s.frames.byID[id] = f
	}
	if p := s.frames.byID[parent]; p != nil && p != f {
		f.Parent = p
		if f.Origin == "" {
			f.Origin = p.Origin
		}
	} else if f.Parent == nil && (s.frames.root == nil || parent == "") {
		s.frames.root = f
	}
	return f
}

// readFrameTree asks for the frames that are there already; then runs after they are known.
func (s *Session) readFrameTree(then func()) {
	Post(s, page.GetFrameTree, cdpproto.Empty{}, func(r page.GetFrameTreeResult, err error) {
		if err == nil {
			s.addTree(r.FrameTree)
			then()
		}
	})
}

func (s *Session) addTree(t *page.FrameTree) {
	if t == nil || t.Frame == nil {
		return
	}
	if f := s.frame(t.Frame.ID, t.Frame.ParentID); f != nil {
		f.describe(t.Frame)
	}
	for _, c := range t.ChildFrames {
		s.addTree(c)
	}
}

func (f *Frame) describe(d *cdpproto.Frame) {
	f.URL, f.Name, f.LoaderID = d.URL, d.Name, d.LoaderID
	if f.Context != 0 {
		return // which has told the true origin
	}
	switch origin := d.SecurityOrigin; {
	case d.URL == "about:blank" && f.Parent != nil, d.URL == "about:srcdoc" && f.Parent != nil && origin != "://":
		// The browser reports these as opaque, although they inherit their parent's origin.
		if f.Origin == "" || f.URL == "about:srcdoc" {
			f.Origin = f.Parent.Origin
		}
	case origin == "" || origin == "://":
		f.Origin = "null"
	default:
		f.Origin = origin
	}
}

func (s *Session) frameAttached(e *page.EventFrameAttached) { s.frame(e.FrameID, e.ParentFrameID) }

func (s *Session) frameDetached(e *page.EventFrameDetached) {
	f := s.frames.byID[e.FrameID]
	if f == nil {
		return
	}
	why := Reason{Kind: FrameRemoved}
	if e.Reason == page.FrameDetachedReasonSwap { // goes on in another process
		why = Reason{Kind: Navigated, URL: f.pending}
	}
	s.removeFrame(f, why)
}

// removeFrame forgets a frame and those in it.
func (s *Session) removeFrame(f *Frame, why Reason) {
	for _, c := range s.Frames() {
		if c.Parent == f {
			s.removeFrame(c, why)
		}
	}
	s.documentGone(f, why)
	delete(s.frames.byID, f.ID)
	if s.frames.root == f {
		s.frames.root = nil
	}
}

func (s *Session) frameStartedNavigating(e *page.EventFrameStartedNavigating) {
	f := s.frames.byID[e.FrameID]
	if f == nil || strings.Contains(string(e.NavigationType), "ameDocument") {
		return
	}
	f.pending, f.reload = e.URL, strings.HasPrefix(string(e.NavigationType), "reload")
}

func (s *Session) frameNavigated(e *page.EventFrameNavigated) {
	if e.Frame == nil {
		return
	}
	f := s.frame(e.Frame.ID, e.Frame.ParentID)
	if f == nil {
		return
	}
	restored := e.Type == page.NavigationTypeBackForwardCacheRestore
	if !restored {
		// The old document's contexts are gone by now, except where a Window is
		// reused: from an initial about:blank to a document of the same origin.
		s.handleGone(f, Reason{Kind: Navigated, URL: e.Frame.URL})
	}
	if e.Frame.ParentID == "" && s.frames.root != f { // prerender activation: another main frame
		if old := s.frames.root; old != nil {
			s.removeFrame(old, Reason{Kind: Navigated, URL: e.Frame.URL})
		}
		s.frames.root = f
	}
	f.pending, f.reload = "", false
	f.describe(e.Frame)
	s.b.handler.FrameNavigated(f, restored)
	if restored {
		s.readFrameTree(s.reportContexts)
	}
}

// reportContexts tells the handler of documents out of the back/forward cache: their
// contexts were reported before the page's frames were known.
func (s *Session) reportContexts() {
	for _, f := range s.Frames() {
		if f.Context != 0 {
			s.b.handler.ContextCreated(f, true)
		}
	}
}

func (s *Session) navigatedWithinDocument(e *page.EventNavigatedWithinDocument) {
	if f := s.frames.byID[e.FrameID]; f != nil {
		f.URL, _, _ = strings.Cut(e.URL, "#")
	}
}

// auxData is what Blink says of an execution context.
type auxData struct {
	IsDefault bool             `json:"isDefault"`
	FrameID   cdpproto.FrameID `json:"frameId"`
}

func (s *Session) contextCreated(e *runtime.EventExecutionContextCreated) {
	var aux auxData
	if e.Context == nil || decode(e.Context.AuxData, &aux) != nil || !aux.IsDefault || aux.FrameID == "" {
		return
	}
	f := s.frames.byID[aux.FrameID]
	if f == nil {
		if f = s.frame(aux.FrameID, "?"); f == nil {
			return
		}
	}
	if f.Context != 0 {
		delete(s.frames.byContext, f.Context)
	}
	f.Context, f.ContextUID = e.Context.ID, e.Context.UniqueID
	// The context has the document's true origin; what the frame has is made of its URL,
	// which for about:srcdoc and sandboxed frames is another (measured in Chromium 156).
	switch o := e.Context.Origin; o {
	case "", "://":
		f.Origin = "null"
	default:
		f.Origin = o
	}
	s.frames.byContext[f.Context] = f
	s.b.handler.ContextCreated(f, s.frames.enabling)
}

func (s *Session) contextDestroyed(e *runtime.EventExecutionContextDestroyed) {
	for _, f := range s.frames.byContext {
		if f.ContextUID == e.ExecutionContextUniqueID {
			s.documentGone(f, f.leaving())
			return
		}
	}
}

// contextsCleared comes when the session's whole page goes: its frames go with it.
func (s *Session) contextsCleared() {
	root := s.frames.root
	why := Reason{Kind: Navigated}
	if root != nil {
		why = root.leaving()
	}
	for _, f := range s.Frames() {
		if f.Parent == root && root != nil {
			s.removeFrame(f, why)
		} else {
			s.documentGone(f, why)
		}
	}
}

func (f *Frame) leaving() Reason {
	switch {
	case f.reload:
		return Reason{Kind: Reloaded, URL: f.pending}
	case f.pending == "" && f.Parent != nil:
		return Reason{Kind: FrameRemoved}
	}
	return Reason{Kind: Navigated, URL: f.pending}
}

// documentGone tells the handler that a frame's document ended, and drops its context.
func (s *Session) documentGone(f *Frame, why Reason) {
	delete(s.frames.byContext, f.Context)
	f.Context, f.ContextUID = 0, ""
	s.handleGone(f, why)
}

// handleGone tells the handler, but keeps the context: a reused Window goes on.
func (s *Session) handleGone(f *Frame, why Reason) { s.b.handler.DocumentGone(f, why) }

// documentsGone ends all documents of a session.
func (s *Session) documentsGone(why Reason) {
	for _, f := range s.Frames() {
		s.documentGone(f, why)
	}
}

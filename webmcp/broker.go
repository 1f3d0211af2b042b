package webmcp

import (
	"crypto/rand"
	"encoding/json"
	"strconv"
	"sync/atomic"

	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/shim"
)

// Under the shim the documents of one origin meet in the page. Between origins the broker
// goes: it knows each document's origin and policies from the browser, never from a page,
// and hands on only what native WebMCP would show. A document's api object asks for its
// ruling; until that is made, what the document says waits here.

// Bounds of the broker.
const (
	maxHeldMessages = 1_000    // of a document that has no ruling yet
	maxHeldBytes    = 64 << 20 // of the same
	maxBrokered     = 1_000    // runs that one document may have asked for at a time
	maxListed       = 2_000    // tools of one document in a list
	maxListedFrames = 500      // frames in a list
	maxChanges      = 1_000    // toolchange events for one message
)

// broker is the state of what goes between documents of an attachment's tabs. All of it
// but allNative belongs to the reading goroutine.
type broker struct {
	parties  map[*cdp.Frame]*party
	runs     map[string]*brokered // by the id that the target's api knows them under
	policies policyCache
	// allNative says that every document has the browser's own WebMCP: see foundNative.
	allNative atomic.Bool
	asking    bool         // by foundNative
	hushed    *cdp.Session // the last that was told to tell no headers
}

func newBroker() *broker {
	return &broker{parties: map[*cdp.Frame]*party{}, runs: map[string]*brokered{}}
}

// party is one document under the shim.
type party struct {
	frame   *cdp.Frame
	session *cdp.Session
	api     string
	origin  string
	judged  bool
	allowed bool
	held    []*shim.Message // waits for the ruling
	bytes   int             // of them
	waiting []func()        // run when the ruling is made and held is heard, or the document gone
	tools   map[string]shim.Tool
	asked   map[string]string // from the document's ids of runs to ours
	missed  int               // toolchange events that wait for the ruling
	gone    bool
}

// brokered is a run of one document's tool that another document asked for.
type brokered struct {
	caller, target *party
	id             string // the caller's
}

// sees reports whether p may use q's tool t.
func (p *party) sees(q *party, t shim.Tool) bool {
	return p.allowed && q.allowed && p.mayHearOf(q, t)
}

// mayHearOf is sees for a p that may have no ruling yet.
func (p *party) mayHearOf(q *party, t shim.Tool) bool {
	if p == q || p.gone || q.gone || p.origin == "null" || q.origin == "null" ||
		p.origin == q.origin || p.session.Page() != q.session.Page() {
		return false
	}
	for _, o := range t.ExposedTo {
		if o == p.origin {
			return true
		}
	}
	return false
}

// call calls a method of the document's api object.
func (p *party) call(method string, done func(error), args ...string) {
	postAPI(p.session, p.api, method, done, args...)
}

// newParty makes the party of a document, in place of one that it may have had.
func (a *attachment) newParty(f *cdp.Frame, api string) *party {
	a.partyGone(f)
	p := &party{
		frame: f, session: f.Session, api: api, origin: f.Origin,
		tools: map[string]shim.Tool{}, asked: map[string]string{},
	}
	a.broker.parties[f] = p
	return p
}

// arrive takes up a document that has shown its api object, and has it judged.
func (a *attachment) arrive(f *cdp.Frame, api string) {
	var waiting []func()
	old := a.broker.parties[f]
	if old != nil && old.api == "" {
		waiting, old.waiting = old.waiting, nil
	}
	p := a.newParty(f, api)
	p.waiting = waiting
	if old != nil && old.api == "" {
		p.held, p.bytes = old.held, old.bytes
	}
	a.judge(f, func(allowed bool) {
		if p.gone {
			return
		}
		p.judged, p.allowed = true, allowed
		word := "no"
		if allowed {
			word = "yes"
		}
		p.call("rule", nil, word)
		p.tellChanges()
		held := p.held
		p.held, p.bytes = nil, 0
		for _, m := range held {
			a.partySays(p, m)
		}
		p.release()
	})
}

// hear handles a message of a document. One without a party has an adapter, or its api
// object was shown before the browser told us what the document says: then we ask for it.
func (a *attachment) hear(f *cdp.Frame, m *shim.Message, size int) {
	p := a.broker.parties[f]
	if p == nil {
		if a.hasAdapter(f) {
			a.pageSays(f, m)
			return
		}
		p = a.newParty(f, "")
		a.adopt(f)
	}
	switch {
	case p.judged:
		a.partySays(p, m)
	case len(p.held) >= maxHeldMessages || p.bytes+size > maxHeldBytes:
		a.log.Warn("a page says too much before it may", "url", f.URL)
	default:
		p.held = append(p.held, m)
		p.bytes += size
	}
}

func (a *attachment) partySays(p *party, m *shim.Message) {
	if !p.allowed {
		return
	}
	switch {
	case m.List != nil:
		a.whenJudged(p, m.List.Origins, func() { a.list(p, m.List) })
	case m.Run != nil:
		a.runBrokered(p, m.Run)
	case m.Cancel != nil:
		if r := a.broker.runs[p.asked[m.Cancel.ID]]; r != nil {
			r.target.call("cancel", nil, p.asked[m.Cancel.ID])
		}
	case m.Result != nil && a.broker.runs[m.Result.ID] != nil:
		a.brokeredResult(p, m.Result)
	default:
		if m.Tools != nil {
			a.expose(p, m.Tools)
		}
		a.pageSays(p.frame, m)
	}
}

// expose keeps the tools of a document that other origins may see, and tells those.
func (a *attachment) expose(p *party, m *shim.Tools) {
	if m.Reset {
		clear(p.tools)
	}
	var changed []shim.Tool
	for _, name := range m.Remove {
		if t, ok := p.tools[name]; ok {
			changed = append(changed, t)
			delete(p.tools, name)
		}
	}
	for _, t := range m.Add {
		if len(t.ExposedTo) > 0 && len(p.tools) < maxListed {
			p.tools[t.Name] = t
			changed = append(changed, t)
		}
	}
	if len(changed) == 0 || m.Reset {
		return // a reset tells us, not them, what there is
	}
	for _, q := range a.broker.parties {
		n := 0
		for _, t := range changed {
			if q.mayHearOf(p, t) {
				n++
			}
		}
		q.missed = min(q.missed+n, maxChanges)
		q.tellChanges()
	}
}

// tellChanges lets the document have its toolchange events, once it may have them.
func (p *party) tellChanges() {
	if p.allowed && p.missed > 0 {
		p.call("change", nil, strconv.Itoa(p.missed))
		p.missed = 0
	}
}

// list answers what a document asked for.
func (a *attachment) list(p *party, m *shim.List) {
	if p.gone {
		return
	}
	wanted := map[string]bool{}
	for _, o := range m.Origins {
		wanted[o] = true
	}
	var frames []*party
	for _, q := range a.broker.parties {
		if wanted[q.origin] && len(frames) < maxListedFrames {
			for _, t := range q.tools {
				if p.sees(q, t) {
					frames = append(frames, q)
					break
				}
			}
		}
	}
	a.locate(frames, func(paths map[*party]string) {
		answer := map[string]shim.Listed{}
		for q, path := range paths {
			l := shim.Listed{Origin: q.origin}
			for _, t := range q.tools {
				if p.sees(q, t) {
					l.Tools = append(l.Tools, shim.ListedTool{
						Name: t.Name, Title: t.Title, Description: t.Description, Schema: string(t.InputSchema), Output: string(t.OutputSchema), ID: t.ID,
						Annotations: t.Annotations,
					})
				}
			}
			if len(l.Tools) > 0 {
				answer[path] = l
			}
		}
		text, err := json.Marshal(answer)
		if err != nil || len(text) > shim.MaxMessageBytes {
			text = nil
		}
		p.call("answer", nil, m.ID, "", string(text))
	})
}

// runBrokered runs a tool of another document for one, if it may see it where it says
// that it is.
func (a *attachment) runBrokered(p *party, m *shim.Run) {
	gone := func() { p.call("answer", nil, m.ID, shim.KindGone, "") }
	var frames []*party
	for _, q := range a.broker.parties {
		if t, ok := q.tools[m.Name]; ok && q.origin == m.Origin && meant(m, t) && p.sees(q, t) && len(frames) < maxListedFrames {
			frames = append(frames, q)
		}
	}
	id := rand.Text()
	if len(frames) == 0 || len(p.asked) >= maxBrokered || p.asked[m.ID] != "" {
		gone()
		return
	}
	p.asked[m.ID] = id
	a.locate(frames, func(paths map[*party]string) {
		for q, path := range paths {
			if t, ok := q.tools[m.Name]; !ok || path != m.Path || !meant(m, t) || !p.sees(q, t) {
				continue
			}
			r := &brokered{caller: p, target: q, id: m.ID}
			a.broker.runs[id] = r
			args := []string{id, m.Name, m.Input}
			if m.ToolID != "" {
				args = append(args, m.ToolID) // it may be registered anew before this comes there
			}
			q.call("invoke", func(err error) {
				if err != nil {
					a.endBrokered(id, shim.KindGone, "")
				}
			}, args...)
			return
		}
		delete(p.asked, m.ID)
		gone()
	})
}

// meant reports whether a run is of this registration of its tool.
func meant(m *shim.Run, t shim.Tool) bool { return m.ToolID == "" || m.ToolID == t.ID }

func (a *attachment) brokeredResult(p *party, m *shim.Result) {
	if a.broker.runs[m.ID].target != p {
		return
	}
	value := m.Error
	if m.Kind == shim.KindCompleted {
		value = m.Output
	}
	if m.Kind == shim.KindFailed {
		value = "" // what a tool threw is its own origin's
	}
	a.endBrokered(m.ID, m.Kind, value)
}

func (a *attachment) endBrokered(id, kind, value string) {
	r := a.broker.runs[id]
	if r == nil {
		return
	}
	delete(a.broker.runs, id)
	delete(r.caller.asked, r.id)
	if !r.caller.gone {
		r.caller.call("answer", nil, r.id, kind, value)
	}
}

// partyGone ends what a document had to do with others.
func (a *attachment) partyGone(f *cdp.Frame) {
	p := a.broker.parties[f]
	if p == nil {
		return
	}
	delete(a.broker.parties, f)
	p.gone = true
	p.release()
	for id, r := range a.broker.runs {
		switch p {
		case r.caller:
			r.target.call("cancel", nil, id)
			delete(a.broker.runs, id)
		case r.target:
			a.endBrokered(id, shim.KindGone, "")
		}
	}
}

package guard

import (
	"slices"
	"sync"

	"github.com/aster-mcp/aster/bridge"
)

// maxGrants bounds the answers that are remembered; the oldest is forgotten, and asked
// again, when there are more.
const maxGrants = 10_000

// everySession is the session of a grant that holds for all.
const everySession = "*"

// A grantKey is what an answer "for this session" was given for. An answer is bound to
// the definition and the origin, so another page, or another tool under the same name,
// is asked about anew.
type grantKey struct {
	session    string
	id         bridge.ToolID
	class      Class
	identity   string
	origin     string
	definition string
}

func newGrantKey(req *Request, session string) grantKey {
	return grantKey{session, req.ID(), req.Class, req.Identity, req.Origin, req.definition()}
}

type grants struct {
	mu    sync.Mutex
	known map[grantKey]bool
	order []grantKey // as they were given
	// asking holds a lock of capacity one for each key that is being asked about; it goes
	// when nobody waits for it.
	asking map[grantKey]*askLock
}

type askLock struct {
	held    chan struct{}
	waiters int
}

func newGrants() *grants {
	return &grants{known: map[grantKey]bool{}, asking: map[grantKey]*askLock{}}
}

// has says what an earlier answer for the key, or for all sessions, is called: "session",
// "always" or "".
func (g *grants) has(key grantKey) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known[key] {
		return "session"
	}
	if key.session = everySession; g.known[key] {
		return "always"
	}
	return ""
}

func (g *grants) add(key grantKey) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known[key] {
		return
	}
	if len(g.order) >= maxGrants {
		delete(g.known, g.order[0])
		g.order = slices.Delete(g.order, 0, 1)
	}
	g.known[key] = true
	g.order = append(g.order, key)
}

// forget drops the answers of one session.
func (g *grants) forget(session string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.order = slices.DeleteFunc(g.order, func(k grantKey) bool {
		if k.session == session {
			delete(g.known, k)
			return true
		}
		return false
	})
}

// lock takes the key's turn to ask. Of several calls that need the same answer one asks,
// and the others look again when it is done.
func (g *grants) lock(key grantKey, done <-chan struct{}) (unlock func(), ok bool) {
	g.mu.Lock()
	l := g.asking[key]
	if l == nil {
		l = &askLock{held: make(chan struct{}, 1)}
		g.asking[key] = l
	}
	l.waiters++
	g.mu.Unlock()
	leave := func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if l.waiters--; l.waiters == 0 {
			delete(g.asking, key)
		}
	}
	select {
	case l.held <- struct{}{}:
		return func() { <-l.held; leave() }, true
	case <-done:
		leave()
		return nil, false
	}
}

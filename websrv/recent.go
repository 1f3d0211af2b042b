package websrv

import (
	"sync"
	"time"
)

// recents keeps the pages that were read last, so that an outline and then its sections
// cost one call of a provider. It is safe for concurrent use.
type recents struct {
	mu   sync.Mutex
	list []recentPage // oldest first; guarded by mu
}

type recentPage struct {
	key    string
	answer *Answer[*Page]
	at     time.Time
}

// maxRecentBytes is the longest page that is kept.
const maxRecentBytes = 1 << 20

func (r *recents) get(key string, now time.Time) *Answer[*Page] {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.list) - 1; i >= 0; i-- {
		if p := &r.list[i]; p.key == key && now.Sub(p.at) < recentTime {
			return p.answer
		}
	}
	return nil
}

func (r *recents) put(key string, answer *Answer[*Page], now time.Time) {
	if len(answer.Value.Markdown)+len(answer.Value.HTML) > maxRecentBytes {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.list {
		if r.list[i].key == key {
			r.list = append(r.list[:i], r.list[i+1:]...)
			break
		}
	}
	if len(r.list) == maxRecent {
		r.list = r.list[1:]
	}
	r.list = append(r.list, recentPage{key, answer, now})
}

package guard

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"
)

// A stateSealer makes and opens the requestState of multi round-trip requests (MCP
// 2026-07-28), which a client carries from one request to the next and could change. The
// specification has servers sign it. A state is for one call, for some minutes, and good
// for one use, so that one answer cannot be played for two calls.
type stateSealer struct {
	key [32]byte
	now func() time.Time

	mu   sync.Mutex
	used map[string]time.Time // nonces of opened states until they expire
}

// StatePrefix begins the states of the guard's own questions, in requests of 2026-07-28.
const StatePrefix = "aster1."

const (
	stateLifetime = 15 * time.Minute
	maxStateBytes = 64 << 10
	maxUsedStates = 10_000
)

// The kinds of states.
const (
	stateAsk  = "ask"  // the user is being asked
	stateGoOn = "goon" // the user agreed, and the server itself asks for input
)

var errState = errors.New("the state of this request is not ours, was used or is too old")

type sealedState struct {
	Kind     string `json:"k"`
	Binding  string `json:"b"` // session, tool, origin, definition and arguments
	Expires  int64  `json:"e"` // seconds since 1970
	Nonce    string `json:"n"`
	Upstream string `json:"u,omitempty"` // the server's own state
}

func newStateSealer(now func() time.Time) *stateSealer {
	s := &stateSealer{now: now, used: map[string]time.Time{}}
	rand.Read(s.key[:]) // never fails
	return s
}

func (s *stateSealer) seal(kind, binding, upstream string) string {
	body, err := json.Marshal(sealedState{kind, binding, s.now().Add(stateLifetime).Unix(), rand.Text(), upstream})
	if err != nil { // strings and a number
		return ""
	}
	return StatePrefix + base64.RawURLEncoding.EncodeToString(body) + "." + base64.RawURLEncoding.EncodeToString(s.sign(body))
}

func (s *stateSealer) sign(body []byte) []byte {
	m := hmac.New(sha256.New, s.key[:])
	m.Write(body)
	return m.Sum(nil)
}

// open returns what was sealed, once.
func (s *stateSealer) open(token, kind, binding string) (upstream string, err error) {
	rest, ok := strings.CutPrefix(token, StatePrefix)
	if !ok || len(token) > maxStateBytes {
		return "", errState
	}
	left, right, _ := strings.Cut(rest, ".")
	body, err1 := base64.RawURLEncoding.DecodeString(left)
	sum, err2 := base64.RawURLEncoding.DecodeString(right)
	if err1 != nil || err2 != nil || !hmac.Equal(sum, s.sign(body)) {
		return "", errState
	}
	var st sealedState
	if json.Unmarshal(body, &st) != nil || st.Kind != kind || st.Binding != binding {
		return "", errState
	}
	expires := time.Unix(st.Expires, 0)
	if !s.now().Before(expires) || !s.use(st.Nonce, expires) {
		return "", errState
	}
	return st.Upstream, nil
}

// use reports whether the nonce was unused, and uses it. When too many are in use at
// once it refuses, which asks the user again.
func (s *stateSealer) use(nonce string, expires time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, again := s.used[nonce]; again {
		return false
	}
	if len(s.used) >= maxUsedStates {
		for n, t := range s.used {
			if !s.now().Before(t) {
				delete(s.used, n)
			}
		}
		if len(s.used) >= maxUsedStates {
			return false
		}
	}
	s.used[nonce] = expires
	return true
}

// foreign reports whether a request's state is somebody else's, to be passed on.
func foreign(state string) bool { return state != "" && !strings.HasPrefix(state, StatePrefix) }

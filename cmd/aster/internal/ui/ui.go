package ui

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

//go:embed page.html page.js page.css
var files embed.FS

// Bounds of the page.
const (
	MaxStreams = 16  // pages open at once
	MaxCalls   = 200 // calls shown, the newest
	MaxTools   = 2_000
	maxText    = 400              // characters of one text
	maxHeader  = 16 << 10         // bytes of a request's header
	headerWait = 10 * time.Second // for a request's header
	writeWait  = 10 * time.Second // for a page that does not read
	step       = 500 * time.Millisecond
)

// policy of the page's content: files of its own, and nothing inline.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Options configure [Serve]. Session, Config and Token are needed.
type Options struct {
	Session *host.Session
	Config  *config.Config
	// Pages is the session whose server of page tools shows the browser's tabs; nil is
	// Session. What only it has is not in the manifest.
	Pages *host.Session
	Token string // opens the page, as #token=
	Audit string // the record of calls; "" shows no calls
	// Questions is where processes put the questions of an [Asker], [Serve] closes it; nil
	// takes none.
	Questions net.Listener
	Logger    *slog.Logger // nil discards
}

// site answers requests.
type site struct {
	o        Options
	injector *bridge.Injector
	calls    *calls
	desk     *desk
	host     string // HOST:PORT
	port     string
	token    [sha256.Size]byte
	streams  chan struct{}
	rules    []ruleRow
	defaults []string

	mu          sync.Mutex
	taken       time.Time       // when last was; guarded by mu
	last        []byte          // the newest snapshot; guarded by mu
	manifest    manifestRow     // of manifestFor; guarded by mu
	manifestFor *bridge.Catalog // guarded by mu
	tabs        *tabs           // as last looked at; guarded by mu; nil where pages are not served
}

// Serve shows a session on l, which must listen on a loopback address, until ctx ends;
// then it returns within a second. l is closed. What keeps the record of calls from being
// read is logged.
func Serve(ctx context.Context, l net.Listener, o *Options) error {
	s, err := newSite(l.Addr(), o)
	if err != nil {
		l.Close()
		if o != nil && o.Questions != nil {
			o.Questions.Close()
		}
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	if s.o.Audit != "" {
		wg.Go(func() {
			if err := guard.FollowLog(ctx, s.o.Audit, s.calls.add); err != nil {
				s.o.Logger.Warn("calls are not shown", "err", err)
			}
		})
	}
	wg.Go(func() { s.watchTabs(ctx) })
	if s.o.Questions != nil {
		wg.Go(func() { s.desk.serve(ctx, s.o.Questions) })
	}
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: headerWait, ReadTimeout: headerWait, MaxHeaderBytes: maxHeader,
		ErrorLog:    slog.NewLogLogger(s.o.Logger.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	if err := host.RunHTTP(ctx, server, l, nil); err != nil {
		return fmt.Errorf("ui: %w", err)
	}
	return nil
}

func newSite(addr net.Addr, o *Options) (*site, error) {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || !tcp.IP.IsLoopback() {
		return nil, host.ErrNotLoopback
	}
	if o == nil || o.Session == nil || o.Config == nil || o.Token == "" {
		return nil, errors.New("ui: a session, a configuration and a token are needed")
	}
	s := &site{o: *o, host: tcp.String(), port: fmt.Sprint(tcp.Port), token: sha256.Sum256([]byte(o.Token)), streams: make(chan struct{}, MaxStreams), calls: &calls{}, rules: rules(o.Config), defaults: defaults(o.Config)}
	if s.o.Pages == nil {
		s.o.Pages = o.Session
	}
	if s.o.Logger == nil {
		s.o.Logger = slog.New(slog.DiscardHandler)
	}
	s.desk = &desk{log: s.o.Logger}
	var err error
	s.injector, err = bridge.NewInjector(o.Session.Catalog(), host.BridgeConfig(o.Config))
	return s, err
}

// ServeHTTP checks where a request comes from, then who sends it. Only the page's own files
// need no token. There is no cookie: browsers send cookies of this host to every port of it.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	switch {
	case r.Host != s.host && r.Host != "localhost:"+s.port:
		http.Error(w, "the Host of this request is not this server's", http.StatusForbidden)
	case !host.SameOrigin(r):
		http.Error(w, "requests of web pages of other origins are not served", http.StatusForbidden)
	case r.Method == http.MethodPost && r.URL.Path == "/answer":
		s.known(s.answer, w, r, r.Header.Get("Authorization"), "Bearer ")
	case r.Method != http.MethodGet:
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
	case r.URL.Path == "/events":
		s.known(s.events, w, r, r.URL.Query().Get("token"), "")
	case r.URL.Path == "/":
		http.ServeFileFS(w, r, files, "page.html")
	case r.URL.Path == "/page.js" || r.URL.Path == "/page.css":
		http.ServeFileFS(w, r, files, r.URL.Path[1:])
	default:
		http.NotFound(w, r)
	}
}

// known calls next where text is the token after prefix. A stream has it in its address, for
// an EventSource sends no header; no address bar and no history holds that.
func (s *site) known(next http.HandlerFunc, w http.ResponseWriter, r *http.Request, text, prefix string) {
	token, ok := strings.CutPrefix(text, prefix)
	got := sha256.Sum256([]byte(token))
	if !ok || subtle.ConstantTimeCompare(got[:], s.token[:]) != 1 {
		http.Error(w, "open the address that aster ui printed", http.StatusUnauthorized)
		return
	}
	next(w, r)
}

// answer settles a question. A form cannot send JSON, nor the token in a header.
func (s *site) answer(w http.ResponseWriter, r *http.Request) {
	var a struct{ ID, Answer string }
	if r.Header.Get("Content-Type") != "application/json" {
		http.Error(w, "an answer is JSON", http.StatusUnsupportedMediaType)
		return
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxReply)).Decode(&a); err != nil {
		http.Error(w, "not an answer", http.StatusBadRequest)
		return
	}
	if !s.desk.settle(a.ID, a.Answer) {
		http.Error(w, "the question waits no more: it was answered elsewhere, or its call has ended", http.StatusGone)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// events sends the state whenever it is another one, until the page goes.
func (s *site) events(w http.ResponseWriter, r *http.Request) {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	rc, sent := http.NewResponseController(w), ""
	tick := time.NewTicker(step)
	defer tick.Stop()
	for {
		if now := string(s.snapshot()); now != sent {
			sent = now
			if rc.SetWriteDeadline(time.Now().Add(writeWait)) != nil {
				return
			}
			if _, err := fmt.Fprintf(w, "data: %s\n\n", now); err != nil || rc.Flush() != nil {
				return
			}
		}
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
}

// snapshot is the state as JSON on one line, made once for all pages.
func (s *site) snapshot() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); s.last == nil || now.Sub(s.taken) >= step/2 {
		text, err := json.Marshal(s.state())
		if err != nil { // strings, numbers and bools
			text = []byte("{}")
		}
		s.last, s.taken = text, now
	}
	return s.last
}

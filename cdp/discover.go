package cdp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// portFileName is the file in a user data directory where a browser writes its
	// debugging port and websocket path. It outlives the browser, and is not written
	// for a port given on the command line (measured in Chromium 156).
	portFileName = "DevToolsActivePort"
	// maxPortFileBytes bounds that file; Chromium 156 writes 59 bytes.
	maxPortFileBytes = 4 << 10
	// defaultPort is where debugging guides, and Chrome's toggle, put a browser.
	defaultPort = 9222
)

// portFile is what a DevToolsActivePort file says.
type portFile struct {
	name     string
	port     int
	path     string
	modified time.Time
}

// isBrowserPath reports whether path is "/devtools/browser/ID".
func isBrowserPath(path string) bool {
	id, ok := strings.CutPrefix(path, "/devtools/browser/")
	return ok && id != "" && len(id) <= maxBrowserID && nameLike(id)
}

// nameLike reports whether text has only letters, digits, ".", "_" and "-".
func nameLike(text string) bool {
	for _, c := range []byte(text) {
		if !('A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}

const maxBrowserID = 128

// readPortFile reads dir's DevToolsActivePort.
func readPortFile(dir string) (portFile, error) {
	pf := portFile{name: filepath.Join(dir, portFileName)}
	fi, err := os.Stat(pf.name)
	if err != nil {
		return pf, err
	}
	if !fi.Mode().IsRegular() {
		return pf, fmt.Errorf("%s is not a regular file", portFileName)
	}
	pf.modified = fi.ModTime()
	file, err := os.Open(pf.name)
	if err != nil {
		return pf, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxPortFileBytes+1))
	if err != nil {
		return pf, err
	}
	port, path, _ := strings.Cut(string(b), "\n")
	n, err := strconv.ParseUint(strings.TrimSpace(port), 10, 16)
	pf.port, pf.path = int(n), strings.TrimSpace(path)
	if pf.path == "" {
		pf.path = browserPath
	}
	if err != nil || n == 0 || len(b) > maxPortFileBytes || (pf.path != "/devtools/browser" && !isBrowserPath(pf.path)) {
		return pf, fmt.Errorf("%s does not hold a port and a path", portFileName)
	}
	return pf, nil
}

// candidate is a place where a browser may be, and what came of looking there.
type candidate struct {
	source, browser string
	file            portFile
	lenient         bool // the user named the place: any 404 is taken for consent mode
	found           Endpoint
	err             error // nil when found is set
}

// look asks the candidate's port whether its browser is there.
func (f *Finder) look(ctx context.Context, c *candidate) {
	a := local(c.file.port)
	v, err := f.version(ctx, a)
	e := Endpoint{Source: c.source, Browser: c.browser, PortFile: c.file.name, WS: a.wsURL(v.host, c.file.path)}
	switch {
	case err == nil && (v.path == c.file.path || c.file.path == browserPath):
		e.WS, e.HTTP = a.wsURL(v.host, v.path), a.httpURL(v.host)
		if e.Browser == "" {
			e.Browser = v.browser
		}
		c.found = e
	case err == nil:
		c.err = fmt.Errorf("its %s is of an earlier start; another browser has port %d now", portFileName, c.file.port)
	case v.status == 404 && (v.bare || c.lenient):
		e.Consent = true
		c.found = e
	case v.status == 404:
		c.err = fmt.Errorf("port %d belongs to something that is not a browser", c.file.port)
	default:
		c.err = fmt.Errorf("its %s names port %d: %w", portFileName, c.file.port, err)
	}
}

// findAuto looks into every known profile, and at the usual port, all at once.
func (f *Finder) findAuto(ctx context.Context) ([]Endpoint, []Attempt) {
	var list []*candidate
	dirs, absent := f.sys.profiles(), 0
	for _, p := range dirs {
		if !isDir(p.dir) {
			absent++
			continue
		}
		list = append(list, newCandidate(p))
	}
	var wg sync.WaitGroup
	for _, c := range list {
		if c.err == nil {
			wg.Go(func() { f.look(ctx, c) })
		}
	}
	usual := &candidate{source: "127.0.0.1:" + strconv.Itoa(defaultPort)}
	wg.Go(func() { f.lookAtPort(ctx, usual) })
	wg.Wait()
	dropStale(list)
	all, tried := collect(append(list, usual))
	if absent > 0 {
		tried = append(tried, Attempt{Source: fmt.Sprintf("%d more profile directories", absent), Err: errors.New("not there")})
	}
	return all, tried
}

func newCandidate(p profile) *candidate {
	c := &candidate{source: p.label() + ", profile " + p.dir, browser: p.name}
	if c.file, c.err = readPortFile(p.dir); errors.Is(c.err, os.ErrNotExist) {
		c.err = errors.New("remote debugging is off (no " + portFileName + ")")
	}
	return c
}

// lookAtPort asks the usual port, for a browser that wrote no file we know.
func (f *Finder) lookAtPort(ctx context.Context, c *candidate) {
	a := local(defaultPort)
	v, err := f.version(ctx, a)
	e := Endpoint{Source: c.source, Browser: v.browser}
	switch {
	case err == nil:
		e.WS, e.HTTP = a.wsURL(v.host, v.path), a.httpURL(v.host)
	case v.status == 404 && v.bare:
		e.WS, e.Consent = a.wsURL(v.host, browserPath), true
	default:
		c.err = err
		return
	}
	c.found = e
}

// dropStale keeps one of the candidates that claim the same port without a
// /json/version to tell them apart: the one whose file is the newest.
func dropStale(list []*candidate) {
	newest := map[int]*candidate{}
	for _, c := range list {
		if c.found.Consent && (newest[c.file.port] == nil || c.file.modified.After(newest[c.file.port].file.modified)) {
			newest[c.file.port] = c
		}
	}
	for _, c := range list {
		if n := newest[c.file.port]; c.found.Consent && c != n {
			c.found, c.err = Endpoint{}, fmt.Errorf("its %s is older than that of %s for the same port", portFileName, n.source)
		}
	}
}

// collect splits candidates into endpoints, each once, and failed attempts.
func collect(list []*candidate) (all []Endpoint, tried []Attempt) {
	for _, c := range list {
		switch {
		case c.err != nil:
			tried = append(tried, Attempt{c.source, c.err})
		case slices.ContainsFunc(all, func(e Endpoint) bool {
			return e.WS == c.found.WS || c.found.nameless() && e.Consent && strings.HasPrefix(e.WS, c.found.WS+"/")
		}):
		default:
			all = append(all, c.found)
		}
	}
	return all, tried
}

func (f *Finder) findProfile(ctx context.Context) ([]Endpoint, []Attempt) {
	c := &candidate{source: "profile " + f.spec.dir, lenient: true}
	for _, p := range f.sys.profiles() {
		if p.dir == f.spec.dir {
			c.source, c.browser = p.label()+", "+c.source, p.name
		}
	}
	if c.file, c.err = readPortFile(f.spec.dir); c.err == nil {
		f.look(ctx, c)
	} else if errors.Is(c.err, os.ErrNotExist) {
		c.err = fmt.Errorf("no %s there: its browser does not run with remote debugging on, or was given a fixed port; "+
			"with --remote-debugging-port=9222 use http://127.0.0.1:9222", portFileName)
	}
	return collect([]*candidate{c})
}

func (f *Finder) findAddress(ctx context.Context) ([]Endpoint, []Attempt) {
	a := f.spec.addr
	v, err := f.version(ctx, a)
	e := Endpoint{Source: "--cdp-url " + a.String(), Host: a.hostHdr, Browser: v.browser}
	if err == nil {
		e.HTTP = a.httpURL(v.host)
	}
	switch {
	case a.path != "" && !isDialError(err):
		e.WS = a.wsURL(v.host, a.path)
		e.Consent = v.status == 404 && v.bare
	case err == nil:
		e.WS = a.wsURL(v.host, v.path)
	case v.status == 404 || a.ws && v.status != 0 && v.status != 200:
		e.WS, e.Consent = a.wsURL(v.host, browserPath), v.status == 404
		f.nameStart(&e, a)
	default:
		return nil, []Attempt{{a.String(), err}}
	}
	return []Endpoint{e}, nil
}

// nameStart completes a nameless endpoint on this machine from the newest port file
// for its port, so that a later start of the browser can be told from this one.
func (f *Finder) nameStart(e *Endpoint, a address) {
	if !e.Consent || !isLoopback(a.name) {
		return
	}
	var newest portFile
	for _, p := range f.sys.profiles() {
		pf, err := readPortFile(p.dir)
		if err == nil && strconv.Itoa(pf.port) == a.port && pf.modified.After(newest.modified) {
			newest, e.Browser = pf, p.name
		}
	}
	if newest.path != "" {
		e.WS, e.PortFile = strings.TrimSuffix(e.WS, browserPath)+newest.path, newest.name
	}
}

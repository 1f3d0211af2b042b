package websrv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/chromedp/chromedp"
)

// Limits of the local Chromium.
const (
	maxPages            = 3 // loaded at a time
	defaultChromiumIdle = 2 * time.Minute
	chromiumStart       = 45 * time.Second
	chromiumHeapMB      = 512 // of JavaScript, per page
)

// renderer is the one local browser that all pages share: headless, with a profile of its
// own that is thrown away, started when the first page needs it and stopped when none has
// for a while. It never is the user's browser. It is safe for concurrent use.
type renderer struct {
	network *network
	slots   chan struct{} // pages under way

	mu     sync.Mutex
	run    *rendererRun // nil when stopped; guarded by mu
	users  int          // pages that use run; guarded by mu
	idle   *time.Timer  // stops run; guarded by mu
	closed bool         // guarded by mu
	wg     sync.WaitGroup
}

// rendererRun is one life of the browser.
type rendererRun struct {
	proxy *proxy
	ready chan struct{} // closed when ctx or err is set
	ctx   context.Context
	err   error
	stop  func() // ends browser and proxy, waits; safe to call once
}

func newRenderer(n *network) *renderer {
	return &renderer{network: n, slots: make(chan struct{}, maxPages)}
}

// Close ends the browser and returns when its processes are gone and its profile is removed.
func (c *renderer) Close() {
	c.mu.Lock()
	c.closed = true
	c.stopLocked()
	c.mu.Unlock()
	c.wg.Wait()
}

// stopLocked ends the present run in the background.
func (c *renderer) stopLocked() {
	if c.idle != nil {
		c.idle.Stop()
		c.idle = nil
	}
	if r := c.run; r != nil {
		c.run = nil
		c.wg.Go(func() {
			<-r.ready
			r.stop()
		})
	}
}

// acquire returns the running browser, started if need be. release must be called once.
func (c *renderer) acquire(ctx context.Context) (r *rendererRun, release func(), err error) {
	path, err := findChromium(c.network.o.Chromium)
	if err != nil {
		return nil, nil, err
	}
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, classify(ctx, "the local Chromium is busy and", ctx.Err())
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		<-c.slots
		return nil, nil, &netError{errClosed, "the web server is closing"}
	}
	if c.run != nil && c.run.over() {
		c.stopLocked()
	}
	if c.run == nil {
		c.run = c.start(path)
	}
	if c.idle != nil {
		c.idle.Stop()
		c.idle = nil
	}
	c.users++
	r = c.run
	c.mu.Unlock()
	select {
	case <-r.ready:
		err = r.err
	case <-ctx.Done():
		err = classify(ctx, "the local Chromium", ctx.Err())
	}
	if err != nil {
		c.release()
		return nil, nil, err
	}
	return r, c.release, nil
}

// over reports whether the browser has ended, or has not come to run.
func (r *rendererRun) over() bool {
	select {
	case <-r.ready:
		return r.err != nil || r.ctx.Err() != nil
	default:
		return false
	}
}

// release gives a page's place back; the last one starts the idle time.
func (c *renderer) release() {
	<-c.slots
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users--; c.users > 0 || c.closed || c.run == nil {
		return
	}
	r := c.run
	c.idle = time.AfterFunc(orDefault(c.network.o.ChromiumIdle, defaultChromiumIdle), func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.users == 0 && c.run == r && !c.closed {
			c.network.log.Debug("chromium stops, it is idle")
			c.stopLocked()
		}
	})
}

// start begins a run; its ready is closed when the browser answers.
func (c *renderer) start(path string) *rendererRun {
	r := &rendererRun{ready: make(chan struct{}), stop: func() {}}
	c.wg.Go(func() {
		defer close(r.ready)
		if r.proxy, r.err = newProxy(c.network); r.err != nil {
			return
		}
		began := time.Now()
		var end func()
		r.ctx, end, r.err = launch(path, r.proxy.addr)
		r.stop = func() {
			end()
			r.proxy.Close()
		}
		if r.err == nil {
			c.network.log.Debug("chromium runs", "path", path, "after", time.Since(began))
		}
	})
	return r
}

// launch starts a browser that reaches the network by the proxy only. end is never nil.
func launch(path, proxyAddr string) (ctx context.Context, end func(), err error) {
	flags := chromiumFlags(path, proxyAddr)
	scratch := scratchDir()
	if scratch != "" {
		flags = append(flags, chromedp.Env("TMPDIR="+scratch))
	}
	alloc, cancelAlloc := chromedp.NewExecAllocator(context.Background(), flags...)
	ctx, cancel := chromedp.NewContext(alloc, chromedp.WithLogf(discard), chromedp.WithErrorf(discard))
	end = func() {
		cancel()
		cancelAlloc() // waits until the processes are gone and the profile is removed
		if scratch != "" {
			os.RemoveAll(scratch)
		}
	}
	late := time.AfterFunc(chromiumStart, cancel)
	err = chromedp.Do(ctx)
	late.Stop()
	if err == nil {
		return ctx, end, nil
	}
	return ctx, end, launchError(path, err)
}

// maxScratch keeps the path of a socket in a directory below it within the 108 bytes that
// Linux has for one.
const maxScratch = 60

// scratchDir is a place for the browser's temporary files; "" leaves them where they are. A
// Chromium that is killed leaves a directory with a socket there (seen in 156). Elsewhere
// than on Linux the system's own variable is not TMPDIR, or its paths are long.
func scratchDir() string {
	if runtime.GOOS != "linux" {
		return ""
	}
	dir, err := os.MkdirTemp("", "aster-chromium-")
	if err == nil && len(dir) > maxScratch {
		os.Remove(dir)
		dir = ""
	}
	return dir
}

func discard(string, ...any) {}

func launchError(path string, err error) error {
	next := "run it once by hand to see why"
	if runtime.GOOS == "linux" && os.Getuid() != 0 {
		next += "; in a container or where unprivileged user namespaces are off its sandbox cannot start"
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &netError{errBrowser, fmt.Sprintf("%s ended at its start (%s); %s", filepath.Base(path), exit.ProcessState, next)}
	}
	return &netError{errBrowser, fmt.Sprintf("%s did not start; %s", filepath.Base(path), next)}
}

// chromiumFlags are the command line. The debugging connection is a pair of pipes, no
// port: no other process can take it, and the browser ends when this process does.
func chromiumFlags(path, proxyAddr string) []chromedp.ExecAllocatorOption {
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.ProxyServer("http://"+proxyAddr))
	for name, value := range map[string]any{
		// Loopback hosts go through the proxy as all others do, no name is looked up here,
		// and what cannot go through a proxy (QUIC, WebRTC over UDP) does not go at all.
		"proxy-bypass-list":                   "<-loopback>",
		"host-resolver-rules":                 "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
		"disable-quic":                        true,
		"force-webrtc-ip-handling-policy":     "disable_non_proxied_udp",
		"webrtc-ip-handling-policy":           "disable_non_proxied_udp",
		"disable-component-update":            true,
		"disable-domain-reliability":          true,
		"disable-gpu":                         true,
		"no-pings":                            true,
		"disable-features":                    "Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,AutofillServerCommunication,LensOverlay,HttpsUpgrades",
		"deny-permission-prompts":             true,
		"disable-popup-blocking":              false, // one of the defaults
		"block-new-web-contents":              true,
		"js-flags":                            fmt.Sprintf("--max-old-space-size=%d", chromiumHeapMB),
		"disable-file-system":                 true,
		"disable-notifications":               true,
		"disable-search-engine-choice-screen": true,
	} {
		opts = append(opts, chromedp.Flag(name, value))
	}
	return opts
}

// findChromium is the path of the browser to start: the configured one, else the first
// that is installed in a usual place.
func findChromium(configured string) (string, error) {
	const next = "install Chromium or Chrome, or set mcp.web.chromium in aster.yaml"
	switch configured {
	case "off":
		return "", &netError{errNoBrowser, "the local Chromium is switched off in the configuration (mcp.web.chromium)"}
	case "":
	default:
		path, err := exec.LookPath(configured)
		if err != nil {
			return "", &netError{errNoBrowser, fmt.Sprintf("there is no program %q (mcp.web.chromium); %s", configured, next)}
		}
		return path, nil
	}
	for _, name := range chromiumNames() {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", &netError{errNoBrowser, "no Chromium is installed on this machine; " + next}
}

// chromiumNames are programs and paths, the most neutral browser first.
func chromiumNames() []string {
	names := []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "chrome-headless-shell", "headless-shell"}
	switch runtime.GOOS {
	case "darwin":
		for _, dir := range []string{"/Applications", filepath.Join(os.Getenv("HOME"), "Applications")} {
			for _, app := range []string{"Chromium", "Google Chrome", "Microsoft Edge", "Brave Browser"} {
				names = append(names, filepath.Join(dir, app+".app/Contents/MacOS", app))
			}
		}
	case "windows":
		for _, dir := range []string{os.Getenv("ProgramFiles"), os.Getenv("ProgramFiles(x86)"), os.Getenv("LocalAppData")} {
			if dir != "" {
				names = append(names, filepath.Join(dir, `Chromium\Application\chrome.exe`), filepath.Join(dir, `Google\Chrome\Application\chrome.exe`), filepath.Join(dir, `Microsoft\Edge\Application\msedge.exe`))
			}
		}
	default:
		names = append(names, "microsoft-edge", "brave-browser", "/snap/bin/chromium")
	}
	return names
}

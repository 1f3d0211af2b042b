package cdp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

var (
	// ErrNoExecutable is the error of a launch on a system where none of the known
	// browsers is installed. Its text says how to install one.
	ErrNoExecutable = errors.New("no browser is installed")
	// ErrProfileInUse is the error of a launch on a profile directory where a browser
	// runs already that cannot be attached to.
	ErrProfileInUse = errors.New("a browser without remote debugging runs on this profile")
)

const (
	// launchTimeout bounds the start of a browser, until its port answers. A first
	// start on a busy machine takes ten seconds and more.
	launchTimeout = time.Minute
	// joinTimeout is how old a browser on the profile, to which ours has given way, must
	// be to have opened its port if it ever will.
	joinTimeout = 15 * time.Second
	// ownTimeout bounds the wait for a sign that a browser which answers is the one that
	// was started. Without one, it is taken for ours until the process ends before it.
	ownTimeout = 15 * time.Second
	// printTimeout is how long a browser that holds the profile has for printing its
	// address, where its messages reach us.
	printTimeout = time.Second
	// launchPoll is the pause between two looks at the profile's port file.
	launchPoll = 10 * time.Millisecond
)

// LaunchOptions configures [Launch]. ProfileDir is required.
type LaunchOptions struct {
	// ProfileDir is the browser's user data directory, made when missing. It must not
	// be a default one: Chrome opens no debugging port there.
	ProfileDir string
	// Executable is the browser's path or its name on the PATH. Empty means the first
	// of Chrome, Edge, Chromium and Brave that is installed.
	Executable string
	// Headless starts without a window.
	Headless bool
	// Args are further arguments, such as a URL to open. Features in an
	// --enable-features are added to ours; the flags for profile and port are refused.
	Args []string
	// GOOS, Home and Getenv stand for the system in the search for an executable.
	// Empty means this one.
	GOOS   string
	Home   string
	Getenv func(string) string
}

// Launched is a browser that [Launch] started, or found running on the profile. Its
// methods may be called from any goroutine.
type Launched struct {
	// Endpoint is where it listens.
	Endpoint Endpoint

	proc    *process      // nil for a browser that we did not start
	done    chan struct{} // closed when the browser that we started has ended
	watched chan struct{} // closed when the goroutine that watches it has returned
}

// Launch starts a browser with WebMCP on, a debugging port that it chooses itself and
// a profile of its own, and waits until the port answers, one minute at most. A browser
// that runs on the profile already is taken instead. ctx bounds the start, not the
// browser's life.
func Launch(ctx context.Context, opts *LaunchOptions) (*Launched, error) {
	var o LaunchOptions
	if opts != nil {
		o = *opts
	}
	args, err := launchArgs(&o)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.ProfileDir, 0o700); err != nil {
		return nil, fmt.Errorf("making the profile directory: %w", err)
	}
	s := &starter{dir: o.ProfileDir, finder: &Finder{client: newVersionClient(nil)}}
	if e, ok := s.running(ctx); ok {
		return s.reuse(e), nil
	}
	name, exe, err := findExecutable(&o)
	if err != nil {
		return nil, err
	}
	s.source = name + ", started by aster, profile " + o.ProfileDir
	if s.proc, err = startProcess(exe, args); err != nil {
		return nil, fmt.Errorf("starting %s: %w", exe, err)
	}
	l, err := s.await(ctx)
	if err != nil {
		s.proc.kill()
		if errors.Is(err, ErrProfileInUse) {
			return nil, fmt.Errorf("starting %s: %w: %s; close it, or choose another profile directory", name, err, s.dir)
		}
		return nil, fmt.Errorf("starting %s: %w%s%s", name, err, s.proc.says(), launchHint(&o, exe))
	}
	return l, nil
}

// Reused reports whether the browser ran on the profile before, so that it is not ours to end.
func (l *Launched) Reused() bool { return l.proc == nil }

// Done is closed when the browser that Launch started has ended, by whatever hand. It
// is nil, so never ready, for a reused one, whose connection tells.
func (l *Launched) Done() <-chan struct{} { return l.done }

// Close ends the browser that Launch started: it asks, and after five seconds kills. A
// reused browser is left alone. It returns when the processes have ended; further calls
// return nil.
func (l *Launched) Close() error {
	if l.proc == nil {
		return nil
	}
	err := l.proc.stop()
	if err == nil {
		<-l.watched
	}
	return err
}

// FindExecutable returns the browser that [Launch] would start and its name, such as
// "Chrome (stable)". Without one the error is [ErrNoExecutable].
func FindExecutable(opts *LaunchOptions) (name, path string, err error) {
	var o LaunchOptions
	if opts != nil {
		o = *opts
	}
	return findExecutable(&o)
}

func findExecutable(o *LaunchOptions) (name, path string, err error) {
	if o.Executable != "" {
		path, err := exec.LookPath(o.Executable)
		if err != nil {
			return "", "", fmt.Errorf("browser %q: %w", o.Executable, err)
		}
		return filepath.Base(path), path, nil
	}
	s := newSystem(o.GOOS, o.Home, o.Getenv)
	p, path, ok := s.executable()
	if !ok {
		return "", "", fmt.Errorf("%w: looked for Chrome, Edge, Chromium and Brave; %s", ErrNoExecutable, installHint(s.goos))
	}
	return p.label(), path, nil
}

func installHint(goos string) string {
	switch goos {
	case "windows":
		return "install one with: winget install Google.Chrome"
	case "darwin":
		return "install one with: brew install --cask google-chrome, or from https://www.google.com/chrome/"
	}
	return "install one with: apt install chromium (Debian, Ubuntu), dnf install chromium (Fedora), " +
		"pacman -S chromium (Arch), or from https://www.google.com/chrome/"
}

// launchArgs builds the command line and completes the options.
func launchArgs(o *LaunchOptions) ([]string, error) {
	if o.ProfileDir == "" {
		return nil, errors.New("starting a browser needs a profile directory")
	}
	dir, err := filepath.Abs(o.ProfileDir)
	if err != nil {
		return nil, fmt.Errorf("profile directory: %w", err)
	}
	o.ProfileDir = dir
	features := []string{"WebMCP"}
	var extra []string
	for _, arg := range o.Args {
		name, value, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		switch {
		case !strings.HasPrefix(arg, "-"):
			extra = append(extra, arg)
		case name == "enable-features": // of several, Chrome takes the last alone
			for _, f := range strings.Split(value, ",") {
				if f != "" && !slices.Contains(features, f) {
					features = append(features, f)
				}
			}
		case name == "user-data-dir" || strings.HasPrefix(name, "remote-debugging-"):
			return nil, fmt.Errorf("the argument %.100q is not the caller's to give: profile and port are set already", arg)
		default:
			extra = append(extra, arg)
		}
	}
	args := []string{
		"--user-data-dir=" + dir, "--remote-debugging-port=0", "--enable-features=" + strings.Join(features, ","),
		"--no-first-run", "--no-default-browser-check",
	}
	if o.Headless {
		args = append(args, "--headless")
	}
	if needsNoSandbox() {
		args = append(args, "--no-sandbox")
	}
	return append(args, extra...), nil
}

// needsNoSandbox reports whether the browser would refuse to start with its sandbox,
// as Chrome does for root on Linux (containers); see https://crbug.com/638180.
func needsNoSandbox() bool { return runtime.GOOS == "linux" && os.Geteuid() == 0 }

// launchHint adds what the browser's own messages leave out.
func launchHint(o *LaunchOptions, exe string) string {
	sys := newSystem(o.GOOS, o.Home, o.Getenv)
	switch {
	case sys.goos != "linux":
		return ""
	case !o.Headless && sys.getenv("DISPLAY") == "" && sys.getenv("WAYLAND_DISPLAY") == "":
		return "\nThere is no screen (DISPLAY and WAYLAND_DISPLAY are empty): start it with --headless."
	case strings.Contains(exe, "/snap/"):
		return "\nA snap cannot use hidden directories: choose a profile directory below ~/snap."
	}
	return ""
}

// starter brings one browser up.
type starter struct {
	dir, source string
	finder      *Finder
	proc        *process
}

// running returns the browser that runs on the profile. The port file may be stale, so
// the browser must name itself as the file does.
func (s *starter) running(ctx context.Context) (Endpoint, bool) {
	e, _ := s.look(ctx)
	return e, e.HTTP != ""
}

func (s *starter) look(ctx context.Context) (Endpoint, portFile) {
	file, err := readPortFile(s.dir)
	if err != nil || file.path == browserPath {
		return Endpoint{}, file
	}
	c := &candidate{source: s.source, file: file}
	s.finder.look(ctx, c)
	return c.found, file
}

// await waits until the browser that was started answers, or the one to which it gave way.
func (s *starter) await(ctx context.Context) (*Launched, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, launchTimeout, fmt.Errorf("its debugging port did not answer within %v", launchTimeout))
	defer cancel()
	tick := time.NewTicker(launchPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-s.proc.ended:
			return s.join(ctx)
		case <-tick.C:
			if e, ok := s.running(ctx); ok {
				return s.settle(ctx, e)
			}
		}
	}
}

// settle finds out whether the browser that answers is the one that was started. It is
// when that has printed its address, or when its lock on the profile says so and none is
// printed. Else the process is about to give way, for which Chrome takes up to 20 seconds
// while the other browser starts (measured in Chromium 156): there is no use in waiting
// for it.
func (s *starter) settle(ctx context.Context, e Endpoint) (*Launched, error) {
	doubt, silent := time.NewTimer(ownTimeout), time.NewTimer(printTimeout)
	defer doubt.Stop()
	defer silent.Stop()
	tick := time.NewTicker(launchPoll)
	defer tick.Stop()
	quiet := false
	for !s.printed(e) {
		ours, known := ownsProfile(s.dir, s.proc.cmd)
		if known && !ours {
			return s.reuse(e), s.proc.kill()
		}
		if ours {
			// The address may be of one that has just left the profile to ours.
			now, ok := s.running(ctx)
			if ok {
				e = now
			}
			if ok && quiet {
				break
			}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-s.proc.ended:
			return s.join(ctx)
		case <-doubt.C:
			return s.launched(e), nil
		case <-silent.C:
			quiet = true
		case <-tick.C:
		}
	}
	return s.launched(e), nil
}

// printed reports whether the process that was started has printed this address.
func (s *starter) printed(e Endpoint) bool {
	return strings.Contains(s.proc.stderr.String(), e.WS[strings.LastIndex(e.WS, "/"):])
}

func (s *starter) reuse(e Endpoint) *Launched {
	e.Source = "profile " + s.dir
	return &Launched{Endpoint: e}
}

// join takes the browser to which ours gave way. It may still be starting.
func (s *starter) join(ctx context.Context) (*Launched, error) {
	// Chrome leaves with 0 after handing over to the browser that has the profile, and
	// with 21 when it could not (measured in Chromium 156).
	if code := s.proc.code(); code != 0 && code != 21 {
		return nil, fmt.Errorf("it ended with exit code %d", code)
	}
	locked := s.locked()
	ctx, cancel := context.WithDeadlineCause(ctx, locked.Add(joinTimeout), ErrProfileInUse)
	defer cancel()
	tick := time.NewTicker(launchPoll)
	defer tick.Stop()
	for {
		// A browser that asks for consent does not name itself; its file is not stale
		// when it is younger than the lock.
		e, file := s.look(context.WithoutCancel(ctx))
		if e.HTTP != "" || e.Consent && file.modified.After(locked) {
			return s.reuse(e), nil
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// locked is when the browser that has the profile took it, or now when no lock tells.
func (s *starter) locked() time.Time {
	for _, name := range []string{"SingletonLock", "lockfile"} { // the latter on Windows
		if fi, err := os.Lstat(filepath.Join(s.dir, name)); err == nil {
			return fi.ModTime()
		}
	}
	return time.Now()
}

// launched watches the process. One that ends while its browser lives on has given way
// to another, or was only a starter: then the browser is not known to be ours, and Done
// stays open.
func (s *starter) launched(e Endpoint) *Launched {
	l := &Launched{Endpoint: e, proc: s.proc, done: make(chan struct{}), watched: make(chan struct{})}
	go func() {
		defer close(l.watched)
		<-s.proc.ended
		ctx, cancel := context.WithTimeout(context.Background(), versionTimeout)
		defer cancel()
		if now, ok := s.running(ctx); !ok || now.WS != e.WS {
			close(l.done)
		}
	}()
	return l
}

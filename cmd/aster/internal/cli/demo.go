package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
	"github.com/aster-mcp/aster/webmcp"
)

const (
	// demoTimeout bounds the demo without the time that it waits for its user.
	demoTimeout = 90 * time.Second
	// openTimeout is how long the demo waits for the user to open its page or to allow the
	// connection, in a browser where it cannot do so itself.
	openTimeout = 5 * time.Minute
	// formWait is how long a form may take to become a tool after the page's script ran.
	formWait = 3 * time.Second
)

type demoOptions struct {
	*app
	browserOptions
}

func (a *app) demoCommand() *cobra.Command {
	o := &demoOptions{app: a}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the whole way on a page of its own, in a minute",
		Long: `Shows the whole way on a page of its own: it starts a browser with a profile that is
thrown away, so that yours is left alone, opens a page that offers tools, calls two of them
as an AI client would, and says how your AI client gets aster.`,
		Example: `  aster demo
  aster demo --headless          on a machine without a screen
  aster demo --cdp-url auto      in the browser that you use`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return demoRun(cmd.Context(), o) },
	}
	o.browserOptions.bind(cmd)
	cmd.Flags().Lookup("headless").Usage = "start the browser without a window"
	cmd.Flags().Lookup("cdp-url").Usage = "use this running `browser`: auto, http://HOST:PORT, ws://… or profile:DIR (default: start one)"
	return cmd
}

func demoRun(ctx context.Context, o *demoOptions) error {
	page, err := serveDemoPage()
	if err != nil {
		return err
	}
	defer page.Close()
	d := &demo{demoOptions: o, page: page}
	bridge, cleanup, err := d.prepare(ctx)
	if err != nil {
		return err
	}
	defer cleanup()
	bridge.Server().AddReceivingMiddleware(host.Recover(o.log))

	ctx, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := bridge.Run(ctx); err != nil {
			cancel(err)
		}
	}()
	// The browser is closed before its profile is removed.
	defer func() { cancel(nil); <-ended }()
	if d.client, err = host.ConnectLocal(ctx, bridge.Server(), "aster-demo", thisBuild().Version); err != nil {
		return err
	}
	defer d.client.Close()
	if err := d.show(ctx); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause // no browser, or Ctrl-C
		}
		return err
	}
	if d.visible {
		d.linger(ctx)
	}
	return nil
}

// demo is one run of the command.
type demo struct {
	*demoOptions
	page    *demoPage
	client  *host.Local
	visible bool          // a window of ours is open
	wait    time.Duration // for the tools to appear
}

func (d *demo) printf(format string, args ...any) { fmt.Fprintf(d.env.Stdout, format, args...) }

func (d *demo) heading(n int, text string) {
	d.printf("\n%s\n", d.env.paint(bold, fmt.Sprintf("%d. %s", n, text)))
}

// prepare decides on the browser. cleanup removes what was made for it.
func (d *demo) prepare(ctx context.Context) (bridge *webmcp.Bridge, cleanup func(), err error) {
	opts := &webmcp.Options{Logger: d.log, Version: thisBuild().Version, Origins: []string{d.page.origin}}
	d.heading(1, "A browser")
	if url := strings.TrimSpace(d.cdpURL); url != "" && url != launchURL {
		if opts.Finder, _, err = d.resolve(d.env); err != nil {
			return nil, nil, err
		}
		if cleanup, err = d.openIn(ctx, opts.Finder); err != nil {
			return nil, nil, err
		}
	} else if opts.Launch, cleanup, err = d.launch(); err != nil {
		return nil, nil, err
	}
	if bridge, err = webmcp.New(opts); err != nil {
		cleanup()
	}
	return bridge, cleanup, err
}

// launch chooses the installed browser and a profile directory to throw away.
func (d *demo) launch() (*cdp.LaunchOptions, func(), error) {
	opts := &cdp.LaunchOptions{Headless: d.headless, Args: []string{d.page.url}, Home: d.env.Home, Getenv: d.env.Getenv}
	name, exe, err := cdp.FindExecutable(opts)
	if err != nil {
		return nil, nil, err
	}
	if opts.ProfileDir, err = os.MkdirTemp(profileBase(d.env, exe), "aster-demo-"); err != nil {
		return nil, nil, err
	}
	how := "in a window of its own"
	if d.headless {
		how = "without a window"
	}
	d.printf("   %s (%s), %s and with a new profile: your own browser is left alone.\n", name, exe, how)
	d.visible, d.wait = !d.headless, demoTimeout
	return opts, func() { removeProfile(opts.ProfileDir) }, nil
}

// profileBase is where a profile can be that the browser may write: a snap sees a /tmp of
// its own and no hidden directory of the user's.
func profileBase(env *Env, exe string) string {
	if strings.Contains(filepath.ToSlash(exe), "/snap/") {
		return filepath.Join(env.Home, "snap", filepath.Base(exe), "common")
	}
	return ""
}

// removeProfile removes a profile whose browser has just ended and may still let go of files.
func removeProfile(dir string) {
	for range 20 {
		if os.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// openIn gets the page into a running browser: by itself where that needs no connection,
// else by its user.
func (d *demo) openIn(ctx context.Context, finder *cdp.Finder) (cleanup func(), err error) {
	ep, _, err := finder.Find(ctx)
	if err != nil {
		return nil, err
	}
	d.printf("   %s. aster looks at the page of this demo only.\n", host.CleanText(ep.Source))
	d.wait = openTimeout
	if closeTab, err := openTab(ctx, ep, d.page.url); err == nil {
		d.wait = demoTimeout
		return closeTab, nil
	}
	d.printf("   Open this page in it, and allow the connection when the browser asks:\n\n     %s\n", d.page.url)
	return func() {}, nil
}

// show is the demo proper.
func (d *demo) show(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.wait+demoTimeout)
	defer cancel()
	tools, err := d.awaitTools(ctx)
	if err != nil {
		return err
	}
	d.heading(2, "A page that offers tools")
	d.printf("   %s\n\n", d.page.url)
	for _, name := range demoTools {
		if t, ok := tools[name]; ok {
			what := strings.TrimPrefix(t.Description, "["+d.page.origin+"] ")
			kind := "script"
			if t.Form {
				kind = "form"
			}
			d.printf("     %-12s %-7s %s\n", t.Name, kind, host.CleanText(what))
		}
	}
	d.heading(3, "An AI client calls them")
	for _, c := range []struct {
		tool string
		args map[string]any
	}{
		{"", nil}, // only looks
		{"add_item", map[string]any{"text": "oat milk"}},
		{"rename_list", map[string]any{"title": "For Saturday"}},
	} {
		if err := d.call(ctx, tools, c.tool, c.args); err != nil {
			return err
		}
	}
	d.heading(4, "Give aster to your AI client")
	printConnect(d.env, d.env.Stdout)
	return nil
}

// demoTools are the page's tools in the order in which they are told.
var demoTools = []string{"read_list", "add_item", "rename_list"}

// awaitTools waits until the page offers its tools. A browser without WebMCP of its own
// may not offer the form.
func (d *demo) awaitTools(ctx context.Context) (map[string]host.LocalTool, error) {
	ctx, cancel := context.WithTimeout(ctx, d.wait)
	defer cancel()
	var formless <-chan time.Time
	for {
		list, err := d.client.Tools(ctx)
		if err != nil {
			return nil, err
		}
		tools := map[string]host.LocalTool{}
		for _, t := range list {
			tools[t.Name] = t
		}
		scripted := tools["read_list"].Name != "" && tools["add_item"].Name != ""
		switch {
		case scripted && tools["rename_list"].Name != "":
			return tools, nil
		case scripted && formless == nil:
			timer := time.NewTimer(formWait)
			defer timer.Stop()
			formless = timer.C
		}
		select {
		case <-d.client.Changed():
		case <-formless:
			return tools, nil
		case <-ctx.Done():
			return nil, fmt.Errorf("the page's tools did not appear within %v: %s", d.wait, d.status())
		}
	}
}

// status asks the server what it waits for.
func (d *demo) status() string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	text, _, err := d.client.Call(ctx, "webmcp_tabs", map[string]any{})
	if err != nil {
		return err.Error()
	}
	return text
}

// call calls a tool and prints what came of it, and what the page shows afterwards. An
// empty name only reads the page.
func (d *demo) call(ctx context.Context, tools map[string]host.LocalTool, name string, args map[string]any) error {
	if name != "" {
		if _, ok := tools[name]; !ok {
			d.printf("\n   %s is a form, and this browser does not offer forms as tools: it has no WebMCP of its own.\n", name)
			return nil
		}
		text, failed, err := d.client.Call(ctx, name, args)
		if err != nil {
			return fmt.Errorf("calling %s: %w", name, err)
		}
		if failed {
			return fmt.Errorf("calling %s: %s", name, text)
		}
		given, _ := json.Marshal(args) // strings always encode
		d.printf("\n   %s %s\n     answers: %s\n", d.env.paint(bold, name), given, host.CleanText(text))
	}
	text, failed, err := d.client.Call(ctx, "read_list", map[string]any{})
	if err != nil || failed {
		return errors.Join(fmt.Errorf("calling read_list: %s", text), err)
	}
	var list struct {
		Name  string
		Items []string
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return fmt.Errorf("read_list answers %q: %w", text, err)
	}
	if name == "" {
		d.printf("   at first\n")
	}
	d.printf("     the page shows %s: %s\n", d.env.paint(bold, host.CleanText(list.Name)), host.CleanText(strings.Join(list.Items, ", ")))
	return nil
}

// linger leaves the window to the user until Enter, the end of input or Ctrl-C.
func (d *demo) linger(ctx context.Context) {
	d.printf("\n%s", d.env.paint(bold, "The window stays open until you press Enter. "))
	enter := make(chan struct{})
	go func() { // a read of stdin cannot be interrupted: it ends with the process
		bufio.NewReader(d.env.Stdin).ReadString('\n')
		close(enter)
	}()
	select {
	case <-enter:
	case <-ctx.Done():
	}
}

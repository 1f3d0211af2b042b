// Command host is a small program that gives a chat model the tools of many MCP servers
// through the one tool aster_mcp, with a guard of its own. It shows how to embed aster as
// a library: nothing here is internal.
//
//	host [-browser ADDRESS] [-server NAME=COMMAND|URL]… QUESTION
//
// The servers are web, in this process; shortcuts, on a Mac; the tools of web pages, with
// -browser; and those that -server names. OPENAI_BASE_URL, OPENAI_API_KEY and MODEL say
// which model answers; any API of the shape of OpenAI's chat completions will do.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/bridge/source"
	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/shortcuts"
	"github.com/aster-mcp/aster/webmcp"
	"github.com/aster-mcp/aster/websrv"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "host:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	browser := flag.String("browser", "", "attach to the browser at `address`, such as http://127.0.0.1:9222")
	var specs []source.Spec
	flag.Func("server", "a further server, as `NAME=COMMAND` or NAME=URL; may be repeated", func(text string) error {
		spec, err := parseServer(text)
		specs = append(specs, spec)
		return err
	})
	flag.Parse()
	m, err := modelFromEnvironment()
	if err != nil {
		return err
	}
	if flag.NArg() == 0 {
		return errors.New("no question: write it behind the flags")
	}
	own, end, err := inProcess(ctx, *browser)
	if err != nil {
		return err
	}
	defer end()

	// One set keeps all servers connected, whatever their kind.
	set, err := source.NewSet(append(specs, own...), nil)
	if err != nil {
		return err
	}
	defer set.Close()
	set.Start(ctx)
	for _, s := range set.Sources() {
		fmt.Fprintf(os.Stderr, "%s: %s\n", s.Name(), s.Status())
	}
	injector, err := bridge.NewInjector(set.Catalog(), bridge.DefaultConfig())
	if err != nil {
		return err
	}
	c := &chatLoop{
		model:    m,
		injector: injector,
		guard:    &guard{next: set, trusted: []string{"web/"}, in: bufio.NewReader(os.Stdin), out: os.Stderr},
		refresh:  set.Catalog,
	}
	answer, err := c.ask(ctx, strings.Join(flag.Args(), " "))
	if err != nil {
		return err
	}
	fmt.Println(answer)
	return nil
}

// parseServer reads what -server gives.
func parseServer(text string) (source.Spec, error) {
	name, rest, ok := strings.Cut(text, "=")
	fields := strings.Fields(rest)
	switch {
	case !ok || len(fields) == 0:
		return source.Spec{}, errors.New("write NAME=COMMAND or NAME=URL")
	case strings.HasPrefix(rest, "http://"), strings.HasPrefix(rest, "https://"):
		return source.Spec{Name: name, URL: rest}, nil
	}
	return source.Spec{Name: name, Command: fields[0], Args: fields[1:]}, nil
}

// inProcess are the servers of aster that run in this process. end closes them.
func inProcess(ctx context.Context, browser string) (specs []source.Spec, end func(), err error) {
	web, err := websrv.NewServer(nil)
	if err != nil {
		return nil, nil, err
	}
	specs = append(specs, source.Spec{Name: "web", Server: web.MCP(), CallTimeout: -1})
	mac, err := shortcuts.NewServer(nil)
	switch {
	case err == nil:
		specs = append(specs, source.Spec{Name: "shortcuts", Server: mac.MCP(), CallTimeout: -1})
	case !errors.Is(err, shortcuts.ErrNotMac):
		web.Close()
		return nil, nil, err
	}
	if browser == "" {
		return specs, func() { web.Close() }, nil
	}
	finder, err := cdp.NewFinder(browser, nil)
	if err != nil {
		web.Close()
		return nil, nil, err
	}
	pages, err := webmcp.New(&webmcp.Options{Finder: finder})
	if err != nil {
		web.Close()
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := pages.Run(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "webmcp:", err)
		}
	}()
	specs = append(specs, source.Spec{Name: "webmcp", Server: pages.Server(), CallTimeout: -1})
	return specs, func() { cancel(); <-ended; web.Close() }, nil
}

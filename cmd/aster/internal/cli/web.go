package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/host"
	"github.com/aster-mcp/aster/websrv"
)

// webCommand holds the web tools as plain commands.
func (a *app) webCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "web", Short: "Search the web, and read pages, sites and sitemaps", Args: cobra.ArbitraryArgs, RunE: group,
		Long: `The tools of "aster mcp serve web" as plain commands, for people and scripts. Text goes to
stdout, whole and as it is; what else there is to know goes to stderr.`,
	}
	cmd.AddCommand(a.webSearchCommand(), a.webExtractCommand(), a.webCrawlCommand(), a.webSitemapCommand(), a.webScreenshotCommand())
	return cmd
}

// webRun is one call of a web tool.
type webRun struct {
	*app
	webOptions
	tool string
	args map[string]any // by the tool's names; zero values are left out
	json bool
	out  string // file for a picture
}

// webTool makes the command of a tool. Positional arguments go into args by place.
func (a *app) webTool(tool string, cmd *cobra.Command, place func(*webRun, []string) error) (*webRun, *cobra.Command) {
	r := &webRun{app: a, tool: tool, args: map[string]any{}}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := place(r, args); err != nil {
			return &usageError{err, "aster help web " + tool}
		}
		return r.run(cmd.Context())
	}
	cmd.Args = cobra.ArbitraryArgs
	r.webOptions.bind(cmd)
	cmd.Flags().BoolVar(&r.json, "json", false, "print JSON, errors too")
	return r, cmd
}

// flag adds a flag that is an argument of the tool.
func (r *webRun) flag(cmd *cobra.Command, name, arg, kind, text string) {
	f := cmd.Flags().VarPF(&toolValue{r.args, arg, kind}, name, "", text)
	if kind == "bool" {
		f.NoOptDefVal = "true"
	}
}

func (a *app) webSearchCommand() *cobra.Command {
	r, cmd := a.webTool("search", &cobra.Command{Use: "search QUERY...", Short: "Search the web",
		Example: "  aster web search --limit 5 webmcp draft\n  aster web search --domain go.dev --recency year fuzzing"},
		func(r *webRun, args []string) error {
			if len(args) == 0 {
				return errors.New("say what to search for")
			}
			r.args["query"] = strings.Join(args, " ")
			return nil
		})
	r.flag(cmd, "limit", "limit", "int", "results wanted, 1 to 20 (default 10)")
	r.flag(cmd, "domain", "domains", "stringArray", "only this `domain` and those below it; may be repeated")
	r.flag(cmd, "exclude-domain", "excludeDomains", "stringArray", "not this `domain`; may be repeated")
	r.flag(cmd, "since", "since", "string", "published on this `day` or later, such as 2026-01-31")
	r.flag(cmd, "until", "until", "string", "published on this `day` or earlier")
	r.flag(cmd, "recency", "recency", "string", "published within the last `day`, week, month or year")
	r.flag(cmd, "region", "region", "string", "`country` by its two letters")
	r.flag(cmd, "language", "language", "string", "`language` by its two letters")
	r.flag(cmd, "safe", "safe", "string", "filter of adult content: `strict`, moderate or off")
	return cmd
}

func (a *app) webExtractCommand() *cobra.Command {
	r, cmd := a.webTool("extract", &cobra.Command{Use: "extract URL...", Short: "Read pages as Markdown",
		Example: "  aster web extract https://go.dev/doc/effective_go\n  aster web extract --outline https://go.dev/ref/spec"},
		func(r *webRun, args []string) error {
			if len(args) == 0 {
				return errors.New("give the address of a page")
			}
			r.args["urls"] = args
			return nil
		})
	r.flag(cmd, "format", "format", "string", "what to print: `markdown` (default), text, html, links or metadata")
	r.flag(cmd, "section", "section", "string", "only the section under this `heading`, by its text or its number in the outline")
	r.flag(cmd, "outline", "outline", "bool", "only the headings, numbered, with the size of their sections")
	r.flag(cmd, "include", "include", "stringArray", "CSS `selector` of what to keep; may be repeated")
	r.flag(cmd, "exclude", "exclude", "stringArray", "CSS `selector` of what to leave out; may be repeated")
	r.flag(cmd, "render", "render", "string", "whether the page's scripts are run: `auto` (default), never or always")
	r.flag(cmd, "fresh", "fresh", "bool", "read the page anew, past every cache")
	return cmd
}

func (a *app) webCrawlCommand() *cobra.Command {
	r, cmd := a.webTool("crawl", &cobra.Command{Use: "crawl URL", Short: "Read the pages of a site",
		Example: "  aster web crawl --max-pages 50 --include '/docs/**' https://example.com > site.md"}, oneURL)
	r.flag(cmd, "max-pages", "maxPages", "int", "pages to read (default 20)")
	r.flag(cmd, "max-depth", "maxDepth", "int", "links to follow away from the first page (default 2)")
	r.flag(cmd, "include", "include", "stringArray", "only paths that match this `glob`; may be repeated")
	r.flag(cmd, "exclude", "exclude", "stringArray", "no paths that match this `glob`; may be repeated")
	r.flag(cmd, "subdomains", "subdomains", "bool", "follow links to subdomains too")
	r.flag(cmd, "render", "render", "string", "whether the pages' scripts are run: `auto` (default), never or always")
	r.flag(cmd, "timeout-seconds", "timeoutSeconds", "int", "time for the crawl (default 60)")
	return cmd
}

func (a *app) webSitemapCommand() *cobra.Command {
	r, cmd := a.webTool("sitemap", &cobra.Command{Use: "sitemap URL", Short: "List the addresses of a site"}, oneURL)
	r.flag(cmd, "limit", "limit", "int", "addresses wanted (default 200)")
	r.flag(cmd, "search", "search", "string", "only addresses that hold this `text`")
	r.flag(cmd, "subdomains", "subdomains", "bool", "addresses of subdomains too")
	return cmd
}

func (a *app) webScreenshotCommand() *cobra.Command {
	r, cmd := a.webTool("screenshot", &cobra.Command{Use: "screenshot URL", Short: "Take a picture of a page",
		Example: "  aster web screenshot --full-page -o page.png https://example.com"}, oneURL)
	cmd.Flags().StringVarP(&r.out, "output", "o", "", "the `file` to write; - is stdout (default screenshot.png, or by --format); its ending gives the format")
	r.flag(cmd, "full-page", "fullPage", "bool", "the whole page instead of the viewport")
	r.flag(cmd, "selector", "selector", "string", "CSS `selector`: only this element")
	r.flag(cmd, "width", "width", "int", "of the viewport, in CSS pixels (default 1280)")
	r.flag(cmd, "height", "height", "int", "of the viewport (default 800)")
	r.flag(cmd, "device-scale", "deviceScale", "float", "picture pixels for a CSS pixel (default 1)")
	r.flag(cmd, "format", "format", "string", "`png` (default), jpeg or webp")
	r.flag(cmd, "quality", "quality", "int", "of jpeg and webp, 1 to 100 (default 80)")
	r.flag(cmd, "wait-for", "waitFor", "string", "CSS `selector` to wait for")
	r.flag(cmd, "wait-ms", "waitMs", "int", "milliseconds to wait after the page has loaded")
	return cmd
}

func oneURL(r *webRun, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("give one address, not %d", len(args))
	}
	r.args["url"] = args[0]
	return nil
}

// run makes the call and prints its reply.
func (r *webRun) run(ctx context.Context) error {
	s, err := r.server(r.app)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := r.formatByName(); err != nil {
		return err
	}
	args, err := json.Marshal(r.args)
	if err != nil {
		return err
	}
	bar := r.progress()
	reply, err := s.Call(ctx, r.tool, args, &websrv.CallOptions{Plain: true, Progress: bar.tell})
	bar.clear()
	switch {
	case err == nil:
		return r.print(reply)
	case ctx.Err() != nil:
		return err
	case errors.Is(err, websrv.ErrInvalid) && !errors.As(err, new(*websrv.DispatchError)):
		return &usageError{errors.New(websrv.ErrorText(err)), "aster help web " + r.tool}
	}
	return errors.New(websrv.ErrorText(err))
}

// formatByName takes a picture's format from the name of its file, if no other was asked for.
func (r *webRun) formatByName() error {
	if r.args["format"] != nil {
		return nil
	}
	switch end := strings.ToLower(filepath.Ext(r.out)); end {
	case ".jpg", ".jpeg":
		r.args["format"] = "jpeg"
	case ".webp":
		r.args["format"] = "webp"
	case "", ".png":
	default:
		return usagef("--output %s: a picture is .png, .jpeg or .webp; --format says which one %s is to be", r.out, end)
	}
	return nil
}

// print prints a reply: text or JSON to stdout, a picture to its file, notes to stderr.
func (r *webRun) print(reply *websrv.Reply) error {
	if reply.Image != nil {
		if err := r.save(reply); err != nil {
			return err
		}
	}
	switch {
	case r.json:
		if r.out == "-" && reply.Image != nil {
			break
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(reply.Structured); err != nil {
			return err
		}
		if err := r.write(b.String()); err != nil {
			return err
		}
	case len(reply.Blocks) > 0:
		text := reply.Text()
		if _, ok := r.env.Stdout.(*os.File); ok && isTerminal(r.env.Stdout.(*os.File)) {
			text = cleanLines(text)
		}
		if err := r.write(strings.TrimSuffix(text, "\n") + "\n"); err != nil {
			return err
		}
	}
	for _, n := range reply.Notes {
		fmt.Fprintf(r.env.Stderr, "aster: %s\n", host.CleanText(n))
	}
	if reply.Incomplete {
		return &codeError{code: ExitFailed}
	}
	return nil
}

func (r *webRun) write(s string) error {
	_, err := io.WriteString(r.env.Stdout, s)
	return err
}

// cleanLines takes control sequences out of a text for a terminal, line by line.
func cleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = host.CleanText(strings.ReplaceAll(l, "\t", "    "))
	}
	return strings.Join(lines, "\n")
}

// save writes a picture to its file and says where.
func (r *webRun) save(reply *websrv.Reply) error {
	if r.out == "-" {
		_, err := r.env.Stdout.Write(reply.Image)
		return err
	}
	if r.out == "" {
		r.out = "screenshot." + strings.TrimPrefix(reply.ImageType, "image/")
	}
	if err := os.WriteFile(r.out, reply.Image, 0o644); err != nil {
		return err
	}
	if !r.json {
		return r.write(filepath.Clean(r.out) + "\n")
	}
	return nil
}

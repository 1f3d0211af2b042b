package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
	"github.com/aster-mcp/aster/shortcuts"
)

// hasShortcuts reports whether this system has shortcuts.
func (e *Env) hasShortcuts() bool {
	_, err := e.ShortcutsRunner()
	return err == nil
}

// shortcutsServer makes the server of the Mac's shortcuts.
func (o *sessionOptions) shortcutsServer(c *config.Config) (*shortcuts.Server, error) {
	runner, err := o.env.ShortcutsRunner()
	if err != nil {
		return nil, usagef("%w", err)
	}
	return shortcuts.NewServer(&shortcuts.Options{
		Version: thisBuild().Version, Runner: runner, Folders: c.Shortcuts.Folders, AsTools: c.Shortcuts.AsTools,
		Timeout: c.Shortcuts.Timeout, Logger: o.log,
	})
}

func (o *sessionOptions) shortcutsBuiltin(c *config.Config) (host.Builtin, error) {
	s, err := o.shortcutsServer(c)
	if err != nil {
		return host.Builtin{}, err
	}
	s.MCP().AddReceivingMiddleware(host.Recover(o.log))
	b := host.Builtin{Name: config.ServerShortcuts, Server: s.MCP(), Close: func() error { return nil },
		Effect: func(tool string) guard.Effect {
			if tool == "list" {
				return guard.EffectRead
			}
			return guard.EffectUnknown
		}}
	if c.Shortcuts.AsTools {
		ctx, cancel := context.WithTimeout(context.Background(), refreshTimeout)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if err := s.Refresh(ctx); err != nil && ctx.Err() == nil {
				o.log.Warn("shortcuts not listed", "err", err)
			}
		}()
		b.Close = func() error { cancel(); <-ended; return nil }
		select {
		case <-ended:
		case <-time.After(refreshWait):
		}
	}
	return b, nil
}

// The first list of the shortcuts that become tools: how long it may take, and how long a
// command or a client waits for it, so that mostly the tools are there from the start.
const (
	refreshTimeout = 30 * time.Second
	refreshWait    = 3 * time.Second
)

type shortcutsOptions struct {
	sessionOptions
	folder, id, text, jsonText, inputFile string
	hasText, hasJSON                      bool // an empty text is an input, too
}

// shortcutsCommand is aster shortcuts list and run.
func (a *app) shortcutsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "shortcuts", Short: "The shortcuts of this Mac: list and run", Args: cobra.ArbitraryArgs, RunE: group}
	new := func() *shortcutsOptions {
		return &shortcutsOptions{sessionOptions: sessionOptions{configSource: configSource{app: a}}}
	}
	lo := new()
	list := &cobra.Command{
		Use: "list [TEXT]", Short: "List the shortcuts, or those with a text in their name", Args: wantArgs(cobra.MaximumNArgs(1), "one text; put several words in quotes"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return shortcutsListRun(cmd.Context(), lo, strings.Join(args, ""))
		},
	}
	lo.bindRead(list)
	list.Flags().StringVar(&lo.folder, "folder", "", "only the shortcuts of this `folder`")
	ro := new()
	run := &cobra.Command{
		Use: "run NAME", Short: "Run a shortcut", Args: wantArgs(cobra.MaximumNArgs(1), "one name; put several words in quotes"),
		Long: `Runs a shortcut by its exact name, or by --id, through the Shortcuts app, so that its
dialogs show. The record of calls applies.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ro.hasText, ro.hasJSON = cmd.Flags().Changed("text"), cmd.Flags().Changed("input-json")
			return shortcutsRunRun(cmd.Context(), ro, strings.Join(args, ""))
		},
	}
	ro.bindRead(run)
	f := run.Flags()
	f.StringVar(&ro.id, "id", "", "the shortcut's `id`, from the list")
	f.StringVar(&ro.text, "text", "", "a `text` as its input")
	f.StringVar(&ro.jsonText, "input-json", "", "`JSON` as its input")
	f.StringVar(&ro.inputFile, "file", "", "a `file` as its input")
	run.MarkFlagsMutuallyExclusive("text", "input-json", "file")
	cmd.AddCommand(list, run)
	return cmd
}

func shortcutsListRun(ctx context.Context, o *shortcutsOptions, text string) error {
	c, _, err := o.load()
	if err != nil {
		return err
	}
	s, err := o.shortcutsServer(c)
	if err != nil {
		return err
	}
	found, err := s.List(ctx, o.folder, text)
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(o.env, map[string]any{"shortcuts": found})
	}
	var b strings.Builder
	line := strings.NewReplacer("\r", " ", "\n", " ") // a name must not pose as another line
	for _, sc := range found {
		fmt.Fprintf(&b, "%s  %s", sc.ID, line.Replace(sc.Name))
		if sc.Folder != "" {
			fmt.Fprintf(&b, "  (%s)", line.Replace(sc.Folder))
		}
		b.WriteString("\n")
	}
	return o.env.printLines(b.String())
}

func shortcutsRunRun(ctx context.Context, o *shortcutsOptions, name string) error {
	args := map[string]any{}
	switch {
	case name == "" && o.id == "":
		return usagef("name the shortcut, or give --id")
	case o.id != "":
		args["id"] = o.id
	}
	if name != "" {
		args["name"] = name // with --id, too: both must fit
	}
	switch {
	case o.hasText:
		args["input"] = o.text
	case o.hasJSON:
		if !json.Valid([]byte(o.jsonText)) {
			return usagef("--input-json is not JSON")
		}
		args["input"] = json.RawMessage(o.jsonText)
	case o.inputFile != "":
		path, err := filepath.Abs(o.inputFile)
		if err != nil {
			return err
		}
		args["inputFile"] = path
	}
	if !o.env.hasShortcuts() {
		_, err := o.env.ShortcutsRunner()
		return usagef("%w", err)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	use := &useOptions{sessionOptions: o.sessionOptions}
	s, t, err := use.lookUp(ctx, config.ServerShortcuts+"/run")
	if err != nil {
		return err
	}
	defer s.Close()
	return use.callAndPrint(ctx, s, t, raw, "aster shortcuts run")
}

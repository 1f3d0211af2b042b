package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"strings"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// maxArgumentFile bounds arguments that are read from stdin.
const maxArgumentFile = guard.MaxArgumentBytes

// useOptions are those of commands that look at tools or call one.
type useOptions struct {
	sessionOptions
	limit   int
	explain bool
}

func (a *app) useCommand(use, short, long string, args cobra.PositionalArgs, run func(context.Context, *useOptions, []string) error) (*cobra.Command, *useOptions) {
	o := &useOptions{sessionOptions: sessionOptions{configSource: configSource{app: a}}}
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.Context(), o, args)
		},
	}
	o.bindRead(cmd)
	return cmd, o
}

// useCommands are aster mcp tools, search, describe and call.
func (a *app) useCommands() []*cobra.Command {
	tools, o := a.useCommand("tools [SERVER]", "List the tools of all servers, or of one", "", atMostOneArg, toolsRun)
	tools.ValidArgsFunction = o.completeServers
	search, so := a.useCommand("search QUERY", "Search the tools, as a model does with aster_mcp", "", wantArgs(cobra.MinimumNArgs(1), "what to search for"), searchRun)
	search.Flags().IntVar(&so.limit, "limit", 0, "how many tools to show (mcp.search_limit)")
	search.Flags().BoolVar(&so.explain, "explain", false, "show why each tool was found")
	describe, do := a.useCommand("describe SERVER/TOOL", "Show a tool with its schema", "", oneArg, describeRun)
	call, co := a.useCommand("call SERVER/TOOL [ARGUMENTS]", "Call a tool", `Calls a tool with a JSON object as its arguments, "-" to read them from stdin. The policy
and the record of calls apply. The exit code is 1 for a tool that reports an error, and 4
for a call that was refused.`, wantArgs(cobra.RangeArgs(1, 2), "a tool as SERVER/TOOL and, as one word in quotes, its arguments as JSON"), callRun)
	call.Example = `  aster mcp call web/search '{"query":"mcp specification"}'`
	describe.ValidArgsFunction, call.ValidArgsFunction = do.completeTools, co.completeTools
	co.bindSession(call)
	return []*cobra.Command{tools, search, describe, call}
}

func atMostOneArg(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef("%s takes one server or none, but got %q", cmd.CommandPath(), args)
	}
	return nil
}

// connect opens a session and starts the servers that are needed; all for "".
func (o *useOptions) connect(ctx context.Context, server string) (*host.Session, error) {
	c, _, err := o.load()
	if err != nil {
		return nil, err
	}
	var only []string
	if server != "" {
		if err := o.servable(c, server); err != nil {
			return nil, err
		}
		only = []string{server}
	}
	s, err := o.open(c, only, o.approver())
	if err != nil {
		return nil, err
	}
	o.warn(c, s)
	s.Start(ctx)
	if ctx.Err() != nil {
		s.Close()
		return nil, context.Cause(ctx)
	}
	for _, sv := range s.Servers() {
		f := sv.Status.Failure
		switch {
		case f != nil && server != "":
			err := error(fmt.Errorf("%s: %w", server, f))
			if a := s.Absent(server + "/"); a != nil {
				err = &hintError{err, a.Next}
			}
			s.Close()
			return nil, err
		case f != nil:
			fmt.Fprintf(o.env.Stderr, "aster: %s: %s\n", host.CleanText(sv.Name), host.CleanText(f.Error()))
		}
	}
	return s, nil
}

func toolsRun(ctx context.Context, o *useOptions, args []string) error {
	server := ""
	if len(args) == 1 {
		server = args[0]
	}
	s, err := o.connect(ctx, server)
	if err != nil {
		return err
	}
	defer s.Close()
	tools := toolsOf(s)
	if o.json {
		return printJSON(o.env, map[string]any{"tools": append([]bridge.Tool{}, tools...)})
	}
	var b strings.Builder
	for _, t := range tools {
		text, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
		fmt.Fprintf(&b, "%s  %s\n", t.ID(), text)
	}
	return o.env.printLines(b.String())
}

func searchRun(ctx context.Context, o *useOptions, args []string) error {
	s, err := o.connect(ctx, "")
	if err != nil {
		return err
	}
	defer s.Close()
	res, err := s.Catalog().Search(ctx, bridge.Query{Texts: []string{strings.Join(args, " ")}, Limit: o.limit, Explain: o.explain})
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(o.env, res)
	}
	var b strings.Builder
	for _, m := range res.Matches {
		fmt.Fprintf(&b, "%s  %s\n", strings.SplitN(string(m.ID), "/", 2)[0]+"/"+m.Signature, m.Summary)
		for _, why := range m.Why {
			fmt.Fprintf(&b, "    %s\n", why)
		}
	}
	if len(res.Matches) == 0 {
		b.WriteString("nothing found\n")
	}
	return o.env.printLines(b.String())
}

// lookUp finds the tool that an ID names, with only its server started where that is clear.
func (o *useOptions) lookUp(ctx context.Context, id string) (*host.Session, bridge.Tool, error) {
	server, _, whole := strings.Cut(id, "/")
	if !whole {
		server = ""
	}
	s, err := o.connect(ctx, server)
	if err != nil {
		return nil, bridge.Tool{}, err
	}
	t, err := s.Catalog().Resolve(id)
	if err != nil {
		for _, h := range s.HeldBack() {
			if string(h.ID) == id {
				err = fmt.Errorf("%s is held back: %s", id, h.Reason)
			}
		}
		code := ExitUsage
		if a := s.Absent(id); a != nil {
			code, err = ExitFailed, a
		}
		s.Close()
		return nil, t, &codeError{code, err}
	}
	return s, t, nil
}

func describeRun(ctx context.Context, o *useOptions, args []string) error {
	s, t, err := o.lookUp(ctx, args[0])
	if err != nil {
		return err
	}
	defer s.Close()
	if o.json {
		return printJSON(o.env, t)
	}
	schema, err := json.MarshalIndent(t.InputSchema, "", "  ")
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s\n\n%s\n\n%s\n", t.ID(), strings.TrimSpace(t.Description), schema)
	if len(t.OutputSchema) > 0 {
		if schema, err = json.MarshalIndent(t.OutputSchema, "", "  "); err != nil {
			return err
		}
		text += fmt.Sprintf("\nIts result\n\n%s\n", schema)
	}
	return o.env.printLines(text)
}

func callRun(ctx context.Context, o *useOptions, args []string) error {
	raw := json.RawMessage("{}")
	if len(args) == 2 {
		raw = json.RawMessage(args[1])
	}
	if string(raw) == "-" {
		var err error
		if raw, err = io.ReadAll(io.LimitReader(o.env.Stdin, maxArgumentFile+1)); err != nil {
			return err
		}
	}
	if _, _, err := guard.DecodeArguments(raw); err != nil {
		return usagef("arguments: %w", err)
	}
	s, t, err := o.lookUp(ctx, args[0])
	if err != nil {
		return err
	}
	defer s.Close()
	return o.callAndPrint(ctx, s, t, raw, "aster mcp call")
}

// callAndPrint makes a call of the user's own and prints its result.
func (o *useOptions) callAndPrint(ctx context.Context, s *host.Session, t bridge.Tool, raw json.RawMessage, client string) error {
	result, err := s.Call(ctx, t, raw, &host.Caller{Direct: true, Client: guard.Client{Name: client, Version: thisBuild().Version}})
	var refused *guard.Refusal
	switch {
	case errors.As(err, &refused) && ctx.Err() != nil: // Ctrl-C in place of an answer
		return context.Cause(ctx)
	case errors.As(err, &refused):
		return &codeError{ExitRefused, err}
	case err != nil:
		return err
	}
	return o.printResult(result)
}

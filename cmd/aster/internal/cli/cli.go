package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// app is what the commands share.
type app struct {
	env      *Env
	logLevel string       // --log-level
	log      *slog.Logger // set before a command runs
}

// Main runs the program with the process's arguments and streams and returns the exit code.
// docs are the pages of help. The first interrupt or termination signal cancels the command; a second one kills.
func Main(docs fs.FS) int {
	// With a receiver for SIGPIPE a closed stdout is an error of a write, not a death. Ignoring
	// the signal would do so for the browsers that we start as well.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	env := OSEnv()
	env.Docs = docs
	return Run(ctx, env)
}

// Run runs one command and returns its exit code. An error is printed to env.Stderr.
func Run(ctx context.Context, env *Env) int {
	a := &app{env: env.complete()}
	root := a.rootCommand()
	root.SetArgs(a.env.Args)
	root.SetIn(a.env.Stdin)
	root.SetOut(a.env.Stdout)
	root.SetErr(a.env.Stderr)
	cmd, err := root.ExecuteContextC(ctx)
	code := exitCode(ctx, err)
	if code == ExitInterrupted {
		err = errInterrupted // whatever the signal made of the command
	}
	switch {
	case err == nil || err.Error() == "": // all is said
	case wantsJSON(cmd, a.env.Args):
		if err := a.env.printFault(err, code); err != nil {
			return ExitFailed
		}
	default:
		printError(a.env.Stderr, err)
	}
	return code
}

var errInterrupted = errors.New("interrupted")

// wantsJSON reports whether the command that failed was asked for JSON, of which its error
// is a part. A wrong flag leaves those behind it unread.
func wantsJSON(cmd *cobra.Command, args []string) bool {
	f := cmd.Flags().Lookup("json")
	return f != nil && (f.Value.String() == "true" || !f.Changed && slices.Contains(args, "--json"))
}

// printError prints the error that ends a command, line by line without control characters.
func printError(w io.Writer, err error) {
	lines := strings.Split(err.Error(), "\n")
	for i, l := range lines {
		lines[i] = host.CleanText(l)
	}
	fmt.Fprintf(w, "aster: %s\n", strings.Join(lines, "\n"))
	var usage *usageError
	if errors.As(err, &usage) && usage.help != "" {
		fmt.Fprintf(w, "Run %q for how to use it.\n", usage.help)
	}
}

func (a *app) rootCommand() *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "aster",
		Short: "Tools of web pages for AI clients, over the Model Context Protocol",
		Long: `aster gives AI clients the tools that the web pages open in your browser offer
(WebMCP), over the Model Context Protocol.

Begin with "aster demo": it shows the whole way on a page of its own.`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) (err error) {
			if cmd.Name() == "help" { // help is there when all else is wrong
				return nil
			}
			a.log, err = newLogger(a.env.Stderr, a.logLevel, a.env.Getenv("ASTER_LOG"))
			return err
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if version {
				return versionRun(&versionOptions{app: a})
			}
			return group(cmd, args)
		},
	}
	root.PersistentFlags().StringVar(&a.logLevel, "log-level", "", "the least `level` to log to stderr: debug, info, warn or error (ASTER_LOG; default warn)")
	root.RegisterFlagCompletionFunc("log-level", cobra.FixedCompletions([]string{"debug", "info", "warn", "error"}, cobra.ShellCompDirectiveNoFileComp))
	root.Flags().BoolVar(&version, "version", false, "print the version")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{err: err, help: "aster help" + strings.TrimPrefix(cmd.CommandPath(), "aster")}
	})
	root.AddCommand(a.demoCommand(), a.doctorCommand(), a.mcpCommand(), a.shortcutsCommand(), a.uiCommand(), a.versionCommand(), a.webCommand(), a.manCommand())
	root.SetHelpCommand(a.helpCommand())
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if help(cmd, args); cmd == root {
			fmt.Fprint(a.env.Stdout, "\n"+listTopics())
		}
	})
	a.addConfigCommands(root)
	a.addServerCommands(root)
	a.addConnect(root)
	cobra.MousetrapHelpText = "" // a client may start us from a window
	return root
}

// group is the RunE of a command that only holds others.
func group(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	hint := ""
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("; did you mean %q?", near[0])
	}
	return &usageError{fmt.Errorf("%s has no command %q%s", cmd.CommandPath(), args[0], hint), "aster help" + strings.TrimPrefix(cmd.CommandPath(), "aster")}
}

// wantArgs makes the refusal of check, which says only how many arguments there are, one that
// says what is wanted.
func wantArgs(check cobra.PositionalArgs, want string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check(cmd, args) == nil {
			return nil
		}
		return &usageError{fmt.Errorf("%s takes %s", cmd.CommandPath(), want), "aster help" + strings.TrimPrefix(cmd.CommandPath(), "aster")}
	}
}

// noArgs refuses arguments that are no flags.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return &usageError{fmt.Errorf("%s takes no argument, but got %q", cmd.CommandPath(), args[0]), "aster help" + strings.TrimPrefix(cmd.CommandPath(), "aster")}
}

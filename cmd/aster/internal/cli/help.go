package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// A helpTopic is a page of help without a command behind it: NAME.md in Env.Docs.
type helpTopic struct{ name, short string }

// helpTopics are the pages, in the order in which help lists them.
func helpTopics() []helpTopic {
	return []helpTopic{
		{"config", "where the configuration is, and every key of it"},
		{"policy", "which calls are allowed, asked for, denied and recorded"},
		{"webmcp", "the tools of your open pages, and the way to the browser"},
		{"web", "search, extract, crawl, sitemap and screenshot"},
		{"bridge", "all your MCP servers behind one tool"},
		{"security", "what a tool can do, and how to narrow it"},
		{"embedding", "aster as a library"},
		{"benchmarks", "how fast it is, measured"},
		{"commands", "every command with its flags"},
		{"environment", "the variables that aster reads"},
		{"exit-codes", "what the exit codes mean"},
	}
}

// helpCommand shows the help of a command or a topic.
func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND | TOPIC]", Short: "Help about a command or a topic",
		Long: "Shows the help of a command, such as \"aster help mcp serve\", or of one of the topics below.\n\n" + listTopics(),
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return a.helpRun(cmd.Root(), args) },
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return helpNames(cmd.Root(), args), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

func (a *app) helpRun(root *cobra.Command, args []string) error {
	cmd, rest, err := root.Find(args)
	takes := cmd != root && strings.Contains(cmd.Use, " ") // its arguments may stand there, too
	found := err == nil && (len(rest) == 0 || takes)
	if len(args) > 0 {
		text, err := a.topicText(strings.Join(args, "-")) // exit codes is exit-codes
		if err != nil {
			return err
		}
		if text != "" {
			if _, err := fmt.Fprint(a.env.Stdout, text); err != nil || !found {
				return err
			}
			fmt.Fprintf(a.env.Stdout, "\n%s\n\n", a.env.paint(bold, "The command aster "+args[0]))
		}
		if text != "" && !found {
			return nil
		}
	}
	if !found {
		return unknownHelp(root, args)
	}
	cmd.InitDefaultHelpFlag()
	return cmd.Help()
}

// topicText is a topic for the terminal, "" for a name that is none.
func (a *app) topicText(name string) (string, error) {
	if a.env.Docs == nil || !slices.ContainsFunc(helpTopics(), func(t helpTopic) bool { return t.name == name }) {
		return "", nil
	}
	text, err := fs.ReadFile(a.env.Docs, name+".md")
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return renderTopic(string(text), func(s string) string { return a.env.paint(bold, s) }), err
}

// unknownHelp names what is near to a word that is neither a command nor a topic.
func unknownHelp(root *cobra.Command, args []string) error {
	at, rest, _ := root.Find(args)
	if len(rest) == 0 { // the word is an argument of the root
		at, rest = root, args
	}
	prefix := args[:len(args)-len(rest)]
	near := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, name := range helpNames(root, prefix) {
		name, _, _ = strings.Cut(name, "\t")
		near.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	hint := ""
	if found := near.SuggestionsFor(rest[0]); len(found) > 0 {
		slices.Sort(found)
		for i, name := range found {
			found[i] = fmt.Sprintf("%q", strings.Join(append(slices.Clone(prefix), name), " "))
		}
		hint = "; did you mean " + strings.Join(found, " or ") + "?"
	}
	where := "aster help"
	if at != root {
		where = "aster help" + strings.TrimPrefix(at.CommandPath(), "aster")
	}
	return &usageError{fmt.Errorf("there is no help on %q%s", strings.Join(args, " "), hint), where}
}

// helpNames are what help can be had on below some words, each with its short text behind
// a tab, sorted.
func helpNames(root *cobra.Command, words []string) []string {
	at, rest, err := root.Find(words)
	if err != nil || len(rest) > 0 {
		return nil
	}
	short := map[string]string{}
	if at == root {
		for _, t := range helpTopics() {
			short[t.name] = t.short
		}
	}
	for _, c := range at.Commands() {
		if c.IsAvailableCommand() {
			short[c.Name()] = c.Short
		}
	}
	var names []string
	for name, s := range short {
		names = append(names, name+"\t"+s)
	}
	slices.Sort(names)
	return names
}

// listTopics is the list of topics for help.
func listTopics() string {
	var b strings.Builder
	b.WriteString("Topics:\n")
	for _, t := range helpTopics() {
		fmt.Fprintf(&b, "  aster help %-12s %s\n", t.name, t.short)
	}
	return b.String()
}

// renderTopic makes a page for the terminal of the Markdown that the topics are written in:
// headings, paragraphs, lists, tables, fenced blocks and comments.
func renderTopic(text string, bold func(string) string) string {
	var b strings.Builder
	fenced, blank := false, false
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], "\r")
		if n := tableEnd(lines[i:]); n > 0 && !fenced {
			b.WriteString(strings.Join(plainTable(lines[i:i+n]), "\n") + "\n")
			i, blank = i+n-1, false
			continue
		}
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
			continue
		case fenced && line != "":
			line = "    " + line
		case strings.HasPrefix(line, "<!--"):
			continue
		case strings.HasPrefix(line, "#"):
			line = bold(strings.TrimLeft(line, "# "))
		default:
			line = plainLinks(line)
		}
		if line == "" && blank {
			continue // left by a comment or a fence
		}
		blank = line == ""
		b.WriteString(line + "\n")
	}
	return b.String()
}

// plainLinks writes [text](address) as text (address), and as text alone where the address
// is a file beside the page.
func plainLinks(line string) string {
	for {
		i := strings.Index(line, "](")
		if i < 0 {
			return line
		}
		from, to := strings.LastIndexByte(line[:i], '['), strings.IndexByte(line[i:], ')')
		if from < 0 || to < 0 {
			return line
		}
		label, address := line[from+1:i], line[i+2:i+to]
		if strings.Contains(address, "://") {
			label += " (" + address + ")"
		}
		line = line[:from] + label + line[i+to+1:]
	}
}

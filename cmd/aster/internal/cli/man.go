package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

type manOptions struct {
	*app
	markdown bool
}

// manCommand is what a release runs for its man pages, and a test for commands.md.
func (a *app) manCommand() *cobra.Command {
	o := &manOptions{app: a}
	cmd := &cobra.Command{
		Use: "man DIRECTORY", Short: "Write the man pages into a directory",
		Long: `Writes a page for each command (section 1) and for each topic of help (section 7) into a
directory, which it creates.`,
		Example: "  aster man man && man ./man/aster.1",
		Args:    wantArgs(cobra.MaximumNArgs(1), "one directory"),
		RunE:    func(cmd *cobra.Command, args []string) error { return manRun(o, cmd.Root(), args) },
	}
	cmd.Flags().BoolVar(&o.markdown, "markdown", false, "print every command with its flags as Markdown instead")
	cmd.Flags().Lookup("markdown").Hidden = true // for the topic "commands"
	return cmd
}

func manRun(o *manOptions, root *cobra.Command, args []string) error {
	if o.markdown {
		_, err := fmt.Fprint(o.env.Stdout, commandsMarkdown(root))
		return err
	}
	if len(args) == 0 {
		return usagef("aster man takes the directory to write to")
	}
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return err
	}
	write := func(name, text string) error {
		return os.WriteFile(filepath.Join(args[0], name), []byte(text), 0o644)
	}
	for _, cmd := range allCommands(root) {
		if err := write(manName(cmd)+".1", commandMan(cmd)); err != nil {
			return err
		}
	}
	for _, t := range helpTopics() {
		text, err := fs.ReadFile(o.env.Docs, t.name+".md")
		if err != nil {
			return err
		}
		if err := write("aster-"+t.name+".7", topicMan(t, string(text))); err != nil {
			return err
		}
	}
	return nil
}

// allCommands are a command and those below it that help shows, each before its own.
func allCommands(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			all = append(all, allCommands(c)...)
		}
	}
	return all
}

// A flagLine is what a command's help says about one flag.
type flagLine struct{ name, value, usage string }

var flagUsage = regexp.MustCompile(`^ +(?:-\w, )?--([\w-]+)(?: (\S.*?))?   +(\S.*)$`)

// flagLines are the flags of a command's own, without --help, in the order of its help.
func flagLines(cmd *cobra.Command) (out []flagLine) {
	for line := range strings.Lines(cmd.LocalFlags().FlagUsages()) {
		if m := flagUsage.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil && m[1] != "help" {
			out = append(out, flagLine{m[1], m[2], m[3]})
		}
	}
	return out
}

// commandsMarkdown is the topic "commands".
func commandsMarkdown(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Commands\n\nEvery command with its flags; `aster help COMMAND` says more. All know `--help`.\n")
	for _, cmd := range allCommands(root) {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n", cmd.CommandPath(), strings.TrimSuffix(cmd.Short, "."))
		if cmd.HasAvailableSubCommands() && !cmd.HasAvailableLocalFlags() {
			continue
		}
		fmt.Fprintf(&b, "\n```text\n%s\n", cmd.UseLine())
		for _, f := range flagLines(cmd) {
			fmt.Fprintf(&b, "  %s\n      %s\n", strings.TrimSpace("--"+f.name+" "+f.value), f.usage)
		}
		b.WriteString("```\n")
	}
	return b.String()
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// commandMan is a command's man page, section 1.
func commandMan(cmd *cobra.Command) string {
	r := newRoff(manName(cmd), "1", cmd.Short)
	r.section("Synopsis")
	r.line(`\fB` + roffText(cmd.UseLine()) + `\fR`)
	r.section("Description")
	if cmd.Long == "" {
		r.line(roffText(cmd.Short) + ".")
	}
	before, _, _ := strings.Cut(cmd.Long, "\nTopics:\n")
	r.markdown(before)
	if cmd.HasAvailableSubCommands() {
		r.section("Commands")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() && c.Name() != "help" {
				r.item(`\fB`+roffText(manName(c))+`\fR(1)`, roffText(c.Short))
			}
		}
	}
	if flags := flagLines(cmd); len(flags) > 0 {
		r.section("Options")
		for _, f := range flags {
			r.item(strings.TrimSpace(`\fB`+roffText("--"+f.name)+`\fR \fI`+roffText(f.value)+`\fR`), roffText(f.usage))
		}
	}
	if cmd.Example != "" {
		r.section("Examples")
		r.literal(strings.Split(cmd.Example, "\n"))
	}
	r.section("See also")
	see := []string{`\fBaster\-exit\-codes\fR(7)`, `\fBaster\-environment\fR(7)`}
	if cmd.HasParent() {
		see = slices.Insert(see, 0, `\fB`+roffText(manName(cmd.Parent()))+`\fR(1)`)
	} else {
		see = nil
		for _, t := range helpTopics() {
			see = append(see, `\fB`+roffText("aster-"+t.name)+`\fR(7)`)
		}
	}
	r.line(strings.Join(see, ", "))
	return r.String()
}

// topicMan is a topic's man page, section 7.
func topicMan(t helpTopic, text string) string {
	r := newRoff("aster-"+t.name, "7", t.short)
	r.section("Description")
	_, body, _ := strings.Cut(text, "\n") // the title
	r.markdown(body)
	return r.String()
}

// A roff writes a page in the macros of man(7).
type roff struct{ strings.Builder }

func newRoff(name, section, short string) *roff {
	r := &roff{}
	day, _, _ := strings.Cut(date, "T")
	fmt.Fprintf(r, ".TH %q %q %q %q %q\n", strings.ToUpper(name), section, day, strings.TrimSpace("aster "+version), "aster")
	r.section("Name")
	r.line(roffText(name) + ` \- ` + roffText(short))
	return r
}

func (r *roff) section(title string) { r.line(".SH " + roffText(strings.ToUpper(title))) }

func (r *roff) line(text string) { r.WriteString(text + "\n") }

func (r *roff) item(head, text string) {
	r.line(".TP")
	r.line(head)
	r.line(text)
}

func (r *roff) literal(lines []string) {
	r.line(".PP\n.RS 4\n.nf")
	for _, l := range lines {
		r.line(roffText(l))
	}
	r.line(".fi\n.RE")
}

// markdown writes the Markdown of the topics, and the text of a command's help.
func (r *roff) markdown(text string) {
	var fence []string
	fenced, fresh := false, true
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], "\r")
		if n := tableEnd(lines[i:]); n > 0 && !fenced {
			r.literal(plainTable(lines[i : i+n]))
			i, fresh = i+n-1, true
			continue
		}
		item, isItem := strings.CutPrefix(line, "- ")
		switch {
		case strings.HasPrefix(line, "```"):
			if fenced {
				r.literal(fence)
				fence, fresh = nil, true
			}
			fenced = !fenced
		case fenced:
			fence = append(fence, line)
		case strings.HasPrefix(line, "<!--"):
		case strings.HasPrefix(line, "#"):
			r.section(strings.TrimLeft(line, "# "))
			fresh = true
		case line == "":
			fresh = true
		case isItem:
			r.line(".IP \\(bu 2")
			r.line(roffInline(item))
			fresh = false
		default:
			if fresh {
				r.line(".PP")
			}
			r.line(roffInline(strings.TrimSpace(line)))
			fresh = false
		}
	}
}

var inlineCode = regexp.MustCompile("`([^`]+)`")

// roffInline writes a line of prose: `code` is bold.
func roffInline(line string) string {
	return inlineCode.ReplaceAllString(roffText(plainLinks(line)), `\fB$1\fR`)
}

var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "…", "...")

// roffText is text in which nothing is a request.
func roffText(s string) string {
	s = roffEscapes.Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}

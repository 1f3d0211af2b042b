package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// heldEntry is a tool that is held back: why, by which rule, and what would change it.
type heldEntry struct {
	Tool   string     `json:"tool"`
	Reason string     `json:"reason"`
	Why    string     `json:"why"`            // "filter", "approval" or "definition"
	Rule   *ruleEntry `json:"rule,omitempty"` // of the filter; absent where no allow rule lets it in
	Fix    string     `json:"fix,omitempty"`  // the command that would change it
}

// Why a tool is held back.
const (
	heldByFilter     = "filter"     // mcp.tools
	heldForApproval  = "approval"   // its definition is not the approved one
	heldByDefinition = "definition" // it cannot be used
)

// explainAll says of each tool why it is held back.
func (o *configSource) explainAll(c *config.Config, held []host.HeldBack) []heldEntry {
	waiting := map[string]bool{}
	if pins, err := o.pins(); err == nil { // else the reasons stand for themselves
		for _, ch := range pins.Changes() {
			waiting[ch.Server+"/"+ch.Tool] = true
		}
	}
	out := []heldEntry{}
	for _, h := range held {
		out = append(out, o.explain(c, h, waiting[string(h.ID)]))
	}
	return out
}

func (o *configSource) explain(c *config.Config, h host.HeldBack, waits bool) heldEntry {
	e := heldEntry{Tool: string(h.ID), Reason: h.Reason, Why: heldByDefinition}
	switch v := c.Tools.Filter(e.Tool); {
	case waits && v.Allowed:
		e.Why, e.Fix = heldForApproval, "aster mcp approve "+shellWord(e.Tool)
	case !v.Allowed && v.By != nil:
		e.Why, e.Rule = heldByFilter, &ruleEntry{List: "deny", Pattern: v.By.Text, Source: v.By.Place.String()}
		e.Fix = o.editCommand("enable", v.By.Text, v.By.Place)
	case !v.Allowed:
		e.Why, e.Fix = heldByFilter, o.editCommand("enable", e.Tool, config.Place{Scope: config.ScopeGlobal})
	}
	return e
}

// editCommand is the command that edits the filter, "" where no command can.
func (o *configSource) editCommand(verb, pattern string, at config.Place) string {
	switch {
	case o.file != "":
		return "aster mcp " + verb + " --config " + shellWord(o.file) + " " + shellWord(pattern)
	case at.Scope == config.ScopeGlobal || at.Scope == config.ScopeProject:
		return "aster mcp " + verb + " " + shellWord(pattern)
	}
	return ""
}

// shellWord writes a word so that a POSIX shell reads it as it is.
func shellWord(word string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+=,", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !safe(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func shellWords(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = shellWord(w)
	}
	return out
}

// ruleEntries are the rules of the filter, the user's first, and what each does.
func (o *configSource) ruleEntries(c *config.Config, report *liveReport) []ruleEntry {
	held := map[string]int{}
	for _, h := range report.held {
		if h.Rule != nil {
			held[h.Rule.Source]++
		}
	}
	servers := serverNames(c)
	known := func(name string) bool { return report.listed[name] }
	out := []ruleEntry{}
	add := func(list string, rules config.Tools, all []config.Pattern) {
		idle := rules.Unmatched(report.ids, known, servers)
		for _, p := range all {
			e := ruleEntry{List: list, Pattern: p.Text, Source: p.Place.String(), HoldsBack: held[p.Place.String()]}
			if slices.ContainsFunc(idle, func(q config.Pattern) bool { return q.Text == p.Text && q.Place == p.Place }) {
				e.Unmatched, e.Hint = true, p.Suggest(report.ids, servers)
				if list == "deny" {
					e.Fix = o.editCommand("enable", p.Text, p.Place)
				}
			}
			out = append(out, e)
		}
	}
	add("allow", config.Tools{Allow: c.Tools.Allow}, c.Tools.Allow)
	add("deny", config.Tools{Deny: c.Tools.Deny}, c.Tools.Deny)
	return out
}

func printRules(b *strings.Builder, rules []ruleEntry) {
	for i, r := range rules {
		if i == 0 {
			b.WriteString("\nrules\n")
		}
		fmt.Fprintf(b, "  %-5s  %s  (%s)", r.List, r.Pattern, r.Source)
		switch {
		case r.Unmatched && r.Hint != "":
			fmt.Fprintf(b, ": matches nothing; %s", r.Hint)
		case r.Unmatched:
			b.WriteString(": matches nothing")
		case r.HoldsBack > 0:
			b.WriteString(": holds back " + number(r.HoldsBack, "tool"))
		}
		b.WriteString("\n")
		if r.Fix != "" {
			fmt.Fprintf(b, "         %s\n", r.Fix)
		}
	}
}

func printHeld(b *strings.Builder, held []heldEntry) {
	for i, h := range held {
		if i == 0 {
			b.WriteString("\nheld back\n")
		}
		fmt.Fprintf(b, "  %s  %s\n", h.Tool, h.Reason)
		if h.Fix != "" {
			fmt.Fprintf(b, "      %s\n", h.Fix)
		}
	}
}

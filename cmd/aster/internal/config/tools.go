package config

import (
	"slices"
	"strings"
)

// Tools says which tools are in the catalogue.
type Tools struct {
	// Allow and Deny are the rules of all layers, the user's first. Deny wins. An empty
	// Allow is everything.
	Allow, Deny []Pattern
	// Locked makes the user's Allow final: no project widens it.
	Locked bool
	// closed means that there were rules in allow and none could be read, so nothing is allowed.
	closed bool
}

// A Verdict is what the filter says about a tool.
type Verdict struct {
	Allowed bool
	// By is the rule that decided: the allow rule that let it in, or the deny rule that
	// holds it back. It is nil when no rule says anything about the tool: then it is in if
	// Allow is empty, and held back by not being in Allow otherwise.
	By *Pattern
}

// Filter says whether a tool's id is in the catalogue. It decides nothing about calls:
// that is the policy's.
func (t *Tools) Filter(id string) Verdict {
	for i := range t.Deny {
		if t.Deny[i].Match(id) {
			return Verdict{By: &t.Deny[i]}
		}
	}
	for i := range t.Allow {
		if t.Allow[i].Match(id) {
			return Verdict{Allowed: true, By: &t.Allow[i]}
		}
	}
	return Verdict{Allowed: len(t.Allow) == 0 && !t.closed}
}

// Unmatched returns the rules that match none of the ids: most often a misspelling. Rules
// about a server whose tools are not known, according to known, are left out.
func (t *Tools) Unmatched(ids []string, known func(server string) bool, servers []string) []Pattern {
	var out []Pattern
	for _, list := range [][]Pattern{t.Allow, t.Deny} {
		for _, p := range list {
			if !matchesAny(p, ids) && !mayMatch(p, servers, known) {
				out = append(out, p)
			}
		}
	}
	return out
}

// Suggest names the tool or the server that the writer of a rule which matches nothing may
// have meant, as "did you mean …?"; "" where none is near.
func (p Pattern) Suggest(ids, servers []string) string {
	server, tool, whole := strings.Cut(p.Text, "/")
	if !whole || !slices.Contains(servers, server) {
		if hint := nearest(server, servers); hint != "" || !whole {
			return hint
		}
	}
	if strings.ContainsAny(tool, `*?[{\`) {
		return ""
	}
	return nearest(p.Text, ids)
}

func matchesAny(p Pattern, ids []string) bool {
	for _, id := range ids {
		if p.Match(id) {
			return true
		}
	}
	return false
}

// mayMatch reports whether the pattern is about a server whose tools are not known.
func mayMatch(p Pattern, servers []string, known func(string) bool) bool {
	for _, s := range servers {
		if p.MatchServer(s) && !known(s) {
			return true
		}
	}
	return false
}

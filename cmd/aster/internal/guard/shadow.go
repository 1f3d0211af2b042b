package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/aster-mcp/aster/bridge"
)

// Bounds on the comparison of tools.
const (
	maxShadowTools  = 20_000
	minCopiedRunes  = 40 // of a description that counts as copied
	minTellingRunes = 6  // of a tool's name that counts when a description names it
	maxMentionWords = 5_000
	maxLookAlikes   = 16 // names that look the same, to be compared with
)

// A ToolWarning is a warning about one tool of a catalogue.
type ToolWarning struct {
	ID bridge.ToolID `json:"id"`
	Warning
}

// Scan looks at all tools of a session, of whatever server: at each one's definition for
// hidden characters, encoded commands, phrases of poisoned definitions and secrets, and
// at all together for names that look alike, descriptions that copy those of another
// server, and descriptions that speak of a tool that only another server has. The result
// is sorted by ID and depends on nothing else than tools. It needs neither network nor
// files and never fails; see [Warning].
func Scan(tools []bridge.Tool) (out []ToolWarning) {
	for _, t := range tools {
		for _, w := range scanDefinition(definitionOf(t)) {
			out = append(out, ToolWarning{t.ID(), w})
		}
	}
	sorted := slices.Clone(tools)
	slices.SortStableFunc(sorted, func(a, b bridge.Tool) int { return cmp.Compare(a.ID(), b.ID()) })
	if len(sorted) > maxShadowTools {
		sorted = sorted[:maxShadowTools]
	}
	for _, check := range []struct {
		name string
		run  func([]bridge.Tool) []ToolWarning
	}{{"lookalike", lookAlikes}, {"copies", copies}, {"mentions", mentions}} {
		out = append(out, guardedAll(check.name, func() []ToolWarning { return check.run(sorted) })...)
	}
	slices.SortStableFunc(out, func(a, b ToolWarning) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Check, b.Check), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Text, b.Text))
	})
	return out
}

func guardedAll(name string, run func() []ToolWarning) (out []ToolWarning) {
	defer func() {
		if recover() != nil {
			out = []ToolWarning{{Warning: Warning{Check: "broken", Text: fmt.Sprintf("the check %q could not be made", name)}}}
		}
	}()
	return run()
}

// lookAlikes finds servers, and tools of whatever server, whose names look the same and
// are not.
func lookAlikes(tools []bridge.Tool) (out []ToolWarning) {
	servers, names := map[string][]string{}, map[string][]bridge.Tool{}
	for _, t := range tools {
		if s := skeleton(t.Server); !slices.Contains(servers[s], t.Server) {
			servers[s] = append(servers[s], t.Server)
		}
		s := skeleton(t.Name)
		if len(names[s]) < maxLookAlikes && !slices.ContainsFunc(names[s], func(o bridge.Tool) bool { return o.Name == t.Name }) {
			names[s] = append(names[s], t)
		}
	}
	warn := func(t bridge.Tool, what, mine, other string) {
		out = append(out, ToolWarning{t.ID(), Warning{Check: "lookalike", Field: "name", Hard: beyondASCII(mine) != beyondASCII(other),
			Text: fmt.Sprintf("the %s's name %s looks like %s", what, spelled(mine), spelled(other))}})
	}
	for _, t := range tools {
		for _, other := range servers[skeleton(t.Server)] {
			if other != t.Server {
				warn(t, "server", t.Server, other)
				break
			}
		}
		for _, other := range names[skeleton(t.Name)] {
			if other.Name != t.Name && !strings.EqualFold(other.Name, t.Name) || other.Server == t.Server && other.Name != t.Name {
				warn(t, "tool", t.Name, string(other.ID()))
				break
			}
		}
	}
	return out
}

func beyondASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) >= 0
}

// plainWords is a text as small letters and digits with single spaces.
func plainWords(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(cutBytes(s, maxScanBytes)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ")
}

// copies finds tools whose name and description are those of another server's.
func copies(tools []bridge.Tool) (out []ToolWarning) {
	same := map[string][]bridge.Tool{}
	key := func(t bridge.Tool) string {
		text := plainWords(t.Description)
		if len([]rune(text)) < minCopiedRunes {
			return ""
		}
		return text
	}
	for _, t := range tools {
		// Two servers are enough: one of them is another one.
		if k := key(t); k != "" && len(same[k]) < 2 && !slices.ContainsFunc(same[k], func(o bridge.Tool) bool { return o.Server == t.Server }) {
			same[k] = append(same[k], t)
		}
	}
	for _, t := range tools {
		for _, other := range same[key(t)] {
			if other.Server != t.Server {
				out = append(out, ToolWarning{t.ID(), Warning{Check: "shadow", Field: "description",
					Text: "its description is that of " + Show(string(other.ID()), maxShownName)}})
				break
			}
		}
	}
	return out
}

// mentions finds descriptions that name a tool that only another server has.
func mentions(tools []bridge.Tool) (out []ToolWarning) {
	owners := map[string][]string{} // telling names in small letters → servers
	for _, t := range tools {
		name := strings.ToLower(t.Name)
		if telling(t.Name) && !slices.Contains(owners[name], t.Server) {
			owners[name] = append(owners[name], t.Server)
		}
	}
	for _, t := range tools {
		told := map[string]bool{}
		for _, word := range namedWords(t.Description + "\n" + schemaText(string(t.InputSchema))) {
			servers := owners[word]
			if len(servers) == 0 || slices.Contains(servers, t.Server) || told[word] {
				continue
			}
			told[word] = true
			out = append(out, ToolWarning{t.ID(), Warning{Check: "shadow", Field: "description",
				Text: fmt.Sprintf("its definition speaks of %s, a tool that only %s has", Show(word, maxShownName), Show(strings.Join(servers, ", "), maxShownName))}})
		}
	}
	return out
}

// telling reports whether a tool's name is unlike a word of prose: of several parts.
func telling(name string) bool {
	if len([]rune(name)) < minTellingRunes {
		return false
	}
	if strings.ContainsAny(name, "_-./") {
		return true
	}
	lower := false
	for _, r := range name {
		if lower && unicode.IsUpper(r) {
			return true // camelCase
		}
		lower = unicode.IsLower(r)
	}
	return false
}

// namedWords are the words of a text as names of tools are written, in small letters;
// of server/tool the tool as well.
func namedWords(s string) (words []string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(cutBytes(s, maxScanBytes)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./:", r)
	}) {
		if len(words) >= maxMentionWords {
			break
		}
		w = strings.Trim(w, "-./:")
		words = append(words, w)
		if i := strings.LastIndexAny(w, "/:"); i >= 0 {
			words = append(words, w[i+1:])
		}
		if i := strings.LastIndex(w, "__"); i >= 0 { // mcp__server__tool
			words = append(words, w[i+2:])
		}
	}
	return words
}

package bridge

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds on exact names.
const (
	maxNameRun    = 8  // words of a query that may spell one name together
	maxQueryNames = 32 // names looked for in one query
)

// A nameTable finds tools by their names as people write them: without case
// and separators.
type nameTable struct {
	entries []entry
	first   map[string]int32 // by key of the bare name: the first tool
	next    []int32          // per tool: the next one of the same key, or -1
	longest int              // bytes of the longest key
}

func (t *nameTable) build(entries []entry) {
	t.entries = entries
	t.first = make(map[string]int32, len(entries))
	t.next = make([]int32, len(entries))
	var buf []byte
	for i := len(entries) - 1; i >= 0; i-- {
		t.next[i] = -1
		buf = appendKey(buf[:0], entries[i].tool.Name)
		if len(buf) == 0 {
			continue
		}
		if next, ok := t.first[string(buf)]; ok {
			t.next[i] = next
		}
		t.first[string(buf)] = int32(i)
		t.longest = max(t.longest, len(buf))
	}
}

// tools lists the tools of a key, in order.
func (t *nameTable) tools(key []byte) []int32 {
	var out []int32
	i, ok := t.first[string(key)]
	for ; ok && i >= 0; i = t.next[i] {
		out = append(out, i)
	}
	return out
}

// qualified lists the tools that a token names with their server, whatever
// stands between the two.
func (t *nameTable) qualified(token string) []int32 {
	var out []int32
	var head, tail, server []byte
	for at := 1; at < len(token); at++ {
		if !strings.ContainsRune("/:._-", rune(token[at])) {
			continue
		}
		tail = appendKey(tail[:0], token[at+1:])
		i, ok := t.first[string(tail)]
		if !ok {
			continue
		}
		head = appendKey(head[:0], token[:at])
		for ; i >= 0; i = t.next[i] {
			if server = appendKey(server[:0], t.entries[i].tool.Server); string(server) == string(head) && !slices.Contains(out, i) {
				out = append(out, i)
			}
		}
	}
	return out
}

// appendKey appends the letters and digits of s in lower case.
func appendKey(b []byte, s string) []byte {
	for _, r := range s {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			b = append(b, byte(r))
		case 'A' <= r && r <= 'Z':
			b = append(b, byte(r)+'a'-'A')
		case r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b = utf8.AppendRune(b, unicode.ToLower(r))
		}
	}
	return b
}

// isPlainWord reports whether a name looks like a word of any sentence: only
// letters, and no capital inside.
func isPlainWord(name string) bool {
	for i, r := range name {
		if !unicode.IsLetter(r) || i > 0 && unicode.IsUpper(r) {
			return false
		}
	}
	return true
}

// A namedRun is a stretch of a query that spells tools' names.
type namedRun struct {
	text  string // as the query has it
	tools []int32
}

// find returns the names that a query spells, longest runs first at each
// place, in the query's order. A name that is a plain word counts only where
// the query holds nothing but names.
func (t *nameTable) find(text string) []namedRun {
	if strings.Contains(text, "mcp__") {
		text = strings.ReplaceAll(text, "mcp__", "")
	}
	fields := strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(",;|\"`()[]{}<>、，。；", r)
	})
	if len(fields) > maxQueryWords {
		fields = fields[:maxQueryWords]
	}
	var runs []namedRun
	var plain []bool
	onlyNames := true
	for i := 0; i < len(fields); {
		run, n := t.run(fields[i:])
		if n == 0 {
			if len(appendKey(nil, fields[i])) > 0 && !strings.EqualFold(fields[i], "and") {
				onlyNames = false
			}
			i++
			continue
		}
		if len(runs) < maxQueryNames {
			runs = append(runs, run)
			plain = append(plain, n > 1 || isPlainWord(trimToken(fields[i])))
		}
		i += n
	}
	kept := runs[:0]
	for i, run := range runs {
		if !plain[i] || onlyNames {
			kept = append(kept, run)
		}
	}
	return kept
}

// spells reports whether the query has the tool's name to the letter.
func (r *namedRun) spells(t *Tool) bool {
	text := trimToken(r.text)
	return text == t.Name || len(text) > len(t.Name) && strings.HasSuffix(text, t.Name) && strings.HasPrefix(text, t.Server)
}

// run finds the longest name that fields begin with, and its length.
func (t *nameTable) run(fields []string) (run namedRun, n int) {
	var buf []byte
	for i := range min(len(fields), maxNameRun) {
		buf = appendKey(buf, trimToken(fields[i]))
		if len(buf) > t.longest {
			break
		}
		if tools := t.tools(buf); len(tools) > 0 {
			run, n = namedRun{strings.Join(fields[:i+1], " "), tools}, i+1
		}
	}
	if n == 0 {
		if tools := t.qualified(trimToken(fields[0])); len(tools) > 0 {
			return namedRun{fields[0], tools}, 1
		}
	}
	return run, n
}

func trimToken(s string) string { return strings.Trim(s, ".:!?'") }

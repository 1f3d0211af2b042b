package bridge

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds on exact names.
const (
	maxNameRun    = 12 // words of a query that may spell one name together
	maxQueryNames = 32 // names looked for in one query
)

// A nameTable finds tools by their names as people write them: without case
// and separators.
type nameTable struct {
	byKey map[string][]int32 // key of the bare name, and of server and name
	plain map[string]bool    // keys of names that are one plain word
}

func (t *nameTable) build(entries []entry) {
	t.byKey = make(map[string][]int32, 2*len(entries))
	t.plain = make(map[string]bool)
	var buf []byte
	for i := range entries {
		name, server := entries[i].tool.Name, entries[i].tool.Server
		buf = appendKey(buf[:0], name)
		if len(buf) == 0 {
			continue
		}
		key := string(buf)
		t.byKey[key] = append(t.byKey[key], int32(i))
		if isPlainWord(name) {
			t.plain[key] = true
		}
		full := string(appendKey(appendKey(buf[:0], server), name))
		if full != key {
			t.byKey[full] = append(t.byKey[full], int32(i))
		}
	}
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
	key   string
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
		run, n := t.longest(fields[i:])
		if n == 0 {
			if len(appendKey(nil, fields[i])) > 0 && !strings.EqualFold(fields[i], "and") {
				onlyNames = false
			}
			i++
			continue
		}
		if len(runs) < maxQueryNames {
			runs = append(runs, run)
			plain = append(plain, n > 1 || t.plain[run.key] && isPlainWord(strings.Trim(fields[i], ".:!?'")))
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

// longest finds the longest name that fields begin with, and its length.
func (t *nameTable) longest(fields []string) (run namedRun, n int) {
	var buf []byte
	for i := range min(len(fields), maxNameRun) {
		buf = appendKey(buf, strings.Trim(fields[i], ".:!?'"))
		if len(buf) > 2*MaxNameBytes {
			break
		}
		if tools := t.byKey[string(buf)]; len(tools) > 0 {
			run, n = namedRun{string(buf), tools}, i+1
		}
	}
	return run, n
}

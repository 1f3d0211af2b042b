package shim

import (
	"sort"
	"strings"
)

// compact is the form of a script that goes to the page: without comments, indentation
// and the spaces that only a reader needs, with short names for variables, and with the
// shorter of two words where both mean the same (see shorter). The statements and their
// order, strings, and the names of globals, classes, interfaces and properties, but for
// those of ownFields, stay as they are.
//
// It knows as much JavaScript as the scripts of this package use: no regular expression
// literals, no template literals, no comments of the form /* */, no labels, no defaults
// in destructuring, a semicolon after each statement, and one name per meaning: a
// variable never has the name of a global that is used as such.
func compact(source string) string {
	tokens := tokenize(source)
	classify(tokens)
	short := shortNames(tokens)
	var out strings.Builder
	out.Grow(len(source) / 2)
	var last byte
	for _, t := range tokens {
		text := t.text
		switch {
		case t.role == property:
			text = fieldName(t.text)
		case shorter[t.text] != "":
			text = shorter[t.text]
		case short[t.text] == "":
		case t.role == shorthand && short[t.text] != t.text:
			text = fieldName(t.text) + ":" + short[t.text]
		default:
			text = short[t.text]
		}
		if t.space != 0 && parts(last, text[0], t.space) {
			out.WriteByte(t.space)
		}
		out.WriteString(text)
		last = text[len(text)-1]
	}
	return out.String()
}

// role is what a word stands for.
type role int

const (
	other     role = iota // no word, or a keyword
	variable              // a variable, a parameter or a function
	property              // a name of a property
	shorthand             // both: {name} for {name: name}
)

// jsToken is a word, a string or a single sign, with the space before it: 0, ' ' or '\n'.
type jsToken struct {
	text  string
	space byte
	role  role
}

func tokenize(source string) (tokens []jsToken) {
	tokens = make([]jsToken, 0, len(source)/3) // more than enough: growing took most of the time
	var space byte
	for i := 0; i < len(source); {
		c := source[i]
		switch {
		case c == '\n':
			space = '\n'
			i++
		case c == ' ' || c == '\t':
			if space == 0 {
				space = ' '
			}
			i++
		case c == '/' && strings.HasPrefix(source[i:], "//"):
			n := strings.IndexByte(source[i:], '\n')
			if n < 0 {
				n = len(source) - i
			}
			i += n
		default:
			n := tokenLength(source[i:])
			tokens = append(tokens, jsToken{text: source[i : i+n], space: space})
			space = 0
			i += n
		}
	}
	return tokens
}

// tokenLength is the length of the string, the word or the sign that s begins with.
func tokenLength(s string) int {
	c := s[0]
	switch {
	case c == '\'' || c == '"':
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case c:
				return i + 1
			}
		}
		return len(s)
	case inWord(c):
		n := 1
		for n < len(s) && inWord(s[n]) {
			n++
		}
		return n
	case strings.HasPrefix(s, "..."):
		return 3
	}
	return 1
}

// inWord reports whether c is part of a name or a number.
func inWord(c byte) bool {
	return c == '_' || c == '$' || c == '#' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// parts reports whether the space between two bytes has a meaning.
func parts(a, b, space byte) bool {
	if space == '\n' {
		// A newline may end a statement, but not after or before these.
		return a != 0 && strings.IndexByte("{([,;", a) < 0 && strings.IndexByte(")],;.", b) < 0 && (a != '}' || b != '}')
	}
	return inWord(a) && inWord(b) || a == b && (a == '+' || a == '-')
}

// fixedWords are the words that are neither properties nor variables of the script:
// keywords, and globals that do not begin with a capital letter.
var fixedWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`
		async await break case catch class const continue default delete do else extends false finally for function get if in
		instanceof let new null of return set static super switch this throw true try typeof undefined var void while yield
		arguments console document globalThis inspect isSecureContext location navigator originAgentCluster self window`) {
		m[w] = true
	}
	return m
}()

// shorter has the words that another way to write them is shorter than. Nothing of the
// scripts is assigned to twice that was declared const: the readable form, which has it
// so, is run by a test.
var shorter = map[string]string{"const": "let", "undefined": "void 0", "true": "!0", "false": "!1"}

// ownFields are properties that only objects of the script have, and no other realm's
// script reads.
var ownFields = func() map[string]string {
	m := map[string]string{}
	for i, w := range strings.Fields(`
		announced areaMessage armed autosubmit dirty flushing handed handlers lastChanged lastRequest
		lost marked posted previous queued refusals requests rootObserver selectMessage timed touched unleave unstyle unwatch
		root state controls matches observer known denied prevented contains connected listener response roots elements setValue eventTarget
		areaLabels buttonType findIn findWithin invalid lastTool listed requestSubmit selectLabels setArea setChecked setIndex
		setSelected selected labels checked multiple sheetText
		changed removed phase shadow parent area index option held`) {
		m[w] = "_" + shortName(i)
	}
	return m
}()

// fieldName is the name of a property in the page.
func fieldName(name string) string {
	if own := ownFields[name]; own != "" {
		return own
	}
	return name
}

// classify gives each word its role.
func classify(tokens []jsToken) {
	type bracket struct {
		sign string
		decl bool // inside of a declaration of variables
	}
	open := []bracket{{}}
	at := func(i int) string {
		if i < 0 || i >= len(tokens) {
			return ""
		}
		return tokens[i].text
	}
	for i := range tokens {
		text, top := tokens[i].text, &open[len(open)-1]
		switch text {
		case "(", "[", "{":
			open = append(open, bracket{sign: text})
		case ")", "]", "}":
			if len(open) > 1 {
				open = open[:len(open)-1]
			}
		case ";":
			top.decl = false
		case "const", "let":
			top.decl = true
		}
		if c := text[0]; !inWord(c) || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c == '#' || c == '_' {
			continue
		}
		prev, next := at(i-1), at(i+1)
		listed := top.sign == "{" && !top.decl && (prev == "{" || prev == ",")
		switch {
		case prev == ".", listed && next == ":", next == "(" && prev != "function" && !fixedWords[text] && isMethod(tokens, i+1):
			tokens[i].role = property
		case fixedWords[text]:
		case listed && (next == "," || next == "}"):
			tokens[i].role = shorthand
		default:
			tokens[i].role = variable
		}
	}
}

// isMethod reports whether a block follows the bracket that opens at i.
func isMethod(tokens []jsToken, i int) bool {
	depth := 0
	for ; i < len(tokens); i++ {
		switch tokens[i].text {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i+1 < len(tokens) && tokens[i+1].text == "{"
			}
		}
	}
	return false
}

// shortNames gives each variable a name that nothing else has, the most frequent the
// shortest.
func shortNames(tokens []jsToken) map[string]string {
	count, taken := map[string]int{}, map[string]bool{}
	for _, t := range tokens {
		if t.role == variable || t.role == shorthand {
			count[t.text]++
		}
		if t.role == other {
			taken[t.text] = true
		}
	}
	words := make([]string, 0, len(count))
	for w := range count {
		words = append(words, w)
	}
	sort.Slice(words, func(i, j int) bool {
		if a, b := count[words[i]]*len(words[i]), count[words[j]]*len(words[j]); a != b {
			return a > b
		}
		return words[i] < words[j]
	})
	short := make(map[string]string, len(words))
	n := 0
	for _, w := range words {
		name := shortName(n)
		for taken[name] || fixedWords[name] {
			n++
			name = shortName(n)
		}
		n++
		short[w] = name
	}
	return short
}

// shortName is the n-th name of one or two letters, or more.
func shortName(n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	name := string(letters[n%len(letters)])
	for n /= len(letters); n > 0; n /= len(letters) {
		n--
		name += string(letters[n%len(letters)])
	}
	return name
}

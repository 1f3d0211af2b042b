package config

import (
	"path/filepath"
	"strings"
)

// noVariables keeps a text as it is: the client knows no variables.
func noVariables(_, text string) (string, string) {
	return strings.ReplaceAll(text, "${", "$${"), ""
}

// editorVariables rewrites those of VS Code, Cursor and Windsurf: ${env:NAME}, ${input:id}
// and ${workspaceFolder}.
func (o *ImportOptions) editorVariables(_, text string) (out, note string) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "${")
		inner, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			b.WriteString(text)
			return b.String(), note
		}
		b.WriteString(before)
		kind, name, _ := strings.Cut(inner, ":")
		switch {
		case kind == "env" && isVariable(name):
			b.WriteString("${" + name + "}")
		case kind == "input":
			v := inputVariable(name)
			b.WriteString("${" + v + "}")
			note = "set the variable " + v + ", which the client asked for"
		case inner == "workspaceFolder":
			dirs := o.parents()
			if len(dirs) == 0 {
				dirs = []string{"."}
			}
			b.WriteString(dirs[0])
		case inner == "userHome":
			b.WriteString(o.Home)
		case inner == "pathSeparator" || inner == "/":
			b.WriteRune(filepath.Separator)
		default:
			b.WriteString("$${" + inner + "}")
			note = "${" + inner + "} is not known here and stays as it is"
		}
		text = after
	}
}

// inputVariable makes the name of a variable from the id of an input.
func inputVariable(id string) string {
	v := strings.Map(func(r rune) rune {
		if isWord(r) {
			return r
		}
		return '_'
	}, strings.ToUpper(id))
	if !isVariable(v) {
		v = "INPUT_" + v
	}
	return v
}

// openCodeVariables rewrites {env:NAME}.
func openCodeVariables(_, text string) (out, note string) {
	text, _ = noVariables("", text)
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "{env:")
		name, after, closed := strings.Cut(rest, "}")
		if !ok || !closed || !isVariable(name) {
			b.WriteString(text)
			break
		}
		b.WriteString(before + "${" + name + ":-}") // an unset one is empty there
		text = after
	}
	if out = b.String(); strings.Contains(out, "{file:") {
		note = "{file:…} is not read here"
	}
	return out, note
}

// geminiVariables rewrites $NAME, ${NAME} and %NAME%, which count in env only.
func geminiVariables(field, text string) (out, note string) {
	if !strings.HasPrefix(field, "env.") {
		return noVariables(field, text)
	}
	var b strings.Builder
	for text != "" {
		i := strings.IndexAny(text, "$%")
		if i < 0 {
			break
		}
		b.WriteString(text[:i])
		mark, rest := text[i], text[i+1:]
		n := 0
		braces := mark == '$' && strings.HasPrefix(rest, "{")
		if braces {
			rest = rest[1:]
		}
		for n < len(rest) && isWord(rune(rest[n])) {
			n++
		}
		name, after := rest[:n], rest[n:]
		closed := mark == '$' && !braces || braces && strings.HasPrefix(after, "}") || mark == '%' && strings.HasPrefix(after, "%")
		if !isVariable(name) || !closed {
			b.WriteByte(mark)
			if text = text[i+1:]; strings.HasPrefix(text, "{") {
				b.WriteByte('$') // "$${" is the text "${"
			}
			continue
		}
		if mark == '%' || braces {
			after = after[1:]
		}
		b.WriteString("${" + name + ":-}") // an unset one is empty there
		text = after
	}
	b.WriteString(text)
	return b.String(), ""
}

package config

import (
	"strconv"
	"strings"
	"time"
)

// renderBlock writes "key: value" as lines of a block, each with its end.
func renderBlock(key string, n *node, indent, step int, eol string) string {
	pad := strings.Repeat(" ", indent)
	head := pad + renderText(key) + ":"
	switch {
	case n.kind == kindMap && len(n.pairs) > 0:
		var b strings.Builder
		b.WriteString(head + eol)
		for _, p := range n.pairs {
			b.WriteString(renderBlock(p.key, p.value, indent+step, step, eol))
		}
		return b.String()
	case n.kind == kindList && len(n.items) > 0 && !n.flow:
		var b strings.Builder
		b.WriteString(head + eol)
		for _, i := range n.items {
			b.WriteString(pad + strings.Repeat(" ", step) + "- " + renderFlow(i) + eol)
		}
		return b.String()
	}
	return head + " " + renderFlow(n) + eol
}

// renderFlow writes a value in one line.
func renderFlow(n *node) string {
	switch n.kind {
	case kindNull:
		return "null"
	case kindString:
		return renderText(n.text)
	case kindList:
		parts := make([]string, len(n.items))
		for i, item := range n.items {
			parts[i] = renderFlow(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case kindMap:
		parts := make([]string, len(n.pairs))
		for i, p := range n.pairs {
			parts[i] = renderText(p.key) + ": " + renderFlow(p.value)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return n.text
}

// renderText writes a text, in quotes wherever a reader of YAML, of any version, might
// take it for something else.
func renderText(s string) string {
	plain := s != "" && strings.IndexFunc(s, func(r rune) bool { return !isWord(r) && !strings.ContainsRune("/.@+=-", r) }) < 0 &&
		(isWord(rune(s[0])) || s[0] == '/') && (s[0] < '0' || s[0] > '9')
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null":
		plain = false
	}
	if _, err := time.ParseDuration(s); err == nil && s[0] >= '1' && s[0] <= '9' {
		plain = true
	}
	if plain {
		return s
	}
	return strconv.Quote(s)
}

// requote writes a scalar in the style of the one that it replaces.
func requote(n *node, quote byte) string {
	if n.kind != kindString {
		return renderFlow(n)
	}
	switch {
	case quote == '"':
		return strconv.Quote(n.text)
	case quote == '\'' && strings.IndexFunc(n.text, func(r rune) bool { return !strconv.IsPrint(r) }) < 0:
		return "'" + strings.ReplaceAll(n.text, "'", "''") + "'"
	}
	return renderText(n.text)
}

// node is the server's entry for a file, its keys in the order of the documentation.
func (s *Server) node() *node {
	n := &node{kind: kindMap}
	text := func(key, value string) {
		if value != "" {
			n.put(key, textNode(value))
		}
	}
	text("command", s.Command)
	if len(s.Args) > 0 {
		args := listNode(s.Args...)
		args.flow = true
		n.put("args", args)
	}
	if len(s.Env) > 0 {
		n.put("env", textMapNode(s.Env))
	}
	text("cwd", s.Cwd)
	if s.Transport == SSE {
		text("type", string(SSE))
	}
	text("url", s.URL)
	if len(s.Headers) > 0 {
		n.put("headers", textMapNode(s.Headers))
	}
	if o := s.oauthNode(); len(o.pairs) > 0 {
		n.put("oauth", o)
	}
	if s.Timeout > 0 {
		text("timeout", shortDuration(s.Timeout))
	}
	if s.StartTimeout > 0 {
		text("start_timeout", shortDuration(s.StartTimeout))
	}
	for _, flag := range []struct {
		key string
		on  bool
	}{{"trust", s.Trust}, {"sampling", s.Sampling}, {"disabled", s.Disabled}} {
		if flag.on {
			n.put(flag.key, boolNode(true))
		}
	}
	return n
}

func (s *Server) oauthNode() *node {
	n := &node{kind: kindMap}
	if s.OAuth.ClientID != "" {
		n.put("client_id", textNode(s.OAuth.ClientID))
	}
	if s.OAuth.ClientSecret != "" {
		n.put("client_secret", textNode(s.OAuth.ClientSecret))
	}
	if len(s.OAuth.Scopes) > 0 {
		scopes := listNode(s.OAuth.Scopes...)
		scopes.flow = true
		n.put("scopes", scopes)
	}
	if s.OAuth.CallbackPort != 0 {
		n.put("callback_port", &node{kind: kindInt, text: strconv.Itoa(s.OAuth.CallbackPort)})
	}
	return n
}

// shortDuration is "30s", not "0m30s" or "1m0s".
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

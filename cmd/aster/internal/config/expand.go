package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrUnsetVariable is the error of a ${VAR} that has neither a value nor a default.
var ErrUnsetVariable = errors.New("variable is not set")

// A VariableError says which variable of which field is wrong.
type VariableError struct {
	Server   string
	Field    string // as in the file: "args[1]", "env.TOKEN"
	Variable string
	Err      error
}

// Error is the error in one line, without any value.
func (e *VariableError) Error() string {
	if errors.Is(e.Err, ErrUnsetVariable) {
		return fmt.Sprintf("server %q: %s needs the variable %s, which is not set", e.Server, e.Field, e.Variable)
	}
	return fmt.Sprintf("server %q: %s: %v", e.Server, e.Field, e.Err)
}

// Unwrap returns the cause.
func (e *VariableError) Unwrap() error { return e.Err }

// maxExpanded bounds an expanded text, in bytes.
const maxExpanded = 1 << 20

// Expand returns a copy of the server with ${VAR} and ${VAR:-default} replaced in command,
// args, env, url, headers and the OAuth client, and the values that variables gave: they
// are secrets, to be kept out of logs, errors and results. getenv returns "" for an unset
// variable, and an empty one counts as unset. "$${" stands for "${", and what a variable
// holds is not expanded again. Errors are all of them, each a *VariableError, joined.
func (s *Server) Expand(getenv func(string) string) (*Server, []string, error) {
	c, e := *s, &expander{server: s.Name, getenv: getenv}
	c.Command = e.text("command", s.Command)
	c.Args = slices.Clone(s.Args)
	for i := range c.Args {
		c.Args[i] = e.text(fmt.Sprintf("args[%d]", i), c.Args[i])
	}
	c.Env = e.texts("env", s.Env)
	c.URL = e.text("url", s.URL)
	c.Headers = e.texts("headers", s.Headers)
	c.OAuth.ClientID = e.text("oauth.client_id", s.OAuth.ClientID)
	c.OAuth.ClientSecret = e.text("oauth.client_secret", s.OAuth.ClientSecret)
	if err := errors.Join(e.errs...); err != nil {
		return nil, nil, err
	}
	slices.Sort(e.values)
	return &c, slices.Compact(e.values), nil
}

type expander struct {
	server string
	getenv func(string) string
	values []string // that variables gave
	errs   []error
}

func (e *expander) texts(field string, m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out[k] = e.text(field+"."+k, m[k])
	}
	return out
}

func (e *expander) text(field, s string) string {
	var b strings.Builder
	for s != "" {
		i := strings.Index(s, "${")
		if i < 0 {
			break
		}
		if i > 0 && s[i-1] == '$' {
			b.WriteString(s[:i-1] + "${")
			s = s[i+2:]
			continue
		}
		b.WriteString(s[:i])
		name, value, rest, err := e.variable(s[i+2:])
		if err != nil || b.Len()+len(value) > maxExpanded {
			if err == nil {
				err = fmt.Errorf("longer than %d bytes", maxExpanded)
			}
			e.errs = append(e.errs, &VariableError{e.server, field, name, err})
			return ""
		}
		b.WriteString(value)
		s = rest
	}
	b.WriteString(s)
	return b.String()
}

// variable reads a variable after "${".
func (e *expander) variable(s string) (name, value, rest string, err error) {
	inner, rest, ok := strings.Cut(s, "}")
	if !ok {
		return "", "", "", errors.New(`"${" without "}"; write $${ for the text`)
	}
	name, fallback, hasDefault := strings.Cut(inner, ":-")
	if !isVariable(name) {
		return name, "", "", fmt.Errorf("%q is no name of a variable; write $${ for the text", name)
	}
	if strings.Contains(fallback, "${") {
		return name, "", "", errors.New("a default holds no variable")
	}
	if value = e.getenv(name); value != "" {
		e.values = append(e.values, value)
		return name, value, rest, nil
	}
	if !hasDefault {
		return name, "", "", ErrUnsetVariable
	}
	return name, fallback, rest, nil
}

// isVariable reports whether s is a name that shells accept for a variable.
func isVariable(s string) bool {
	for i, c := range []byte(s) {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

package config

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// dialect is how a client writes servers down.
type dialect struct {
	roots    []string      // dotted paths of the map of servers, the first one that is there
	unit     time.Duration // of timeout, where it is a number
	urlIsSSE bool          // url without a type is the old transport
	// variables rewrites a text's variables to ${VAR}. It returns a note for what it could
	// not do. Nil means that the dialect's variables are ours.
	variables func(field, text string) (out, note string)
}

// mcpJSON is the dialect of mcp.json, .mcp.json and ASTER_MCP_EXTRA: Claude Code's, with
// the root's other common names.
func mcpJSON() *dialect {
	return &dialect{roots: []string{"mcpServers", "servers", "mcp.servers"}, unit: time.Millisecond}
}

// under returns the map of servers, nil if there is none.
func (d *dialect) under(root *node) *node {
	for _, path := range d.roots {
		n := root
		for _, key := range strings.Split(path, ".") {
			n = n.child(key)
		}
		if n != nil {
			return n
		}
	}
	return nil
}

// decodeServers reads a JSON map of servers. Strict, any fault is an error and the map may
// stand alone; otherwise a fault costs its server and is a problem.
func decodeServers(src *source, strict bool) (*layer, error) {
	out := &layer{src: src}
	if len(src.text) > maxJSONBytes {
		return nil, src.errorAt(1, 1, 1, "", "larger than %d KiB", maxJSONBytes>>10)
	}
	root, doubled, err := parseJSON(src, !strict)
	if err != nil {
		return nil, err
	}
	d := mcpJSON()
	servers := d.under(root)
	if servers == nil && strict {
		servers = root
	}
	if servers == nil {
		return out, nil
	}
	if servers.kind != kindMap {
		return nil, src.errorAt(servers.line, servers.column, servers.width(), "", "the servers must be a map, and are %s", servers.kind)
	}
	errs := doubled
	for i := range servers.pairs {
		p := &servers.pairs[i]
		e, notes, err := d.server(src, p)
		for _, n := range notes {
			out.problems = append(out.problems, Problem{Place: src.at(p.line, p.column), Text: fmt.Sprintf("server %q: %s", p.key, n)})
		}
		out.problems = append(out.problems, d.misspelt(src, p)...)
		if err != nil {
			errs = append(errs, d.fault(src, p, err))
			continue
		}
		out.entries = append(out.entries, e)
	}
	if strict {
		return out, joinErrors(errs)
	}
	for _, e := range errs {
		out.problems = append(out.problems, e.problem())
	}
	return out, nil
}

// server reads one server. Notes are what the entry says and we do not take over.
func (d *dialect) server(src *source, p *pair) (e *entry, notes []string, err error) {
	e = &entry{Server: Server{Name: p.key, Place: src.at(p.line, p.column)}, said: map[string]Place{}}
	r := &foreign{d: d, e: e, n: p.value, at: e.Place}
	switch {
	case checkName(p.key) != nil:
		return nil, nil, errors.New(strings.TrimSuffix(checkName(p.key).Error()+"; "+cleanNameHint(p.key), "; "))
	case p.value.kind != kindMap:
		return nil, nil, &nodeError{p.value, fmt.Sprintf("it must be a map, and is %s", p.value.kind)}
	}
	r.run()
	r.remote()
	r.rest()
	if r.err == nil {
		r.err = settle(e, filepath.Dir(src.place.File))
	}
	if r.err == nil && !e.full && !isBuiltin(e.Name) && len(e.said) == 0 {
		r.err = errors.New("there is neither a command nor a url")
	}
	if r.err != nil {
		return nil, r.notes, r.err
	}
	return e, r.notes, nil
}

// foreign reads the entry of one server.
type foreign struct {
	d     *dialect
	e     *entry
	n     *node
	at    Place
	notes []string
	err   error
}

func (r *foreign) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

func (r *foreign) fail(n *node, format string, args ...any) {
	if r.err == nil {
		r.err = &nodeError{n, fmt.Sprintf(format, args...)}
	}
}

func (r *foreign) say(key string) { r.e.said[key] = r.at }

// text takes a text, with its variables rewritten.
func (r *foreign) text(field string, n *node) string {
	if n.kind != kindString {
		r.fail(n, "%s must be a text, and is %s", field, n.kind)
		return ""
	}
	return r.scalar(field, n)
}

// scalar takes a text, or a number or a truth value as the text that a process would get.
func (r *foreign) scalar(field string, n *node) string {
	switch n.kind {
	case kindString, kindInt, kindFloat, kindBool:
	default:
		r.fail(n, "%s must be a text, and is %s", field, n.kind)
		return ""
	}
	if strings.ContainsRune(n.text, 0) {
		r.fail(n, "%s holds a zero character", field)
	}
	if r.d.variables == nil {
		return n.text
	}
	out, note := r.d.variables(field, n.text)
	if note != "" {
		r.note("%s: %s", field, note)
	}
	return out
}

func (r *foreign) list(field string, n *node) (out []string) {
	if n.kind != kindList {
		if n.kind != kindNull {
			r.fail(n, "%s must be a list, and is %s", field, n.kind)
		}
		return nil
	}
	for i, item := range n.items {
		out = append(out, r.scalar(fmt.Sprintf("%s[%d]", field, i), item))
	}
	return out
}

func (r *foreign) texts(field string, n *node, check func(string) error) map[string]string {
	if n.kind != kindMap {
		if n.kind != kindNull {
			r.fail(n, "%s must be a map, and is %s", field, n.kind)
		}
		return nil
	}
	out := map[string]string{}
	for _, p := range n.pairs {
		if err := check(p.key); err != nil {
			r.fail(p.value, "%s: %v", field, err)
			continue
		}
		if p.value.kind == kindNull {
			continue
		}
		out[p.key] = r.scalar(field+"."+p.key, p.value)
	}
	return out
}

// run reads what a child process needs.
func (r *foreign) run() {
	e, n := r.e, r.n
	if c := n.child("command"); c != nil && c.kind == kindMap { // Zed's older form
		n = c
		if p := c.child("path"); p != nil {
			e.Command = r.text("command", p)
			r.say("command")
		}
	} else if c != nil && c.kind == kindList { // opencode
		if parts := r.list("command", c); len(parts) > 0 {
			e.Command, e.Args = parts[0], parts[1:]
			r.say("command")
		}
	} else if c != nil && c.kind != kindNull {
		e.Command = r.text("command", c)
		r.say("command")
	}
	if a := n.child("args"); a != nil {
		e.Args = append(e.Args, r.list("args", a)...)
		r.say("args")
	}
	if v := n.first("env", "environment"); v != nil {
		e.Env = r.texts("env", v, checkEnvName)
		r.say("env")
	}
	if v := r.n.child("env_vars"); v != nil { // Codex: names to pass on
		for _, name := range r.list("env_vars", v) {
			if e.Env == nil {
				e.Env = map[string]string{}
			}
			e.Env[name] = "${" + name + ":-}"
			r.say("env")
		}
	}
	if v := r.n.child("cwd"); v != nil && v.kind != kindNull {
		e.Cwd = r.text("cwd", v)
		r.say("cwd")
	}
	if v := r.n.first("envFile", "env_file"); v != nil && v.text != "" {
		r.note("%s is not read: put its variables under env", v.text)
	}
}

// remote reads what a remote server needs.
func (r *foreign) remote() {
	e := r.e
	if v := r.n.first("httpUrl", "serverUrl", "url"); v != nil && v.kind != kindNull {
		e.URL = r.text("url", v)
		r.say("url")
		if r.d.urlIsSSE && r.n.child("httpUrl") == nil {
			e.Transport = SSE
		}
	}
	if v := r.n.first("headers", "http_headers"); v != nil {
		e.Headers = r.texts("headers", v, checkHeaderName)
		r.say("headers")
	}
	header := func(name, value string) {
		if e.Headers == nil {
			e.Headers = map[string]string{}
		}
		e.Headers[name] = value
		r.say("headers")
	}
	if v := r.n.child("env_http_headers"); v != nil && v.kind == kindMap {
		for _, p := range v.pairs {
			header(p.key, "${"+p.value.text+"}")
		}
	}
	if v := r.n.child("bearer_token_env_var"); v != nil && v.text != "" {
		header("Authorization", "Bearer ${"+v.text+"}")
	}
	for _, v := range e.Headers {
		if err := checkHeaderText(v); err != nil {
			r.fail(r.n, "headers: %v", err)
		}
	}
	if v := r.n.first("type", "transport"); v != nil && v.kind != kindNull && v.kind != kindString {
		r.fail(v, "the type must be a text, and is %s", v.kind)
	} else if v != nil && v.kind == kindString {
		switch t := strings.ToLower(strings.ReplaceAll(v.text, "_", "-")); t {
		case "local", "stdio":
			e.Transport = Stdio
		case "http", "streamable-http", "streamablehttp", "remote":
			e.Transport = StreamableHTTP
		case "sse":
			e.Transport = SSE
		default:
			r.fail(v, "the type %q is not known", v.text)
		}
	}
}

// rest reads the switches and names what is not taken over.
func (r *foreign) rest() {
	e := r.e
	for _, key := range []string{"disabled", "enabled"} {
		if v := r.n.child(key); v != nil && v.kind != kindBool && v.kind != kindNull {
			r.fail(v, "%s must be true or false, and is %s", key, v.kind)
		}
	}
	if v := r.n.child("disabled"); v != nil && v.kind == kindBool {
		e.Disabled = v.text == "true"
		r.say("disabled")
	} else if v := r.n.child("enabled"); v != nil && v.kind == kindBool {
		e.Disabled = v.text == "false"
		r.say("disabled")
	}
	e.Timeout = r.time(r.d.unit, "timeout")
	if t := r.time(time.Second, "tool_timeout_sec"); t > 0 {
		e.Timeout = t
	}
	if e.Timeout > 0 {
		r.say("timeout")
	}
	if e.StartTimeout = r.time(time.Second, "startup_timeout_sec"); e.StartTimeout == 0 {
		e.StartTimeout = r.time(time.Millisecond, "startup_timeout_ms")
	}
	if e.StartTimeout > 0 {
		r.say("start_timeout")
	}
	if v := r.n.child("trust"); v != nil && v.text == "true" {
		r.note("trust is not taken over: write trust: true yourself if you mean it")
	}
	for _, k := range []string{"alwaysAllow", "autoApprove"} {
		if v := r.n.child(k); v != nil && len(v.items) > 0 {
			r.note("%s is not taken over: add an allow rule to mcp.policy.rules if you mean it", k)
		}
	}
	for _, k := range []string{"includeTools", "enabled_tools"} {
		if v := r.n.child(k); v != nil && len(v.items) > 0 {
			r.note("%s is not taken over: deny the tools that you do not want", k)
		}
	}
}

// time reads a number of units, or a text such as "30s".
func (r *foreign) time(unit time.Duration, key string) time.Duration {
	v := r.n.child(key)
	if v == nil || v.kind == kindNull {
		return 0
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(v.text, "_", ""), 64)
	d := time.Duration(f * float64(unit))
	if v.kind == kindString {
		d, err = time.ParseDuration(v.text)
		f = float64(d)
	}
	if err != nil || d <= 0 || math.IsNaN(f) || f*float64(unit) > float64(24*time.Hour) && v.kind != kindString || d > 24*time.Hour {
		r.note("%s %q is not a time that can be used", key, v.text)
		return 0
	}
	return d
}

// deniedTools are the tools that the entry keeps from the client.
func (r *foreign) deniedTools() []string {
	if v := r.n.first("excludeTools", "disabled_tools"); v != nil && v.kind == kindList {
		return r.list("excludeTools", v)
	}
	return nil
}

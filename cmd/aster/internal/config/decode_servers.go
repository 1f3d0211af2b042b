package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// servers reads mcp.servers.
func (d *decoder) servers(n *node, k *key, path string) {
	if !d.isMap(n, path) {
		return
	}
	for i := range n.pairs {
		p := &n.pairs[i]
		if err := checkName(p.key); err != nil {
			d.failKey(p, cleanNameHint(p.key), "%s: %v", path, err)
			continue
		}
		sub := path + "." + p.key
		if !d.isMap(p.value, sub) {
			continue
		}
		before := len(d.errs)
		e := &entry{Server: Server{Name: p.key, Place: d.src.at(p.line, p.column)}, said: map[string]Place{}}
		d.serverKeys(e, p.value, k.each.keys, sub)
		if len(d.errs) == before {
			d.finishServer(e, p, sub)
		}
		d.entries = append(d.entries, e)
	}
}

func cleanNameHint(name string) string {
	if c := cleanName(name); c != "" && c != name {
		return fmt.Sprintf("call it %q", c)
	}
	return ""
}

// cleanName makes a server's name of any text, "" if nothing is left.
func cleanName(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case isWord(r), b.Len() > 0 && (r == '.' || r == '-'):
			b.WriteRune(r)
		case b.Len() > 0:
			b.WriteByte('-')
		}
	}
	s := b.String()
	return strings.TrimRight(s[:min(len(s), maxServerName)], "-.")
}

func (d *decoder) serverKeys(e *entry, n *node, keys []key, path string) {
	for i := range n.pairs {
		p := &n.pairs[i]
		k := find(keys, p.key)
		switch {
		case k == nil:
			d.unknown(p, keys, path)
			continue
		case k.keys != nil:
			if d.isMap(p.value, path+"."+p.key) {
				d.serverKeys(e, p.value, k.keys, path+"."+p.key)
			}
		default:
			at := k.at(&target{server: e})
			if v, ok := d.value(p.value, k, at, path+"."+p.key); ok {
				if p.key == "transport" && e.Transport != "" && string(e.Transport) != v {
					d.failKey(p, "keep one of them", "%s has another type and transport", path)
				}
				store(at, v)
			}
		}
		e.said[p.key] = d.src.at(p.line, p.column)
	}
}

// finishServer checks what the keys of a server mean together.
func (d *decoder) finishServer(e *entry, p *pair, path string) {
	if err := settle(e, filepath.Dir(d.src.place.File)); err != nil {
		hint := ""
		var he *hintError
		if errors.As(err, &he) {
			hint = he.hint
		}
		d.failKey(p, hint, "%s: %v", path, err)
	}
}

// hintError is an error with advice.
type hintError struct{ text, hint string }

func (e *hintError) Error() string { return e.text }

// settle infers the transport of an entry, checks that its keys fit together and makes its
// directory absolute; dir is that of its file.
func settle(e *entry, dir string) error {
	s := &e.Server
	if s.Transport == "http" {
		s.Transport = StreamableHTTP
	}
	_, command := e.said["command"]
	_, url := e.said["url"]
	if e.full = command || url; !e.full {
		return settleOverlay(e)
	}
	switch {
	case isBuiltin(s.Name):
		return &hintError{fmt.Sprintf("%q is a server inside aster", s.Name), "choose another name"}
	case command && url:
		return &hintError{"there is both a command and a url", "keep one of them"}
	case command && s.Command == "":
		return &hintError{"the command is empty", ""}
	case url && s.URL == "":
		return &hintError{"the url is empty", ""}
	case s.Transport == "" && command:
		s.Transport = Stdio
	case s.Transport == "":
		s.Transport = StreamableHTTP
	case command != (s.Transport == Stdio):
		need := map[bool]string{true: "url", false: "command"}[command]
		return &hintError{fmt.Sprintf("type %s needs a %s", s.Transport, need), ""}
	}
	other := []string{"args", "env", "cwd"}
	if command {
		other = []string{"headers", "oauth"}
	}
	for _, k := range other {
		if _, there := e.said[k]; there {
			return &hintError{fmt.Sprintf("%s is not for a server of type %s", k, s.Transport), "leave it out"}
		}
	}
	if url && !strings.Contains(s.URL, "${") {
		if err := checkURL(s.URL); err != nil {
			return err
		}
	}
	if s.Cwd != "" && !filepath.IsAbs(s.Cwd) && !strings.HasPrefix(s.Cwd, "~") {
		s.Cwd = filepath.Join(dir, s.Cwd)
	}
	return nil
}

// settleOverlay checks an entry that declares no server.
func settleOverlay(e *entry) error {
	for k := range e.said {
		if find(serverKeys(), k) == nil { // of a section
			continue
		}
		switch {
		case k == "disabled":
		case isBuiltin(e.Name):
			return &hintError{fmt.Sprintf("%q is a server inside aster: its entry holds only disabled", e.Name), "its settings are under mcp." + e.Name}
		case k != "timeout" && k != "start_timeout":
			return &hintError{"there is neither a command nor a url", ""}
		}
	}
	return nil
}

func isBuiltin(name string) bool {
	return name == ServerWeb || name == ServerShortcuts || name == ServerWebMCP
}

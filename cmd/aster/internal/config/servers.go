package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// candidate is one layer's entry for a server.
type candidate struct {
	*entry
	scope Scope
	dir   string // of its file
}

// servers chooses, by name, whose declaration holds.
func (l *loader) servers() {
	byName := map[string][]candidate{}
	var order []*layer // the one that counts most first
	for i := len(l.layers) - 1; i >= 0; i-- {
		order = append(order, l.layers[i])
	}
	for _, layer := range append(order, l.fill...) {
		for _, e := range layer.entries {
			c := candidate{e, layer.src.place.Scope, filepath.Dir(layer.src.place.File)}
			byName[e.Name] = append(byName[e.Name], c)
		}
	}
	var names []string
	for name := range byName {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		l.server(name, byName[name])
	}
}

// server settles one name; the candidate that counts most comes first.
func (l *loader) server(name string, all []candidate) {
	if isBuiltin(name) {
		off, by := l.disabled(all, nil)
		l.c.builtin[name] = builtin{off, by}
		return
	}
	declared := slices.ContainsFunc(all, func(c candidate) bool { return c.full })
	if !declared {
		e := all[0]
		l.c.Problems = append(l.c.Problems, Problem{Place: e.Place, Server: name,
			Text: fmt.Sprintf("mcp.servers.%s has neither a command nor a url, and no other file declares it", name)})
		return
	}
	var req *ConsentRequest
	for i := range all {
		c := &all[i]
		if !c.full {
			continue
		}
		off, by := l.disabled(all, c)
		s := l.effective(c, all, off, by)
		if c.scope != ScopeProject || off || l.sameAsUsers(s, all) {
			l.accept(s, all[i+1:])
			break
		}
		r := newRequest(name, l.c.Project, c.Place, s.consentLines())
		if l.o.Consents.Has(r) {
			l.accept(s, all[i+1:])
			break
		}
		if req == nil { // a weaker one of the project is asked for when this one is settled
			req = r
		}
	}
	if req != nil {
		l.c.Pending = append(l.c.Pending, req)
		text := fmt.Sprintf("server %q waits for your consent", name)
		if l.c.Server(name) != nil {
			text += "; until then the one of your own files holds"
		}
		l.c.Problems = append(l.c.Problems, Problem{Place: req.Place, Server: name, Text: text})
	}
}

func (l *loader) accept(s *Server, weaker []candidate) {
	for _, c := range weaker {
		if c.full {
			s.Shadows = append(s.Shadows, c.Place)
		}
	}
	l.c.Servers = append(l.c.Servers, s)
}

// disabled says whether a server is off and who said so last. chosen is the declaration
// that holds; of others that are not in force only the user's word counts.
func (l *loader) disabled(all []candidate, chosen *candidate) (off bool, by Place) {
	for i := len(all) - 1; i >= 0; i-- {
		c := &all[i]
		at, said := c.said["disabled"]
		switch {
		case !said, c.full && c != chosen && c.scope == ScopeProject:
		case c.Disabled:
			off, by = true, at
		case c.scope == ScopeProject && by.Scope != ScopeProject && !l.mayWiden:
		default:
			off, by = false, Place{}
		}
	}
	return off, by
}

// effective is the chosen declaration with what other entries change of it.
func (l *loader) effective(chosen *candidate, all []candidate, off bool, by Place) *Server {
	s := chosen.Server
	s.Disabled, s.DisabledBy = off, by
	if rest, ok := strings.CutPrefix(s.Cwd, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) && l.o.Home != "" {
		s.Cwd = filepath.Join(l.o.Home, rest)
	}
	if s.Transport == Stdio && s.Cwd == "" && chosen.scope == ScopeProject {
		s.Cwd = chosen.dir
	}
	for i := len(all) - 1; i >= 0; i-- {
		c := &all[i]
		if c.full && c != chosen {
			continue
		}
		if _, said := c.said["timeout"]; said {
			s.Timeout = c.Timeout
		}
		if _, said := c.said["start_timeout"]; said {
			s.StartTimeout = c.StartTimeout
		}
	}
	return &s
}

// sameAsUsers reports whether the user declares the very same in a file of their own.
func (l *loader) sameAsUsers(s *Server, all []candidate) bool {
	want := s.consentLines()
	for i := range all {
		c := &all[i]
		if c.full && c.scope != ScopeProject && slices.Equal(l.effective(c, all, false, Place{}).consentLines(), want) {
			return true
		}
	}
	return false
}

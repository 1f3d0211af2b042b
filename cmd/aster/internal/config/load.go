package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// Load reads all layers, checks them and returns their union. A fault of a YAML file or a
// variable is an error; it wraps a *FileError for each. A fault of mcp.json or .mcp.json,
// which belong to other clients too, costs only what it is in and is one of the Problems.
// Load starts nothing and reaches no network. A nil o is the defaults.
func Load(o *Options) (*Config, error) {
	if o == nil {
		o = &Options{}
	}
	l := &loader{o: o, c: Default()}
	paths, err := Locate(o)
	if err != nil {
		return nil, err
	}
	if o.UserDir != "" {
		l.c.Home = filepath.Dir(paths.User)
	}
	l.c.Project = paths.ProjectDir
	l.read(paths)
	if err := errors.Join(l.errs...); err != nil {
		return nil, err
	}
	l.union()
	return l.c, nil
}

// loader gathers layers, from the one that counts least.
type loader struct {
	o      *Options
	c      *Config
	layers []*layer // YAML files and the environment
	fill   []*layer // JSON files; the first one counts most
	errs   []error

	mayWiden bool // the user agreed to the settings of the project's file
}

func (l *loader) read(p Paths) {
	if l.o.File != "" {
		if path, err := filepath.Abs(l.o.File); err != nil {
			l.errs = append(l.errs, err)
		} else if !l.yaml(path, ScopeFlag) {
			l.errs = append(l.errs, fmt.Errorf("there is no file %s", path))
		}
	} else {
		if p.User != "" {
			l.yaml(p.User, ScopeGlobal)
		}
		if p.Project != "" {
			l.yaml(p.Project, ScopeProject)
		}
		if p.ProjectServers != "" {
			l.json(p.ProjectServers, ScopeProject)
		}
		if p.UserServers != "" {
			l.json(p.UserServers, ScopeGlobal)
		}
	}
	if l.o.Getenv == nil {
		return
	}
	if text := l.o.Getenv(extraVariable); strings.TrimSpace(text) != "" {
		l.c.Files = append(l.c.Files, File{extraVariable, ScopeEnv, true})
		layer, err := decodeServers(&source{place: Place{Scope: ScopeEnv, File: extraVariable}, text: text}, true)
		if err != nil {
			l.errs = append(l.errs, err)
			return
		}
		l.layers = append(l.layers, layer)
	}
}

// yaml reads a YAML file and reports whether there is one.
func (l *loader) yaml(path string, scope Scope) bool {
	src, found, err := readSource(path, scope)
	l.c.Files = append(l.c.Files, File{path, scope, found || err != nil})
	if err == nil && found {
		var layer *layer
		if layer, err = decodeFile(src); err == nil {
			l.layers = append(l.layers, layer)
		}
	}
	if err != nil {
		l.errs = append(l.errs, err)
	}
	return found || err != nil
}

// json reads a file of other clients.
func (l *loader) json(path string, scope Scope) {
	src, found, err := readSource(path, scope)
	l.c.Files = append(l.c.Files, File{path, scope, found || err != nil})
	if err == nil && found {
		var layer *layer
		if layer, err = decodeServers(src, false); err == nil {
			l.fill = append(l.fill, layer)
		}
	}
	if err != nil {
		text, _, _ := strings.Cut(err.Error(), "\n")
		p := Problem{Place: Place{Scope: scope, File: path}, Text: text}
		var fault *FileError
		var access *fs.PathError
		switch {
		case errors.As(err, &fault):
			p = fault.problem()
		case errors.As(err, &access):
			p.Text = access.Err.Error()
		}
		p.Text += "; the file is left out"
		l.c.Problems = append(l.c.Problems, p)
	}
}

// union puts the layers together.
func (l *loader) union() {
	c := l.c
	for _, layer := range l.layers {
		c.Problems = append(c.Problems, layer.problems...)
		if layer.src.place.Scope == ScopeProject {
			layer = l.guarded(layer)
		}
		for i := range layer.settings {
			layer.settings[i].assign(c)
		}
		l.tools(layer)
		c.Policy.Rules = append(c.Policy.Rules, layer.rules...)
	}
	for _, layer := range l.fill {
		c.Problems = append(c.Problems, layer.problems...)
	}
	l.servers()
	if f := c.Audit.File; f != "" && !filepath.IsAbs(f) && c.Home != "" {
		c.Audit.File = filepath.Join(c.Home, f)
	}
	slices.SortStableFunc(c.Pending, func(a, b *ConsentRequest) int { return strings.Compare(a.Name, b.Name) })
}

// tools unions the lists of the catalogue's filter.
func (l *loader) tools(layer *layer) {
	t := &l.c.Tools
	project := layer.src.place.Scope == ScopeProject
	if project && t.Locked && (len(layer.allow) > 0 || layer.lostAllow) {
		by := l.c.Place("mcp.tools.locked")
		for _, p := range layer.allow {
			l.c.Problems = append(l.c.Problems, Problem{Place: p.Place, Text: fmt.Sprintf("mcp.tools.allow %s has no effect: %s locks the list", p.Text, by)})
		}
	} else {
		t.Allow = append(t.Allow, layer.allow...)
		t.closed = t.closed || layer.lostAllow
	}
	t.Deny = append(t.Deny, layer.deny...)
}

// guarded is what of a project's layer counts: without the settings that only the user's
// file may hold, and without those that wait for consent.
func (l *loader) guarded(in *layer) *layer {
	out := *in
	out.settings, out.rules = nil, nil
	var waiting []string
	var held layer
	for _, s := range in.settings {
		switch {
		case s.key.userOnly:
			l.c.Problems = append(l.c.Problems, Problem{Place: s.place, Text: s.path + " has no effect in a project's file: set it in your own"})
		case s.key.widens != nil && s.key.widens(s.value):
			waiting = append(waiting, s.path+": "+consentValue(s.value))
			held.settings = append(held.settings, s)
		default:
			out.settings = append(out.settings, s)
		}
	}
	for _, r := range in.rules {
		if r.Decision == Allow {
			waiting = append(waiting, "mcp.policy.rules: "+r.consentLine())
			held.rules = append(held.rules, r)
		} else {
			out.rules = append(out.rules, r)
		}
	}
	for _, e := range in.entries {
		if line := l.reenables(e); line != "" {
			waiting = append(waiting, line)
		}
	}
	if len(waiting) == 0 {
		return &out
	}
	req := newRequest("", l.c.Project, in.src.place, waiting)
	if l.o.Consents.Has(req) {
		l.mayWiden = true
		out.settings, out.rules = in.settings, in.rules
		out.settings = slices.DeleteFunc(slices.Clone(out.settings), func(s setting) bool { return s.key.userOnly })
		return &out
	}
	l.c.Pending = append(l.c.Pending, req)
	for _, s := range held.settings {
		l.c.Problems = append(l.c.Problems, Problem{Place: s.place, Text: s.path + " waits for your consent, as it widens what aster may do"})
	}
	for _, r := range held.rules {
		l.c.Problems = append(l.c.Problems, Problem{Place: r.Place, Text: "an allow rule of the policy waits for your consent"})
	}
	return &out
}

// reenables is the line for the user where a project's entry switches a server on that a
// layer of the user's switched off, "" where it does not.
func (l *loader) reenables(e *entry) string {
	at, said := e.said["disabled"]
	if !said || e.Disabled || at.IsZero() || !l.userDisables(e.Name) {
		return ""
	}
	return "mcp.servers." + e.Name + ".disabled: false"
}

// userDisables reports whether the user's own files switch a server off.
func (l *loader) userDisables(name string) bool {
	off := false
	for _, layer := range append(slices.Clone(l.layers), l.fill...) {
		for _, e := range layer.entries {
			if _, said := e.said["disabled"]; said && e.Name == name && layer.src.place.Scope != ScopeProject {
				off = e.Disabled
			}
		}
	}
	return off
}

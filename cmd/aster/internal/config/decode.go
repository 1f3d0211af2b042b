package config

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// setting is a value that a file gives to a key.
type setting struct {
	path     string // "mcp.web.user_agent"
	key      *key
	provider string // whose settings these are, if any provider's
	value    any
	place    Place
}

// assign writes the value into a configuration.
func (s *setting) assign(c *Config) {
	t := &target{c: c}
	if s.provider != "" {
		if c.Web.Providers == nil {
			c.Web.Providers = map[string]WebProvider{}
		}
		p := c.Web.Providers[s.provider]
		t.provider = &p
		defer func() { c.Web.Providers[s.provider] = p }()
	}
	switch p := s.key.at(t).(type) {
	case *bool:
		*p = s.value.(bool) || s.key.sticky && *p
	case *[]string:
		if s.key.union {
			*p = append((*p)[:len(*p):len(*p)], s.value.([]string)...)
		} else {
			*p = s.value.([]string)
		}
	case mapSlot:
		if *p.m == nil {
			*p.m = map[string][]string{}
		}
		(*p.m)[p.key] = s.value.([]string)
	default:
		store(p, s.value)
	}
	c.places[s.path] = s.place
}

// store writes a value through the pointer of its type.
func store(p, v any) {
	switch p := p.(type) {
	case *bool:
		*p = v.(bool)
	case *string:
		*p = v.(string)
	case *Transport:
		*p = Transport(v.(string))
	case *int:
		*p = v.(int)
	case *int64:
		*p = v.(int64)
	case *float64:
		*p = v.(float64)
	case *time.Duration:
		*p = v.(time.Duration)
	case *[]string:
		*p = v.([]string)
	case *map[string]string:
		*p = v.(map[string]string)
	}
}

// entry is one server of one file.
type entry struct {
	Server
	said map[string]Place // the keys that the entry has
	full bool             // it declares the server; others only change it
}

// layer is what one file says.
type layer struct {
	src         *source
	settings    []setting
	entries     []*entry // in the order of the file
	rules       []Rule
	allow, deny []Pattern
	lostAllow   bool // a rule in allow could not be read
	problems    []Problem
}

// decoder checks a file against the table of keys.
type decoder struct {
	layer
	errs []*FileError
}

// decodeFile checks a whole YAML file. The error holds *FileError values.
func decodeFile(src *source) (*layer, error) {
	root, err := parseYAML(src)
	if err != nil {
		return nil, err
	}
	d := &decoder{layer: layer{src: src}}
	if root.kind != kindMap {
		return nil, src.errorAt(root.line, root.column, root.width(), `begin with "mcp:"`, "the file must be a map, and is %s", root.kind)
	}
	top := *root
	top.pairs = nil
	for _, p := range root.pairs {
		if !strings.HasPrefix(p.key, "x-") && p.key != "$schema" { // a place for anchors, and a hint for editors
			top.pairs = append(top.pairs, p)
		}
	}
	keys := fileKeys()
	d.section(&top, keys, "")
	return &d.layer, joinErrors(d.errs)
}

func (d *decoder) fail(n *node, hint, format string, args ...any) {
	d.errs = append(d.errs, d.src.errorAt(n.line, n.column, n.width(), hint, format, args...))
}

func (d *decoder) failKey(p *pair, hint, format string, args ...any) {
	d.errs = append(d.errs, d.src.errorAt(p.line, p.column, utf8.RuneCountInString(p.key), hint, format, args...))
}

// isMap reports whether a node is a map or empty, and complains if not.
func (d *decoder) isMap(n *node, path string) bool {
	if n.kind == kindMap || n.kind == kindNull {
		return true
	}
	d.fail(n, "", "%s must be a map, and is %s", path, n.kind)
	return false
}

// unknown complains about a key that the table does not have.
func (d *decoder) unknown(p *pair, keys []key, path string) {
	hint, under := nearest(p.key, names(keys)), ""
	if path != "" {
		under = " under " + path
	}
	if hint == "" && path == "" {
		if find(keys[0].keys, p.key) != nil {
			hint = fmt.Sprintf("it belongs under %q", keys[0].name)
		}
	}
	if hint == "" {
		hint = "known: " + strings.Join(names(keys), ", ")
	}
	d.failKey(p, hint, "unknown key %q%s", p.key, under)
}

// section checks a map with fixed keys, and all below.
func (d *decoder) section(n *node, keys []key, path string) {
	if !d.isMap(n, path) {
		return
	}
	for i := range n.pairs {
		p := &n.pairs[i]
		k := find(keys, p.key)
		if k == nil {
			d.unknown(p, keys, path)
			continue
		}
		sub := strings.TrimPrefix(path+"."+k.name, ".")
		switch {
		case k.special == "servers":
			d.servers(p.value, k, sub)
		case k.special == "providers":
			d.providers(p.value, k, sub)
		case k.special == "rules":
			d.policyRules(p.value, sub)
		case k.special == "patterns" && k.name == "allow":
			d.allow = d.patterns(p.value, sub, k, true)
			d.lostAllow = len(d.allow) < len(p.value.items)
		case k.special == "patterns":
			d.deny = d.patterns(p.value, sub, k, true)
		case k.keys != nil:
			d.section(p.value, k.keys, sub)
		default:
			d.leaf(p, k, sub, "")
		}
	}
}

// leaf checks a value and keeps it as a setting.
func (d *decoder) leaf(p *pair, k *key, path, provider string) {
	t := &target{c: Default(), provider: &WebProvider{}}
	if v, ok := d.value(p.value, k, k.at(t), path); ok {
		d.settings = append(d.settings, setting{path: path, key: k, provider: provider, value: v, place: d.src.at(p.line, p.column)})
	}
}

package config

import (
	"fmt"
)

// providers reads mcp.web.providers.
func (d *decoder) providers(n *node, k *key, path string) {
	if !d.isMap(n, path) {
		return
	}
	for i := range n.pairs {
		p := &n.pairs[i]
		sub := path + "." + p.key
		if err := checkProvider(p.key); err != nil {
			d.failKey(p, "", "%s: %v", path, err)
			continue
		}
		if !d.isMap(p.value, sub) {
			continue
		}
		for j := range p.value.pairs {
			q := &p.value.pairs[j]
			if leaf := find(k.each.keys, q.key); leaf != nil {
				d.leaf(q, leaf, sub+"."+q.key, p.key)
			} else {
				d.unknown(q, k.each.keys, sub)
			}
		}
	}
}

// policyRules reads mcp.policy.rules. A bad glob is an error here: left out, a deny would
// loosen what was meant.
func (d *decoder) policyRules(n *node, path string) {
	if n.kind == kindNull {
		return
	}
	if n.kind != kindList {
		d.fail(n, `write "- deny: SERVER/TOOL"`, "%s must be a list, and is %s", path, n.kind)
		return
	}
	keys := ruleKeys()
	for i, item := range n.items {
		where := fmt.Sprintf("%s[%d]", path, i)
		if item.kind != kindMap {
			d.fail(item, `write "deny: SERVER/TOOL"`, "%s must be a map, and is %s", where, item.kind)
			continue
		}
		if r, ok := d.rule(item, keys, where); ok {
			d.rules = append(d.rules, r)
		}
	}
}

func (d *decoder) rule(n *node, keys []key, path string) (Rule, bool) {
	r := Rule{Place: d.src.at(n.line, n.column)}
	before := len(d.errs)
	for i := range n.pairs {
		p := &n.pairs[i]
		k := find(keys, p.key)
		switch {
		case k == nil:
			d.unknown(p, keys, path)
		case k.special == "patterns" && r.Decision != "":
			d.failKey(p, "make two rules of it", "%s has both %s and %s", path, r.Decision, p.key)
		case k.special == "patterns":
			r.Decision = Decision(p.key)
			if r.Tools = d.patterns(p.value, path+"."+p.key, k, false); len(r.Tools) == 0 && len(d.errs) == before {
				d.fail(p.value, "", "%s.%s names no tools", path, p.key)
			}
		default:
			at := k.at(&target{rule: &r})
			if v, ok := d.value(p.value, k, at, path+"."+p.key); ok {
				store(at, v)
			}
		}
	}
	if r.Decision == "" && len(d.errs) == before {
		d.fail(n, "", "%s needs one of allow, ask and deny", path)
	}
	for arg, glob := range r.Args {
		if err := checkGlob(glob); err != nil {
			d.fail(n.child("args").child(arg), "", "%s.args.%s: %v", path, arg, err)
		}
	}
	return r, len(d.errs) == before
}

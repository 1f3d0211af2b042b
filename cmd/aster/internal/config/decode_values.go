package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// value checks a value against the type of what it goes to.
func (d *decoder) value(n *node, k *key, at any, path string) (any, bool) {
	switch at.(type) {
	case *bool:
		return d.boolean(n, path)
	case *string, *Transport:
		return d.text(n, k, path)
	case *int:
		f, ok := d.number(n, k, path, true)
		return int(f), ok
	case *int64:
		f, ok := d.number(n, k, path, true)
		return int64(f), ok
	case *float64:
		return d.number(n, k, path, false)
	case *time.Duration:
		return d.duration(n, k, path)
	case *[]string, mapSlot:
		return d.texts(n, k, path)
	case *map[string]string:
		return d.textMap(n, k, path)
	}
	return nil, false
}

func (d *decoder) boolean(n *node, path string) (any, bool) {
	if n.kind == kindBool {
		return strings.EqualFold(n.text, "true"), true
	}
	hint := ""
	switch strings.ToLower(n.text) {
	case "yes", "on", "y", "true":
		hint = "write true"
	case "no", "off", "n", "false":
		hint = "write false"
	}
	d.fail(n, hint, "%s must be true or false, and is %s", path, n.kind)
	return nil, false
}

func (d *decoder) text(n *node, k *key, path string) (any, bool) {
	switch {
	case n.kind == kindInt || n.kind == kindFloat || n.kind == kindBool:
		d.fail(n, fmt.Sprintf("put it in quotes: %q", n.text), "%s must be a text, and is %s", path, n.kind)
		return nil, false
	case n.kind != kindString:
		d.fail(n, "", "%s must be a text, and is %s", path, n.kind)
		return nil, false
	}
	return n.text, d.checkText(n, k, path)
}

// checkText holds a text against the enumeration or the check of its key.
func (d *decoder) checkText(n *node, k *key, path string) bool {
	if k.enum != nil {
		for _, e := range k.enum {
			if n.text == e {
				return true
			}
		}
		hint := nearest(n.text, k.enum)
		if hint == "" {
			hint = "known: " + strings.Join(k.enum, ", ")
		}
		d.fail(n, hint, "%s cannot be %q", path, n.text)
		return false
	}
	if strings.ContainsRune(n.text, 0) {
		d.fail(n, "", "%s holds a zero character", path)
		return false
	}
	if k.check != nil && n.text != "" {
		if err := k.check(n.text); err != nil {
			d.fail(n, "", "%s: %v", path, err)
			return false
		}
	}
	return true
}

func (d *decoder) number(n *node, k *key, path string, whole bool) (float64, bool) {
	text := strings.ReplaceAll(n.text, "_", "")
	var f float64
	var err error
	switch {
	case n.kind == kindInt:
		var i int64
		i, err = strconv.ParseInt(text, 0, 64)
		f = float64(i)
	case n.kind == kindFloat && !whole:
		f, err = strconv.ParseFloat(text, 64)
	default:
		want := kindFloat
		if whole {
			want = kindInt
		}
		hint := ""
		if _, e := strconv.ParseFloat(n.text, 64); e == nil && n.quote != 0 {
			hint = "leave the quotes out"
		}
		d.fail(n, hint, "%s must be %s, and is %s", path, want, n.kind)
		return 0, false
	}
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		d.fail(n, "", "%s: %q is no number that can be used", path, n.text)
		return 0, false
	}
	return f, d.inBounds(n, k, path, f, func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) })
}

func (d *decoder) inBounds(n *node, k *key, path string, f float64, format func(float64) string) bool {
	switch {
	case k.above && f <= k.least:
		d.fail(n, "", "%s must be above %s", path, format(k.least))
	case f < k.least:
		d.fail(n, "", "%s must be at least %s", path, format(k.least))
	case k.most != 0 && f > k.most:
		d.fail(n, "", "%s must be at most %s", path, format(k.most))
	default:
		return true
	}
	return false
}

func (d *decoder) duration(n *node, k *key, path string) (any, bool) {
	t, err := parseDuration(n)
	if err != nil {
		d.fail(n, "", "%s: %v", path, err)
		return nil, false
	}
	return t, d.inBounds(n, k, path, t.Seconds(), func(f float64) string { return time.Duration(f * float64(time.Second)).String() })
}

// texts reads a list. Numbers and truth values in it count as they are written.
func (d *decoder) texts(n *node, k *key, path string) (any, bool) {
	items := n.items
	switch {
	case n.kind == kindNull:
		return []string(nil), true
	case k.one && n.kind == kindString:
		items = []*node{n}
	case n.kind != kindList:
		hint := ""
		if n.kind == kindString {
			hint = fmt.Sprintf("write [%q]", n.text)
		}
		d.fail(n, hint, "%s must be a list, and is %s", path, n.kind)
		return nil, false
	}
	var out []string
	ok := true
	for i, item := range items {
		where := fmt.Sprintf("%s[%d]", path, i)
		if item.kind == kindNull || item.kind == kindList || item.kind == kindMap {
			d.fail(item, "", "%s must be a text, and is %s", where, item.kind)
			ok = false
			continue
		}
		ok = d.checkText(item, k, where) && ok
		out = append(out, item.text)
	}
	if len(out) < k.min {
		d.fail(n, "", "%s must hold at least %d", path, k.min)
		return nil, false
	}
	return out, ok
}

// textMap reads a map of texts; the check of its key is for the names.
func (d *decoder) textMap(n *node, k *key, path string) (any, bool) {
	if !d.isMap(n, path) {
		return nil, false
	}
	out, ok := map[string]string{}, true
	for i := range n.pairs {
		p := &n.pairs[i]
		where := path + "." + p.key
		if k.check != nil {
			if err := k.check(p.key); err != nil {
				d.failKey(p, "", "%s: %v", path, err)
				ok = false
				continue
			}
		}
		switch p.value.kind {
		case kindNull, kindList, kindMap:
			hint := ""
			if p.value.kind == kindNull {
				hint = `write "" for an empty text`
			}
			d.fail(p.value, hint, "%s must be a text, and is %s", where, p.value.kind)
			ok = false
			continue
		}
		ok = d.checkText(p.value, &key{check: checkNoLine(path)}, where) && ok
		out[p.key] = p.value.text
	}
	return out, ok
}

// checkNoLine refuses line ends in the values of headers.
func checkNoLine(path string) func(string) error {
	if strings.HasSuffix(path, ".headers") {
		return checkHeaderText
	}
	return nil
}

// patterns reads a list of globs. Where soft, a bad one costs only itself.
func (d *decoder) patterns(n *node, path string, k *key, soft bool) []Pattern {
	v, ok := d.texts(n, k, path)
	if !ok {
		return nil
	}
	var out []Pattern
	for i, text := range v.([]string) {
		item := n
		if n.kind == kindList {
			item = n.items[i]
		}
		p, err := NewPattern(text, d.src.at(item.line, item.column))
		switch {
		case err == nil:
			out = append(out, p)
		case soft:
			d.problems = append(d.problems, Problem{Place: p.Place, Text: fmt.Sprintf("%s: %v; the rule is left out", path, err)})
		default:
			d.fail(item, "", "%s: %v", path, err)
		}
	}
	return out
}

package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Errors of edits, for callers that branch.
var (
	// ErrShape means that the file is written in a way that is only safe to edit by hand,
	// as with an alias. The error says where.
	ErrShape = errors.New("edit it by hand")
	// ErrChanged means that another program wrote the file meanwhile.
	ErrChanged = errors.New("the file has changed meanwhile")
)

// A Document is a YAML file that is edited. Each edit changes the bytes that it must and
// keeps all others: comments, order, blank lines, quotes and line ends. The result of each
// is read back and compared with what was meant before it counts. A Document is for one
// goroutine.
type Document struct {
	path  string
	scope Scope
	src   *source
	root  *node
	was   string // the text when it was opened
	found bool
}

// OpenDocument reads a file for edits, which must be one that [Load] takes. A file that
// does not exist is an empty one.
func OpenDocument(path string, scope Scope) (*Document, error) {
	src, found, err := readSource(path, scope)
	if err != nil {
		return nil, err
	}
	d := &Document{path: path, scope: scope, was: src.text, found: found}
	return d, d.adopt(src.text)
}

// adopt takes a text after it was checked.
func (d *Document) adopt(text string) error {
	src := &source{place: Place{Scope: d.scope, File: d.path}, text: text}
	if _, err := decodeFile(src); err != nil {
		return err
	}
	root, err := parseYAML(src)
	if err != nil {
		return err
	}
	d.src, d.root = src, root
	return nil
}

// Path is the file's path.
func (d *Document) Path() string { return d.path }

// Text is the file as it is now, with all edits.
func (d *Document) Text() string { return d.src.text }

// Changed reports whether an edit changed anything.
func (d *Document) Changed() bool { return d.src.text != d.was }

// Save writes the file, whole or not at all, and keeps its mode; a new file has mode 0600.
// Where the file is not what was opened, it is [ErrChanged] and nothing is written.
func (d *Document) Save() error {
	err := replaceFile(d.path, 0o600, false, func() ([]byte, error) {
		now, err := os.ReadFile(d.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if string(now) != d.was || (err == nil) != d.found {
			return nil, fmt.Errorf("%s: %w", d.path, ErrChanged)
		}
		return []byte(d.src.text), nil
	})
	if err != nil {
		return err
	}
	d.was, d.found = d.src.text, true
	return nil
}

// Has reports whether the file has a key, such as "mcp", "servers", "web".
func (d *Document) Has(path ...string) bool { return d.at(path) != nil }

func (d *Document) at(path []string) *node {
	n := d.root
	for _, key := range path {
		n = n.child(key)
	}
	return n
}

// SetBool gives a key a value. Missing maps on the way are made.
func (d *Document) SetBool(value bool, path ...string) error { return d.set(path, boolNode(value)) }

// AddServer declares a server, which must not be declared in the file.
func (d *Document) AddServer(s *Server) error {
	if err := checkName(s.Name); err != nil {
		return err
	}
	if d.Has("mcp", "servers", s.Name) {
		return fmt.Errorf("%s has a server %q already", d.path, s.Name)
	}
	return d.set([]string{"mcp", "servers", s.Name}, s.node())
}

// Remove takes a key out, with all below it, and reports whether it was there.
func (d *Document) Remove(path ...string) (bool, error) {
	if d.at(path) == nil {
		return false, nil
	}
	want := d.root.clone()
	parent := want
	for _, key := range path[:len(path)-1] {
		parent = parent.child(key)
	}
	for i := range parent.pairs {
		if parent.pairs[i].key == path[len(path)-1] {
			parent.pairs = append(parent.pairs[:i], parent.pairs[i+1:]...)
			break
		}
	}
	s := newSplicer(d.src)
	return true, d.commit(s, s.remove(d.root, path), want, path)
}

// Append adds a text to the end of a list and reports whether it was not there yet. A
// missing list is made.
func (d *Document) Append(item string, path ...string) (bool, error) {
	list := d.at(path)
	if list != nil {
		for _, i := range list.items {
			if i.text == item {
				return false, nil
			}
		}
	}
	if list.empty() && (list == nil || !list.flow) {
		return true, d.set(path, listNode(item))
	}
	want := d.root.clone()
	n := want
	for _, key := range path {
		n = n.child(key)
	}
	n.items = append(n.items, textNode(item))
	n.kind = kindList
	s := newSplicer(d.src)
	return true, d.commit(s, s.appendItem(d.root, path, textNode(item)), want, path)
}

// AddRule adds a rule to the end of the policy's.
func (d *Document) AddRule(r *Rule) error {
	item := &node{kind: kindMap}
	tools := listNode()
	for _, t := range r.Tools {
		tools.items = append(tools.items, textNode(t.Text))
	}
	item.put(string(r.Decision), tools)
	if len(r.Origins) > 0 {
		item.put("origins", listNode(r.Origins...))
	}
	if len(r.Args) > 0 {
		item.put("args", textMapNode(r.Args))
	}
	if r.Definition != "" {
		item.put("definition", textNode(r.Definition))
	}
	if r.Reason != "" {
		item.put("reason", textNode(r.Reason))
	}
	path := []string{"mcp", "policy", "rules"}
	list := d.at(path)
	if list.empty() && (list == nil || !list.flow) {
		return d.set(path, &node{kind: kindList, items: []*node{item}})
	}
	want := d.root.clone()
	n := want.child("mcp").child("policy").child("rules")
	n.kind, n.items = kindList, append(n.items, item)
	s := newSplicer(d.src)
	return d.commit(s, s.appendItem(d.root, path, item), want, path)
}

// Drop takes a text out of a list, wherever it is, and reports whether it was there.
func (d *Document) Drop(item string, path ...string) (bool, error) {
	found := false
	for {
		list := d.at(path)
		if list == nil {
			return found, nil
		}
		at := -1
		for i, it := range list.items {
			if it.text == item {
				at = i
			}
		}
		if at < 0 {
			return found, nil
		}
		want := d.root.clone()
		n := want
		for _, key := range path {
			n = n.child(key)
		}
		n.items = append(n.items[:at], n.items[at+1:]...)
		s := newSplicer(d.src)
		if err := d.commit(s, s.dropItem(d.root, path, at), want, path); err != nil {
			return found, err
		}
		found = true
	}
}

// set gives a key a value.
func (d *Document) set(path []string, value *node) error {
	if have := d.at(path); have != nil && have.equal(value) && have.kind == value.kind {
		return nil
	}
	want := d.root.clone()
	n := want
	for _, key := range path[:len(path)-1] {
		next := n.child(key)
		if next == nil {
			next = &node{kind: kindMap}
			n.put(key, next)
			next = n.child(key)
		}
		n = next
	}
	n.put(path[len(path)-1], value)
	s := newSplicer(d.src)
	return d.commit(s, s.set(d.root, path, value), want, path)
}

// commit reads a spliced text back. It counts only if it means what was wanted.
func (d *Document) commit(s *splicer, err error, want *node, path []string) error {
	if err != nil {
		return err
	}
	key := strings.Join(path, ".")
	src := &source{place: d.src.place, text: s.text}
	got, err := parseYAML(src)
	if err != nil || !got.equal(want) {
		return s.shape(d.root, "%s cannot be changed without touching more", key)
	}
	return d.adopt(s.text)
}

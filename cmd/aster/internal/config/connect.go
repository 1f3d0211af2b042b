package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrTaken means that the client's file has another server of the name.
var ErrTaken = errors.New("choose another name")

// ConnectClients are the clients that [Connect] can give a server to, by name.
func ConnectClients() []string {
	return []string{"claude", "claude-desktop", "codex", "cursor", "gemini", "opencode", "vscode", "zed"}
}

// A Connection is the change of a client's file by which it gets a server, or loses it.
type Connection struct {
	Client string
	Path   string
	Found  bool   // the file is there
	Before string // the file as it is
	After  string // the file with the server, or without
}

// Connect works out how a client's file has to change for it to run a server, of which
// the name, the command and its arguments count. All else in the file stays as it is, byte
// for byte. It writes nothing: see [Connection.Save].
//
// The file is the user's, or with project that of the project in o.Dir. An entry of the
// name whose command is an aster gets the new command and arguments and keeps the rest;
// one of another program is [ErrTaken]. A file that cannot be read is a [*FileError], one
// that is written in a way that only a person should edit is [ErrShape].
func Connect(client string, s *Server, project bool, o *ImportOptions) (*Connection, error) {
	return connection(client, s, project, o, (*connectEdit).edit)
}

// connection checks what is asked, and reads and changes the file.
func connection(client string, s *Server, project bool, o *ImportOptions, edit func(*connectEdit) (string, error)) (*Connection, error) {
	if !slices.Contains(ConnectClients(), client) {
		return nil, fmt.Errorf("no client %q is known; %s", client, strings.TrimSpace(nearest(client, ConnectClients())+" known: "+strings.Join(ConnectClients(), ", ")))
	}
	if strings.ContainsFunc(s.Command+strings.Join(s.Args, ""), func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, fmt.Errorf("the command of %s holds control characters", s.Name)
	}
	if err := checkName(s.Name); err != nil {
		return nil, err
	}
	path, err := o.connectPath(client, project)
	if err != nil {
		return nil, err
	}
	text, found, err := readForeign(path)
	if err != nil {
		return nil, err
	}
	e := &connectEdit{client: client, server: s, src: &source{place: Place{File: path}, text: text}}
	after, err := edit(e)
	if err != nil {
		return nil, err
	}
	return &Connection{Client: client, Path: path, Found: found, Before: text, After: after}, nil
}

// Changed reports whether there is anything to write.
func (c *Connection) Changed() bool { return c.Before != c.After }

// Save writes the file, whole or not at all, and keeps its mode; a new file has mode 0600.
// Where the file is not what was read, it is [ErrChanged] and nothing is written.
func (c *Connection) Save() error {
	return replaceFile(c.Path, 0o600, false, func() ([]byte, error) {
		now, found, err := readForeign(c.Path)
		if err != nil {
			return nil, err
		}
		if now != c.Before || found != c.Found {
			return nil, fmt.Errorf("%s: %w", c.Path, ErrChanged)
		}
		return []byte(c.After), nil
	})
}

// readForeign reads a client's file within the bound.
func readForeign(path string) (text string, found bool, err error) {
	f, err := openFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxForeignBytes+1))
	if err == nil && len(b) > maxForeignBytes {
		err = fmt.Errorf("%s: larger than %d MiB", path, maxForeignBytes>>20)
	}
	return string(b), true, err
}

// connectPath is the file that gets the entry: of several one that exists.
func (o *ImportOptions) connectPath(client string, project bool) (string, error) {
	user := *o
	user.Dir = ""
	files := user.client(client).files
	fallback := files[0]
	if project {
		rel := map[string][]string{
			"claude": {".mcp.json"}, "codex": {".codex/config.toml"}, "cursor": {".cursor/mcp.json"}, "gemini": {".gemini/settings.json"},
			"opencode": {"opencode.json", "opencode.jsonc"}, "vscode": {".vscode/mcp.json"}, "zed": {".zed/settings.json"},
		}[client]
		if rel == nil || o.Dir == "" {
			return "", fmt.Errorf("%s has no file in a project", client)
		}
		files = nil
		for _, r := range rel {
			files = append(files, o.project(r)...) // the nearest first
		}
		fallback = filepath.Join(o.parents()[0], filepath.FromSlash(rel[0]))
	} else if o.Home == "" {
		return "", errors.New("there is no home directory")
	}
	for _, f := range files {
		if _, err := os.Stat(f); err == nil {
			return f, nil
		}
	}
	return fallback, nil
}

// connectEdit puts one server into the text of a client's file.
type connectEdit struct {
	client string
	server *Server
	src    *source
}

// root is the key of the map of servers.
func (e *connectEdit) root() string {
	switch e.client {
	case "codex":
		return "mcp_servers"
	case "opencode":
		return "mcp"
	case "vscode":
		return "servers"
	case "zed":
		return "context_servers"
	}
	return "mcpServers"
}

// entry is the server as the client has it.
func (e *connectEdit) entry() *node {
	n := &node{kind: kindMap}
	switch e.client {
	case "opencode":
		n.put("type", textNode("local"))
		n.put("command", listNode(append([]string{e.server.Command}, e.server.Args...)...))
		n.put("enabled", boolNode(true))
		return n
	case "claude", "vscode":
		n.put("type", textNode("stdio"))
	}
	n.put("command", textNode(e.server.Command))
	n.put("args", listNode(e.server.Args...))
	return n
}

// changes are the keys of an entry that is there whose values have to change. An entry of
// another program is ErrTaken.
func (e *connectEdit) changes(p *pair) ([]string, error) {
	have := p.value
	command := have.child("command")
	if command != nil && command.kind == kindList && len(command.items) > 0 {
		command = command.items[0]
	}
	name := ""
	if command != nil && command.kind == kindString {
		name = strings.TrimSuffix(strings.ToLower(command.text[strings.LastIndexAny(command.text, `/\`)+1:]), ".exe")
	}
	if name != "aster" && (command == nil || command.text != e.server.Command) {
		return nil, fmt.Errorf("%s: a server %q of another program is there already: %w", e.src.at(p.line, p.column), e.server.Name, ErrTaken)
	}
	var keys []string
	want := e.entry()
	for _, k := range []string{"command", "args"} {
		if w := want.child(k); w != nil && !w.equal(have.child(k)) {
			keys = append(keys, k)
		}
	}
	return keys, nil
}

// edit returns the text with the server.
func (e *connectEdit) edit() (string, error) {
	if e.client == "codex" {
		return e.editTOML()
	}
	return e.editJSON()
}

// servers returns the map of servers, nil if there is none, and the entry of the name.
func (e *connectEdit) servers(root *node) (servers *node, have *pair, err error) {
	if root.kind != kindMap {
		return nil, nil, e.src.errorAt(max(root.line, 1), max(root.column, 1), root.width(), "", "the file must be a map, and is %s", root.kind)
	}
	servers = root.child(e.root())
	if servers == nil {
		return nil, nil, nil
	}
	p := root.pair(e.root())
	if servers.kind != kindMap {
		return nil, nil, e.src.errorAt(max(p.line, 1), max(p.column, 1), 1, "", "%s must be a map, and is %s", e.root(), servers.kind)
	}
	have = servers.pair(e.server.Name)
	if have != nil && have.value.kind != kindMap {
		return nil, nil, e.src.errorAt(max(have.line, 1), max(have.column, 1), 1, "", "the server %q must be a map, and is %s", e.server.Name, have.value.kind)
	}
	return servers, have, nil
}

// wanted is the tree that the changed file has to mean.
func (e *connectEdit) wanted(root *node, keys []string) *node {
	want := root.clone()
	servers := want.child(e.root())
	if servers == nil {
		want.put(e.root(), &node{kind: kindMap})
		servers = want.child(e.root())
	}
	if keys == nil {
		servers.put(e.server.Name, e.entry())
		return want
	}
	have := servers.child(e.server.Name)
	for _, k := range keys {
		have.put(k, e.entry().child(k))
	}
	return want
}

// byHand is the error of a file that cannot be changed without touching more.
func (e *connectEdit) byHand(line, column int, format string, args ...any) error {
	return fmt.Errorf("%s: %s: %w", e.src.at(max(line, 1), max(column, 1)), fmt.Sprintf(format, args...), ErrShape)
}

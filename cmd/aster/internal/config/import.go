package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// maxForeignBytes bounds the file of another client; Claude Code keeps its history in one.
const maxForeignBytes = 64 << 20

// ImportClients are the clients that [Import] knows, by name.
func ImportClients() []string {
	return []string{"claude", "claude-desktop", "codex", "cursor", "gemini", "opencode", "vscode", "windsurf", "zed"}
}

// ImportOptions say where the files of clients are.
type ImportOptions struct {
	Home   string              // the user's home directory
	Dir    string              // the working directory; files of projects are looked for there and above
	Getenv func(string) string // APPDATA, XDG_CONFIG_HOME, CODEX_HOME, CLAUDE_CONFIG_DIR
	GOOS   string              // "" means this system
}

// An Imported is one server of another client.
type Imported struct {
	Client string
	Server *Server  // nil when it cannot be taken over
	Name   string   // as the client has it
	Place  Place    // where
	Deny   []string // rules for tools that the client turned off
	Notes  []string // what was not taken over, and why
	Err    error    // why it cannot be taken over
}

// client is how one client keeps its servers.
type client struct {
	dialect dialect
	files   []string // absolute paths; the one that counts most first
	toml    bool
}

// Import reads the servers of a client, or of all with "". It writes nothing, starts
// nothing, and takes over neither trust nor approvals. Files that do not exist hold no
// servers; one that cannot be read is an error, but the servers of the others are
// returned all the same.
func Import(name string, o *ImportOptions) ([]Imported, error) {
	names := ImportClients()
	if name != "" {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("no client %q is known; %s", name, strings.TrimSpace(nearest(name, names)+" known: "+strings.Join(names, ", ")))
		}
		names = []string{name}
	}
	var out []Imported
	var errs []error
	for _, n := range names {
		c := o.client(n)
		seen := map[string]bool{}
		for _, path := range c.files {
			found, err := c.read(n, path, o)
			if err != nil {
				errs = append(errs, err)
			}
			for _, i := range found {
				if !seen[i.Name] {
					seen[i.Name] = true
					out = append(out, i)
				}
			}
		}
	}
	return out, errors.Join(errs...)
}

// read reads one file of a client.
func (c *client) read(name, path string, o *ImportOptions) ([]Imported, error) {
	f, err := openFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxForeignBytes+1))
	if err != nil {
		return nil, err
	}
	src := &source{place: Place{File: path}, text: string(text)}
	if len(text) > maxForeignBytes {
		return nil, src.errorAt(1, 1, 1, "", "larger than %d MiB", maxForeignBytes>>20)
	}
	if strings.TrimSpace(src.text) == "" {
		return nil, nil
	}
	var root *node
	if c.toml {
		root, err = parseTOML(src)
	} else {
		root, _, err = parseJSON(src, true)
	}
	if err != nil {
		return nil, err
	}
	maps := []*node{c.dialect.under(root)}
	if name == "claude" { // servers of one project, which count more
		for _, dir := range o.parents() {
			maps = append([]*node{root.child("projects").child(dir).child("mcpServers")}, maps...)
		}
	}
	var out []Imported
	for _, m := range maps {
		if m == nil || m.kind != kindMap {
			continue
		}
		for i := range m.pairs {
			out = append(out, c.server(name, src, &m.pairs[i]))
		}
	}
	return out, nil
}

// server takes over one server.
func (c *client) server(name string, src *source, p *pair) Imported {
	i := Imported{Client: name, Name: p.key, Place: src.at(p.line, p.column)}
	q := *p
	if clean := cleanName(p.key); clean != p.key {
		if clean == "" {
			i.Err = errors.New("nothing of its name can be used")
			return i
		}
		i.Notes = append(i.Notes, fmt.Sprintf("called %q here", clean))
		q.key = clean
	}
	if isBuiltin(q.key) {
		q.key += "-" + name
		i.Notes = append(i.Notes, fmt.Sprintf("called %q here, as %q is a server inside aster", q.key, p.key))
	}
	e, notes, err := c.dialect.server(src, &q)
	i.Notes = append(i.Notes, notes...)
	if err == nil && !e.full {
		err = errors.New("there is neither a command nor a url")
	}
	if err != nil {
		i.Err = err
		return i
	}
	i.Server = &e.Server
	r := &foreign{d: &c.dialect, e: e, n: p.value}
	for _, tool := range r.deniedTools() {
		i.Deny = append(i.Deny, q.key+"/"+escapeGlob(tool))
	}
	if hasLiteral(e.Env) || hasLiteral(e.Headers) {
		i.Notes = append(i.Notes, "it holds values that may be secrets: put them into variables, as in ${TOKEN}")
	}
	return i
}

// escapeGlob makes a pattern that matches a name alone.
func escapeGlob(name string) string {
	var b strings.Builder
	for _, r := range name {
		if strings.ContainsRune(`*?[]{}\,`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// hasLiteral reports whether a value names no variable and is long enough for a secret.
func hasLiteral(m map[string]string) bool {
	for _, v := range m {
		if len(v) >= 16 && !strings.Contains(v, "${") {
			return true
		}
	}
	return false
}

// Masked is a copy for the screen: values of variables and headers that name no variable
// are hidden.
func (s *Server) Masked() *Server {
	c := *s
	mask := func(m map[string]string) map[string]string {
		m = maps.Clone(m)
		for k, v := range m {
			if v != "" && !strings.Contains(v, "${") {
				m[k] = "…"
			}
		}
		return m
	}
	c.Env, c.Headers = mask(s.Env), mask(s.Headers)
	if c.OAuth.ClientSecret != "" && !strings.Contains(c.OAuth.ClientSecret, "${") {
		c.OAuth.ClientSecret = "…"
	}
	return &c
}

// YAML is the server's entry as a file has it, with its name, each line indented by indent.
func (s *Server) YAML(indent int) string {
	return renderBlock(s.Name, s.node(), indent, defaultStep, "\n")
}

func (o *ImportOptions) getenv(name string) string {
	if o.Getenv == nil {
		return ""
	}
	return o.Getenv(name)
}

// parents are the working directory and those above it, the nearest last.
func (o *ImportOptions) parents() []string {
	if o.Dir == "" {
		return nil
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil
	}
	dirs := upward(dir)
	slices.Reverse(dirs)
	return dirs
}

// project are the places of a file in the project, the nearest first.
func (o *ImportOptions) project(rel string) (out []string) {
	dirs := o.parents()
	slices.Reverse(dirs)
	for _, d := range dirs {
		out = append(out, filepath.Join(d, filepath.FromSlash(rel)))
	}
	return out
}

// support is a file of a desktop program: below Application Support on macOS, APPDATA on
// Windows, and the XDG directory elsewhere.
func (o *ImportOptions) support(rel string) string {
	goos := o.GOOS
	if goos == "" {
		goos = runtime.GOOS
	}
	rel = filepath.FromSlash(rel)
	switch {
	case goos == "darwin":
		return filepath.Join(o.Home, "Library", "Application Support", rel)
	case goos == "windows" && o.getenv("APPDATA") != "":
		return filepath.Join(o.getenv("APPDATA"), rel)
	}
	return o.xdg(rel)
}

func (o *ImportOptions) xdg(rel string) string {
	if dir := o.getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, filepath.FromSlash(rel))
	}
	return filepath.Join(o.Home, ".config", filepath.FromSlash(rel))
}

// dirOr is a directory that a variable names, or one in the home directory.
func (o *ImportOptions) dirOr(variable, rel string) string {
	if dir := o.getenv(variable); dir != "" {
		return dir
	}
	return filepath.Join(o.Home, rel)
}

// client says where a client keeps its servers and how it writes them.
func (o *ImportOptions) client(name string) *client {
	home := func(rel string) string { return filepath.Join(o.Home, filepath.FromSlash(rel)) }
	json := func(root string, variables func(string, string) (string, string), files ...string) *client {
		return &client{dialect: dialect{roots: strings.Split(root, "|"), unit: time.Millisecond, variables: variables}, files: files}
	}
	switch name {
	case "claude":
		files := []string{home(".claude.json")}
		if dir := o.getenv("CLAUDE_CONFIG_DIR"); dir != "" {
			files = []string{filepath.Join(dir, ".claude.json")}
		}
		return json("mcpServers", nil, files...)
	case "claude-desktop":
		return json("mcpServers", noVariables, o.support("Claude/claude_desktop_config.json"))
	case "codex":
		c := json("mcp_servers", noVariables, append(o.project(".codex/config.toml"), filepath.Join(o.dirOr("CODEX_HOME", ".codex"), "config.toml"))...)
		c.toml = true
		return c
	case "cursor":
		return json("mcpServers", o.editorVariables, append(o.project(".cursor/mcp.json"), home(".cursor/mcp.json"))...)
	case "gemini":
		c := json("mcpServers", geminiVariables, append(o.project(".gemini/settings.json"), home(".gemini/settings.json"))...)
		c.dialect.urlIsSSE = true
		return c
	case "opencode":
		files := append(o.project("opencode.json"), o.project("opencode.jsonc")...)
		return json("mcp", openCodeVariables, append(files, o.xdg("opencode/opencode.json"), o.xdg("opencode/opencode.jsonc"))...)
	case "vscode":
		return json("servers|mcp.servers", o.editorVariables, append(o.project(".vscode/mcp.json"), o.support("Code/User/mcp.json"))...)
	case "windsurf":
		return json("mcpServers", o.editorVariables, home(".codeium/windsurf/mcp_config.json"))
	}
	zed := o.xdg("zed/settings.json")
	if o.GOOS == "windows" || o.GOOS == "" && runtime.GOOS == "windows" {
		zed = o.support("Zed/settings.json")
	}
	return json("context_servers", noVariables, append(o.project(".zed/settings.json"), zed)...)
}

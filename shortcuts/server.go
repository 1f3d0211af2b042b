package shortcuts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options of a Server; zero values are the defaults.
type Options struct {
	Version string
	// Runner lists and runs; nil is NewRunner, whose error NewServer returns.
	Runner Runner
	// Folders are the only ones whose shortcuts are listed and run; nil is all shortcuts,
	// in folders or not, and empty is none.
	Folders []string
	// AsTools serves each shortcut as a tool of its own beside list and run.
	AsTools bool
	// Timeout bounds a run; 0 is DefaultTimeout.
	Timeout time.Duration
	Logger  *slog.Logger // nil discards
}

const instructions = "The shortcuts of the user's Mac. list shows them with their ids; run runs one by id or exact name, with a text, any JSON, or a file as its input. " +
	"A shortcut can do whatever the user can, and may ask the user in dialogs."

// A Server serves the shortcuts. Close is not needed: it holds nothing open.
type Server struct {
	opts   Options
	server *mcp.Server
	runs   chan struct{} // a slot for each run

	mu    sync.Mutex
	tools map[string]Shortcut // by tool name, with AsTools
}

// NewServer returns the server. It starts no program: with AsTools the shortcuts become
// tools at the first Refresh, or list. opts may be nil.
func NewServer(opts *Options) (*Server, error) {
	s := &Server{runs: make(chan struct{}, MaxRuns), tools: map[string]Shortcut{}}
	if opts != nil {
		s.opts = *opts
		s.opts.Folders = slices.Clone(opts.Folders)
	}
	if s.opts.Timeout == 0 {
		s.opts.Timeout = DefaultTimeout
	}
	if s.opts.Timeout < time.Second || s.opts.Timeout > MaxTimeout {
		return nil, fmt.Errorf("timeout of %s: choose from 1s to %s", s.opts.Timeout, MaxTimeout)
	}
	if s.opts.Logger == nil {
		s.opts.Logger = slog.New(slog.DiscardHandler)
	}
	if s.opts.Runner == nil {
		var err error
		if s.opts.Runner, err = NewRunner(); err != nil {
			return nil, err
		}
	}
	s.server = mcp.NewServer(&mcp.Implementation{Name: "aster-shortcuts", Title: "Shortcuts", Version: s.opts.Version}, &mcp.ServerOptions{
		Instructions: instructions, Logger: s.opts.Logger,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: s.opts.AsTools}},
	})
	s.addTools()
	return s, nil
}

// MCP is the server to connect transports to.
func (s *Server) MCP() *mcp.Server { return s.server }

type listInput struct {
	Folder string `json:"folder,omitempty" jsonschema:"only the shortcuts of this folder"`
	Query  string `json:"query,omitempty" jsonschema:"only names that hold this text"`
}

type listOutput struct {
	Shortcuts []Shortcut `json:"shortcuts"`
}

type runInput struct {
	Name      string          `json:"name"`
	ID        string          `json:"id"`
	Input     json.RawMessage `json:"input"`
	InputFile string          `json:"inputFile"`
}

// The schemas of run and of a shortcut's own tool. The SDK would decode numbers of the
// input as floating point on the way, so both are decoded here.
const (
	inputProperties = `"input":{"description":"What the shortcut is given: a text, or any JSON, which it gets as text"},` +
		`"inputFile":{"type":"string","description":"Instead of input: the absolute path of a file that the shortcut is given"}`
	runSchema = `{"type":"object","properties":{"name":{"type":"string","description":"The exact name of the shortcut"},` +
		`"id":{"type":"string","description":"The id of the shortcut, from list; needed where several have the same name"},` + inputProperties + `},"additionalProperties":false}`
	ownSchema = `{"type":"object","properties":{` + inputProperties + `},"additionalProperties":false}`
)

func (s *Server) addTools() {
	yes, no := true, false
	mcp.AddTool(s.server, &mcp.Tool{
		Name: "list", Title: "List shortcuts", Description: "Lists the shortcuts on this Mac, with their ids and folders, whether they take input, and how many actions they have.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no},
	}, func(ctx context.Context, _ *mcp.CallToolRequest, in listInput) (*mcp.CallToolResult, listOutput, error) {
		list, err := s.List(ctx, in.Folder, in.Query)
		return nil, listOutput{list}, err
	})
	s.server.AddTool(&mcp.Tool{
		Name: "run", Title: "Run a shortcut", Description: "Runs a shortcut of this Mac by id or exact name, and returns what it gives. It can do whatever the user can, and may ask the user in a dialog.",
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &yes}, InputSchema: json.RawMessage(runSchema),
	}, s.handler(""))
}

// handler runs the shortcut of an ID, or the one that the arguments name if id is "".
func (s *Server) handler(id string) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var in runInput
		err := decode(req.Params.Arguments, &in)
		if err == nil && id != "" && (in.ID != "" || in.Name != "") {
			err = errors.New("the arguments: this tool runs one shortcut; leave id and name out")
		}
		if id != "" {
			in.ID = id
		}
		var res *mcp.CallToolResult
		if err == nil {
			res, err = s.run(ctx, in)
		}
		if err != nil {
			res = &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}
		}
		return res, nil
	}
}

// decode reads arguments. Their names count to the letter, where encoding/json would take
// "ID" for "id", which a rule of the host's about "id" would not see.
func decode(raw json.RawMessage, into *runInput) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return fmt.Errorf("the arguments: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	fields := map[string]any{"name": &into.Name, "id": &into.ID, "input": &into.Input, "inputFile": &into.InputFile}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		field, known := fields[key]
		if !known {
			return fmt.Errorf("the arguments: unknown field %s", quote(key))
		}
		if err := json.Unmarshal(given[key], field); err != nil {
			return fmt.Errorf("the argument %s: %s", key, strings.TrimPrefix(err.Error(), "json: "))
		}
	}
	return nil
}

// List returns the shortcuts that may be run, sorted by folder, name and ID; of one folder
// if folder is not "", and with names that hold query, whatever the case. Never nil.
func (s *Server) List(ctx context.Context, folder, query string) ([]Shortcut, error) {
	all, err := s.all(ctx)
	if err != nil {
		return []Shortcut{}, err
	}
	if folder != "" {
		all = inFolders(all, []string{folder})
	}
	out, query := []Shortcut{}, folded(query)
	for _, x := range all {
		if strings.Contains(folded(x.Name), query) {
			out = append(out, x)
		}
	}
	return out, nil
}

// Refresh lists the shortcuts anew and, with AsTools, brings the tools up to date.
func (s *Server) Refresh(ctx context.Context) error {
	_, err := s.all(ctx)
	return err
}

func (s *Server) all(ctx context.Context) ([]Shortcut, error) {
	list, err := s.opts.Runner.List(ctx)
	if err != nil {
		return nil, err
	}
	if len(list) > MaxShortcuts {
		return nil, fmt.Errorf("over %d shortcuts: %w", MaxShortcuts, ErrTooLarge)
	}
	list = inFolders(list, s.opts.Folders)
	sortShortcuts(list)
	if s.opts.AsTools {
		s.sync(list)
	}
	return list, nil
}

// Run runs a shortcut by id, or by its exact name if id is "".
func (s *Server) Run(ctx context.Context, name, id string, in Input) (*mcp.CallToolResult, error) {
	if in.Text != nil && in.File != "" {
		return nil, errors.New("give input or inputFile, not both")
	}
	if in.Text != nil && len(*in.Text) > MaxInputBytes {
		return nil, fmt.Errorf("an input of %d bytes, over %d KiB: %w; give a file", len(*in.Text), MaxInputBytes>>10, ErrTooLarge)
	}
	if in.File != "" {
		if err := checkFile(in.File); err != nil {
			return nil, err
		}
	}
	list, err := s.all(ctx)
	if err != nil {
		return nil, err
	}
	which, err := pick(list, name, id)
	if err != nil {
		return nil, err
	}
	select {
	case s.runs <- struct{}{}:
		defer func() { <-s.runs }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	values, err := s.opts.Runner.Run(ctx, which.ID, in, s.opts.Timeout)
	var res *mcp.CallToolResult
	if err == nil {
		res, err = result(values)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", quote(which.Name), err)
	}
	return res, nil
}

func (s *Server) run(ctx context.Context, in runInput) (*mcp.CallToolResult, error) {
	input := Input{File: in.InputFile}
	if raw := string(in.Input); raw != "" && raw != "null" {
		if raw[0] == '"' {
			if err := json.Unmarshal(in.Input, &raw); err != nil {
				return nil, fmt.Errorf("the input: %w", err)
			}
		}
		input.Text = &raw
	}
	return s.Run(ctx, in.Name, in.ID, input)
}

func checkFile(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("the file %s: give an absolute path", quote(path))
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("the file %s cannot be read", quote(path))
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no file", quote(path))
	}
	return nil
}

// maxToolSlug is the part of a tool's name that is made of the shortcut's.
const maxToolSlug = 38

// toolName names a shortcut's own tool: readable, and made of its name and ID alone, so
// that it stays when others come and go.
func toolName(x Shortcut) string {
	var b strings.Builder
	for _, r := range strings.ToLower(x.Name) {
		switch {
		case b.Len() >= maxToolSlug:
		case r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	slug := strings.Trim(b.String(), "_")
	if slug == "" {
		slug = "shortcut"
	}
	sum := sha256.Sum256([]byte(x.ID))
	return slug + "_" + hex.EncodeToString(sum[:6])
}

// sync makes the shortcuts' own tools those of the list.
func (s *Server) sync(list []Shortcut) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := map[string]Shortcut{}
	for _, x := range list {
		now[toolName(x)] = x
	}
	var gone []string
	for name := range s.tools {
		if _, stays := now[name]; !stays {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	s.server.RemoveTools(gone...)
	yes := true
	for name, x := range now {
		if old, known := s.tools[name]; known && old.Name == x.Name && old.Folder == x.Folder {
			continue
		}
		description := "Runs the shortcut " + quote(x.Name)
		if x.Folder != "" {
			description += " of the folder " + quote(x.Folder)
		}
		s.server.AddTool(&mcp.Tool{Name: name, Title: short(clean(x.Name)), Description: description + ".", InputSchema: json.RawMessage(ownSchema),
			Annotations: &mcp.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &yes}}, s.handler(x.ID))
	}
	s.tools = now
}

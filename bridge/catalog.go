package bridge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// Bounds on a catalogue.
const (
	MaxTools       = 100_000 // tools in one catalogue
	MaxNameBytes   = 512     // of a server's or a tool's name
	maxShownID     = 160     // characters of an ID in messages
	maxAbout       = 160     // characters of what a server is for
	maxDescription = 1 << 16 // bytes of a description
)

// CatalogOptions are what a catalogue may be given beside its tools.
type CatalogOptions struct {
	// About says what each server is for, by its name. The first line of the
	// server's instructions serves well. Other names are ignored.
	About map[string]string
	// NewRanker makes the ranking behind Search from the catalogue's tools,
	// which come sorted by ID and must not be changed. Nil, or one that returns nil, means NewLexical.
	NewRanker func(tools []Tool) Ranker
}

// A Catalog is the set of tools that one session may discover and call. It
// never changes; a new list of tools makes a new Catalog. All methods are safe
// for concurrent use.
type Catalog struct {
	entries []entry // sorted by ID
	servers []Server
	byID    map[ToolID]int
	byShown map[string]int // by entry.shown, where that is not the ID
	lines   []atomic.Pointer[hitLine]
	ranker  Ranker
}

// A hitLine is what a search shows of a tool, made when first shown.
type hitLine struct{ signature, summary string }

// An entry is a tool with what was read from its schema.
type entry struct {
	id     ToolID
	shown  string // the ID as one clean line; nearly always the same text
	tool   Tool
	schema schemaInfo
}

// NewCatalog makes a catalogue of tools and is strict: every tool needs a
// server's name without "/", a name, a description, an input schema that is an
// object's, and an ID that no other one has. Otherwise it returns a
// *CatalogError that names every bad tool. No tools make an empty catalogue.
// The order of tools makes no difference. opts may be nil.
func NewCatalog(tools []Tool, opts *CatalogOptions) (*Catalog, error) {
	entries, problems := admit(tools, false)
	if len(problems) > 0 {
		return nil, &CatalogError{Problems: problems}
	}
	return build(entries, opts), nil
}

// NewLenientCatalog makes a catalogue of all usable tools and returns what was
// wrong with the others, sorted. An empty description becomes a placeholder
// made of the name, an absent schema that of no arguments; a tool without
// names, with a schema of something else than an object, or with an ID that
// another has is left out alone. Of tools with the same ID the one whose
// content sorts first stays, so that the order of tools makes no difference.
// opts may be nil.
func NewLenientCatalog(tools []Tool, opts *CatalogOptions) (*Catalog, []Problem) {
	entries, problems := admit(tools, true)
	return build(entries, opts), problems
}

// admit checks tools and returns those that can be used, sorted by ID.
func admit(tools []Tool, lenient bool) ([]entry, []Problem) {
	var problems []Problem
	entries := make([]entry, 0, len(tools))
	for i := range tools {
		e, p := admitOne(&tools[i], lenient)
		problems = append(problems, p...)
		if !slices.ContainsFunc(p, func(p Problem) bool { return p.Dropped }) {
			entries = append(entries, e)
		}
	}
	entries, doubled := dropDoubled(sorted(entries))
	problems = append(problems, doubled...)
	if len(entries) > MaxTools {
		for _, e := range entries[MaxTools:] {
			problems = append(problems, Problem{e.id, "more than 100,000 tools", true})
		}
		entries = entries[:MaxTools]
	}
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Reason, b.Reason))
	})
	return entries, problems
}

func admitOne(t *Tool, lenient bool) (entry, []Problem) {
	e := entry{id: t.ID(), tool: *t}
	var problems []Problem
	report := func(reason string, drop bool) {
		problems = append(problems, Problem{e.id, reason, drop || !lenient})
	}
	for _, reason := range nameProblems(t) {
		report(reason, true)
	}
	if strings.TrimSpace(t.Description) == "" {
		report("no description", false)
		e.tool.Description = placeholder(t)
	}
	if len(t.Description) > maxDescription {
		report("description is over 64 KiB", false)
		e.tool.Description = cutString(t.Description, maxDescription) + cutMark
	}
	raw := t.InputSchema
	if len(raw) == 0 || string(raw) == "null" {
		report("no input schema", false)
		raw = json.RawMessage(`{"type":"object"}`)
	}
	schema := string(raw)
	info, err := parseSchema(schema)
	if err != nil {
		report(err.Error(), true)
	}
	e.schema = info
	e.tool.InputSchema = bytes.Clone(raw)
	e.tool.OutputSchema = bytes.Clone(t.OutputSchema)
	e.tool.Annotations = t.Annotations.clone()
	if len(t.OutputSchema) > maxSchemaBytes {
		report("output schema is over 1 MiB", false)
		e.tool.OutputSchema = nil
	}
	e.shown = oneLine(string(e.id), 2*MaxNameBytes)
	return e, problems
}

func nameProblems(t *Tool) []string {
	var out []string
	switch {
	case strings.TrimSpace(t.Server) == "":
		out = append(out, "no server name")
	case strings.Contains(t.Server, "/"):
		out = append(out, `server name holds "/"`)
	}
	if strings.TrimSpace(t.Name) == "" {
		out = append(out, "no name")
	}
	if !utf8.ValidString(t.Server) || !utf8.ValidString(t.Name) {
		out = append(out, "name is not UTF-8")
	}
	if len(t.Server) > MaxNameBytes || len(t.Name) > MaxNameBytes {
		out = append(out, "name is over 512 bytes")
	}
	return out
}

// placeholderMark ends a description that the server did not give.
const placeholderMark = " (the server gives no description)"

// placeholder makes a description of a tool's title or name.
func placeholder(t *Tool) string {
	if title := strings.TrimSpace(t.Title); title != "" {
		return title
	}
	var words []string
	new(wordSplitter).each(t.Name, func(w []byte) { words = append(words, string(w)) })
	return strings.Join(words, " ") + placeholderMark
}

func (a *Annotations) clone() *Annotations {
	if a == nil {
		return nil
	}
	c := *a
	c.DestructiveHint = clonePtr(a.DestructiveHint)
	c.OpenWorldHint = clonePtr(a.OpenWorldHint)
	return &c
}

func clonePtr(p *bool) *bool {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// sorted returns the entries in order. They are big, so pointers are sorted.
func sorted(entries []entry) []entry {
	order := make([]*entry, len(entries))
	for i := range entries {
		order[i] = &entries[i]
	}
	slices.SortFunc(order, compareEntries)
	out := make([]entry, len(entries))
	for i, e := range order {
		out[i] = *e
	}
	return out
}

// compareEntries orders by ID; the rest only matters for tools of one ID.
func compareEntries(a, b *entry) int {
	if a.id != b.id {
		return cmp.Compare(a.id, b.id)
	}
	return cmp.Or(
		cmp.Compare(a.tool.Description, b.tool.Description),
		bytes.Compare(a.tool.InputSchema, b.tool.InputSchema),
		cmp.Compare(a.tool.Title, b.tool.Title),
		bytes.Compare(a.tool.OutputSchema, b.tool.OutputSchema),
		compareAnnotations(a.tool.Annotations, b.tool.Annotations),
	)
}

func compareAnnotations(a, b *Annotations) int {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Compare(x, y)
}

// dropDoubled leaves one tool for each ID, and one for each ID as it is shown:
// two that differ in invisible characters only could not be told apart.
func dropDoubled(entries []entry) ([]entry, []Problem) {
	var problems []Problem
	kept := entries[:0]
	exact := make(map[string]bool)
	for i := range entries {
		if e := &entries[i]; e.shown != string(e.id) {
			_, exact[e.shown] = slices.BinarySearchFunc(entries, ToolID(e.shown), func(o entry, id ToolID) int { return cmp.Compare(o.id, id) })
		}
	}
	shown := make(map[string]bool)
	for i := range entries {
		e := &entries[i]
		if len(kept) > 0 && kept[len(kept)-1].id == e.id {
			problems = append(problems, Problem{e.id, "another tool has this ID", true})
			continue
		}
		if e.shown != string(e.id) {
			if shown[e.shown] || exact[e.shown] {
				problems = append(problems, Problem{e.id, "another tool's ID looks the same", true})
				continue
			}
			shown[e.shown] = true
		}
		kept = append(kept, *e)
	}
	return kept, problems
}

func build(entries []entry, opts *CatalogOptions) *Catalog {
	if opts == nil {
		opts = &CatalogOptions{}
	}
	c := &Catalog{entries: entries, lines: make([]atomic.Pointer[hitLine], len(entries))}
	c.indexIDs()
	c.listServers(opts.About)
	if opts.NewRanker != nil {
		c.ranker = opts.NewRanker(slices.Collect(c.All()))
	}
	if c.ranker == nil {
		c.ranker = newLexical(c.entries, c.servers, &defaultWeights)
	}
	return c
}

func (c *Catalog) listServers(about map[string]string) {
	for i := range c.entries {
		name := c.entries[i].tool.Server
		if n := len(c.servers); n == 0 || c.servers[n-1].Name != name {
			c.servers = append(c.servers, Server{Name: name, About: oneLine(about[name], maxAbout)})
		}
		c.servers[len(c.servers)-1].Tools++
	}
}

// Len is the number of tools.
func (c *Catalog) Len() int { return len(c.entries) }

// Servers lists the servers that have tools, sorted as their tools are.
func (c *Catalog) Servers() []Server { return slices.Clone(c.servers) }

// All yields every tool, sorted by ID.
func (c *Catalog) All() iter.Seq[Tool] {
	return func(yield func(Tool) bool) {
		for i := range c.entries {
			if !yield(c.at(i)) {
				return
			}
		}
	}
}

// Get returns the tool with exactly this ID.
func (c *Catalog) Get(id ToolID) (Tool, bool) {
	i, ok := c.byID[id]
	if !ok {
		return Tool{}, false
	}
	return c.at(i), true
}

// at returns a copy of a tool that shares nothing with the catalogue.
func (c *Catalog) at(i int) Tool {
	t := c.entries[i].tool
	t.InputSchema = bytes.Clone(t.InputSchema)
	t.OutputSchema = bytes.Clone(t.OutputSchema)
	t.Annotations = t.Annotations.clone()
	return t
}

// Signature is the tool's name with its parameters, as search results show it:
// create_issue(owner*, repo*, title*, labels[]). It is "" for an unknown ID.
func (c *Catalog) Signature(id ToolID) string {
	i, ok := c.byID[id]
	if !ok {
		return ""
	}
	return c.line(i).signature
}

func (c *Catalog) line(i int) *hitLine {
	if l := c.lines[i].Load(); l != nil {
		return l
	}
	e := &c.entries[i]
	l := &hitLine{signature(e), summary(e.tool.Description, maxHitSentence)}
	c.lines[i].Store(l)
	return l
}

// Search ranks the catalogue's tools for q; see [Query] and [Result]. The
// built-in ranking never fails and does not look at ctx.
func (c *Catalog) Search(ctx context.Context, q Query) (Result, error) {
	return search(ctx, c, q)
}

package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
)

// Bounds on a Config.
const (
	MaxContextTokens = 1 << 30 // of Config.AvailableContextTokens
	MaxSearchResults = 100     // of Config.MaxSearchLimit
)

// A Config says how much of the prompt the section may take and how requests
// are treated. Start from [DefaultConfig]: a zero here is a measurement.
type Config struct {
	// AvailableContextTokens are left for the prompt after the host's own
	// reservations; from 1 to MaxContextTokens.
	AvailableContextTokens int
	// InventoryThresholdPercent is the most of these that the section may take;
	// in (0, 100].
	InventoryThresholdPercent float64
	// SearchDefaultLimit is the number of hits where the model gives none.
	SearchDefaultLimit int
	// MaxSearchLimit is the most hits that the model may ask for, up to
	// MaxSearchResults.
	MaxSearchLimit int

	// Tokenizer counts tokens; nil is EstimateTokensSimple. EstimateTokens is
	// nearer to what models count.
	Tokenizer Tokenizer
	// RequireDescribe refuses to execute a tool that this injector has not
	// described in its present form; the refusal carries the schema.
	RequireDescribe bool
	// CheckArguments, if not nil, is asked before a tool is invoked. Its error
	// goes to the model together with the schema.
	CheckArguments func(ctx context.Context, tool Tool, arguments json.RawMessage) error
	// Pages, if not nil, gives the model a fourth action, read, for the rest of
	// a result that was cut.
	Pages PageReader
	// Metrics, if not nil, receives what happens.
	Metrics Metrics
}

// A PageReader returns the page of a long result that a handle stands for. Its
// errors go to the model.
type PageReader interface {
	ReadPage(ctx context.Context, handle string) (string, error)
}

// DefaultConfig is 100,000 tokens, 6 %, 5 hits and at most 20.
func DefaultConfig() Config {
	return Config{AvailableContextTokens: 100_000, InventoryThresholdPercent: 6, SearchDefaultLimit: 5, MaxSearchLimit: 20}
}

// Validate returns an error that names every field out of its bounds.
func (c *Config) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("bridge config: "+format, args...)) }
	if c.AvailableContextTokens < 1 || c.AvailableContextTokens > MaxContextTokens {
		bad("available context tokens are %d, want 1 to %d", c.AvailableContextTokens, MaxContextTokens)
	}
	if p := c.InventoryThresholdPercent; !(p > 0 && p <= 100) {
		bad("inventory threshold is %g percent, want more than 0 and at most 100", p)
	}
	if c.SearchDefaultLimit < 1 || c.SearchDefaultLimit > c.MaxSearchLimit {
		bad("search default limit is %d, want 1 to the maximum of %d", c.SearchDefaultLimit, c.MaxSearchLimit)
	}
	if c.MaxSearchLimit < 1 || c.MaxSearchLimit > MaxSearchResults {
		bad("maximum search limit is %d, want 1 to %d", c.MaxSearchLimit, MaxSearchResults)
	}
	return errors.Join(errs...)
}

// budget is the section's share in tokens, rounded down.
func (c *Config) budget(available int) int {
	return int(math.Floor(float64(available) * c.InventoryThresholdPercent / 100))
}

// An Injection is what a model is given for one turn.
type Injection struct {
	// BridgeTool is the definition of aster_mcp for an OpenAI-shaped tools
	// array; MCPTool is the same for a tools/list.
	BridgeTool, MCPTool json.RawMessage
	// Prompt is the section for the system prompt, "" where not a line fits.
	Prompt string
	// Manifest is what Prompt shows.
	Manifest Manifest
	// Level is Manifest.Level.
	Level Level
	// ManifestTokens are those of a manifest with whole descriptions, shown or
	// not: what decides, with BudgetTokens, whether it is.
	ManifestTokens int
	// PromptTokens are those of Prompt, at most BudgetTokens.
	PromptTokens int
	// BudgetTokens is the share of this turn's context.
	BudgetTokens int
	// Kept says that Prompt is, byte for byte, that of an earlier turn.
	Kept bool
}

// An Injector serves one model's session: it makes the prompt section, keeps
// it from changing between turns, and routes calls of aster_mcp. All methods
// are safe for concurrent use.
type Injector struct {
	config Config

	mu        sync.Mutex // guards what follows; held while Config.Tokenizer counts
	catalog   *Catalog
	available int
	sizer     *sizer            // of catalog
	section   *section          // nil until made
	told      *Catalog          // the model knows of the changes up to this one
	described map[ToolID]string // Tool.Hash when it was described
}

// NewInjector makes the injector of a session over its first catalogue.
func NewInjector(c *Catalog, config Config) (*Injector, error) {
	if c == nil {
		return nil, errors.New("bridge: no catalogue")
	}
	if err := config.Validate(); err != nil {
		return nil, err
	}
	if config.Tokenizer == nil {
		config.Tokenizer = TokenizerFunc(EstimateTokensSimple)
	}
	return &Injector{
		config: config, catalog: c, available: config.AvailableContextTokens,
		sizer: newSizer(c, config.Tokenizer), told: c, described: make(map[ToolID]string),
	}, nil
}

// Catalog returns the session's catalogue of this moment.
func (in *Injector) Catalog() *Catalog {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.catalog
}

// SetCatalog puts a rebuilt catalogue in place of the session's. The prompt
// section stays as it is, unless the new catalogue needs another level; what
// changed is told by [Injector.TakeNote]. A nil catalogue is ignored.
func (in *Injector) SetCatalog(c *Catalog) {
	if c == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if c != in.catalog {
		in.catalog = c
		in.sizer = newSizer(c, in.config.Tokenizer)
	}
}

// SetAvailable says how many tokens of context this turn leaves. Values out of
// the bounds of Config are brought within them.
func (in *Injector) SetAvailable(tokens int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.available = min(max(tokens, 1), MaxContextTokens)
}

// Reset forgets the prompt section, so that the next Inject makes it anew from
// the present catalogue and budget: for a host whose prompt cache is lost
// anyway, as after it compacted a conversation.
func (in *Injector) Reset() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.section = nil
	clear(in.described)
}

// Inject returns what to give the model this turn, or nil while the catalogue
// is empty. The section is made at the first call, as rich as the budget
// allows, and then stays the same to the byte: it is made anew only when it
// takes more than the budget, when a richer one would take half of
// it or less, or after Reset.
func (in *Injector) Inject() *Injection {
	in.mu.Lock()
	if len(in.catalog.entries) == 0 {
		in.mu.Unlock()
		return nil
	}
	budget := in.config.budget(in.available)
	kept := in.section != nil && !in.sizer.outgrown(in.section, budget)
	if !kept {
		in.section = in.sizer.richest(budget)
		in.told = in.catalog
	}
	s, full := in.section, in.sizer.full()
	in.mu.Unlock()

	in.record(Event{Kind: EventInjected, Level: s.manifest.Level, ManifestTokens: full, PromptTokens: s.tokens, BudgetTokens: budget})
	return &Injection{
		BridgeTool: openAITool(in.config.Pages != nil), MCPTool: mcpTool(in.config.Pages != nil),
		Prompt: s.prompt, Manifest: s.manifest.clone(), Level: s.manifest.Level,
		ManifestTokens: full, PromptTokens: s.tokens, BudgetTokens: budget, Kept: kept,
	}
}

// clone copies a manifest, so that a caller cannot change the kept one.
func (m *Manifest) clone() Manifest {
	c := *m
	c.Servers = make([]ManifestServer, len(m.Servers))
	for i, s := range m.Servers {
		s.Entries = append([]ManifestEntry(nil), s.Entries...)
		s.Sample = append([]ManifestEntry(nil), s.Sample...)
		c.Servers[i] = s
	}
	return c
}

package webmcp

import (
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/aster-mcp/aster/bridge/argcheck"
)

const (
	// MaxDocumentTools is the number of tools that one document may offer; more are
	// left out, and webmcp_tabs says so.
	MaxDocumentTools = 2_000
	// MaxTools is the number of tools that all pages together may offer.
	MaxTools = 20_000
	// MaxDocumentCalls is the number of calls that may run in one document at a time.
	MaxDocumentCalls = 128
)

// Annotations are the hints that a page gives with a tool. They are claims of the page.
type Annotations struct {
	ReadOnly         bool // changes nothing
	Consequential    bool // its effect is serious: an order, a payment
	UntrustedContent bool // its results hold what strangers wrote
	Debugging        bool // meant for developers of the page
	Autosubmit       bool // a form that is sent without the user's click
}

// PageTool is one tool of one document. It never changes; a tool that is registered
// again is a new PageTool. Clients see it under a name of their own; see [NamedTool].
type PageTool struct {
	PageName           string // the page's own name
	Title, Description string
	// InputSchema is an object schema in any case; SchemaNote says what had to be
	// changed in the page's own for that, and is usually empty.
	InputSchema json.RawMessage
	SchemaNote  string
	// OutputSchema is an object schema for structured results, nil where the page gave none
	// that serves; SchemaNote says so then.
	OutputSchema json.RawMessage
	Annotations  *Annotations // nil where the page gave none
	// Origin and URL are those of the document, TabID the browser's target ID. FrameID
	// is the frame, Main the top one.
	Origin, URL, TabID, FrameID string
	Main                        bool
	// Native is true under the browser's own WebMCP; Declarative for a form.
	Native, Declarative bool

	key    toolKey
	doc    *document
	toolID string // the browser's own identifier, where it has one

	checkOnce sync.Once
	checker   *argcheck.Checker
	checkErr  error
	rawSchema json.RawMessage // the page's own, which arguments are checked against

	outputOnce    sync.Once
	outputChecker *argcheck.Checker
	outputErr     error
	rawOutput     json.RawMessage // the page's own

	made atomic.Pointer[madeDefinition]
}

// TabTitle is the present title of the tab that the tool is in. The browser gives the
// address for one until the page has said its title.
func (t *PageTool) TabTitle() string {
	t.doc.att.mu.Lock()
	defer t.doc.att.mu.Unlock()
	return t.doc.tab.title
}

// loading reports whether the tool's page still loads.
func (t *PageTool) loading() bool {
	t.doc.att.mu.Lock()
	defer t.doc.att.mu.Unlock()
	return t.doc.tab.loading
}

// check compiles the page's schema on first use.
func (t *PageTool) check() (*argcheck.Checker, error) {
	t.checkOnce.Do(func() {
		// The page's own schema says whether it can be checked at all, the one that
		// clients were told says what is demanded of them.
		if len(t.rawSchema) > 0 {
			if _, t.checkErr = argcheck.New(t.rawSchema); t.checkErr != nil {
				return
			}
		}
		t.checker, t.checkErr = argcheck.New(t.InputSchema)
	})
	return t.checker, t.checkErr
}

// output compiles the schema of results on first use: nil where there is none. One that
// cannot be checked is not told to clients, which would check results against it.
func (t *PageTool) output() (*argcheck.Checker, error) {
	t.outputOnce.Do(func() {
		if len(t.OutputSchema) > 0 {
			t.outputChecker, t.outputErr = argcheck.New(t.OutputSchema)
		}
	})
	return t.outputChecker, t.outputErr
}

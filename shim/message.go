package shim

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Bounds of what a page may send.
const (
	MaxMessageBytes = 64 << 20 // one message
	MaxTools        = 10_000   // entries of Add, and of Remove, in one message
	MaxNameBytes    = 128      // a tool's name
	MaxTextBytes    = 64 << 10 // a title, a description, an error, a stack, an exposed origin, each
	MaxSchemaBytes  = 1 << 20  // the text of a schema
	MaxExposedTo    = 100      // origins that a tool is exposed to
	MaxIDBytes      = 256      // the id of a call, or of a tool
	MaxFromOrigins  = 1000     // origins of a List; more are left out
	MaxPathBytes    = 1024     // the path of a frame
)

// ErrMessage is what every error of [Parse] wraps.
var ErrMessage = errors.New("bad message from the page")

// Message is what a page's shim sent: exactly one of the fields is set.
type Message struct {
	Tools   *Tools
	Result  *Result
	Waiting *Waiting
	List    *List
	Run     *Run
	Cancel  *Cancel
}

// List asks for tools of other origins. The answer's value is the JSON text of an
// object: from the paths of frames to [Listed].
type List struct {
	ID      string   // for the api's answer
	Origins []string // as the page gave them to getTools, serialised
}

// Listed is what a List is told of one frame.
type Listed struct {
	Origin string       `json:"origin"`
	Tools  []ListedTool `json:"tools"`
}

// ListedTool is a tool of another origin. The schemas are absent or JSON text.
type ListedTool struct {
	Name        string       `json:"name"`
	Title       string       `json:"title"`
	Description string       `json:"description"`
	Schema      string       `json:"schema,omitempty"`
	Output      string       `json:"output,omitempty"` // the schema of its results
	ID          string       `json:"id,omitempty"`
	Annotations *Annotations `json:"annotations,omitempty"`
}

// Run asks to run a tool of another origin for the page. The answer's kind is one of the
// Kind constants.
type Run struct {
	ID     string // for the api's answer
	Path   string // where the frame is: see FramePath
	Origin string // the tool's, serialised
	Name   string
	Input  string // JSON text
	// ToolID is that of the registration that is meant, "" for the one there is.
	ToolID string
}

// Cancel says that the page gave a Run up. There is no answer.
type Cancel struct {
	ID string // of the Run
}

// How a call ended, as the page is told it.
const (
	KindCompleted = "completed" // the value is the output
	KindFailed    = "failed"    // the tool threw
	KindBad       = "bad"       // the input is no object
	KindMissing   = "missing"   // there is no such tool
	KindRefused   = "refused"   // a form did not take the input; the value says why
	KindDropped   = "dropped"   // a form was changed; the value says why
	KindNavigated = "navigated" // a form was sent
	KindCanceled  = "canceled"
	KindGone      = "gone" // the document or its tool is gone, or may not be seen
)

// FramePath is an expression for the path of a frame from the top of its page: ".0.2"
// is the third frame in the first frame of the top one, "" the top. It asks for nothing
// that another origin would not give, and is meant for an isolated world, where no page
// has a say.
const FramePath = `(() => {
  let path = '';
  for (let w = window; w !== w.parent; w = w.parent) {
    let i = 0;
    while (i < w.parent.length && w.parent[i] !== w) i++;
    path = '.' + i + path;
  }
  return path;
})()`

// Tools is a change of a document's tools, to be applied in the order of its fields.
type Tools struct {
	Reset  bool     // forget every tool of the document
	Remove []string // names
	Add    []Tool
}

// Tool is a tool as its page describes it.
type Tool struct {
	// Name matches ^[A-Za-z0-9_.-]{1,128}$.
	Name               string
	Title, Description string
	// InputSchema is valid JSON: the text of an object or array; nil where the page gave
	// no schema, one that is no object, or one above MaxSchemaBytes. It need not be a
	// JSON Schema.
	InputSchema json.RawMessage
	// OutputSchema is the same for the schema of results, which pages can give since Compat159.
	OutputSchema json.RawMessage
	// ID names this registration among those of its document; "" before Compat160.
	ID string
	// Annotations is nil where the page gave none.
	Annotations *Annotations
	// Form is set for a tool that is a form.
	Form *Form
	// ExposedTo lists the origins, besides its own, that may see the tool.
	ExposedTo []string
}

// Annotations are a page's hints about a tool.
type Annotations struct {
	ReadOnly         bool `json:"readOnlyHint"`
	UntrustedContent bool `json:"untrustedContentHint"`
	Consequential    bool `json:"consequentialHint"`
	Debugging        bool `json:"debugging"`
}

// Form is what a form says as a tool.
type Form struct {
	// Autosubmit says that a call submits the form; else the user has to press its button.
	Autosubmit bool `json:"autosubmit"`
}

// Waiting says that a call has filled in a form, which the user has to submit now.
type Waiting struct {
	ID     string // as given to invoke
	Button string // the label of the form's button; may be empty
}

// Values of Result.Status.
const (
	StatusCompleted = "Completed"
	StatusError     = "Error"
	StatusCanceled  = "Canceled"
	// StatusSubmitted says that a form was submitted, and that the next document of the
	// target has the result, if there comes one.
	StatusSubmitted = "Submitted"
)

// Result is the end of a call.
type Result struct {
	ID     string // as given to invoke
	Status string // one of the Status constants
	Output string // Completed: the text that native executeTool resolves with
	Error  string // Error: a line that says what went wrong; Canceled: why, if not asked for
	Stack  string // Error: the stack of what was thrown, if it had one
	// NotFound says that there was no tool of that name. Nothing was run.
	NotFound bool
	Target   string // Submitted: the name of the form's target, "" for the form's own frame
	// Kind says more exactly than Status how the call ended: one of the Kind constants.
	Kind string
}

// wire is a message as it comes up.
type wire struct {
	T        string     `json:"t"`
	Reset    bool       `json:"reset"`
	Remove   []string   `json:"remove"`
	Add      []wireTool `json:"add"`
	ID       string     `json:"id"`
	Status   string     `json:"status"`
	Output   string     `json:"output"`
	Error    string     `json:"error"`
	Stack    string     `json:"stack"`
	NotFound bool       `json:"notFound"`
	Target   string     `json:"target"`
	Button   string     `json:"button"`
	Kind     string     `json:"kind"`
	Origins  []string   `json:"origins"`
	Path     string     `json:"path"`
	Origin   string     `json:"origin"`
	Name     string     `json:"name"`
	Input    string     `json:"input"`
	Tool     string     `json:"tool"`
}

type wireTool struct {
	Name         string       `json:"name"`
	Title        string       `json:"title"`
	Description  string       `json:"description"`
	ID           string       `json:"id"`
	InputSchema  *string      `json:"inputSchema"`
	OutputSchema *string      `json:"outputSchema"`
	Annotations  *Annotations `json:"annotations"`
	Form         *Form        `json:"form"`
	ExposedTo    []string     `json:"exposedTo"`
}

// Parse reads a message of a page's shim. Unknown members are ignored; anything else
// that is out of order or out of bounds is an error that wraps ErrMessage.
func Parse(payload string) (*Message, error) {
	if len(payload) > MaxMessageBytes {
		return nil, bad("%d bytes, more than %d", len(payload), MaxMessageBytes)
	}
	var w wire
	if err := json.Unmarshal([]byte(payload), &w); err != nil {
		return nil, bad("%v", err)
	}
	switch w.T {
	case "tools":
		return w.tools()
	case "result":
		return w.result()
	case "waiting":
		if w.ID == "" || len(w.ID) > MaxIDBytes || len(w.Button) > MaxTextBytes {
			return nil, bad("waiting without a usable id, or for a button of %d bytes", len(w.Button))
		}
		return &Message{Waiting: &Waiting{ID: w.ID, Button: w.Button}}, nil
	}
	return w.request()
}

// request reads what a page asks for of other origins.
func (w *wire) request() (*Message, error) {
	if w.T != "list" && w.T != "run" && w.T != "cancel" {
		return nil, bad("of unknown type %.40q", w.T)
	}
	if w.ID == "" || len(w.ID) > MaxIDBytes {
		return nil, bad("%s without a usable id", w.T)
	}
	switch w.T {
	case "list":
		if len(w.Origins) > MaxFromOrigins {
			w.Origins = w.Origins[:MaxFromOrigins]
		}
		return &Message{List: &List{ID: w.ID, Origins: w.Origins}}, nil
	case "run":
		if len(w.Path) > MaxPathBytes {
			return nil, bad("path of %d bytes", len(w.Path))
		}
		if len(w.Tool) > MaxIDBytes {
			return nil, bad("run of a tool with an id of %d bytes", len(w.Tool))
		}
		return &Message{Run: &Run{ID: w.ID, Path: w.Path, Origin: w.Origin, Name: w.Name, Input: w.Input, ToolID: w.Tool}}, nil
	}
	return &Message{Cancel: &Cancel{ID: w.ID}}, nil
}

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMessage, fmt.Sprintf(format, args...))
}

func (w *wire) tools() (*Message, error) {
	if len(w.Remove) > MaxTools || len(w.Add) > MaxTools {
		return nil, bad("%d tools removed and %d added, more than %d", len(w.Remove), len(w.Add), MaxTools)
	}
	for _, name := range w.Remove {
		if !validName(name) {
			return nil, bad("invalid tool name %.140q", name)
		}
	}
	t := &Tools{Reset: w.Reset, Remove: w.Remove}
	if len(w.Add) > 0 {
		t.Add = make([]Tool, len(w.Add))
	}
	for i := range w.Add {
		tool, err := w.Add[i].tool()
		if err != nil {
			return nil, err
		}
		t.Add[i] = tool
	}
	return &Message{Tools: t}, nil
}

func (w *wireTool) tool() (Tool, error) {
	if !validName(w.Name) {
		return Tool{}, bad("invalid tool name %.140q", w.Name)
	}
	if len(w.Title) > MaxTextBytes || len(w.Description) > MaxTextBytes {
		return Tool{}, bad("title or description of %q is longer than %d bytes", w.Name, MaxTextBytes)
	}
	if len(w.ExposedTo) > MaxExposedTo {
		return Tool{}, bad("%q is exposed to %d origins, more than %d", w.Name, len(w.ExposedTo), MaxExposedTo)
	}
	for _, o := range w.ExposedTo {
		if len(o) > MaxTextBytes {
			return Tool{}, bad("origin of %q is longer than %d bytes", w.Name, MaxTextBytes)
		}
	}
	if len(w.ID) > MaxIDBytes {
		return Tool{}, bad("id of %q is longer than %d bytes", w.Name, MaxIDBytes)
	}
	t := Tool{Name: w.Name, Title: w.Title, Description: w.Description, ID: w.ID, Annotations: w.Annotations, Form: w.Form, ExposedTo: w.ExposedTo}
	var err error
	if t.InputSchema, err = w.schema("input", w.InputSchema); err != nil {
		return Tool{}, err
	}
	t.OutputSchema, err = w.schema("output", w.OutputSchema)
	return t, err
}

// schema checks the text of a schema; absent it is nil.
func (w *wireTool) schema(which string, text *string) (json.RawMessage, error) {
	if text == nil {
		return nil, nil
	}
	if len(*text) > MaxSchemaBytes {
		return nil, bad("%s schema of %q is longer than %d bytes", which, w.Name, MaxSchemaBytes)
	}
	if !json.Valid([]byte(*text)) {
		return nil, bad("%s schema of %q is not JSON", which, w.Name)
	}
	return json.RawMessage(*text), nil
}

func (w *wire) result() (*Message, error) {
	if w.ID == "" || len(w.ID) > MaxIDBytes {
		return nil, bad("result without a usable id")
	}
	if len(w.Error) > MaxTextBytes || len(w.Stack) > MaxTextBytes || len(w.Target) > MaxTextBytes {
		return nil, bad("error, target or stack of result %q is longer than %d bytes", w.ID, MaxTextBytes)
	}
	r := &Result{ID: w.ID, Status: w.Status, Kind: w.kind()}
	switch w.Status {
	case StatusCompleted:
		r.Output = w.Output
	case StatusError:
		r.Error, r.Stack, r.NotFound = w.Error, w.Stack, w.NotFound
	case StatusCanceled:
		r.Error = w.Error
	case StatusSubmitted:
		r.Target = w.Target
	default:
		return nil, bad("result of unknown status %.40q", w.Status)
	}
	return &Message{Result: r}, nil
}

// kind is what the result says of its kind, where that agrees with its status.
func (w *wire) kind() string {
	switch w.Status {
	case StatusCompleted:
		return KindCompleted
	case StatusSubmitted:
		return KindNavigated
	case StatusCanceled:
		if w.Kind == KindDropped {
			return KindDropped
		}
		return KindCanceled
	}
	switch w.Kind {
	case KindBad, KindMissing, KindRefused, KindGone:
		return w.Kind
	}
	return KindFailed
}

// validName reports whether name is one that native WebMCP accepts.
func validName(name string) bool {
	if name == "" || len(name) > MaxNameBytes || !utf8.ValidString(name) {
		return false
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
		if !ok {
			return false
		}
	}
	return true
}

package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Bounds on what a reply shows.
const (
	maxReplySchema = 1 << 18 // bytes that the definitions of one describe take together, beyond the first
	maxDescribed   = 4000    // characters of a described tool's description
	maxErrorSchema = 16384   // bytes of a schema that goes with an error
	maxErrorText   = 2000    // characters of somebody else's error
	maxNamedServer = 20      // servers named when a search finds nothing
)

// Errors that callers test.
var (
	// ErrDenied is what an Invoker wraps when a policy or a user refused.
	ErrDenied = errors.New("denied")
	// ErrToolChanged refuses a call whose tool left the catalogue, or changed in
	// it, after the request was routed.
	ErrToolChanged = errors.New("the tool changed since the request")
	// ErrNotDescribed refuses a call where Config.RequireDescribe asks for a
	// describe first.
	ErrNotDescribed = errors.New("describe the tool first")
	// ErrToolFailed is the error of an EventFailed for a result that says isError.
	ErrToolFailed = errors.New("the tool reports an error")
	// ErrBadArguments refuses arguments that Config.CheckArguments found wrong.
	ErrBadArguments = errors.New("the arguments do not fit the tool")
)

// An Invoker calls real tools. Invoke gets the resolved tool and its arguments,
// never the envelope, and is the place for policy, approval, transport,
// redaction and audit; an error of a refusal wraps ErrDenied. What it returns
// is an MCP CallToolResult or any other JSON; nothing at all is told the model
// as that. The text of its error reaches the
// model. It must be safe for concurrent use and obey ctx.
type Invoker interface {
	Invoke(ctx context.Context, tool Tool, arguments json.RawMessage) (json.RawMessage, error)
}

// InvokerFunc lets a function serve as an Invoker.
type InvokerFunc func(ctx context.Context, tool Tool, arguments json.RawMessage) (json.RawMessage, error)

// Invoke calls f.
func (f InvokerFunc) Invoke(ctx context.Context, tool Tool, arguments json.RawMessage) (json.RawMessage, error) {
	return f(ctx, tool, arguments)
}

// A Reply is the answer to one aster_mcp call.
type Reply struct {
	Action  Action          // nil where the request was not routed
	Text    string          // for the model; "" where Result is the answer
	Result  json.RawMessage // what the Invoker returned, as it is
	IsError bool            // Text says why nothing was done, or that it failed; or Result has isError
	Note    string          // what changed in the catalogue; add it after the answer
}

// Handle routes the arguments of an aster_mcp call and carries it out. Only
// execute reaches the invoker, and only after the tool was found again,
// unchanged, in the catalogue of that moment. The reply is always fit for the
// model. The error is nil unless the invoker, or the ranker, failed or ctx
// ended; then it is what they returned, wrapped.
func (in *Injector) Handle(ctx context.Context, arguments json.RawMessage, invoker Invoker) (Reply, error) {
	action, err := in.Route(arguments)
	if err != nil {
		in.record(Event{Kind: EventRefused, Err: err})
		return Reply{Text: err.Error(), IsError: true, Note: in.TakeNote()}, nil
	}
	return in.Do(ctx, action, invoker)
}

// Do carries out an action that Route returned; see Handle.
func (in *Injector) Do(ctx context.Context, action Action, invoker Invoker) (Reply, error) {
	reply := Reply{Action: action}
	var err error
	switch a := action.(type) {
	case Search:
		reply.Text, err = in.search(ctx, a)
	case Describe:
		reply.Text, reply.IsError = in.describe(a)
	case Execute:
		reply, err = in.execute(ctx, a, invoker)
	case Read:
		reply.Text, err = in.read(ctx, a)
		if err != nil {
			reply.Text, reply.IsError = oneLine(err.Error(), maxErrorText), true
			err = ctx.Err()
		}
	default:
		return Reply{}, errors.New("bridge: no action")
	}
	if err != nil && reply.Text == "" {
		reply.Text, reply.IsError = oneLine(err.Error(), maxErrorText), true
	}
	reply.Note = in.TakeNote()
	return reply, err
}

func (in *Injector) read(ctx context.Context, a Read) (string, error) {
	if in.config.Pages == nil {
		return "", errors.New("there are no pages")
	}
	return in.config.Pages.ReadPage(ctx, a.Handle)
}

func (in *Injector) search(ctx context.Context, a Search) (string, error) {
	c := in.Catalog()
	result, err := c.Search(ctx, a.Query)
	if err != nil {
		return "", err
	}
	in.record(Event{Kind: EventSearched, Hits: len(result.Matches)})
	return c.searchText(a.Query, &result), nil
}

// searchText renders a result, one line a hit.
func (c *Catalog) searchText(q Query, r *Result) string {
	var b strings.Builder
	for i := range r.Matches {
		m := &r.Matches[i]
		if m.Weak {
			b.WriteByte('~')
		}
		b.WriteString(oneLine(m.ID.Server(), maxShownName) + "/" + m.Signature)
		if !strings.HasSuffix(m.Summary, placeholderMark) {
			b.WriteString(": " + m.Summary)
		}
		b.WriteByte('\n')
	}
	if len(r.Unmatched) > 0 {
		var words []string
		for _, w := range r.Unmatched {
			words = append(words, oneLine(w, maxShownName))
		}
		fmt.Fprintf(&b, "No tool knows: %s\n", cutRunes(strings.Join(words, ", "), maxShownID))
	}
	if len(r.Matches) == 0 {
		b.WriteString("No tool fits. Try other words for the task, as a tool would name it. Servers: " + c.serverList() + "\n")
	}
	return b.String()
}

func (c *Catalog) serverList() string {
	var names []string
	for _, s := range c.servers[:min(len(c.servers), maxNamedServer)] {
		names = append(names, shownName(s.Name))
	}
	list := strings.Join(names, ", ")
	if more := len(c.servers) - len(names); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// describe shows the tools as they are in the catalogue of this moment: one
// that left it since the request was routed is not shown.
func (in *Injector) describe(a Describe) (text string, isError bool) {
	c := in.Catalog()
	var shown, gone []string
	size := 0
	for i := range a.Tools {
		id := a.Tools[i].ID()
		t, ok := c.Get(id)
		if !ok {
			err := fmt.Errorf("%s: %w", shownID(id), ErrToolChanged)
			in.record(Event{Kind: EventRefused, ID: id, Err: err})
			gone = append(gone, "\n"+toolGone(id)+"\n")
			continue
		}
		one := describeText(&t)
		if size += len(one); size > maxReplySchema && len(shown) > 0 {
			gone = append(gone, fmt.Sprintf("\n%s is left out: this reply would be too long. Describe it by itself.\n", shownID(id)))
			continue
		}
		shown = append(shown, one)
		in.markDescribed(t)
	}
	for _, m := range a.Missing {
		gone = append(gone, "\n"+m.Error()+"\n")
	}
	text = strings.Join(shown, "\n") + strings.Join(gone, "")
	return strings.TrimPrefix(text, "\n"), len(shown) == 0
}

// toolGone refuses a tool that left the catalogue and says how to find another.
func toolGone(id ToolID) string {
	again := call{Action: "search", Query: oneLine(id.Name(), maxShownID)}.json()
	return fmt.Sprintf("%s is no longer in this session. Call %s with %s", shownID(id), toolName, again)
}

// describeText is a tool's whole definition: its ID, its description, quoted
// line by line, and its schema, equal as JSON to the server's.
func describeText(t *Tool) string {
	var b strings.Builder
	b.WriteString(shownID(t.ID()) + "\n")
	b.WriteString(quoted(t.Description, maxDescribed) + "\n")
	b.WriteString("schema: " + shownJSON(t.InputSchema) + "\n")
	return b.String()
}

func (in *Injector) markDescribed(t Tool) {
	in.mu.Lock()
	in.described[t.ID()] = t.Hash()
	in.mu.Unlock()
	in.record(Event{Kind: EventDescribed, ID: t.ID()})
}

// Check reports whether e may still be carried out: its tool is in the
// session's catalogue of this moment and is what it was when the request was
// routed, and it was described if it had to be. Handle calls it; a host that
// asks a user in between calls it again afterwards.
func (in *Injector) Check(e Execute) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	i, ok := in.catalog.byID[e.tool.ID()]
	if !ok || e.hash == "" {
		return fmt.Errorf("%s: %w", shownID(e.tool.ID()), ErrToolChanged)
	}
	if !sameTool(&in.catalog.entries[i].tool, &e.tool) {
		return fmt.Errorf("%s: %w", shownID(e.tool.ID()), ErrToolChanged)
	}
	if in.config.RequireDescribe && in.described[e.tool.ID()] != e.hash {
		return fmt.Errorf("%s: %w", shownID(e.tool.ID()), ErrNotDescribed)
	}
	return nil
}

func (in *Injector) execute(ctx context.Context, e Execute, invoker Invoker) (Reply, error) {
	reply := Reply{Action: e}
	id := e.tool.ID()
	refused := func(err error, text string) (Reply, error) {
		in.record(Event{Kind: EventRefused, ID: id, Err: err})
		reply.Text, reply.IsError = text, true
		return reply, nil
	}
	switch err := in.Check(e); {
	case errors.Is(err, ErrNotDescribed):
		text := err.Error() + ". This is it; call again with arguments that fit:\n" + describeText(&e.tool)
		in.markDescribed(e.tool)
		return refused(err, text)
	case err != nil:
		if _, ok := in.Catalog().Get(id); !ok {
			return refused(err, toolGone(id))
		}
		again := call{Action: "describe", Name: shownID(id)}.json()
		return refused(err, fmt.Sprintf("%v. Call %s with %s", err, toolName, again))
	}
	if in.config.CheckArguments != nil {
		if err := in.config.CheckArguments(ctx, e.Tool(), e.Arguments()); err != nil {
			return refused(fmt.Errorf("%w: %w", ErrBadArguments, err), e.badArguments(err))
		}
	}
	if invoker == nil {
		return reply, errors.New("bridge: no invoker")
	}
	result, err := invoker.Invoke(ctx, e.Tool(), e.Arguments())
	reply.IsError = err == nil && saysError(result)
	if reply.IsError {
		in.recordCall(e, fmt.Errorf("%s: %w", shownID(id), ErrToolFailed))
	} else {
		in.recordCall(e, err)
	}
	if err != nil {
		reply.Text, reply.IsError = block(err.Error(), maxErrorText), true
		return reply, fmt.Errorf("invoke %s: %w", shownID(id), err)
	}
	if reply.Result = result; len(result) == 0 {
		reply.Text = shownID(id) + " was called and returned nothing."
	}
	return reply, nil
}

// saysError reports whether a result is an MCP result of a tool that failed.
func saysError(result json.RawMessage) bool {
	var r struct {
		IsError bool `json:"isError"`
	}
	return json.Unmarshal(result, &r) == nil && r.IsError
}

func (in *Injector) recordCall(e Execute, err error) {
	in.mu.Lock()
	described := in.described[e.tool.ID()] == e.hash
	in.mu.Unlock()
	kind := EventExecuted
	switch {
	case errors.Is(err, ErrDenied):
		kind = EventDenied
	case err != nil:
		kind = EventFailed
	}
	in.record(Event{Kind: kind, ID: e.tool.ID(), Described: described, Err: err})
}

// badArguments tells the model what is wrong with its arguments, and the schema
// to mend them by.
func (e *Execute) badArguments(err error) string {
	text := fmt.Sprintf("%s was not called:\n%s", shownID(e.tool.ID()), quoted(err.Error(), maxErrorText))
	if len(e.tool.InputSchema) <= maxErrorSchema {
		return text + "\nschema: " + shownJSON(e.tool.InputSchema) + "\n"
	}
	return fmt.Sprintf("%s\nCall %s with %s", text, toolName, call{Action: "describe", Name: shownID(e.tool.ID())}.json())
}

// shownJSON is JSON on one line, equal to raw but with invisible characters
// escaped.
func shownJSON(raw json.RawMessage) string {
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return "{}"
	}
	var b strings.Builder
	s := compact.String()
	for i, r := range s {
		if r >= 0x7f && hidden(r, 2) {
			if r > 0xffff {
				high, low := 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff
				fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
			} else {
				fmt.Fprintf(&b, `\u%04x`, r)
			}
			continue
		}
		if fenceLen(s[i:]) > 0 { // these stand within strings only
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

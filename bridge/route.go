package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Route reads the arguments of an aster_mcp call and returns what they ask for,
// with every tool resolved in the session's catalogue of this moment. A request
// that cannot be met is refused with a *RequestError, whose text names the call
// to make instead. Route calls nothing and changes nothing.
func (in *Injector) Route(arguments json.RawMessage) (Action, error) {
	req, err := parseRequest(arguments)
	if err != nil {
		r := router{in: in, catalog: in.Catalog(), req: looseRequest(arguments)}
		action, _ := r.req.text("action")
		return nil, &RequestError{Reason: err.Error(), Call: r.likely(r.guess(action)).json()}
	}
	r := router{in: in, catalog: in.Catalog(), req: req}
	action, ok := req.text("action")
	switch {
	case ok && action == "search":
		return r.search()
	case ok && action == "describe":
		return r.describe()
	case ok && action == "execute":
		return r.execute()
	case ok && action == "read" && in.config.Pages != nil:
		return r.read()
	}
	return nil, r.noAction(action)
}

// A router works on one request.
type router struct {
	in      *Injector
	catalog *Catalog
	req     request
}

func refuse(err error, c call, format string, args ...any) error {
	return &RequestError{Reason: fmt.Sprintf(format, args...), Call: c.json(), Err: err}
}

// meant are words that models use for the actions.
var meant = map[string]string{
	"find": "search", "list": "search", "query": "search", "search_tools": "search", "discover": "search",
	"inspect": "describe", "schema": "describe", "get": "describe", "help": "describe", "info": "describe",
	"call": "execute", "run": "execute", "invoke": "execute", "use": "execute", "exec": "execute", "call_tool": "execute",
}

// noAction guesses from the other keys what a request without a known action
// was meant to be.
func (r *router) noAction(given string) error {
	reason := "action is missing: it is search, describe or execute"
	if _, ok := r.req["action"]; ok {
		reason = fmt.Sprintf("there is no action %q: it is search, describe or execute", oneLine(given, maxShownName))
	}
	return &RequestError{Reason: reason, Call: r.likely(r.guess(given)).json()}
}

// guess is the action that a request was meant to have: the one given, under
// whatever word, or what its other keys speak for.
func (r *router) guess(given string) string {
	given = strings.ToLower(given)
	if want := meant[given]; want != "" {
		return want
	}
	has := func(key string) bool { _, ok := r.req[key]; return ok }
	switch {
	case given == "search" || given == "describe" || given == "execute":
		return given
	case slices.ContainsFunc(argumentKeys, has):
		return "execute"
	case has("query") || has("queries"):
		return "search"
	case len(r.names()) > 0:
		return "describe"
	}
	return "search"
}

// Words that models use for the keys, the right one first.
var (
	nameKeys     = []string{"name", "names", "tool", "tool_name", "id", "tool_id"}
	argumentKeys = []string{"arguments", "args", "parameters", "params", "input", "tool_input"}
)

// likely is the call that a request of the wanted action should have been, as
// far as its parts can be read.
func (r *router) likely(action string) call {
	c := call{Action: action}
	switch action {
	case "search":
		r.likelySearch(&c)
	case "describe":
		if names := r.names(); len(names) == 1 {
			c.Name = r.likelyID(names[0])
		} else if len(names) > 1 {
			c.Names = names[:min(len(names), MaxDescribe)]
		} else {
			c.Name = r.anyID()
		}
	case "execute":
		c.Name = r.anyID()
		if names := r.names(); len(names) > 0 {
			c.Name = r.likelyID(names[0])
		}
		c.Arguments = r.likelyArguments(c.Name)
	}
	return c
}

// likelySearch fills in what is searched for: a list under query is one of
// queries.
func (r *router) likelySearch(c *call) {
	var ok bool
	if c.Query, ok = r.req.text("query"); !ok {
		c.Queries, _ = r.req.texts("query")
	}
	more, _ := r.req.texts("queries")
	c.Queries = append(c.Queries, more...)
	c.Queries = c.Queries[:min(len(c.Queries), MaxQueries)]
	for i, q := range c.Queries {
		c.Queries[i] = cutString(q, maxShownCall)
	}
	if c.Query == "" && len(c.Queries) == 0 {
		c.Query = "what the tool should do"
	}
	c.Query = cutString(c.Query, maxShownCall)
	if n, ok := r.req.nearNumber("limit", r.in.config.MaxSearchLimit); ok {
		c.Limit = n
	}
}

// names collects the tool names of a request, under whatever key they came.
func (r *router) names() []string {
	var out []string
	for _, key := range nameKeys {
		list, _ := r.req.texts(key)
		out = append(out, list...)
	}
	return out
}

// likelyID is the ID that a name leads to, the nearest one, or the name itself.
func (r *router) likelyID(name string) string {
	i, err := r.catalog.resolve(name)
	if err == nil {
		return r.catalog.entries[i].shown
	}
	var lookup *LookupError
	if errors.As(err, &lookup) && len(lookup.IDs) > 0 {
		return shownID(lookup.IDs[0])
	}
	return oneLine(name, maxShownID)
}

// anyID is an ID to show what one looks like.
func (r *router) anyID() string {
	if len(r.catalog.entries) == 0 {
		return "server/tool"
	}
	return r.catalog.entries[0].shown
}

// likelyArguments are the arguments given, under whatever key, those that were
// given beside the known keys, or a sketch of what the tool requires.
func (r *router) likelyArguments(id string) json.RawMessage {
	if args, err := r.req.object("arguments"); err == nil {
		return args
	}
	i, err := r.catalog.resolve(id)
	if err != nil {
		return json.RawMessage("{}")
	}
	params := r.catalog.entries[i].schema.params
	for _, key := range argumentKeys[1:] {
		args, err := r.req.object(key)
		if err == nil && !slices.ContainsFunc(params, func(p param) bool { return p.name == key }) {
			return args
		}
	}
	args := make(map[string]json.RawMessage)
	for _, p := range params {
		if v, ok := r.req[p.name]; ok && !slices.Contains(knownKeys, p.name) {
			args[p.name] = json.RawMessage(v)
		} else if p.required {
			args[p.name] = p.sketch()
		}
	}
	return plainJSON(args)
}

// sketch is a value of the parameter's kind.
func (p *param) sketch() json.RawMessage {
	if len(p.enum) > 0 {
		return plainJSON(p.enum[0])
	}
	switch p.kind {
	case "integer", "number":
		return json.RawMessage("0")
	case "boolean":
		return json.RawMessage("false")
	case "array":
		return json.RawMessage("[]")
	case "object":
		return json.RawMessage("{}")
	}
	return json.RawMessage(`"…"`)
}

func (r *router) search() (Action, error) {
	query, okQuery := r.req.text("query")
	queries, okQueries := r.req.texts("queries")
	server, okServer := r.req.text("server")
	limit, okLimit := r.req.number("limit")
	if !okLimit || limit < 0 || limit > r.in.config.MaxSearchLimit {
		c := r.likely("search")
		if c.Limit == 0 {
			c.Limit = r.in.config.MaxSearchLimit
		}
		return nil, refuse(nil, c, "limit is not a whole number from 1 to %d", r.in.config.MaxSearchLimit)
	}
	if _, given := r.req["limit"]; given && limit == 0 || !given {
		limit = r.in.config.SearchDefaultLimit
	}
	if query != "" {
		queries = append([]string{query}, queries...)
	}
	switch {
	case !okQuery || !okQueries || !okServer:
		return nil, refuse(nil, r.likely("search"), "query is a string and queries a list of strings")
	case len(queries) == 0:
		return nil, refuse(nil, r.likely("search"), "search needs a query")
	case len(queries) > MaxQueries:
		c := r.likely("search")
		c.Query, c.Queries = "", queries[:MaxQueries]
		return nil, refuse(nil, c, "one search takes at most %d queries", MaxQueries)
	}
	return Search{Query{Texts: queries, Server: server, Limit: limit}}, nil
}

func (r *router) describe() (Action, error) {
	name, okName := r.req.text("name")
	names, okNames := r.req.texts("names")
	if name != "" {
		names = append([]string{name}, names...)
	}
	switch {
	case !okName || !okNames:
		return nil, refuse(nil, r.likely("describe"), "name is a string and names a list of strings")
	case len(names) == 0:
		return nil, refuse(nil, r.likely("describe"), "describe needs the name of a tool")
	case len(names) > MaxDescribe:
		return nil, refuse(nil, call{Action: "describe", Names: names[:MaxDescribe]}, "one describe takes at most %d names", MaxDescribe)
	}
	var d Describe
	seen := make(map[int]bool)
	for _, n := range names {
		i, err := r.catalog.resolve(n)
		var lookup *LookupError
		if errors.As(err, &lookup) {
			d.Missing = append(d.Missing, lookup)
		} else if !seen[i] {
			seen[i] = true
			d.Tools = append(d.Tools, r.catalog.at(i))
		}
	}
	if len(d.Tools) == 0 {
		return nil, r.missing(d.Missing, "describe")
	}
	return d, nil
}

// missing refuses a request all of whose names led nowhere.
func (r *router) missing(lookups []*LookupError, action string) error {
	var reasons []string
	for _, l := range lookups {
		reasons = append(reasons, l.Error())
	}
	first := lookups[0]
	c := call{Action: "search", Query: first.Given}
	if len(first.IDs) > 0 {
		c = call{Action: action, Name: shownID(first.IDs[0])}
		if action == "execute" {
			c.Arguments = r.likelyArguments(c.Name)
		}
	}
	return refuse(first, c, "%s", strings.Join(reasons, "; "))
}

func (r *router) execute() (Action, error) {
	name, ok := r.req.text("name")
	if !ok || name == "" {
		return nil, refuse(nil, r.likely("execute"), "execute needs the name of a tool, a string")
	}
	i, err := r.catalog.resolve(name)
	var lookup *LookupError
	if errors.As(err, &lookup) {
		return nil, r.missing([]*LookupError{lookup}, "execute")
	}
	e := &r.catalog.entries[i]
	if strays := r.req.strays(); len(strays) > 0 {
		return nil, refuse(nil, r.likely("execute"), "%q is no key of %s: a tool's arguments go into arguments", oneLine(strays[0], maxShownName), toolName)
	}
	args := json.RawMessage("{}")
	if _, given := r.req["arguments"]; given {
		if args, err = r.req.object("arguments"); err != nil {
			return nil, refuse(nil, r.likely("execute"), "%v", err)
		}
	} else if e.schema.required() {
		return nil, refuse(nil, r.likely("execute"), "execute needs arguments, an object")
	}
	t := r.catalog.at(i)
	return Execute{tool: t, hash: t.Hash(), arguments: args}, nil
}

func (r *router) read() (Action, error) {
	handle, ok := r.req.text("handle")
	if !ok || handle == "" {
		return nil, refuse(nil, call{Action: "read", Handle: "handle from the cut result"}, "read needs a handle, a string")
	}
	return Read{Handle: handle}, nil
}

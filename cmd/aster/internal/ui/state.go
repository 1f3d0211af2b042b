package ui

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// state is what the page shows. Its texts are clean: guard.Show has been over them.
type state struct {
	Asks     []askRow    `json:"asks"`
	Asked    bool        `json:"asked"`             // questions are put here
	Browser  string      `json:"browser,omitempty"` // how the connection to it stands
	Servers  []serverRow `json:"servers"`
	Pages    []pageRow   `json:"pages"`
	Left     int         `json:"left,omitempty"` // tools that are not shown
	Manifest manifestRow `json:"manifest"`
	Calls    []callRow   `json:"calls"`
	Recorded bool        `json:"recorded"` // there is a record of calls
	Rules    []ruleRow   `json:"rules"`
	Defaults []string    `json:"defaults"`
}

type serverRow struct {
	Name  string    `json:"name"`
	State string    `json:"state"`
	Tools []toolRow `json:"tools"`
}

type toolRow struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
	About string `json:"about"`
}

type manifestRow struct {
	Text   string `json:"text"`
	Tokens int    `json:"tokens"`
	Budget int    `json:"budget"`
	All    int    `json:"all"` // tokens that whole descriptions would take
}

type ruleRow struct {
	Decision string `json:"decision"`
	Tools    string `json:"tools"`
	Where    string `json:"where,omitempty"` // conditions
	Reason   string `json:"reason,omitempty"`
	Place    string `json:"place"`
}

// state is that of this moment, with s.mu held.
func (s *site) state() *state {
	catalog := s.o.Session.Catalog()
	st := &state{Asks: s.desk.rows(), Asked: s.o.Questions != nil, Servers: []serverRow{}, Pages: []pageRow{}, Calls: s.calls.rows(), Recorded: s.o.Audit != "", Rules: s.rules, Defaults: s.defaults}
	own, paged, origins := map[string][]toolRow{}, map[string]toolRow{}, map[string]string{}
	n := 0
	for _, from := range s.sessions() {
		for t := range from.Catalog().All() {
			if n++; n > MaxTools {
				st.Left++
				continue
			}
			row := toolRow{guard.Show(t.Name, maxText), guard.Show(t.Title, maxText), guard.Show(t.Description, maxText)}
			if origin := from.Origin(t); origin != "" {
				paged[t.Name], origins[t.Name] = row, origin
			} else if from == s.o.Session {
				own[t.Server] = append(own[t.Server], row)
			}
		}
	}
	for _, sv := range s.o.Session.Servers() {
		st.Servers = append(st.Servers, serverRow{guard.Show(sv.Name, maxText), guard.Show(sv.Status.String(), maxText), append([]toolRow{}, own[sv.Name]...)})
	}
	for _, p := range s.o.Session.Problems() {
		st.Servers = append(st.Servers, serverRow{guard.Show(p.Server, maxText), guard.Show(p.Text, maxText), []toolRow{}})
	}
	st.Pages = s.tabs.rows(paged)
	left := map[string][]toolRow{}
	for _, name := range slices.Sorted(maps.Keys(paged)) { // of tabs that were not looked at yet
		left[origins[name]] = append(left[origins[name]], paged[name])
	}
	for _, origin := range slices.Sorted(maps.Keys(left)) {
		st.Pages = append(st.Pages, pageRow{Key: origin, Title: guard.Show(origin, maxText), Tools: left[origin]})
	}
	if s.tabs != nil {
		st.Browser = guard.Show(s.tabs.Browser, maxText)
	}
	st.Manifest = s.manifestOf(catalog)
	return st
}

// sessions are those whose tools are shown.
func (s *site) sessions() []*host.Session {
	if s.o.Pages == s.o.Session {
		return []*host.Session{s.o.Session}
	}
	return []*host.Session{s.o.Session, s.o.Pages}
}

// manifestOf is what a model would be given of a catalogue, made anew when it is another one.
func (s *site) manifestOf(c *bridge.Catalog) manifestRow {
	if s.manifestFor == c {
		return s.manifest
	}
	s.manifestFor, s.manifest = c, manifestRow{}
	s.injector.SetCatalog(c)
	if in := s.injector.Inject(); in != nil {
		lines := strings.Split(in.Prompt, "\n")
		for i, l := range lines {
			lines[i] = guard.Show(l, 0)
		}
		s.manifest = manifestRow{strings.Join(lines, "\n"), in.PromptTokens, in.BudgetTokens, in.ManifestTokens}
	}
	return s.manifest
}

// rules are those of the files, in their order.
func rules(c *config.Config) []ruleRow {
	out := []ruleRow{}
	for i := range c.Policy.Rules {
		r := &c.Policy.Rules[i]
		var tools, where []string
		for _, p := range r.Tools {
			tools = append(tools, p.Text)
		}
		where = append(where, r.Origins...)
		for path, glob := range r.Args {
			where = append(where, path+"="+glob)
		}
		slices.Sort(where)
		out = append(out, ruleRow{string(r.Decision), guard.Show(strings.Join(tools, ", "), maxText), guard.Show(strings.Join(where, ", "), maxText), guard.Show(r.Reason, maxText), guard.Show(r.Place.String(), maxText)})
	}
	return out
}

// defaults say what holds where no rule does.
func defaults(c *config.Config) []string {
	out := []string{
		"The strictest rule that holds for a call decides: deny, then ask, then allow.",
		"Where no rule holds: a tool of aster's own that only reads is allowed, another one asks; a page's tool asks; a tool of a server with trust: true is allowed unless it says that it destroys; any other server's tool asks.",
	}
	switch guard.Mode(c.Policy.Approve) {
	case guard.ModeAster:
		out = append(out, "Who asks (approve: aster): aster, about every call that is to be asked about.")
	case guard.ModeClient:
		out = append(out, "Who asks (approve: client): your client's own question counts, except that a rule's ask also asks for what comes through aster_mcp or webmcp_call.")
	case guard.ModeNever:
		out = append(out, "Who asks (approve: never): nobody. What a rule wants asked is refused, the rest runs.")
	default:
		out = append(out, "Who asks: aster for what comes through aster_mcp or webmcp_call; for a tool that is called under its own name your client's own question counts.")
	}
	if c.Policy.ReadOnly {
		out = append(out, "Read-only (read_only: true): every call that is not known to only read is refused, whatever a rule says.")
	}
	return append(out, "A process that was started with --approve or --read-only goes by these.")
}

// calls keeps the newest calls. It is safe for concurrent use.
type calls struct {
	mu   sync.Mutex
	list []callRow // oldest first; guarded by mu
}

type callRow struct {
	id       string
	Time     string  `json:"time"` // RFC 3339
	Tool     string  `json:"tool"`
	Client   string  `json:"client,omitempty"`
	Decision string  `json:"decision"`
	By       string  `json:"by,omitempty"`
	Outcome  string  `json:"outcome,omitempty"` // "" while it runs
	MS       float64 `json:"ms,omitempty"`
}

// add takes an entry of the record, a call's begin or its end.
func (c *calls) add(e *guard.Entry) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e.Event {
	case "begin":
		row := callRow{id: e.ID, Time: e.Time.UTC().Format("2006-01-02T15:04:05Z"), Tool: guard.Show(string(e.Tool), maxText), Decision: guard.Show(e.Decision, maxText), By: guard.Show(e.By, maxText)}
		if e.Client != nil {
			row.Client = guard.Show(e.Client.Name, maxText)
		}
		if len(c.list) >= MaxCalls {
			c.list = slices.Delete(c.list, 0, len(c.list)-MaxCalls+1)
		}
		c.list = append(c.list, row)
	case "end":
		for i := range slices.Backward(c.list) {
			if c.list[i].id == e.ID {
				c.list[i].Outcome, c.list[i].MS = guard.Show(string(e.Outcome), maxText), e.DurationMS
				break
			}
		}
	}
	return nil
}

// rows are the calls, newest first.
func (c *calls) rows() []callRow {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := append([]callRow{}, c.list...)
	slices.Reverse(out)
	return out
}

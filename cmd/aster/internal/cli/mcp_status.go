package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aster-mcp/aster/bridge/source"
	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// liveEntry is what connecting told about a server.
type liveEntry struct {
	State    string   `json:"state"`
	Tools    int      `json:"tools"` // that a model can reach
	Revision string   `json:"revision,omitempty"`
	Server   string   `json:"server,omitempty"` // as it names itself
	Problems []string `json:"problems,omitempty"`
	Stderr   string   `json:"stderr,omitempty"` // the last line, of a server that failed
}

// warningEntry is something about a tool's definition that the user should know.
type warningEntry struct {
	Tool string `json:"tool"`
	Text string `json:"text"`
}

// liveReport is what connecting to all servers told.
type liveReport struct {
	servers  map[string]liveEntry
	held     []heldEntry
	warnings []warningEntry
	ids      []string        // of all tools that were listed, held back or not
	listed   map[string]bool // servers whose tools are all known
}

// connectAll starts all servers and says what became of them.
func (o *listOptions) connectAll(ctx context.Context, c *config.Config) (*liveReport, error) {
	so := &sessionOptions{configSource: o.configSource}
	s, err := so.open(c, nil, nil)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	s.Start(ctx)
	report := &liveReport{servers: map[string]liveEntry{}, held: []heldEntry{}, warnings: []warningEntry{}, listed: map[string]bool{}}
	for _, sv := range s.Servers() {
		report.servers[sv.Name] = live(sv.Status, sv.Tools)
		// What web pages offer comes and goes: a rule about it waits for its page.
		report.listed[sv.Name] = sv.Status.Listed && sv.Name != config.ServerWebMCP
	}
	report.held = o.explainAll(c, s.HeldBack())
	for _, h := range report.held {
		report.ids = append(report.ids, h.Tool)
	}
	tools := toolsOf(s)
	for _, t := range tools {
		report.ids = append(report.ids, string(t.ID()))
	}
	for _, w := range guard.Scan(tools) {
		report.warnings = append(report.warnings, warningEntry{string(w.ID), w.Text})
	}
	return report, nil
}

// listTimeout bounds the wait for servers that have a longer start of their own.
const listTimeout = 60 * time.Second

func live(st source.Status, tools int) liveEntry {
	e := liveEntry{State: st.State.String(), Tools: tools, Revision: st.Version}
	if st.Failure != nil {
		e.State = st.Failure.Error()
		if n := len(st.Stderr); n > 0 {
			e.Stderr = st.Stderr[n-1]
		}
	}
	if st.Server != nil {
		e.Server = strings.TrimSpace(st.Server.Name + " " + st.Server.Version)
	}
	for _, p := range st.Problems {
		e.Problems = append(e.Problems, p.String())
	}
	return e
}

// print adds a server's lines.
func (e *liveEntry) print(b *strings.Builder, indent string) {
	if e.Stderr != "" {
		fmt.Fprintf(b, "%s  its last words: %s\n", indent, host.CleanText(e.Stderr))
	}
	for i, p := range e.Problems {
		if i == maxShownProblems {
			fmt.Fprintf(b, "%s  and %d more: --json shows all\n", indent, len(e.Problems)-i)
			break
		}
		fmt.Fprintf(b, "%s  %s\n", indent, p)
	}
}

const maxShownProblems = 5

// printWarnings prints one warning of those that say the same about many tools of a server,
// such as one that is configured twice, and the number of the others.
func printWarnings(b *strings.Builder, warnings []warningEntry) {
	alike := map[string][]warningEntry{}
	var order []string
	for _, w := range warnings {
		server, tool, _ := strings.Cut(w.Tool, "/")
		key := server + "\x00" + strings.ReplaceAll(w.Text, "/"+tool, "/")
		if alike[key] == nil {
			order = append(order, key)
		}
		alike[key] = append(alike[key], w)
	}
	for i, key := range order {
		if i == 0 {
			b.WriteString("\nwarnings\n")
		}
		shown := alike[key]
		if len(shown) > maxAlikeWarnings {
			shown = shown[:1]
		}
		for _, w := range shown {
			fmt.Fprintf(b, "  %s  %s\n", w.Tool, w.Text)
		}
		if rest := len(alike[key]) - len(shown); rest > 0 {
			server, _, _ := strings.Cut(key, "\x00")
			fmt.Fprintf(b, "      the same of %s of %s: --json shows all\n", number(rest, "more tool"), server)
		}
	}
}

// maxAlikeWarnings is how many warnings that say the same are shown one by one.
const maxAlikeWarnings = 2

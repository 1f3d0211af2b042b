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

// heldEntry is a tool that is held back, and why.
type heldEntry struct {
	Tool   string `json:"tool"`
	Reason string `json:"reason"`
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
	report := &liveReport{servers: map[string]liveEntry{}, held: []heldEntry{}, warnings: []warningEntry{}}
	for _, sv := range s.Servers() {
		report.servers[sv.Name] = live(sv.Status, sv.Tools)
	}
	for _, h := range s.HeldBack() {
		report.held = append(report.held, heldEntry{string(h.ID), h.Reason})
	}
	for _, w := range guard.Scan(toolsOf(s)) {
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

package guard_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
)

func tool(server, name string) bridge.Tool {
	return bridge.Tool{Server: server, Name: name, Description: "Does " + name + ".", InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}
}

func request(server, name, args string) guard.Request {
	return guard.Request{Tool: tool(server, name), Arguments: json.RawMessage(args), Session: "s1", Client: guard.Client{Name: "tester", Version: "1"}}
}

// memory is an auditor that keeps entries.
type memory struct {
	mu       sync.Mutex
	entries  []guard.Entry
	beginErr error
	endErr   error
}

func (m *memory) Begin(_ context.Context, e *guard.Entry) error { return m.keep(e, m.beginErr) }
func (m *memory) End(_ context.Context, e *guard.Entry) error   { return m.keep(e, m.endErr) }

func (m *memory) keep(e *guard.Entry, err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		m.entries = append(m.entries, *e)
	}
	return err
}

func (m *memory) all() []guard.Entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.entries)
}

// last returns the two entries of the last call and checks that they are a pair.
func (m *memory) last(t *testing.T) (begin, end guard.Entry) {
	t.Helper()
	all := m.all()
	if len(all) < 2 {
		t.Fatalf("the record has %d entries, want a pair", len(all))
	}
	begin, end = all[len(all)-2], all[len(all)-1]
	if begin.Event != "begin" || end.Event != "end" || begin.ID != end.ID || begin.ID == "" {
		t.Fatalf("the last two entries are no pair: %+v, %+v", begin, end)
	}
	return begin, end
}

// newGuard makes a guard whose record is kept in memory unless opts has an auditor.
func newGuard(t *testing.T, opts guard.Options) (*guard.Guard, *memory) {
	t.Helper()
	m := &memory{}
	if opts.Auditor == nil {
		opts.Auditor = m
	}
	g, err := guard.New(&opts)
	if err != nil {
		t.Fatal(err)
	}
	return g, m
}

func policy(t testing.TB, opts guard.PolicyOptions) *guard.Policy {
	t.Helper()
	p, err := guard.NewPolicy(&opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// calls counts real calls and keeps what they were made with.
type calls struct {
	mu   sync.Mutex
	args []string
}

func (c *calls) call(_ context.Context, args json.RawMessage) (guard.Report, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.args = append(c.args, string(args))
	return guard.Report{Bytes: 7}, nil
}

func (c *calls) made() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.args)
}

// answers is an approver that gives the same answer always and counts.
type answers struct {
	answer guard.Answer
	err    error

	mu    sync.Mutex
	asked []guard.Question
}

func (a *answers) Approve(_ context.Context, q guard.Question) (guard.Answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, q)
	return a.answer, a.err
}

func (a *answers) questions() []guard.Question {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

func logPath(t testing.TB) string { return filepath.Join(t.TempDir(), "state", "audit.jsonl") }

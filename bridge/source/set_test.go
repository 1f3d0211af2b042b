package source_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/bridge/source"
)

func openSet(t *testing.T, specs []source.Spec, opts *source.SetOptions) *source.Set {
	t.Helper()
	s, err := source.NewSet(specs, opts)
	if err != nil {
		t.Fatal(err)
	}
	openSources++
	t.Cleanup(func() {
		openSources--
		s.Close()
		if openSources == 0 {
			noGoroutines(t)
		}
	})
	return s
}

func TestSet(t *testing.T) {
	one, two := fake(t, "sdk"), fake(t, "silent")
	one.Name, two.Name, two.Era = "one", "two", source.EraLegacy
	broken := source.Spec{Name: "broken", Command: "no-such-command-xyz"}
	var mu sync.Mutex
	var seen []*bridge.Catalog
	set := openSet(t, []source.Spec{two, broken, one}, &source.SetOptions{
		Filter:    func(tool bridge.Tool) bool { return tool.Name != "hang" },
		OnCatalog: func(c *bridge.Catalog) { mu.Lock(); seen = append(seen, c); mu.Unlock() },
	})
	set.Start(ctxFor(t))
	c := set.Catalog()
	if c != set.Catalog() {
		t.Error("without a change the catalogue is another one")
	}
	if got := fmt.Sprint(c.Servers()); got != "[{one All there is. 5} {two Raw 1}]" {
		t.Errorf("servers %s", got)
	}
	if got := set.Source("broken").Status().String(); !strings.HasPrefix(got, "not installed") {
		t.Errorf("broken is %q", got)
	}
	in, err := bridge.NewInjector(c, bridge.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	reply, err := in.Handle(ctxFor(t), json.RawMessage(`{"action":"execute","name":"two/echo","arguments":{"a":1}}`), set)
	if err != nil || textOf(t, reply.Result) != `{"a":1}` {
		t.Errorf("execute: %+v, %v", reply, err)
	}
	for _, tool := range []bridge.Tool{{Server: "none", Name: "x"}, {Server: "one", Name: "hang"}} {
		if _, err := set.Invoke(ctxFor(t), tool, nil); !errors.Is(err, source.ErrNoServer) {
			t.Errorf("%s: %v, want ErrNoServer", tool.ID(), err)
		}
	}
	if _, err := set.Invoke(ctxFor(t), bridge.Tool{Server: "one", Name: "grow"}, nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the catalogue with the new tool", func() bool {
		mu.Lock()
		defer mu.Unlock()
		if len(seen) == 0 {
			return false
		}
		_, ok := seen[len(seen)-1].Get("one/grown")
		return ok
	})
}

// TestSetStartsAtOnce takes as long as the slowest, and closes at once as well.
func TestSetStartsAtOnce(t *testing.T) {
	var specs []source.Spec
	gate := make(chan struct{})
	var mu sync.Mutex
	waiting := 0
	for i := range 6 {
		s := raw(func(m message) string {
			if m.Method == "initialize" {
				mu.Lock()
				if waiting++; waiting == 6 {
					close(gate) // none goes on before all have begun
				}
				mu.Unlock()
				<-gate
			}
			return legacy(m)
		})
		s.Name = fmt.Sprint("s", i)
		specs = append(specs, s)
	}
	set := openSet(t, specs, nil)
	set.Start(ctxFor(t))
	if n := set.Catalog().Len(); n != 6 {
		t.Errorf("%d tools, want 6", n)
	}
}

func TestKnownTools(t *testing.T) {
	gate := make(chan struct{})
	spec := raw(func(m message) string {
		if m.Method == "initialize" {
			<-gate
		}
		return legacy(m)
	})
	spec.Known = []bridge.Tool{{Server: "s", Name: "old", Description: "d", InputSchema: json.RawMessage(`{"type":"object"}`)}}
	set := openSet(t, []source.Spec{spec}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	set.Start(ctx)
	if _, ok := set.Catalog().Get("s/old"); !ok {
		t.Error("the known tool is not in the catalogue while the server starts")
	}
	close(gate)
	set.Start(ctxFor(t))
	if _, ok := set.Catalog().Get("s/echo"); !ok || set.Catalog().Len() != 1 {
		t.Error("the listed tool did not take the known one's place")
	}
}

// TestConcurrentCalls makes more calls at once than a server gets at a time.
func TestConcurrentCalls(t *testing.T) {
	set := openSet(t, []source.Spec{{Name: "a", Server: sdkServer()}, {Name: "b", Server: sdkServer()}}, nil)
	set.Start(ctxFor(t))
	var wg sync.WaitGroup
	for i := range 3 * source.MaxCalls {
		wg.Go(func() {
			args := fmt.Sprintf(`{"n":%d}`, i)
			got, err := set.Invoke(ctxFor(t), bridge.Tool{Server: string("ab"[i%2]), Name: "echo"}, json.RawMessage(args))
			if err != nil || textOf(t, got) != args {
				t.Errorf("call %d: %s, %v", i, got, err)
			}
		})
	}
	wg.Wait()
}

func TestBadSpecs(t *testing.T) {
	for _, tt := range []struct {
		spec source.Spec
		want string
	}{
		{source.Spec{Command: "x"}, "name is empty"},
		{source.Spec{Name: "a/b", Command: "x"}, `holds "/"`},
		{source.Spec{Name: "a"}, "exactly one of"},
		{source.Spec{Name: "a", Command: "x", URL: "http://x"}, "exactly one of"},
		{source.Spec{Name: "a", URL: "ftp://x"}, "http or https"},
		{source.Spec{Name: "a", URL: "http://u:secret@x"}, "user name"},
		{source.Spec{Name: "a", URL: "http://x", Headers: map[string]string{"A": "b\r\nC: d"}}, "not a header"},
		{source.Spec{Name: "a", Command: "x", Env: map[string]string{"A=": "b"}}, "not a variable"},
	} {
		if _, err := source.New(tt.spec, nil); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v, want %q", tt.spec, err, tt.want)
		}
	}
	if _, err := source.NewSet([]source.Spec{{Name: "a", Command: "x"}, {Name: "a", Command: "y"}}, nil); err == nil {
		t.Error("a doubled name was accepted")
	}
}

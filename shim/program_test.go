package shim_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/shim"
)

const (
	programSteps = 60
	programTabs  = 8               // side by side; a program waits most of its time
	programTime  = time.Minute     // of all tabs together; programs are whole, so it may be more
	programLong  = 8 * time.Minute // where ASTER_TEST_LONG is set
)

// toolsWith replays the messages of each context, and returns the sorted tools of the one
// that has a tool of that name.
func (p *peer) toolsWith(t testing.TB, name string) string {
	t.Helper()
	live := map[int]map[string]bool{}
	for _, e := range p.heard() {
		text := e.text()
		if text == "" {
			live[e.ExecutionContextID] = map[string]bool{} // an api: a new document
			continue
		}
		m, err := shim.Parse(text)
		if err != nil {
			t.Fatalf("%.200s: %v", text, err)
		}
		if m.Tools == nil {
			continue
		}
		tools := live[e.ExecutionContextID]
		if tools == nil || m.Tools.Reset {
			tools = map[string]bool{}
			live[e.ExecutionContextID] = tools
		}
		for _, n := range m.Tools.Remove {
			if !tools[n] {
				t.Errorf("the unknown tool %s is removed", n)
			}
			delete(tools, n)
		}
		for _, tool := range m.Tools.Add {
			if tools[tool.Name] {
				t.Errorf("the tool %s is added twice", tool.Name)
			}
			tools[tool.Name] = true
		}
	}
	for _, tools := range live {
		if !tools[name] {
			continue
		}
		var names []string
		for n := range tools {
			names = append(names, n)
		}
		sort.Strings(names)
		return strings.Join(names, ",")
	}
	return ""
}

// Pages that do at random what pages do (register, abort, call, change forms, navigate
// frames) end no renderer, leave no call open, and in the end the page and we know the
// same tools, which are those that the page has. They run for a minute in all. The seed of
// a failure is in its output: ASTER_TEST_SEED=n repeats it. ASTER_TEST_LONG=1 tries longer,
// with other seeds.
func TestPagePrograms(t *testing.T) {
	cdptest.Require(t)
	seed, budget := uint32(1), programTime
	if os.Getenv("ASTER_TEST_LONG") != "" {
		seed, budget = rand.Uint32(), programLong
	}
	if s, err := strconv.ParseUint(os.Getenv("ASTER_TEST_SEED"), 10, 32); err == nil {
		seed, budget = uint32(s), 0
	}
	source := testdata(t, "program.js")
	var next atomic.Uint32
	var spent atomic.Int64 // a time.Duration, of all tabs
	var wg sync.WaitGroup
	for range programTabs {
		wg.Go(func() {
			for time.Duration(spent.Load()) < budget && !t.Failed() {
				began := time.Now()
				playProgram(t, source, seed+next.Add(1)-1)
				spent.Add(int64(time.Since(began)))
			}
		})
	}
	if budget == 0 {
		next.Add(1)
		playProgram(t, source, seed)
	}
	wg.Wait()
	t.Logf("%d programs from the seed %d on", next.Load(), seed)
}

// programCompats are the versions that programs meet, by their seed.
var programCompats = []int{shim.Compat156, shim.Compat156, shim.Compat160}

func playProgram(t *testing.T, source string, seed uint32) {
	t.Helper()
	pg := unseenTab(t, plainBrowser())
	p := newPeer(t, plainBrowser(), pg.Target)
	p.inject(t, shim.Config{Compat: programCompats[seed%3]})
	pg.Navigate(t, server().At("localhost", "/blank"))
	defer p.conn.Close()
	defer pg.Close(t)
	raw, err := pg.TryEval(fmt.Sprintf("%s\nprogram(%d, %d)", source, seed, programSteps))
	if err != nil {
		t.Errorf("seed %d: %v", seed, err)
		return
	}
	var r struct {
		Problems []string
		Tools    string
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	for _, problem := range r.Problems {
		t.Errorf("seed %d: %s", seed, problem)
	}
	var got string
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if got = p.toolsWith(t, "beacon"); got == r.Tools {
			return
		}
	}
	t.Errorf("seed %d: we know the tools %s, and the page has %s", seed, got, r.Tools)
}

// A window that is used again has the documents of two pages one after the other. What
// becomes of the first one's tools is not said of the second one's.
func TestToolsOfReusedWindow(t *testing.T) {
	t.Parallel()
	pg, p := startPage(t, shim.Config{})
	pg.eval(`(async () => {
	  const frame = document.createElement('iframe'), controller = new AbortController();
	  const loaded = new Promise((done) => (frame.onload = done));
	  frame.src = '/blank';
	  document.body.append(frame);
	  const tool = (name) => ({name, description: 'd', execute() {}});
	  const view = frame.contentWindow, before = view.Object;
	  frame.contentDocument.modelContext.registerTool(tool('b'), {signal: controller.signal}).catch(() => {});
	  await loaded;
	  if (view.Object !== before) throw new Error('the window is not used again');
	  await frame.contentDocument.modelContext.registerTool(tool('b'));
	  controller.abort();
	  await new Promise((done) => setTimeout(done));
	  await frame.contentDocument.modelContext.registerTool(tool('beacon'));
	})()`)
	var got string
	eventually(t, "the last tool", func() bool { got = p.toolsWith(t, "beacon"); return got != "" })
	if got != "b,beacon" {
		t.Errorf("the second document has %s, want b,beacon", got)
	}
}

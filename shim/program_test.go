package shim_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
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
	programTabs  = 2               // side by side
	programTime  = time.Minute     // by the clock; programs are whole, so it may be more
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

// programs plays random pages for programTime, by the clock. Where all tests of the package
// run, TestMain begins with it: a program waits most of its time, and the other tests
// need as long. TestPagePrograms awaits what is found.
var programs = sync.OnceValue(func() *programRun {
	r := &programRun{seed: 1, done: make(chan struct{})}
	budget := programTime
	if os.Getenv("ASTER_TEST_LONG") != "" {
		r.seed, budget = rand.Uint32(), programLong
	}
	source := testdata(&all, "program.js")
	b := programBrowser()
	r.began = time.Now()
	end := r.began.Add(budget)
	var wg sync.WaitGroup
	for range programTabs {
		wg.Go(func() {
			for time.Now().Before(end) && !r.stop.Load() {
				seed := r.seed + r.next.Add(1) - 1
				r.record(func(t testing.TB) { playProgram(t, b, source, seed) })
			}
		})
	}
	go func() { // ends with the programs under way, which the cleanup awaits
		wg.Wait()
		r.took = time.Since(r.began)
		close(r.done)
	}()
	all.Cleanup(func() {
		r.stop.Store(true)
		<-r.done
	})
	return r
})

// programRun is what the programs found.
type programRun struct {
	seed  uint32        // of the first
	next  atomic.Uint32 // how many began
	stop  atomic.Bool   // no more are begun
	began time.Time
	took  time.Duration // set when done is closed
	done  chan struct{} // closed when all have ended

	mu       sync.Mutex
	problems []string // guarded by mu
}

// record plays one program before its test has begun.
func (r *programRun) record(play func(testing.TB)) {
	t := &recorder{}
	done := make(chan struct{})
	go func() { // Fatal ends it
		defer close(done)
		defer t.end()
		play(t)
	}()
	<-done
	if len(t.problems) == 0 {
		return
	}
	r.stop.Store(true)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = append(r.problems, t.problems...)
}

// recorder notes what a program would tell its test. One goroutine uses it.
type recorder struct {
	testing.TB
	problems []string
	cleanups []func()
}

func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}
func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

func (r *recorder) end() {
	for i := len(r.cleanups) - 1; i >= 0; i-- {
		r.cleanups[i]()
	}
}

// Pages that do at random what pages do (register, abort, call, change forms, navigate
// frames) end no renderer, leave no call open, and in the end the page and we know the
// same tools, which are those that the page has. They run for a minute. The seed of
// a failure is in its output: ASTER_TEST_SEED=n repeats it. ASTER_TEST_LONG=1 tries longer,
// with other seeds.
func TestPagePrograms(t *testing.T) {
	cdptest.Require(t)
	if seed, err := strconv.ParseUint(os.Getenv("ASTER_TEST_SEED"), 10, 32); err == nil {
		playProgram(t, programBrowser(), testdata(t, "program.js"), uint32(seed))
		return
	}
	t.Parallel()
	r := programs()
	<-r.done
	for _, problem := range r.problems {
		t.Error(problem)
	}
	t.Logf("%d programs from the seed %d on, in %v", r.next.Load(), r.seed, r.took.Round(time.Second))
}

// A program that finds something is not taken for one that ran well.
func TestProblemsOfPrograms(t *testing.T) {
	t.Parallel()
	r := &programRun{}
	ended := 0
	r.record(func(t testing.TB) {
		t.Cleanup(func() { ended++ })
		t.Errorf("seed %d", 1)
		t.Fatal("no tab")
		ended = 10
	})
	r.record(func(t testing.TB) { t.Cleanup(func() { ended++ }) })
	if got := strings.Join(r.problems, ","); got != "seed 1,no tab" || ended != 2 || !r.stop.Load() {
		t.Errorf("problems %s, %d cleanups, stopped %v", got, ended, r.stop.Load())
	}
}

// programCompats are the versions that programs meet, by their seed.
var programCompats = []int{shim.Compat156, shim.Compat156, shim.Compat160}

func playProgram(t testing.TB, b *cdptest.Browser, source string, seed uint32) {
	t.Helper()
	pg := unseenTab(t, b)
	p := newPeer(t, b, pg.Target)
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

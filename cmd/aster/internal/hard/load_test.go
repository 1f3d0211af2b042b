//go:build unix

package hard_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// maxGrowth is how much the memory of a program may grow under lasting load, in the long
// form; the short one is too short to tell growth from warming up.
const maxGrowth = 1.05

func TestLoad(t *testing.T) {
	play(t, "load", []attack{
		{name: "http-clients", did: fmt.Sprintf("50 clients over HTTP at once, %d calls each", pick(4, 100)), run: loadHTTP},
		{name: "catalogue", did: fmt.Sprintf("a catalogue of %d tools behind the gateway, %d searches and calls", catalogueServers()*2000, pick(20, 200)), run: loadCatalogue},
		{name: "stdio-rate", did: fmt.Sprintf("%d calls a second for %d s through stdio", pick(200, 1000), pick(2, 60)), alone: long, run: loadRate},
		{name: "big-results", did: fmt.Sprintf("results of %d MiB, one after another, and one beyond the bound", pick(4, 31)), run: loadBig},
		{name: "many-at-once", did: "2,000 calls sent before the first answer is read", run: loadBurst},
		{name: "cancel", did: "500 calls that are cancelled at once", run: loadCancel},
	})
}

// settleTime is how long a program may take to give back what it held for a moment: a
// collection in a program at rest comes after two minutes, and memory goes back after it.
const settleTime = 5 * time.Minute

// grown checks that a program holds no more than before, in the long form: what a busy
// machine made it hold for a moment it gives back.
func (a *arena) grown(p *program, before usage) {
	a.Helper()
	after := p.usage()
	more := func() bool { return float64(after.own-before.own) > float64(before.rss)*(maxGrowth-1) }
	begun := time.Now()
	for ; long && more() && time.Since(begun) < settleTime; after = p.usage() {
		time.Sleep(time.Second)
	}
	a.figure("RSS %s → %s, of it its own %s → %s, fds %d → %d", mb(before.rss), mb(after.rss), mb(before.own), mb(after.own), before.fds, after.fds)
	if waited := time.Since(begun); waited > time.Second {
		a.figure("settled after %.0f s", waited.Seconds())
	}
	if long && more() {
		a.Errorf("the program's own memory grew from %s to %s", mb(before.own), mb(after.own))
	}
	if after.fds > before.fds+2 {
		a.Errorf("the program had %d files open, now %d", before.fds, after.fds)
	}
}

// times collects how long calls took, from any goroutine.
type times struct {
	mu   sync.Mutex
	all  []time.Duration
	errs []string
}

func (s *times) add(d time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.errs = append(s.errs, err.Error())
		return
	}
	s.all = append(s.all, d)
}

// report writes the figures and fails for calls that failed.
func (s *times) report(a *arena) {
	a.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.errs) > 0 {
		a.Errorf("%d of %d calls failed, first: %s", len(s.errs), len(s.errs)+len(s.all), s.errs[0])
	}
	a.figure("%d calls, p50 %s, p99 %s", len(s.all), ms(percentile(s.all, 0.5)), ms(percentile(s.all, 0.99)))
}

func loadHTTP(a *arena) {
	const clients = 50
	a.config([]string{"good: good"}, "policy: {approve: never}")
	e := a.serveHTTP()
	var all times
	round := func(calls int) {
		var wg sync.WaitGroup
		for i := range clients {
			wg.Go(func() {
				c, err := e.open()
				if err != nil {
					all.add(0, err)
					return
				}
				defer c.close()
				for j := range calls {
					begun := time.Now()
					text, err := c.call("good__echo", fmt.Sprintf(`{"text":"client %d call %d"}`, i, j))
					if want := fmt.Sprintf("echo client %d call %d", i, j); err == nil && !strings.Contains(text, want) {
						err = fmt.Errorf("%q answered to %q", text, want)
					}
					all.add(time.Since(begun), err)
				}
			})
		}
		wg.Wait()
	}
	round(pick(2, 50))
	before := e.usage()
	round(pick(2, 50))
	all.report(a)
	a.awaitFDs(e.program, before.fds)
	a.grown(e.program, before)
	a.holds("each got its own answers")
	e.stop()
}

// awaitFDs waits until closed connections are gone.
func (a *arena) awaitFDs(p *program, most int) {
	for deadline := time.Now().Add(10 * time.Second); p.usage().fds > most && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
}

func catalogueServers() int { return pick(1, 5) }

func loadCatalogue(a *arena) {
	var servers []string
	for i := range catalogueServers() {
		servers = append(servers, fmt.Sprintf("many%d: many 2000 %d", i, i))
	}
	a.config(servers, "policy: {approve: never}")
	c := a.open(nil, "mcp", "serve")
	for i := range catalogueServers() {
		last := fmt.Sprintf("many%d/tool_%d_1999", i, i)
		a.eventually(awaitTimeout, last+" is not found", func() bool {
			_, failed := c.call("aster_mcp", `{"action":"describe","name":"`+last+`"}`).isError()
			return !failed
		})
	}
	for _, name := range c.tools() {
		if name != "aster_mcp" {
			a.Errorf("listed: %s", name)
		}
	}
	before := c.usage()
	var all times
	for i := range pick(20, 200) {
		server, n := i%catalogueServers(), i*7%2000
		begun := time.Now()
		text := c.call("aster_mcp", fmt.Sprintf(`{"action":"search","query":"tool_%d_%d"}`, server, n)).text()
		all.add(time.Since(begun), nil)
		if want := fmt.Sprintf("many%d/tool_%d_%d", server, server, n); !strings.Contains(text, want) {
			a.Fatalf("%s is not found: %.300s", want, text)
		}
		text = c.call("aster_mcp", fmt.Sprintf(`{"action":"execute","name":"many%d/tool_%d_%d","arguments":{"text":"n%d"}}`, server, server, n, i)).text()
		if want := fmt.Sprintf("echo n%d", i); !strings.Contains(text, want) {
			a.Fatalf("%q answered to %q", text, want)
		}
	}
	all.report(a)
	a.grown(c.program, before)
	a.holds("every tool found by name and called, one tool listed")
	c.close()
}

// maxBehind is how many calls at an even pace wait for their answers before the next one
// waits too: less than the program takes (host.MaxStdioRequests).
const maxBehind = 1000

// loadRate sends calls at an even pace, as long as the machine keeps it up.
func loadRate(a *arena) {
	rate, seconds := pick(200, 1000), pick(2, 60)
	a.config([]string{"good: good"}, "policy: {approve: never}", "audit: {max_bytes: 1048576, keep: 2}")
	c := a.open(nil, "mcp", "serve", "good")
	c.awaitTool("echo")
	var all times
	behind := make(chan struct{}, maxBehind)
	burst := func(n, rate int) time.Duration {
		ctx, cancel := context.WithTimeout(a.Context(), 10*time.Minute)
		defer cancel()
		var wg sync.WaitGroup
		begun := time.Now()
		for i := range n {
			due := begun.Add(time.Duration(i) * time.Second / time.Duration(rate))
			select {
			case <-time.After(time.Until(due)):
			case <-ctx.Done():
			}
			behind <- struct{}{}
			want, sent := fmt.Sprintf("echo %d", i), time.Now()
			ch, err := c.begin("tools/call", fmt.Sprintf(`{"name":"echo","arguments":{"text":"%d"}}`, i))
			if err != nil {
				all.add(0, err)
				<-behind
				continue
			}
			wg.Go(func() {
				defer func() { <-behind }()
				select {
				case r := <-ch:
					if text := r.text(); text != want {
						err = fmt.Errorf("%q answered to %q", text, want)
					}
				case <-ctx.Done():
					err = errNoAnswer
				}
				all.add(time.Since(sent), err)
			})
		}
		wg.Wait()
		return time.Since(begun)
	}
	// Warm up, with as many calls at once as a busy machine may come to: what the runtime
	// needs for them it keeps.
	burst(maxBehind, 1_000_000)
	burst(rate*pick(1, 5), rate)
	before := c.usage()
	all = times{}
	took := burst(rate*seconds, rate)
	all.report(a)
	a.figure("%.0f calls a second", float64(rate*seconds)/took.Seconds())
	a.grown(c.program, before)
	a.holds("every call answered, with its own answer")
	c.close()
}

func loadBig(a *arena) {
	size := pick(4, 31) << 20
	a.config([]string{"good: good"}, "policy: {approve: never}", "call_timeout: 60s", "result_tokens: 100000000")
	c := a.open(nil, "mcp", "serve", "good")
	c.awaitTool("size")
	var all times
	for range pick(1, 10) {
		begun := time.Now()
		r := c.call("size", fmt.Sprintf(`{"n":%d}`, size))
		if text := r.text(); len(text) != size {
			a.Fatalf("%d bytes came, want %d: %.200s", len(text), size, text)
		}
		all.add(time.Since(begun), nil)
	}
	all.report(a)
	a.figure("peak %s", mb(c.usage().peak))
	c.close()
	a.config([]string{"good: good"}, "policy: {approve: never}", "call_timeout: 60s")
	g := a.open(nil, "mcp", "serve")
	a.eventually(awaitTimeout, "the server is not there", func() bool {
		return strings.Contains(g.call("aster_mcp", `{"action":"search","query":"size"}`).text(), "good/size")
	})
	r := g.call("aster_mcp", fmt.Sprintf(`{"action":"execute","name":"good/size","arguments":{"n":%d}}`, size))
	if text, failed := r.isError(); failed || len(text) > 1<<20 {
		a.Errorf("through the gateway %d bytes came: %.200s", len(text), text)
	}
	a.holds("whole where result_tokens allows it, else cut with a mark")
	a.figure("gateway's peak %s", mb(g.usage().peak))
	if text, failed := g.call("aster_mcp", `{"action":"execute","name":"good/size","arguments":{"n":1e12}}`).isError(); !failed {
		a.Errorf("a result that cannot be made: %.200q", text)
	}
	if text := g.call("aster_mcp", `{"action":"execute","name":"good/echo","arguments":{"text":"after"}}`).text(); !strings.Contains(text, "echo after") {
		a.Errorf("after that: %.200q", text)
	}
	g.close()
}

func loadBurst(a *arena) {
	const calls = 2000
	a.config([]string{"good: good"}, "policy: {approve: never}", "call_timeout: 120s")
	c := a.open(nil, "mcp", "serve", "good")
	c.awaitTool("echo")
	answers := make([]<-chan answer, calls)
	for i := range calls {
		ch, err := c.begin("tools/call", fmt.Sprintf(`{"name":"echo","arguments":{"text":"%d"}}`, i))
		if err != nil {
			a.Fatal(err)
		}
		answers[i] = ch
	}
	for i, ch := range answers {
		select {
		case r := <-ch:
			if want := fmt.Sprintf("echo %d", i); r.text() != want {
				a.Fatalf("%q answered to %q", r.text(), want)
			}
		case <-time.After(callTimeout):
			a.Fatalf("call %d is not answered", i)
		}
	}
	a.holds("every call answered, with its own answer")
	a.figure("peak %s", mb(c.usage().peak))
	c.close()
	if open := unended(a.audit()); len(open) > 0 {
		a.Errorf("the record has no end of %d calls", len(open))
	}
}

func loadCancel(a *arena) {
	const calls = 500
	a.config([]string{"good: good"}, "policy: {approve: never}", "call_timeout: 120s")
	c := a.open(nil, "mcp", "serve", "good")
	c.awaitTool("sleep")
	var answered atomic.Int64
	var wg sync.WaitGroup
	for range calls {
		ch, err := c.begin("tools/call", `{"name":"sleep","arguments":{"n":100000}}`)
		if err != nil {
			a.Fatal(err)
		}
		c.mu.Lock()
		id := c.next
		c.mu.Unlock()
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"test"}}`, id))
		wg.Go(func() {
			select {
			case <-ch:
				answered.Add(1)
			case <-c.reading:
			}
		})
	}
	if text := c.call("echo", `{"text":"after"}`).text(); text != "echo after" {
		a.Errorf("after the cancelled calls: %q", text)
	}
	a.eventually(awaitTimeout, "the record has no end of the cancelled calls", func() bool {
		entries := a.audit()
		return len(unended(entries)) == 0 && slices.ContainsFunc(entries, func(e entry) bool { return e.Event == "end" })
	})
	took := c.close()
	wg.Wait()
	a.holds("the session goes on, each is on record")
	a.figure("%d answered all the same, end %s", answered.Load(), ms(took))
}

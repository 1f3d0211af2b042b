//go:build unix

package hard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cdp/cdptest"
)

// soakTime is how long the soak lasts.
const soakTime = 10 * time.Minute

func TestSoak(t *testing.T) {
	if !long {
		t.Skip("only in the long form")
	}
	cdptest.Require(t)
	play(t, "soak", []attack{{name: "ten-minutes", did: "tabs open, navigate, close and crash; servers die and return; clients come and go; the configuration is edited", long: true, alone: true, run: soak}})
}

// soak lets a gateway and a server of pages live through much, and compares what they hold
// after a tenth of it with the end.
func soak(a *arena) {
	a.config([]string{"good: good", "dies: die-at-call"}, "policy: {approve: never}", "audit: {max_bytes: 1048576, keep: 2}")
	e := a.serveHTTP()
	s := a.visit("soak", "--call-timeout", "60s") // more than a busy machine takes
	early := a.visit("soak")                      // lives as long as the first tenth, for its goroutines
	file := filepath.Join(a.home, "aster.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		a.Fatal(err)
	}
	rounds := 0
	round := func() {
		rounds++
		p := s.page("", register+`reg('act');`)
		name := s.listed(func(n []string) bool { return len(n) == 1 })[0] // a name just let go is not given again at once
		if got := s.call(name, `{"text":"x"}`).text(); !strings.Contains(got, "did act x") {
			a.Errorf("round %d: %q", rounds, got)
		}
		switch rounds % 4 {
		case 0:
			p.Navigate(a.T, "about:blank")
		case 1:
			p.Send("Page.crash", nil)
		}
		p.Close(a.T)
		s.listed(func(n []string) bool { return len(n) == 0 })
		c, err := e.open()
		if err != nil {
			a.Fatal(err)
		}
		if got, err := c.call("good__echo", fmt.Sprintf(`{"text":"%d"}`, rounds)); err != nil || !strings.Contains(got, fmt.Sprintf("echo %d", rounds)) {
			a.Errorf("round %d: %q, %v", rounds, got, err)
		}
		c.call("aster_mcp", `{"action":"execute","name":"dies/echo","arguments":{}}`)
		c.close()
		a.write(file, string(text)+fmt.Sprintf("# round %d\n", rounds))
	}
	for end := time.Now().Add(soakTime / 10); time.Now().Before(end); {
		round()
	}
	pages, gateway := s.usage(), e.usage()
	counts := func(c *client) (sum int) {
		for _, n := range c.goroutines() {
			sum += n
		}
		return sum
	}
	before := counts(early.client)
	for end := time.Now().Add(soakTime * 9 / 10); time.Now().Before(end); {
		round()
	}
	a.awaitFDs(e.program, gateway.fds)
	a.grown(s.program, pages)
	a.grown(e.program, gateway)
	after := counts(s.client)
	if after > before+2 {
		a.Errorf("%d goroutines, and %d after a tenth of the time", after, before)
	}
	a.holds("memory, files and goroutines as after a tenth of the time")
	a.figure("%d rounds, goroutines %d → %d", rounds, before, after)
	e.stop()
}

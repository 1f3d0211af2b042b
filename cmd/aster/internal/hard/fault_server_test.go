//go:build unix

package hard_test

import (
	"strings"
	"testing"
	"time"
)

// slackTime is what a loaded machine may add to a time limit that the program promises.
const slackTime = 40 * time.Second

// serverFault is a way in which a configured server fails, and what a call of its tool
// echo then has to come to.
type serverFault struct {
	mode, did string
	// ends says whether the call must answer as if nothing were ("answers"), must fail with
	// a clear error ("fails"), or the tool cannot be there ("absent").
	ends string
	long bool
}

var serverFaults = []serverFault{
	{mode: "die-at-start", did: "exits before its first message", ends: "absent"},
	{mode: "die-at-first", did: "exits at its first message", ends: "absent"},
	{mode: "die-at-list", did: "exits when its tools are asked for", ends: "absent"},
	{mode: "die-at-call", did: "exits in a call", ends: "fails"},
	{mode: "die-half", did: "exits in the middle of an answer", ends: "fails"},
	{mode: "kill-itself", did: "is killed in a call", ends: "fails"},
	{mode: "stall-at-first", did: "never answers the handshake", ends: "absent"},
	{mode: "stall-at-list", did: "never lists its tools", ends: "absent"},
	{mode: "stall-at-call", did: "never answers a call", ends: "fails"},
	{mode: "stall-half", did: "stops in the middle of an answer", ends: "fails"},
	{mode: "never-leave", did: "ignores the end of input and TERM", ends: "answers"},
	{mode: "leave-child", did: "has a child that holds its output open", ends: "answers"},
	{mode: "flood-stderr", did: "writes 30 MB to stderr in a call", ends: "answers"},
	{mode: "stderr-line", did: "writes a line of 32 MiB to stderr", ends: "answers"},
	{mode: "one-byte", did: "sends its answer byte by byte", ends: "answers"},
	{mode: "crlf", did: "sends CR LF, blank lines and a byte order mark", ends: "answers"},
	{mode: "banner", did: "prints lines that are no messages", ends: "answers"},
	{mode: "wrong-id", did: "answers with nine ids that nobody asked for", ends: "fails"},
	{mode: "answer-twice", did: "answers three times", ends: "answers"},
	{mode: "notify", did: "notifies without end", ends: "answers"},
	{mode: "list-changed", did: "says without end that its list changed", ends: "answers"},
	{mode: "ask", did: "asks for sampling, roots, input and more", ends: "answers"},
	{mode: "long-line 100", did: "answers with a line of 100 MiB", ends: "fails"},
	{mode: "bad-utf8", did: "answers with invalid UTF-8, lone surrogates and controls", ends: "answers"},
	{mode: "deep 100000", did: "answers with 100,000 nested arrays", ends: "fails"},
	{mode: "cursor-loop", did: "repeats a cursor for ever", ends: "answers"},
	{mode: "cursor-chain", did: "has a next page for ever", ends: "answers"},
	{mode: "slow 700", did: "waits 0.7 s before each message", ends: "answers"},
}

func TestServerFaults(t *testing.T) {
	var cases []attack
	for _, f := range serverFaults {
		cases = append(cases, attack{name: "server-" + strings.ReplaceAll(f.mode, " ", "-"), did: "a configured server " + f.did, long: f.long, run: f.run})
	}
	play(t, "faults", cases)
}

// maxFaultPeak is how much memory the program may come to hold with one bad server: a few
// of the largest messages at once.
const maxFaultPeak = 400 << 20

func (f serverFault) run(a *arena) { f.meet(a, f.mode) }

// meet has the program meet the bad server: a mode of the command fake, or an address.
func (f serverFault) meet(a *arena, server string) {
	limit := "60s"
	if f.ends != "answers" {
		limit = "2s"
	}
	a.config([]string{"good: good", "bad: " + server}, "call_timeout: "+limit, "policy: {approve: never}")
	c := a.open(nil, "mcp", "serve", "--expose", "both")
	c.awaitTool("good__echo")
	if f.ends != "absent" {
		c.awaitTool("bad__echo")
	}
	begun := time.Now()
	r := c.call("aster_mcp", `{"action":"execute","name":"bad/echo","arguments":{"text":"hi"}}`)
	took := time.Since(begun)
	text, failed := r.isError()
	switch {
	case f.ends == "answers" && (failed || !strings.Contains(text, "echo")):
		a.Errorf("the call came to %.300q", text)
	case f.ends != "answers" && (!failed || strings.TrimSpace(text) == "" || strings.Contains(text, "forged")):
		a.Errorf("the call came to %.300q", text)
	}
	if f.ends != "answers" && took > 2*time.Second+slackTime {
		a.Errorf("the call took %v", took)
	}
	if f.ends == "answers" {
		a.holds("answered")
	} else {
		a.holds("error %.110q", strings.Join(strings.Fields(text), " "))
	}
	if text := c.call("good__echo", `{"text":"still here"}`).text(); !strings.Contains(text, "still here") {
		a.Errorf("the other server: %q", text)
	}
	u := c.usage()
	if u.peak > maxFaultPeak {
		a.Errorf("the program came to hold %s", mb(u.peak))
	}
	left := c.close()
	a.figure("call %s, peak %s, end %s", ms(took), mb(u.peak), ms(left))
	if open := unended(a.audit()); len(open) > 0 {
		a.Errorf("the record has no end of %d calls", len(open))
	}
}

package source_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aster-mcp/aster/bridge/source"
)

// badAnswers are answers to a request that are not taken: what a server writes, and what
// the caller is told.
var badAnswers = map[string]struct {
	write func(id string) string
	want  string
}{
	"long": {func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"` + tooMuch() + `"}]}}`
	}, "over 32 MiB"},
	"long, id last": {func(id string) string {
		return `{"result":{"content":[{"type":"text","text":"` + tooMuch() + `"}]},"id":` + id + `,"jsonrpc":"2.0"}`
	}, "over 32 MiB"},
	"long, id inside": {func(id string) string {
		return `{"result":{"content":[{"type":"text","text":"` + tooMuch() + `"}]},"id":` + id + `,"more":{"a":[1,2]}}`
	}, "over 32 MiB"},
	"deep": {func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[],"structuredContent":{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}}}`
	}, "nested over 1000 levels"},
	"deep, id last": {func(id string) string {
		return `{"result":{"a":` + strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000) + `},"jsonrpc":"2.0","id":` + id + `}`
	}, "nested over 1000 levels"},
	"broken":     {func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[}}` }, "not JSON"},
	"no version": {func(id string) string { return `{"id":` + id + `,"result":{"content":[]}}` }, "not an answer as JSON-RPC"},
	"odd error":  {func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"error":"no"}` }, "not an answer as JSON-RPC"},
}

var tooMuch = sync.OnceValue(func() string { return strings.Repeat("y", source.MaxMessageBytes+1<<20) })

// TestAnswersNotTaken ends a call at once whose answer cannot be taken, and says why; the
// next call is as good as before.
func TestAnswersNotTaken(t *testing.T) {
	answersNotTaken(t, func(name string) bool { return !strings.HasPrefix(name, "long") })
}

func answersNotTaken(t *testing.T, wanted func(name string) bool) {
	for way, serve := range map[string]func(t *testing.T, bad func(id string) string) source.Spec{
		"stream": badStream, "json": badJSON, "events": badEvents, "sse": badSSE,
	} {
		for name, tt := range badAnswers {
			lost := name == "long, id inside" // nothing says which call it belongs to
			if !wanted(name) || way != "stream" && strings.HasPrefix(name, "long, id") {
				continue // the last take long, and one way shows it
			}
			t.Run(way+", "+name, func(t *testing.T) {
				spec := serve(t, tt.write)
				spec.Name, spec.Era, spec.StartTimeout, spec.CallTimeout = "s", source.EraLegacy, patience, patience
				s := open(t, spec, &source.Options{CloseGrace: 50 * time.Millisecond})
				start(t, s)
				_, err := s.Call(ctxFor(t), "echo", json.RawMessage(`{"bad":true}`), nil)
				if errors.Is(err, source.ErrBadAnswer) == lost || !strings.Contains(fmt.Sprint(err), tt.want) {
					t.Errorf("Call: %v, want that it is %q", err, tt.want)
				}
				if got := call(t, s, "echo", `{"a":1}`); got != `{"a":1}` {
					t.Errorf("the next call returned %q", got)
				}
			})
		}
	}
}

// TestNoiseIsNoAnswer leaves calls alone that a line of a log seems to speak of; what could
// not be read is told when their time is up.
func TestNoiseIsNoAnswer(t *testing.T) {
	for _, noise := range []string{`{"level":30,"id":%s,"msg":"called"}`, `{"id":%s,"method":"x","result":{}}`, "called %s", `"%s"`, `{"id":%s`} {
		spec := badStream(t, func(id string) string { return fmt.Sprintf(noise, id) })
		spec.CallTimeout = 100 * time.Millisecond
		s := open(t, spec, nil)
		start(t, s)
		eventually(t, "a word on "+noise, func() bool {
			_, err := s.Call(ctxFor(t), "echo", json.RawMessage(`{"bad":true}`), nil)
			if !errors.Is(err, source.ErrCallTimeout) {
				t.Fatalf("Call: %v", err)
			}
			return strings.Contains(err.Error(), "that came meanwhile could not be read")
		})
	}
}

// badLegacy is legacy but for calls that ask for a bad answer.
func badLegacy(m message, bad func(id string) string) string {
	if m.Method == "tools/call" && strings.Contains(string(m.Params), `"bad":true`) {
		return bad(string(m.ID))
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, legacy(m))
}

func badStream(t *testing.T, bad func(id string) string) source.Spec {
	return lines(func(m message) string { return badLegacy(m, bad) })
}

// badWeb answers requests by post, with what answer makes of a message's text.
func badWeb(t *testing.T, bad func(id string) string, media string, answer func(text string) string) source.Spec {
	url, _ := site(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		if json.NewDecoder(r.Body).Decode(&m); len(m.ID) == 0 {
			w.WriteHeader(map[bool]int{true: http.StatusAccepted, false: http.StatusMethodNotAllowed}[r.Method == http.MethodPost])
			return
		}
		w.Header().Set("Content-Type", media)
		io.WriteString(w, answer(badLegacy(m, bad)))
	}))
	return source.Spec{URL: url}
}

func badJSON(t *testing.T, bad func(id string) string) source.Spec {
	return badWeb(t, bad, "application/json", func(text string) string { return text })
}

func badEvents(t *testing.T, bad func(id string) string) source.Spec {
	return badWeb(t, bad, "text/event-stream", asEvent)
}

func asEvent(text string) string { return "event: message\ndata: " + text + "\n\n" }

// badSSE is a server of the older transport.
func badSSE(t *testing.T, bad func(id string) string) source.Spec {
	answers := make(chan string, 16)
	url, _ := site(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			var m message
			if json.NewDecoder(r.Body).Decode(&m); len(m.ID) > 0 {
				answers <- asEvent(badLegacy(m, bad))
			}
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "event: endpoint\ndata: /\n\n")
		for {
			w.(http.Flusher).Flush()
			select {
			case text := <-answers:
				io.WriteString(w, text)
			case <-r.Context().Done():
				return
			}
		}
	}))
	return source.Spec{URL: url, SSE: true}
}

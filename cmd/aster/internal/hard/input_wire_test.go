//go:build unix

package hard_test

import (
	"fmt"
	"slices"
	"strings"
)

// bridgeShapes are arguments of aster_mcp that no schema allows.
var bridgeShapes = []string{
	`null`, `[]`, `"search"`, `1`, `true`, `{}`, `{"action":null}`, `{"action":1}`, `{"action":[]}`, `{"action":{}}`, `{"action":""}`, `{"action":"no-such"}`, `{"action":"EXECUTE"}`,
	`{"action":"search"}`, `{"action":"search","query":null}`, `{"action":"search","query":[]}`, `{"action":"search","query":"x","limit":-1}`, `{"action":"search","query":"x","limit":1e99}`, `{"action":"search","query":"x","limit":"5"}`,
	`{"action":"search","query":"x","server":{}}`, `{"action":"describe"}`, `{"action":"describe","name":null}`, `{"action":"describe","name":"../../etc/passwd"}`, `{"action":"describe","name":"good/echo/echo"}`, `{"action":"describe","name":["good/echo"]}`,
	`{"action":"execute"}`, `{"action":"execute","name":"good/echo","arguments":null}`, `{"action":"execute","name":"good/echo","arguments":[]}`, `{"action":"execute","name":"good/echo","arguments":"x"}`, `{"action":"execute","name":"good/echo","arguments":"{\"text\":"}`,
	`{"action":"execute","name":"good/echo","arguments":{"text":5}}`, `{"action":"execute","name":"good/echo ","arguments":{}}`, `{"action":"execute","name":"GOOD/ECHO","arguments":{}}`, `{"action":"execute","name":"aster_mcp","arguments":{"action":"execute"}}`,
	`{"action":"execute","name":"good/ech\u043e","arguments":{}}`, `{"action":"execute","name":"good\u0000/echo","arguments":{}}`, `{"action":"execute","action":"search","query":"x","name":"good/echo"}`, `{"Action":"execute","Name":"good/echo"}`, `{"action":"execute","name":"good/echo","arguments":{"text":"a","text":"b"}}`,
}

func inputBridge(a *arena) {
	a.config([]string{"good: good"}, "policy: {approve: never}")
	c := a.open(nil, "mcp", "serve")
	a.eventually(awaitTimeout, "the server is not there", func() bool {
		return strings.Contains(c.call("aster_mcp", `{"action":"search","query":"echo"}`).text(), "good/echo")
	})
	shapes := append(slices.Clone(bridgeShapes), `{"action":"search","query":"`+strings.Repeat("x ", 100_000)+`"}`, `{"action":"execute","name":"`+strings.Repeat("n", 1<<20)+`"}`,
		`{"action":"execute","name":"good/echo","arguments":`+strings.Repeat(`{"a":`, 900)+`1`+strings.Repeat(`}`, 900)+`}`)
	refused := 0
	for _, s := range shapes {
		text, failed := c.call("aster_mcp", s).isError()
		if failed {
			refused++
		}
		if text == "" || len(text) > 1<<16 {
			a.Errorf("%.200s: an answer of %d bytes: %.200q", s, len(text), text)
		}
	}
	if text := c.call("aster_mcp", `{"action":"execute","name":"good/echo","arguments":{"text":"fine"}}`).text(); !strings.Contains(text, "echo fine") {
		a.Errorf("after all that: %q", text)
	}
	a.holds("each answered with a bounded text, the session goes on")
	a.figure("%d shapes, %d errors", len(shapes), refused)
	c.close()
}

// hostileLines are lines of input that are no request that could be answered with a result.
var hostileLines = []string{
	"", " ", "hello", "{", "}", "[]", "[1,2]", "null", "1", `"x"`, "\x00\x00", "\xff\xfe\xfd", "\xef\xbb\xbf", "{}", `{"jsonrpc":"1.0","id":"a","method":"ping"}`, `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":{}}`,
	`{"jsonrpc":"2.0","id":[],"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `{"jsonrpc":"2.0","id":"b","method":5}`, `{"jsonrpc":"2.0","id":"c","method":"tools/call"}`,
	`{"jsonrpc":"2.0","id":"d","method":"tools/call","params":[]}`, `{"jsonrpc":"2.0","id":"e","method":"tools/call","params":{"name":5}}`, `{"jsonrpc":"2.0","id":"f","method":"no/such"}`, `{"jsonrpc":"2.0","id":"g","result":{}}`,
	`{"jsonrpc":"2.0","id":"h","error":{"code":1,"message":"x"}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`, `{"jsonrpc":"2.0","method":"notifications/progress","params":"x"}`, `{"jsonrpc":"2.0","method":"no/such"}`,
	`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"1999-01-01"}}`, `{"jsonrpc":"2.0","id":"j","method":"initialize"}`, `{"jsonrpc":"2.0","id":"k","method":"server/discover","params":5}`,
	`{"jsonrpc":"2.0","id":"l","method":"resources/read","params":{"uri":"file:///etc/passwd"}}`, `{"jsonrpc":"2.0","id":"m","method":"prompts/get","params":{"name":"x"}}`, `{"jsonrpc":"2.0","id":"n","method":"completion/complete","params":{}}`,
	`{"jsonrpc":"2.0","id":"o","method":"logging/setLevel","params":{"level":"loud"}}`, `{"jsonrpc":"2.0","id":"p","method":"subscriptions/listen","params":{}}`, `{"jsonrpc":"2.0","id":"q","method":"tools/list","params":{"cursor":"forged"}}`,
}

func inputLines(a *arena) {
	a.config([]string{"good: good"}, "policy: {approve: never}")
	c := a.open(nil, "mcp", "serve", "--expose", "both")
	c.awaitTool("good__echo")
	lines := append(slices.Clone(hostileLines), strings.Repeat("[", 100_000), `{"jsonrpc":"2.0","id":"deep","method":"ping","params":`+strings.Repeat(`{"a":`, 100_000)+"1", strings.Repeat("x", pick(1<<20, 65<<20)))
	for i, line := range lines {
		if err := c.send(line); err != nil {
			a.Fatalf("after %.100q: %v", line, err)
		}
		if text := c.call("good__echo", fmt.Sprintf(`{"text":"%d"}`, i)).text(); !strings.Contains(text, fmt.Sprintf("echo %d", i)) {
			a.Errorf("after %.100q: %q", line, text)
		}
	}
	a.holds("the next request is answered after each of them")
	a.figure("peak %s, end %s", mb(c.usage().peak), ms(c.close()))
}

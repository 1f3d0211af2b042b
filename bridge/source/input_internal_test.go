package source

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

// What the SDK could not decode without a panic, or must not validate, becomes an error of
// the one request.
func TestTapRefusesBadInput(t *testing.T) {
	many := strings.Repeat(`"%d":{"method":"roots/list"},`, MaxInputRequests+1)
	var n []any
	for i := range MaxInputRequests + 1 {
		n = append(n, i)
	}
	for name, requests := range map[string]string{
		"null":      `{"q":null}`,
		"unknown":   `{"q":{"method":"other"}}`,
		"recursive": `{"q":{"method":"elicitation/create","params":{"requestedSchema":{"type":"object","$ref":"#"}}}}`,
		"a page":    `{"q":{"method":"elicitation/create","params":{"mode":"url","elicitationId":"1","message":"m","url":"file:///etc/passwd"}}}`,
		"too many":  "{" + strings.TrimSuffix(fmt.Sprintf(many, n...), ",") + "}",
	} {
		for _, method := range []string{methodCallTool, methodPrompt, methodRead} {
			for _, pass := range []bool{false, true} {
				p := newTap(&atomic.Bool{})
				s := p.open(nil)
				s.pass = pass
				p.outgoing(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":{"_meta":{"progressToken":%d}}}`, method, s.token))
				out := p.incoming([]byte(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":` + requests + `}}`))
				if len(out) != 1 || !strings.Contains(string(out[0]), `"error":`) {
					t.Errorf("%s, %s, %v: %s", name, method, pass, out)
				}
			}
		}
	}
}

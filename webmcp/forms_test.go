package webmcp_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/webmcp"
)

// form is a page with one form that is a tool.
func form(attrs, rest string) string {
	return `<!doctype html><title>form</title><form toolname="send" tooldescription="Sends it" ` + attrs + `><input name="q"><button>Send</button></form>` + rest
}

// TestForms covers what the bridge makes of forms, which the browser or the shim runs:
// answers out of the next document, and runs that wait for the user.
func TestForms(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, func(o *webmcp.Options) { o.CallTimeout = 4 * time.Second })
		r.Page("/answer", `<!doctype html><title>answer</title><script type="application/ld+json">{"found":3}</script><script type="application/ld+json">no</script><script type="application/ld+json">[1]</script>`)
		r.Page("/plain", `<!doctype html><title>plain</title>`)
		const answer = `<script>document.forms[0].onsubmit = (e) => { e.preventDefault(); e.respondWith(Promise.resolve({sent: new FormData(e.target).get('q'), agent: e.agentInvoked})) }</script>`
		q := map[string]any{"q": "x"}
		for _, tc := range []struct {
			name, attrs, rest string
			args              map[string]any
			isError           bool
			want              string
		}{
			{"the next document answers", `toolautosubmit action="/answer"`, "", q, false, `[{"found":3},[1]]`},
			{"a post", `toolautosubmit method="post" action="/answer"`, "", q, false, `[{"found":3},[1]]`},
			{"the next document says nothing", `toolautosubmit action="/plain"`, "", q, false, `[]`},
			{"the same document again", `toolautosubmit`, "", q, false, `[]`},
			{"a page that is not there", `toolautosubmit action="/nowhere"`, "", q, false, `[]`},
			{"another origin", `toolautosubmit action="` + r.At("b.localhost", "/answer") + `"`, "", q, true, "cross-origin navigation"},
			{"a frame", `toolautosubmit action="/answer" target="inner"`, `<iframe name="inner" src="/plain"></iframe>`, q, false, `[{"found":3},[1]]`},
			{"a frame that was empty", `toolautosubmit action="/answer" target="inner"`, `<iframe name="inner"></iframe>`, q, false, `[{"found":3},[1]]`},
			{"nobody presses the button", "", "", q, true, "waits for the user to send it"},
			{"the page answers", "toolautosubmit", answer, q, false, `{"sent":"x","agent":true}`},
			{"an argument that does not fit", "toolautosubmit", answer, map[string]any{"q": []any{}}, true, ""},
			{"a reset", "", `<script>document.forms[0].q.oninput = () => setTimeout(() => document.forms[0].reset(), 50)</script>`, q, true, "cancelled by a form reset"},
			{"an update", "", `<script>document.forms[0].q.oninput = () => setTimeout(() => document.forms[0].setAttribute('tooltitle', 'T'), 50)</script>`, q, true, "definition was updated"},
			{"validation", `toolautosubmit action="/answer"`, `<input form="f" name="r" type="email" value="x">`, q, true, "Form validation failed: r: "},
			{"an error of the page", `toolautosubmit`, `<script>document.forms[0].onsubmit = (e) => e.preventDefault()</script>`, q, true, "programming error"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				p := r.browser.NewPage(t, r.Page("/form/"+strings.ReplaceAll(tc.name, " ", "-"), form(`id="f" `+tc.attrs, tc.rest)))
				defer p.Close(t)
				r.awaitTools(t, 1)
				wantText(t, r.call(t, "webmcp_call", map[string]any{"name": "send", "arguments": tc.args}), tc.isError, tc.want)
			})
			r.awaitTools(t, 0)
		}
	})
}

// TestFormThatWaits tells its caller so, and goes on when the user presses the button.
func TestFormThatWaits(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, nil)
		r.Page("/answer", `<!doctype html><title>answer</title><script type="application/ld+json">{"found":3}</script>`)
		p := r.browser.NewPage(t, r.Page("/form", form(`action="/answer"`, "")))
		r.awaitTools(t, 1)
		want := "waiting for the user to press"
		if !native {
			want += ` "Send"`
		}
		call := func(ctx context.Context) (*mcp.CallToolResult, error) {
			params := &mcp.CallToolParams{Name: "webmcp_call", Arguments: map[string]any{"name": "send", "arguments": map[string]any{"q": "x"}}}
			params.SetProgressToken("p")
			return r.client.CallTool(ctx, params)
		}
		told := func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return len(r.progress) > 0 && strings.Contains(r.progress[0], want)
		}
		filled := func() bool { return p.EvalString(t, "document.forms[0].q.value") == "x" }

		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { _, err := call(ctx); ended <- err }()
		r.await(t, "progress", told)
		r.await(t, "the value", filled)
		cancel()
		<-ended
		p.Eval(t, "document.forms[0].reset()")

		done := make(chan *mcp.CallToolResult, 1)
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			res, err := call(ctx)
			if err != nil {
				t.Error(err)
			}
			done <- res
		}()
		r.await(t, "the value", filled)
		p.Send("Runtime.evaluate", map[string]any{"expression": "document.querySelector('button').click()"})
		if res := <-done; res != nil {
			wantText(t, res, false, `[{"found":3}]`)
		}
	})
}

// TestFormThatDownloads never gets an answer from the browser.
func TestFormThatDownloads(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, func(o *webmcp.Options) { o.CallTimeout = 2 * time.Second })
		r.Server.Config.Handler = withNoContent(r.Server.Config.Handler)
		r.browser.NewPage(t, r.Page("/form", form(`toolautosubmit action="/204"`, "")))
		r.awaitTools(t, 1)
		wantText(t, r.call(t, "send", map[string]any{"q": "x"}), true, "no answer within 2s")
	})
}

func withNoContent(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/204" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		h.ServeHTTP(w, req)
	})
}

// TestLongResultsAreReadPageByPage puts the pages of a cut result together again.
func TestLongResultsAreReadPageByPage(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, func(o *webmcp.Options) { o.MaxResultTokens = 1000 })
		p := r.browser.NewPage(t, r.Page("/long", script("window.long = Array.from({length: 3000}, (_, i) => 'line ' + i + ' ☃').join('\\n');"+tool("long", "() => long"))))
		r.awaitNames(t, "long")
		want := p.EvalString(t, "long")
		res := r.call(t, "long", nil)
		var whole strings.Builder
		for page := 1; ; page++ {
			whole.WriteString(res.Content[0].(*mcp.TextContent).Text)
			mark := res.Content[len(res.Content)-1].(*mcp.TextContent).Text
			_, rest, more := strings.Cut(mark, `"handle":"`)
			if !more {
				break
			}
			handle, _, _ := strings.Cut(rest, `"`)
			res = r.call(t, "webmcp_call", map[string]any{"handle": handle, "page": page + 1})
			if res.IsError || page > 500 {
				t.Fatalf("page %d: %s", page+1, text(res))
			}
		}
		if whole.String() != want {
			t.Errorf("the pages together have %d bytes, the result %d", whole.Len(), len(want))
		}
		wantText(t, r.call(t, "webmcp_call", map[string]any{"handle": "nonsense"}), true, "no result is kept")
	})
}

func TestFixedToolsRefuseNonsense(t *testing.T) {
	r := newRig(t, false, nil)
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"webmcp_call", nil, "name is missing"},
		{"webmcp_call", map[string]any{"name": "nobody"}, `no open page has a tool "nobody"`},
		{"webmcp_call", map[string]any{"name": "a", "handle": "b"}, "not both"},
		{"webmcp_call", map[string]any{"nme": "a"}, "nme"},
		{"webmcp_call", map[string]any{"name": 5}, "want string, got number 5"},
		{"webmcp_tools", map[string]any{"limit": "many"}, `want integer, got string "many"`},
		{"webmcp_tools", map[string]any{"names": "nobody"}, "want array"},
		{"webmcp_tools", map[string]any{"limit": 1000}, "choose 1 to 100"},
		{"webmcp_tools", map[string]any{"offset": -1}, "must not be negative"},
		{"webmcp_tools", map[string]any{"names": []string{"nobody"}}, "nobody"},
		{"webmcp_tools", map[string]any{"query": strings.Repeat("x", 2000)}, "at most 1000"},
	} {
		wantText(t, r.call(t, c.tool, c.args), true, c.want)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := r.client.CallTool(ctx, &mcp.CallToolParams{Name: "no_such_tool"}); err == nil {
		t.Error("an unknown tool is no error")
	}
}

func TestToolsAreSearched(t *testing.T) {
	r := newRig(t, false, nil)
	r.browser.NewPage(t, r.Page("/shop", script(`
		for (const [name, description] of [['add_to_cart', 'Puts an article into the shopping basket'], ['find_article', 'Searches the articles by words'], ['show_orders', 'Lists past orders with their state']])
			document.modelContext.registerTool({name, description, inputSchema: {type: 'object', properties: {id: {type: 'string'}}, required: ['id']}, execute: () => name});`)))
	r.awaitTools(t, 3)
	res := text(r.call(t, "webmcp_tools", map[string]any{"query": "put it in the basket"}))
	if i, j := strings.Index(res, "- add_to_cart"), strings.Index(res, "- "); i < 0 || i != j {
		t.Errorf("the search gives %s", res)
	}
	res = text(r.call(t, "webmcp_tools", map[string]any{"names": []string{"add_to_cart"}}))
	if !strings.Contains(res, `"required"`) {
		t.Errorf("no schema in %s", res)
	}
	res = text(r.call(t, "webmcp_tools", map[string]any{"limit": 2}))
	if !strings.Contains(res, "1 more: offset=2") {
		t.Errorf("no way on in %s", res)
	}
}

func TestActiveTab(t *testing.T) {
	r := newRig(t, false, func(o *webmcp.Options) { o.ActiveTab = true })
	one := r.browser.NewPage(t, r.Page("/one", script(register("one", "() => 1"))))
	two := r.browser.NewPage(t, r.Page("/two", script(register("two", "() => 2"))))
	for range 2 {
		two.Activate(t)
		r.awaitNames(t, "two")
		one.Activate(t)
		r.awaitNames(t, "one")
	}
	wantText(t, r.call(t, "webmcp_call", map[string]any{"name": "two"}), true, "no open page")
}

// TestPageOfForms runs the page that a person can open to see forms at work.
func TestPageOfForms(t *testing.T) {
	modes(t, func(t *testing.T, native bool) {
		r := newRig(t, native, func(o *webmcp.Options) { o.CallTimeout = patience })
		p := r.browser.NewPage(t, r.At("localhost", "/forms.html"))
		r.awaitNames(t, "open_menu", "order_pizza", "search_menu", "subscribe")
		wantText(t, r.call(t, "search_menu", map[string]any{"q": "olive"}), false, `{"search":"q=olive"}`)
		p.Eval(t, `void document.getElementById('order').addEventListener('change', (e) => { if (e.target.name === 'day') setTimeout(() => document.querySelector('#order button').click(), 100) })`)
		wantText(t, r.call(t, "order_pizza", map[string]any{"name": "A", "topping": []string{"olive"}, "size": "l", "day": "2026-12-24"}), false, `{"order":"name=A, size=l, topping=olive, day=2026-12-24, pieces="}`)
		wantText(t, r.call(t, "open_menu", nil), false, `"hasMenuItem":["Margherita","Funghi"]`)
	})
}

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

// form is a page with one form that is a tool, under native WebMCP.
func form(attrs, rest string) string {
	return `<!doctype html><title>form</title><form toolname="send" tooldescription="Sends it" ` + attrs + `><input name="q"><button>Send</button></form>` + rest
}

// TestFormsUnderNative covers what the bridge adds to the browser's own forms: answers
// out of the next document, and runs that wait for the user.
func TestFormsUnderNative(t *testing.T) {
	r := newRig(t, true, func(o *webmcp.Options) { o.CallTimeout = 2 * time.Second })
	r.Page("/answer", `<!doctype html><title>answer</title><script type="application/ld+json">{"found":3}</script>`)
	r.Page("/plain", `<!doctype html><title>plain</title>`)

	p := r.browser.NewPage(t, r.Page("/form1", form(`toolautosubmit action="/answer"`, "")))
	r.awaitTools(t, 1)
	send := map[string]any{"name": "send", "arguments": map[string]any{"q": "x"}}
	wantText(t, r.call(t, "webmcp_call", send), false, `[{"found":3}]`)

	p.Navigate(t, r.Page("/form2", form(`toolautosubmit action="/plain"`, "")))
	r.awaitTools(t, 1)
	wantText(t, r.call(t, "webmcp_call", send), false, `[]`)

	p.Navigate(t, r.Page("/form3", form(`toolautosubmit action="`+r.At("b.localhost", "/answer")+`"`, "")))
	r.awaitTools(t, 1)
	wantText(t, r.call(t, "webmcp_call", send), true, "cross-origin navigation")

	p.Navigate(t, r.Page("/form4", form("", "")))
	r.awaitTools(t, 1)
	wantText(t, r.call(t, "webmcp_call", send), true, "waits for the user to send it")

	p.Navigate(t, r.Page("/form5", form("toolautosubmit", `<script>document.forms[0].onsubmit = (e) => { e.preventDefault(); e.respondWith(Promise.resolve({sent: new FormData(e.target).get('q')})) }</script>`)))
	r.awaitTools(t, 1)
	wantText(t, r.call(t, "webmcp_call", send), false, `{"sent":"x"}`)
	wantText(t, r.call(t, "webmcp_call", map[string]any{"name": "send", "arguments": map[string]any{"q": []any{}}}), true, "")
}

// TestFormThatDownloads never gets an answer from the browser.
func TestFormThatDownloads(t *testing.T) {
	r := newRig(t, true, func(o *webmcp.Options) { o.CallTimeout = time.Second })
	r.Server.Config.Handler = withNoContent(r.Server.Config.Handler)
	r.browser.NewPage(t, r.Page("/form", form(`toolautosubmit action="/204"`, "")))
	r.awaitTools(t, 1)
	wantText(t, r.call(t, "send", map[string]any{"q": "x"}), true, "no answer within 1s")
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

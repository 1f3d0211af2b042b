package websrv

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/bridge/argcheck"
)

var update = flag.Bool("update", false, "rewrite the snapshots")

// connect connects an MCP client to a server.
func connect(t testing.TB, s *Server, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	ctx := testContext(t, 2*time.Minute)
	server, err := s.MCP().Connect(ctx, there, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts).Connect(ctx, here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Wait() })
	return client
}

func callTool(t testing.TB, c *mcp.ClientSession, name string, args any) *mcp.CallToolResult {
	t.Helper()
	res, err := c.CallTool(testContext(t, 2*time.Minute), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return res
}

func resultText(res *mcp.CallToolResult) string {
	var parts []string
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			parts = append(parts, text.Text)
		}
	}
	return strings.Join(parts, "\n\n")
}

// structured decodes the structured part of a result, and checks it against the schema of
// its tool.
func structured[T any](t testing.TB, c *mcp.ClientSession, name string, res *mcp.CallToolResult) *T {
	t.Helper()
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := c.ListTools(testContext(t, time.Minute), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		if tool.Name != name {
			continue
		}
		schema, _ := json.Marshal(tool.OutputSchema)
		checker, err := argcheck.New(schema)
		if err != nil {
			t.Fatalf("output schema of %s: %v", name, err)
		}
		if m, err := checker.Check(raw); m != nil || err != nil {
			t.Errorf("%s does not keep to its output schema: %v %v in %s", name, m, err, raw)
		}
	}
	out := new(T)
	if err := json.Unmarshal(raw, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestToolsList is what clients see, without a key, with all keys, and with none but local
// providers.
func TestToolsList(t *testing.T) {
	f := newFakes(t)
	local := f.options(allKeys())
	local.LocalOnly = true
	for name, o := range map[string]*Options{"keyless": f.options(Keys{}), "keys": f.options(allKeys()), "local": local} {
		o.Chromium = ""
		res, err := connect(t, f.server(t, o), nil).ListTools(testContext(t, time.Minute), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		enc := json.NewEncoder(&got)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		var list any = res.Tools
		if name != "keyless" { // the schemas are the same
			var short []string
			for _, tool := range res.Tools {
				short = append(short, tool.Name+": "+tool.Description)
			}
			list = short
		}
		if err := enc.Encode(list); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", "tools-"+name+".json")
		if *update {
			if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("tools/list %s (-want +got; -update rewrites it):\n%s", name, diff)
		}
	}
}

// TestOrder is the order of the providers, by the table of the facts.
func TestOrder(t *testing.T) {
	f := newFakes(t)
	o := f.options(allKeys())
	o.Chromium = ""
	s := f.server(t, o)
	for op, want := range map[Op]string{
		OpSearch:     "Exa, Perplexity, Context.dev, Firecrawl, Browserbase, Firecrawl (keyless), DuckDuckGo",
		OpExtract:    "Context.dev, Firecrawl, Cloudflare, Browserbase, Exa, Firecrawl (keyless), Jina Reader, DuckDuckGo fetch, plain HTTP, local Chromium",
		OpCrawl:      "Context.dev, Firecrawl, Cloudflare, local crawler",
		OpSitemap:    "Context.dev, Firecrawl, local sitemap reader",
		OpScreenshot: "Context.dev, Firecrawl, Cloudflare, Firecrawl (keyless), Jina Reader, local Chromium",
	} {
		if got := strings.Join(s.dispatcher.Names(op), ", "); got != want {
			t.Errorf("%s: %s\nwant %s", op, got, want)
		}
	}
	o = f.options(allKeys())
	o.Order, o.Off = map[string][]string{"search": {idDuckDuckGo}}, []string{idExa}
	s = f.server(t, o)
	if got := strings.Join(s.dispatcher.Names(OpSearch), ", "); got != "DuckDuckGo, Perplexity, Context.dev, Firecrawl, Browserbase, Firecrawl (keyless)" {
		t.Errorf("with an order and a switch: %s", got)
	}
}

// TestPrivateHostsStayHere reads pages whose hosts are private in every way, with all keys set: no
// hosted provider hears of them.
func TestPrivateHostsStayHere(t *testing.T) {
	f := newFakes(t)
	f.web.host("wiki.corp.net", htmlPage(lampPage))
	f.web.resolve("inside.net", "10.0.0.7")
	o := f.options(allKeys())
	o.AllowPrivate, o.DenyDomains = []string{"wiki.corp.net"}, []string{"denied.net"}
	c := connect(t, f.server(t, o), nil)
	for _, target := range []string{"http://wiki.corp.net/", "http://inside.net/", "http://nowhere.net/", "http://localhost/", "http://10.1.2.3/", "http://printer/", "http://denied.net/", "http://[::1]/", "http://0x7f.1/"} {
		res := callTool(t, c, toolExtract, map[string]any{"url": target})
		if want := target != "http://wiki.corp.net/"; res.IsError != want {
			t.Errorf("%s: error %v: %s", target, res.IsError, resultText(res))
		}
		if !strings.Contains(resultText(res), "hosted providers (not asked)") {
			t.Errorf("%s: the reply does not say that nobody was asked: %s", target, resultText(res))
		}
		for _, tool := range []string{toolCrawl, toolSitemap, toolScreenshot} {
			callTool(t, c, tool, map[string]any{"url": target})
		}
	}
	o = f.options(allKeys())
	o.LocalOnly = true
	c = connect(t, f.server(t, o), nil)
	if res := callTool(t, c, toolExtract, map[string]any{"url": "http://page.net/"}); res.IsError {
		t.Errorf("local only: %s", resultText(res))
	}
	if res := callTool(t, c, toolSearch, map[string]any{"query": "x"}); !res.IsError || !strings.Contains(resultText(res), "local_only") {
		t.Errorf("local only search: %s", resultText(res))
	}
	for id, fake := range f.by {
		if r := fake.requests(); len(r) > 0 {
			t.Errorf("%s was asked: %+v", id, r[0])
		}
	}
}

func TestSearchFilters(t *testing.T) {
	f := newFakes(t)
	s := f.server(t, f.only(allKeys(), idBrowserbase))
	c := connect(t, s, nil)
	f.by[idBrowserbase].script(jsonAnswer(200, `{"results":[
		{"url":"https://a.net/1","title":"One\u202e\u0007","publishedDate":"2026-05-01"},{"url":"https://a.net/1","title":"Twice"},{"url":"https://sub.a.net/2","title":"Two"},
		{"url":"https://nota.net/3","title":"Three"},{"url":"https://bad.a.net/4","title":"Four"},{"url":"https://a.net/5","title":"Old","publishedDate":"2020-01-01"},{"url":"javascript:alert(1)","title":"Script"}]}`))
	res := callTool(t, c, toolSearch, map[string]any{"query": "lamps", "domains": []string{"a.net"}, "excludeDomains": []string{"bad.a.net"}, "since": "2026-01-01", "region": "de"})
	got := structured[searchReply](t, c, toolSearch, res)
	var urls []string
	for _, h := range got.Results {
		urls = append(urls, h.URL)
	}
	if diff := cmp.Diff([]string{"https://a.net/1", "https://sub.a.net/2"}, urls); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"since", "region"}, got.Ignored); diff != "" {
		t.Errorf("ignored (-want +got):\n%s", diff)
	}
	if got.Results[0].Title != "One" {
		t.Errorf("title %q keeps characters that nobody sees", got.Results[0].Title)
	}
	for _, args := range []map[string]any{{}, {"query": strings.Repeat("x", 501)}, {"query": "x", "limit": 21}, {"query": "x", "recency": "eon"}, {"query": "x", "since": "soon"},
		{"query": "x", "domains": []string{"a b"}}, {"query": "x", "region": "Germany"}, {"query": "x", "since": "2026-02-01", "until": "2026-01-01"}, {"query": "x", "colour": 1}, {"query": 7}} {
		if res := callTool(t, c, toolSearch, args); !res.IsError {
			t.Errorf("%v was taken: %s", args, resultText(res))
		}
	}
}

// TestSearchReplyFits checks the bound with the longest snippets.
func TestSearchReplyFits(t *testing.T) {
	f := newFakes(t)
	var hits []string
	for i := range 20 {
		hits = append(hits, fmt.Sprintf(`{"url":"https://a%d.net/%s","title":%q,"snippet":%q}`, i, strings.Repeat("p", 300), strings.Repeat("title ", 60), strings.Repeat("snippet words ", 400)))
	}
	f.by[idPerplexity].script(jsonAnswer(200, `{"results":[`+strings.Join(hits, ",")+`]}`))
	c := connect(t, f.server(t, f.only(allKeys(), idPerplexity)), nil)
	for _, most := range []int{500, 2_000, 8_000} {
		res := callTool(t, c, toolSearch, map[string]any{"query": "x", "limit": 20, "maxTokens": most})
		if n := replyTokens(res); n > most || len(structured[searchReply](t, c, toolSearch, res).Results) == 0 {
			t.Errorf("a reply of %d tokens, the most is %d", n, most)
		}
	}
}

// replyTokens estimates what a client gets.
func replyTokens(res *mcp.CallToolResult) int {
	n := 0
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			n += estimateTokens(text.Text) + 1
		}
	}
	raw, _ := json.Marshal(res.StructuredContent)
	return n + estimateTokens(string(raw))
}

// longPage is a page of many sections.
func longPage(sections int) string {
	var b strings.Builder
	b.WriteString("<title>Long</title><main><h1>Long</h1>")
	for i := range sections {
		fmt.Fprintf(&b, "<h2>Part %d</h2><p>%s</p>", i, strings.Repeat(fmt.Sprintf("Words of part %d with an Ä and 灯り. ", i), 30))
	}
	return b.String() + "</main>"
}

// TestExtractReadsOn reads a long page by cursor and by heading.
func TestExtractReadsOn(t *testing.T) {
	f := newFakes(t)
	var loads atomic.Int64
	f.web.host("long.net", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		loads.Add(1)
		w.Header().Set("Cache-Control", "no-store")
		htmlPage(longPage(40))(w, r)
	}))
	s := f.server(t, f.only(Keys{}, idHTTP))
	whole, err := s.Call(testContext(t, time.Minute), toolExtract, json.RawMessage(`{"url":"http://long.net/"}`), &CallOptions{Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, s, nil)
	got, args, marks := "", map[string]any{"url": "http://long.net/", "maxTokens": 900}, map[string]bool{}
	for n := 0; n < 100; n++ {
		res := callTool(t, c, toolExtract, args)
		if res.IsError || replyTokens(res) > 900 {
			t.Fatalf("reply %d of %d tokens: %.300s", n, replyTokens(res), resultText(res))
		}
		block := res.Content[0].(*mcp.TextContent).Text
		marks[block[len(block)-32:]] = true
		got += unwrap(t, block)
		r := structured[extractReply](t, c, toolExtract, res).Results[0]
		if r.Truncated != (r.Cursor != "") || !strings.Contains(block, "http://long.net/") {
			t.Fatalf("reply %d: %+v", n, r)
		}
		if r.Cursor == "" {
			break
		}
		args = map[string]any{"cursor": r.Cursor, "maxTokens": 900}
	}
	if got != whole.Blocks[0] || len(marks) < 5 {
		t.Errorf("the pieces are %d bytes and the page %d, with %d boundaries", len(got), len(whole.Blocks[0]), len(marks))
	}
	res := callTool(t, c, toolExtract, map[string]any{"url": "http://long.net/", "outline": true})
	if text := resultText(res); !strings.Contains(text, "8. Part 6 — ") {
		t.Errorf("outline: %.400s", text)
	}
	res = callTool(t, c, toolExtract, map[string]any{"url": "http://long.net/", "section": "part 6"})
	if text := resultText(res); !strings.HasPrefix(text, "A section of http://long.net/") || !strings.Contains(text, "## Part 6\n") || strings.Contains(text, "part 7") {
		t.Errorf("section: %.400s", text)
	}
	if n := loads.Load(); n != 2 {
		t.Errorf("the page was loaded %d times, want once for each first reading", n)
	}
	if res = callTool(t, c, toolExtract, map[string]any{"url": "http://long.net/", "section": "part 99"}); !res.IsError {
		t.Error("a section that is not there was found")
	}
	// A server that no longer has the text reads the page again, and says if it has changed.
	other := connect(t, f.server(t, f.only(Keys{}, idHTTP)), nil)
	first := structured[extractReply](t, c, toolExtract, callTool(t, c, toolExtract, map[string]any{"url": "http://long.net/", "maxTokens": 900})).Results[0]
	if res = callTool(t, other, toolExtract, map[string]any{"cursor": first.Cursor}); !res.IsError || !strings.Contains(resultText(res), "url") {
		t.Errorf("a lost text without its url: %.300s", resultText(res))
	}
	if res = callTool(t, other, toolExtract, map[string]any{"cursor": first.Cursor, "url": "http://long.net/"}); res.IsError {
		t.Errorf("a lost text with its url: %.300s", resultText(res))
	}
	other = connect(t, f.server(t, f.only(Keys{}, idHTTP)), nil)
	if res = callTool(t, other, toolExtract, map[string]any{"cursor": first.Cursor, "url": "http://page.net/"}); !res.IsError || !strings.Contains(resultText(res), "changed") {
		t.Errorf("another text: %.300s", resultText(res))
	}
}

// What is no address costs itself only, in a call with others.
func TestExtractBadAddress(t *testing.T) {
	f := newFakes(t)
	f.web.host("page.net", htmlPage(longPage(3)))
	c := connect(t, f.server(t, f.only(Keys{}, idHTTP)), nil)
	got := structured[extractReply](t, c, toolExtract, callTool(t, c, toolExtract, map[string]any{"urls": []string{"nonsense://x", "http://page.net/", ""}}))
	if len(got.Results) != 3 || got.Results[0].Status != "failed" || !strings.Contains(got.Results[0].Error, "only http and https") || got.Results[1].Status != "ok" || got.Results[2].Status != "failed" {
		t.Errorf("results %+v", got.Results)
	}
	for _, urls := range [][]string{{"nonsense://x"}, {"nonsense://x", "also no address"}} {
		if res := callTool(t, c, toolExtract, map[string]any{"urls": urls}); !res.IsError || !strings.Contains(resultText(res), "nonsense") {
			t.Errorf("%q: %.300s", urls, resultText(res))
		}
	}
}

// Many clients give a model the text alone: it holds why a page failed, and a page's metadata.
func TestExtractTextSaysAll(t *testing.T) {
	f := newFakes(t)
	f.web.host("page.net", htmlPage(longPage(3)))
	f.web.host("gone.net", http.NotFoundHandler())
	c := connect(t, f.server(t, f.only(Keys{}, idHTTP)), nil)
	text := resultText(callTool(t, c, toolExtract, map[string]any{"urls": []string{"http://page.net/", "http://gone.net/"}}))
	if !strings.Contains(text, "http://gone.net/ was not read") || !strings.Contains(text, "HTTP 404") {
		t.Errorf("no reason: %.600s", text)
	}
	text = resultText(callTool(t, c, toolExtract, map[string]any{"url": "http://page.net/", "format": "metadata"}))
	if !strings.Contains(text, "\nBEGIN ") || !strings.Contains(text, "\ncontentType: text/html\n") {
		t.Errorf("no metadata: %.600s", text)
	}
}

// TestExtractSideBySide reads ten pages at once, some of which fail.
func TestExtractSideBySide(t *testing.T) {
	f := newFakes(t)
	var now, most atomic.Int64
	var urls []string
	for i := range 10 {
		host := fmt.Sprintf("p%d.net", i)
		urls = append(urls, "http://"+host+"/")
		f.web.host(host, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n := now.Add(1)
			defer now.Add(-1)
			for { // all come together, or the time is up
				if old := most.Load(); n <= old || most.CompareAndSwap(old, n) {
					break
				}
			}
			for deadline := time.Now().Add(10 * time.Second); most.Load() < 10 && time.Now().Before(deadline); {
				time.Sleep(time.Millisecond)
			}
			if i == 3 {
				http.NotFound(w, r)
				return
			}
			htmlPage(longPage(i+1))(w, r)
		}))
	}
	c := connect(t, f.server(t, f.only(Keys{}, idHTTP)), nil)
	res := callTool(t, c, toolExtract, map[string]any{"urls": urls})
	got := structured[extractReply](t, c, toolExtract, res)
	if len(got.Results) != 10 || most.Load() != 10 || replyTokens(res) > DefaultMaxTokens {
		t.Fatalf("%d results, %d at a time, %d tokens", len(got.Results), most.Load(), replyTokens(res))
	}
	for i, r := range got.Results {
		want := "ok"
		if i == 3 {
			want = "failed"
		}
		if r.URL != urls[i] || r.Status != want || want == "failed" && len(r.Failures) != 1 {
			t.Errorf("result %d: %+v", i, r)
		}
	}
	if res := callTool(t, c, toolExtract, map[string]any{"urls": append(urls, "http://p10.net/")}); !res.IsError {
		t.Error("eleven pages were taken")
	}
}

// TestFallThrough follows a page down the chain: each failure is told, the thin page is the
// last resort, and the description stays as it is.
func TestFallThrough(t *testing.T) {
	f := newFakes(t)
	s := f.server(t, f.options(allKeys()))
	c := connect(t, s, nil)
	before, _ := c.ListTools(testContext(t, time.Minute), nil)
	f.by[idContextDev].script(jsonAnswer(403, `{"status":"error","error_code":"USAGE_EXCEEDED","message":"credits gone"}`))
	f.by[idFirecrawl].script(jsonAnswer(200, `{"success":true,"data":{"markdown":"Few words","metadata":{"statusCode":200}}}`))
	f.by[idCloudflare].script(jsonAnswer(429, `{"success":false,"errors":[{"message":"slow"}]}`, "Retry-After", "20"))
	f.by[idBrowserbase].script(jsonAnswer(502, `{"message":"Response too large"}`))
	f.by[idExa].script(jsonAnswer(401, `{"error":"Invalid key key-exa","tag":"INVALID_API_KEY"}`))
	f.by[idJina].script(jsonAnswer(451, `{"code":451,"name":"SecurityCompromiseError","readableMessage":"blocked domain"}`))
	res := callTool(t, c, toolExtract, map[string]any{"url": "http://page.net/"})
	got := structured[extractReply](t, c, toolExtract, res).Results[0]
	var classes []string
	for _, a := range got.Failures {
		classes = append(classes, a.Provider+" "+a.Class)
	}
	want := []string{"Context.dev out of credit", "Firecrawl page failed", "Cloudflare rate limited", "Browserbase page failed", "Exa key not accepted", "Firecrawl (keyless) page failed", "Jina Reader refused"}
	if diff := cmp.Diff(want, classes); diff != "" || got.Provider != "DuckDuckGo fetch" {
		t.Errorf("answered by %s after (-want +got):\n%s", got.Provider, diff)
	}
	noKeys(t, resultText(res))
	// Who rests is not asked again; who failed over the page is.
	calls := map[string]int{}
	for id, fake := range f.by {
		calls[id] = len(fake.requests())
	}
	callTool(t, c, toolExtract, map[string]any{"url": "http://page.net/"})
	for id, again := range map[string]bool{idContextDev: false, idCloudflare: false, idExa: false, idFirecrawl: true, idJina: true} {
		if more := len(f.by[id].requests()) > calls[id]; more != again {
			t.Errorf("%s was asked again: %v, want %v", id, more, again)
		}
	}
	// When all fail the error lists each; the best partial page comes first.
	f.web.host("thin.net", htmlPage("<title>Thin</title><p>Nothing here."))
	res = callTool(t, c, toolExtract, map[string]any{"url": "http://thin.net/"})
	if r := structured[extractReply](t, c, toolExtract, res).Results[0]; r.Status != "partial" || len(r.Warnings) == 0 {
		t.Errorf("a page of few words: %+v", r)
	}
	for _, fake := range f.by {
		fake.script(jsonAnswer(500, `{"error":"down"}`))
	}
	f.web.host("gone.net", http.NotFoundHandler())
	res = callTool(t, c, toolExtract, map[string]any{"url": "http://gone.net/"})
	if text := resultText(res); !res.IsError || strings.Count(text, "\n- ") != 9 || !strings.Contains(text, "check EXA_API_KEY") || !strings.Contains(text, "not asked") {
		t.Errorf("all failed: %s", text)
	}
	after, _ := c.ListTools(testContext(t, time.Minute), nil)
	if diff := cmp.Diff(before.Tools[1].Description, after.Tools[1].Description); diff != "" {
		t.Errorf("the description changed with the cool-downs:\n%s", diff)
	}
}

// TestKeylessFirecrawl is the tier's own refusals; it is reached by IPv4 and without a header
// that names anybody.
func TestKeylessFirecrawl(t *testing.T) {
	f := newFakes(t)
	f.web.resolve("firecrawl.fake.net", "2606:2800:220:1:248:1893:25c8:1946", f.web.names["firecrawl.fake.net"][0].String())
	for _, tc := range []struct {
		name   string
		answer http.HandlerFunc
		class  string
		rest   int
	}{
		{"requests", jsonAnswer(429, `{"success":false,"error":"x","reason":"requests","retry_after_seconds":7200}`, "WWW-Authenticate", `Bearer resource_metadata="x"`), "rate limited", 7200},
		{"credits without a time", jsonAnswer(429, `{"success":false,"error":"x","reason":"credits"}`), "rate limited", 60},
		{"bare 401", jsonAnswer(401, `{"success":false,"error":"Unauthorized"}`), "refused", 600},
		{"403", jsonAnswer(403, `{"success":false,"error":"VPN site blocked"}`), "refused", 600},
		{"a site", jsonAnswer(403, `{"success":false,"code":"UNSUPPORTED_SITE","error":"not supported"}`), "refused", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := f.server(t, f.only(Keys{}, idFirecrawlKeyless))
			f.by[idFirecrawl].script(tc.answer)
			_, err := s.dispatcher.Extract(testContext(t, time.Minute), &PageRequest{URL: "http://page.net/"}, false, "")
			d, ok := err.(*DispatchError)
			if !ok || d.Attempts[0].Class != tc.class || d.Attempts[0].RetryAfterSeconds != tc.rest {
				t.Fatalf("got %v", err)
			}
			for _, r := range f.by[idFirecrawl].requests() {
				if _, has := r.Header["Authorization"]; has {
					t.Errorf("an Authorization header was sent: %v", r.Header)
				}
			}
		})
	}
	for _, a := range f.web.connections() {
		if strings.HasPrefix(a, "[") {
			t.Errorf("connected to %s, which is IPv6", a)
		}
	}
}

// TestProgress crawls with a token and is told how far it is.
func TestProgress(t *testing.T) {
	f := newFakes(t)
	told := make(chan string, 100)
	c := connect(t, f.server(t, f.only(Keys{}, idLocal)), &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		told <- r.Params.Message
	}})
	params := &mcp.CallToolParams{Name: toolCrawl, Arguments: map[string]any{"url": "http://page.net/", "maxPages": 1}}
	params.SetProgressToken("token")
	res, err := c.CallTool(testContext(t, time.Minute), params)
	if err != nil || res.IsError {
		t.Fatalf("%v %s", err, resultText(res))
	}
	select { // the client's handler runs beside the call
	case <-told:
	case <-time.After(time.Minute):
		t.Error("nothing was told")
	}
	structured[crawlReply](t, c, toolCrawl, res)
	res = callTool(t, c, toolSitemap, map[string]any{"url": "http://page.net/"})
	if !res.IsError {
		structured[sitemapReply](t, c, toolSitemap, res)
	}
}

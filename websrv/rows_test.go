package websrv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// rowTests says which tests hold each row of the tables that this package keeps to: what must
// not be reached, the classes of failures, the mistakes of others and the fakes. TestRows
// checks that they exist.
var rowTests = []struct{ row, tests string }{
	{"ssrf: special ranges, each", "TestSSRFGo TestSSRFChromium TestSpecialAddresses"},
	{"ssrf: spellings of an address, each", "TestSSRFGo TestSSRFChromium TestCleanURL FuzzCleanURL"},
	{"ssrf: what is no address", "TestOddURLsGoClient TestOddURLsChromium"},
	{"ssrf: a name that resolves to loopback", "TestSSRFGo TestSSRFChromium"},
	{"ssrf: a name that answers public, then private", "TestRebindingGoClient TestRebindingChromium TestMixedAddressesUseThePublic"},
	{"ssrf: redirects inside, and to file: and gopher:", "TestRedirectsInsideGoClient TestRedirectsInsideChromium"},
	{"ssrf: userinfo", "TestSSRFGo TestSSRFChromium TestCleanURL"},
	{"ssrf: a sitemap or robots line inside", "TestSitemapDoesNotReachInside TestCrawlDoesNotReachInside"}, // the browser reads neither
	{"ssrf: PDF, iframe, img and every other way of a page", "TestSSRFChromium"},                           // the Go client loads none
	{"ssrf: schemes", "TestSSRFGo TestSSRFChromium TestOddURLsChromium"},
	{"ssrf: ports", "TestSSRFGo TestSSRFChromium TestPorts"},
	{"ssrf: the connection itself", "TestKernelAddress TestProxy"},
	{"ssrf: proxies off", "TestNoOtherProxy"},
	{"ssrf: the seam is the configuration's", "TestAllowPrivate TestAllowPrivateChromium TestNoArgumentOpens"},
	{"ssrf: domains", "TestDomains TestRedirectToDeniedDomain"},
	{"ssrf: private hosts are not told to remote providers", "TestPrivate TestPrivateHostsStayHere"},

	{"class: rate limited", "TestFailureClasses TestDuckDuckGo TestKeylessFirecrawl"},
	{"class: no credit", "TestFailureClasses TestOwnSigns TestFallThrough"},
	{"class: bad key", "TestFailureClasses TestFallThrough"},
	{"class: refused", "TestKeylessFirecrawl TestOwnSigns TestFallThrough"},
	{"class: target failed", "TestProvidersAnswer TestOwnSigns TestFallThrough TestChallenge"},
	{"class: timeout", "TestFailureClasses TestSlowBody"},
	{"class: upstream", "TestFailureClasses TestPauseBeforeTheSecondCall"},
	{"class: bad input", "TestFailureClasses TestBadInputStops"},
	{"class: cancelled", "TestCancelled TestJobCancelled"},
	{"class: a success without text", "TestFallThrough"},
	{"class: cool-downs and no double charge", "TestChaos TestJobStartsOnce"},

	{"mistake: Firecrawl crawl with maxPages and maxDepth, and without next", "TestJobPages"},
	{"mistake: Firecrawl search reads data as an array", "TestProvidersAnswer"},
	{"mistake: Browserbase with x-api-key, bare text and result", "TestExtractRequests TestProvidersAnswer"},
	{"mistake: scrape without success and the target's status", "TestProvidersAnswer TestOwnSigns"},
	{"mistake: an empty list for a challenge", "TestDuckDuckGo"},
	{"mistake: Cloudflare crawl without its three ends and cursor", "TestJobPages TestJobFailed"},
	{"mistake: Context.dev search for less than 10", "TestSearchRequests"},
	{"mistake: crawl jobs that are never taken back", "TestJobCancelled TestJobOutOfTime"},

	{"fake: happy path", "TestProvidersAnswer"},
	{"fake: every class", "TestFailureClasses TestOwnSigns"},
	{"fake: slow body", "TestSlowBody"},
	{"fake: truncated JSON", "TestFailureClasses"},
	{"fake: a 200 that is a failure", "TestProvidersAnswer TestJinaText"},
	{"fake: a redirect to another origin", "TestFailureClasses TestJobNextStaysAtHome"},
	{"fake: cancelled while polling", "TestJobCancelled"},
	{"fake: three pages of next and cursor", "TestJobPages"},
	{"fake: Retry-After as seconds and as a date", "TestFailureClasses TestRetryAfter"},
	{"fake: DuckDuckGo's pages", "TestDuckDuckGo TestDuckForm"},
	{"fake: Firecrawl without a key", "TestKeylessFirecrawl TestProvidersAnswer"},
}

// TestRows checks that the tests that rowTests names are there.
func TestRows(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %d files", err, len(files))
	}
	have := map[string]bool{}
	for _, f := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				have[fn.Name.Name] = true
			}
		}
	}
	for _, r := range rowTests {
		names := strings.Fields(r.tests)
		if len(names) == 0 {
			t.Errorf("%s: no test", r.row)
		}
		for _, name := range names {
			if !have[name] {
				t.Errorf("%s: there is no %s", r.row, name)
			}
		}
	}
}

// TestOwnSigns is what providers say in their own words, where the status alone would be
// another class.
func TestOwnSigns(t *testing.T) {
	f := newFakes(t)
	words := func(format string) string { return fmt.Sprintf(format, lampText) }
	for _, tc := range []struct {
		name, id string
		keys     Keys
		answer   http.HandlerFunc
		class    error
		rest     time.Duration
	}{
		{"Exa's budget", idExa, allKeys(), jsonAnswer(403, `{"error":"budget","tag":"API_KEY_BUDGET_EXCEEDED"}`), ErrNoCredit, restNoCredit},
		{"Exa's credits", idExa, allKeys(), jsonAnswer(402, `{"error":"credits","tag":"NO_MORE_CREDITS"}`), ErrNoCredit, restNoCredit},
		{"Context.dev's credits", idContextDev, allKeys(), jsonAnswer(403, `{"status":"error","error_code":"USAGE_EXCEEDED","message":"gone"}`), ErrNoCredit, restNoCredit},
		{"Context.dev's account", idContextDev, allKeys(), jsonAnswer(403, `{"status":"error","error_code":"DISABLED","message":"off"}`), ErrRefused, restRefused},
		{"Context.dev before a wall", idContextDev, allKeys(), jsonAnswer(400, `{"status":"error","error_code":"WEBSITE_BLOCKED","message":"wall"}`), ErrTargetFailed, 0},
		{"Context.dev's size", idContextDev, allKeys(), jsonAnswer(413, `{"status":"error","message":"over 20 MB"}`), ErrTargetFailed, 0},
		{"Firecrawl's site", idFirecrawl, allKeys(), jsonAnswer(403, `{"success":false,"code":"UNSUPPORTED_SITE","error":"no"}`), ErrRefused, 0},
		{"Firecrawl's target", idFirecrawl, allKeys(), jsonAnswer(200, words(`{"success":true,"data":{"markdown":"%s","metadata":{"statusCode":503}}}`)), ErrTargetFailed, 0},
		{"Browserbase's target", idBrowserbase, allKeys(), jsonAnswer(200, words(`{"statusCode":500,"content":"%s"}`)), ErrTargetFailed, 0},
		{"Browserbase's size", idBrowserbase, allKeys(), jsonAnswer(502, `{"statusCode":502,"message":"Response too large"}`), ErrTargetFailed, 0},
		{"Cloudflare in a 200", idCloudflare, allKeys(), jsonAnswer(200, `{"success":false,"errors":[{"code":1,"message":"no"}]}`), ErrTargetFailed, 0},
		{"Jina's network, with a key", idJina, allKeys(), jsonAnswer(401, `{"code":401,"name":"AuthenticationRequiredError","status":40103,"message":"blocked due to bad network reputation"}`), ErrRefused, restRefused},
		{"Jina's network, without", idJina, Keys{}, jsonAnswer(401, `{"code":401,"name":"AuthenticationRequiredError","status":40103,"message":"blocked due to bad network reputation"}`), ErrRefused, restRefused},
		{"Jina's site", idJina, Keys{}, jsonAnswer(451, `{"code":451,"name":"SecurityCompromiseError","status":45102}`), ErrRefused, 0},
		{"Jina before a wall", idJina, Keys{}, jsonAnswer(200, words(`{"code":200,"data":{"title":"Just a moment...","content":"%s"}}`)), ErrTargetFailed, 0},
		{"Jina's allowance", idJina, Keys{}, jsonAnswer(429, `{"code":429,"name":"RateLimitTriggeredError","status":42903}`, "Retry-After", inSeconds(90)), ErrRateLimited, 90 * time.Second},
		{"an empty page", idFirecrawl, allKeys(), jsonAnswer(200, `{"success":true,"data":{"markdown":"","metadata":{"statusCode":200}}}`), ErrTargetFailed, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := f.server(t, f.only(tc.keys, tc.id))
			f.by[tc.id].script(tc.answer)
			_, err := s.dispatcher.Extract(testContext(t, time.Minute), &PageRequest{URL: "http://page.net/"}, false, "")
			var d *DispatchError
			if !errors.As(err, &d) || !errors.Is(err, tc.class) {
				t.Fatalf("got %v, want %v", err, tc.class)
			}
			if n := len(f.by[tc.id].requests()); n != 1 {
				t.Errorf("asked %d times", n)
			}
			checkRest(t, s, tc.rest, nil, d.Attempts[0])
		})
	}
}

// TestBadInputStops checks that a request that is wrong is put to nobody else.
func TestBadInputStops(t *testing.T) {
	for _, code := range []int{400, 422} {
		f := newFakes(t)
		s := f.server(t, f.options(allKeys()))
		f.by[idExa].script(jsonAnswer(code, `{"error":"numResults: must be positive","tag":"INVALID_REQUEST"}`))
		_, err := s.dispatcher.Search(testContext(t, time.Minute), &Query{Text: "q", Limit: 5})
		if !errors.Is(err, ErrInvalid) || !strings.Contains(ErrorText(err), "must be positive") {
			t.Errorf("%d: got %v, want %v and the reason", code, err, ErrInvalid)
		}
		for id, other := range f.by {
			if n := len(other.requests()); n > 0 && id != idExa {
				t.Errorf("%d: %s was asked %d times after a request that is wrong", code, id, n)
			}
		}
	}
}

// TestPauseBeforeTheSecondCall checks how long a provider that is down has peace.
func TestPauseBeforeTheSecondCall(t *testing.T) {
	f := newFakes(t)
	s := f.server(t, f.only(allKeys(), idExa))
	f.by[idExa].script(jsonAnswer(500, `{}`))
	var pauses []time.Duration
	sleep := s.dispatcher.sleep
	s.dispatcher.sleep = func(ctx context.Context, d time.Duration) error {
		pauses = append(pauses, d)
		return sleep(ctx, d)
	}
	if _, err := s.dispatcher.Search(testContext(t, time.Minute), &Query{Text: "q", Limit: 5}); !errors.Is(err, ErrUnavailable) {
		t.Fatalf("got %v", err)
	}
	if len(pauses) != 1 || pauses[0] < 500*time.Millisecond || pauses[0] > time.Second {
		t.Errorf("pauses %v, want one of half a second to a second", pauses)
	}
}

// askTool makes one call of a tool that is not asked for through the dispatcher alone.
func askTool(ctx context.Context, s *Server, op Op) ([]Attempt, error) {
	_, err := s.Call(ctx, string(op), json.RawMessage(`{"url":"http://page.net/"}`), nil)
	return nil, err
}

package websrv

import (
	"net/http"
	"strings"
	"testing"
)

var prose = strings.Repeat("A sentence of an ordinary page that has something to say. ", 60)

func TestNeedsJavaScript(t *testing.T) {
	for _, tt := range []struct {
		name, html string
		want       bool
	}{
		{"article", "<title>x</title><p>" + prose, false},
		{"react", `<div id="root"></div><script src="/main.js"></script>`, true},
		{"react, asks", `<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div><script src="/main.js"></script>`, true},
		{"next", `<div id="__next"><div class="spinner"></div></div><script></script>`, true},
		{"angular", `<app-root></app-root><script src="main.js" type="module"></script>`, true},
		{"root with text", `<div id="root"><p>` + prose + `</div><script></script>`, false},
		{"root without script", `<div id="root"></div>`, false},
		{"many scripts", strings.Repeat(`<script src="a.js"></script>`, 6) + "<p>Loading", true},
		{"few scripts", strings.Repeat(`<script src="a.js"></script>`, 5) + "<p>Short page", false},
		{"asks in the text", `<p>Please enable JavaScript to continue.</p>`, true},
		{"noscript of a tracker", `<noscript><img src="/pixel"></noscript><p>Short but whole.`, false},
		{"text in scripts", `<div id=app></div><script>var x = "` + prose + `"</script><style>` + prose + `</style>`, true},
		{"a template is no text", `<div id=app></div><template>` + prose + `</template><script></script>`, true},
		{"empty", "", false},
		{"plain", "hello", false},
	} {
		got, why := needsJavaScript(&response{Media: "text/html", Body: []byte(tt.html)})
		if got != tt.want || got != (why != "") {
			t.Errorf("%s: %v, %q; want %v", tt.name, got, why, tt.want)
		}
	}
	if yes, _ := needsJavaScript(&response{Media: "application/json", Body: []byte(`<div id=root></div><script></script>`)}); yes {
		t.Error("JSON needs no JavaScript")
	}
}

func TestChallenge(t *testing.T) {
	page := func(title, body string) string { return "<html><head><title>" + title + "</title></head><body>" + body }
	for _, tt := range []struct {
		name, html, whose string
		status            int
		header            http.Header
	}{
		{name: "cloudflare", status: 403, html: page("Just a moment...", `<script>(function(){window._cf_chl_opt={}})();</script>`), whose: "Cloudflare"},
		{name: "cloudflare with 200", status: 200, html: page("Just a moment...", ""), whose: "Cloudflare"},
		{name: "cloudflare header", status: 403, html: "", header: http.Header{"Cf-Mitigated": {"challenge"}}, whose: "Cloudflare"},
		{name: "datadome", status: 403, html: page("site", `<script src="https://ct.captcha-delivery.com/c.js"></script>`), whose: "DataDome"},
		{name: "perimeterx", status: 403, html: page("Access to this page has been denied", `<div id="px-captcha"></div>`), whose: "PerimeterX"},
		{name: "akamai", status: 403, html: page("Access Denied", `You don't have permission to access it on this server. Reference #18.2d351ab8.1557333295.a4e16ab`), whose: "Akamai"},
		{name: "imperva", status: 200, html: page("", `<script src="/_Incapsula_Resource?x"></script>Request unsuccessful. Incapsula incident ID: 1-2`), whose: "Imperva"},
		{name: "aws", status: 202, html: "", header: http.Header{"X-Amzn-Waf-Action": {"challenge"}}, whose: "AWS"},
		{name: "vercel", status: 429, html: page("Vercel Security Checkpoint", "We're verifying your browser"), whose: "Vercel"},
		{name: "anubis", status: 200, html: page("Making sure you&#39;re not a bot!", ""), whose: "Anubis"},
		{name: "duckduckgo", status: 202, html: page("DuckDuckGo", `<div class="anomaly-modal__mask"></div>`), whose: "DuckDuckGo"},
		{name: "google", status: 429, html: page("Sorry", "Our systems have detected unusual traffic from your computer network."), whose: "Google"},
		{name: "captcha", status: 403, html: page("site", `<div class="g-recaptcha"></div>`), whose: "a captcha"},
		{name: "plain refusal", status: 403, html: page("403 Forbidden", "nginx"), whose: "a refusal"},
		{name: "unnamed", status: 200, html: page("Please wait", "Checking your browser before accessing the site."), whose: "a check"},

		{name: "article about them", status: 200, html: page("Just a moment... how challenge pages work", prose+"Checking your browser before accessing; cf-chl, _cf_chl_opt")},
		{name: "page behind cloudflare", status: 200, html: page("Shop", `<p>Short page.</p><script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>`)},
		{name: "form with a captcha", status: 200, html: page("Contact", `<form><div class="g-recaptcha"></div></form>`)},
		{name: "404", status: 404, html: page("Not found", "There is nothing here.")},
		{name: "login", status: 200, html: page("Log in", "Forbidden fruit")},
	} {
		if tt.header == nil {
			tt.header = http.Header{}
		}
		whose, got := challenge(&response{Status: tt.status, Header: tt.header, Media: "text/html", Body: []byte(tt.html)})
		if got != (tt.whose != "") || !strings.Contains(whose, tt.whose) {
			t.Errorf("%s: %v, %q; want %q", tt.name, got, whose, tt.whose)
		}
	}
	if _, yes := challenge(&response{Status: 403, Media: "application/json", Body: []byte(`{"title":"Just a moment..."}`)}); yes {
		t.Error("JSON is no challenge page")
	}
}

func TestRefreshTarget(t *testing.T) {
	for in, want := range map[string]string{
		"0;url=/a": "/a", "5; URL='/a b'": "/a b", "0.5 ; url = \"/a\" x": "/a", "3,url=/a": "/a", "1;/a": "/a", "0; url=": "",
		"6;url=/a": "", "-1;url=/a": "", "soon;url=/a": "", "0": "", "": "", "0;URLS": "URLS", "0;url=http://[": "", "NaN;url=/a": "",
	} {
		if got := refreshTarget(in); got != want {
			t.Errorf("refreshTarget(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzLook(f *testing.F) {
	for _, s := range []string{"", "<div id=root><script>", "<noscript><p>enable javascript", "<meta http-equiv=refresh content='0;url=x'>", "<title>&#x110000;</title>", "<svg><title>x", strings.Repeat("<b>", 1000)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &response{Status: 403, Header: http.Header{}, Media: "text/html", Body: b}
		needsJavaScript(r)
		challenge(r)
		metaRefresh(&answer{status: 200, header: http.Header{"Content-Type": {"text/html"}}, body: b})
		if l := lookAt(b); len(l.text) > 8*maxLookText || len(l.script) > 2*maxLookScript {
			t.Errorf("%d bytes of text, %d of script", len(l.text), len(l.script))
		}
	})
}

func FuzzCleanURL(f *testing.F) {
	for _, r := range ssrfRows {
		for _, u := range r.urls {
			f.Add(strings.ReplaceAll(u, "PORT", "80"))
		}
	}
	for _, s := range append(oddURLs, "http://a/%2e%2e/b", "http://a?b#c", "http://xn--a/", "http://a\x00b/") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := cleanURL(s)
		if err != nil {
			return
		}
		again, err := cleanURL(u.String())
		if err != nil || again.String() != u.String() {
			t.Errorf("cleanURL(%q) = %q, and of that %v, %v", s, u, again, err)
		}
		if u.User != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
			t.Errorf("cleanURL(%q) = %q", s, u)
		}
	})
}

func BenchmarkLook(b *testing.B) {
	page := []byte("<html><head><title>x</title></head><body>" + strings.Repeat("<div class=a><a href=x>link</a></div><script>var a = 1</script>", 2000) + "<p>" + prose)
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		challenge(&response{Status: 200, Header: http.Header{}, Media: "text/html", Body: page})
	}
}

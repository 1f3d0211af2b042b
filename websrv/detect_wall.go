package websrv

import "strings"

// wall is a page that stands before a site: a check for robots or a refusal.
type wall struct {
	name    string
	status  string   // statuses it comes with, "" for any
	title   []string // one of these in the title, lower case
	script  []string // or one of these in the scripts
	ids     []string // or one of these among the ids and classes
	text    []string // or one of these in the text, lower case
	andText []string // and, when not empty, one of these in the text
}

// walls are the known ones. A mark alone is not enough: the page must be short too, as an
// article about challenge pages is not. Cloudflare's challenge-platform script is on its
// ordinary pages also, and therefore no mark.
var walls = [...]wall{
	{name: "Cloudflare", title: []string{"just a moment...", "attention required! | cloudflare", "please wait... | cloudflare", "access denied | "},
		script: []string{"_cf_chl_opt", "/cdn-cgi/challenge-platform/h/b/orchestrate", "/cdn-cgi/challenge-platform/h/g/orchestrate"},
		ids:    []string{" cf-challenge", " cf-error-details", "challenge-form "}, text: []string{"checking if the site connection is secure", "performance & security by cloudflare"}},
	{name: "DataDome", script: []string{"captcha-delivery.com", "geo.captcha-delivery"}},
	{name: "HUMAN (PerimeterX)", title: []string{"access to this page has been denied"}, script: []string{"_pxAppId", "captcha.px-cdn.net", "px-captcha"}, ids: []string{"px-captcha"}},
	{name: "Akamai", title: []string{"access denied"}, andText: []string{"reference #", "errors.edgesuite.net"}},
	{name: "Akamai", script: []string{"bm-verify", "/_sec/verify", "sec-if-cpt-container"}, ids: []string{"sec-if-cpt-container"}},
	{name: "Imperva", script: []string{"_Incapsula_Resource"}, text: []string{"incapsula incident id", "request unsuccessful. incapsula"}},
	{name: "AWS WAF", script: []string{"AwsWafIntegration", "window.gokuProps", ".awswaf.com/"}},
	{name: "Sucuri", title: []string{"sucuri website firewall"}, script: []string{"sucuri_cloudproxy_js"}},
	{name: "Vercel", title: []string{"vercel security checkpoint"}},
	{name: "Kasada", script: []string{"KPSDK", "/149e9513-01fa-4fb0-aad4-566afd725d1b/"}},
	{name: "Anubis", title: []string{"making sure you're not a bot"}, ids: []string{"anubis_challenge"}, script: []string{"/.within.website/x/cmd/anubis"}},
	{name: "DDoS-Guard", title: []string{"ddos-guard"}, script: []string{"/.well-known/ddos-guard/"}},
	{name: "F5", text: []string{"the requested url was rejected. please consult with your administrator"}},
	{name: "DuckDuckGo", ids: []string{"anomaly-modal__"}, script: []string{"anomaly.js"}},
	{name: "Google", text: []string{"our systems have detected unusual traffic"}},
	{name: "Amazon", title: []string{"robot check"}, text: []string{"enter the characters you see below", "to discuss automated access to amazon data"}},
	{name: "a captcha", status: "403 405 418 429 503", script: []string{"recaptcha/api.js", "hcaptcha.com/1/api.js", "challenges.cloudflare.com/turnstile"}, ids: []string{" g-recaptcha", " h-captcha", " cf-turnstile"}},
	{name: "a check for robots", title: []string{"are you a robot", "are you human", "verify you are human", "human verification", "security check", "security verification",
		"checking your browser", "bot verification", "pardon our interruption", "one more step", "ddos protection by", "client challenge"}},
	{name: "a check for robots", text: []string{"checking your browser before accessing", "verify you are human by completing", "verifying you are human",
		"please verify you are a human", "press & hold to confirm you are", "prove you are not a robot", "confirm you are not a robot", "complete the security check to access"}},
	{name: "a refusal", status: "401 403 406 429 451 503", title: []string{"access denied", "403 forbidden", "forbidden", "blocked", "too many requests", "error 1020", "error 1015"}},
}

// wallHeaders name a challenge without a look at the page.
var wallHeaders = [...]struct{ header, value, name string }{
	{"Cf-Mitigated", "challenge", "Cloudflare"},
	{"X-Amzn-Waf-Action", "challenge", "AWS WAF"},
	{"X-Amzn-Waf-Action", "captcha", "AWS WAF"},
	{"X-Vercel-Mitigated", "challenge", "Vercel"},
	{"X-Vercel-Mitigated", "deny", "Vercel"},
}

// challenge reports whether an answer is a challenge page or a refusal that stands in
// front of the page, whatever its status, with a phrase for what it is.
func challenge(r *response) (what string, yes bool) {
	for _, w := range wallHeaders {
		if strings.EqualFold(strings.TrimSpace(r.Header.Get(w.header)), w.value) {
			return named(w.name), true
		}
	}
	if !isHTML(r.Media) && r.Media != "" {
		return "", false
	}
	l := lookAt(r.Body)
	if len([]rune(l.text)) > wallText {
		return "", false
	}
	for i := range walls {
		if walls[i].matches(l, r.Status) {
			return named(walls[i].name), true
		}
	}
	return "", false
}

func named(wall string) string {
	if strings.HasPrefix(wall, "a ") {
		return wall
	}
	return "a check for robots (" + wall + ")"
}

func (w *wall) matches(l *look, status int) bool {
	if w.status != "" && !strings.Contains(w.status, itoa3(status)) {
		return false
	}
	if len(w.andText) > 0 && !anyIn(l.text, w.andText) {
		return false
	}
	return anyIn(strings.ToLower(l.title), w.title) || anyIn(l.script, w.script) || anyIn(l.ids, w.ids) || anyIn(l.text, w.text)
}

// itoa3 is a status of three digits; another one is in no list.
func itoa3(n int) string {
	if n < 100 || n > 999 {
		return "-"
	}
	return string([]byte{byte('0' + n/100), byte('0' + n/10%10), byte('0' + n%10)})
}

func anyIn(s string, marks []string) bool {
	for _, m := range marks {
		if strings.Contains(s, m) {
			return true
		}
	}
	return false
}

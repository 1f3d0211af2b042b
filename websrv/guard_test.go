package websrv

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// publicAddresses are next to the special ranges, or far from them.
var publicAddresses = []string{
	"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "93.184.216.34", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
	"169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
	"223.255.255.255", "2606:4700:4700::1111", "2a00:1450:4001::1", "2001:200::1", "2620:fe::fe",
}

func TestSpecialAddresses(t *testing.T) {
	for _, r := range ssrfRows {
		for _, a := range r.addrs {
			if special(netip.MustParseAddr(a)) == "" {
				t.Errorf("%s counts as public", a)
			}
		}
	}
	for _, a := range publicAddresses {
		if why := special(netip.MustParseAddr(a)); why != "" {
			t.Errorf("%s counts as %s", a, why)
		}
	}
	if special(netip.MustParseAddr("fe80::1%eth0")) == "" {
		t.Error("a zone hides a link-local address")
	}
}

func TestMixedAddressesUseThePublic(t *testing.T) {
	w := newFakeWeb(t)
	s := w.host("mixed.example", htmlPage("ok"))
	w.resolve("mixed.example", "10.0.0.1", "93.184.216.77", "::1")
	w.connect("93.184.216.77:80", s.Listener.Addr().String())
	n := w.open(networkOptions{})
	if _, err := n.do(testContext(t, time.Minute), &request{URL: "http://mixed.example/"}); err != nil {
		t.Fatal(err)
	}
	w.noneInside(t)
	if yes, _ := n.private(context.Background(), "http://mixed.example/"); !yes {
		t.Error("a host with a private address may be sent to a remote provider")
	}
}

// rebindingAfter answers with a public address n times and a private one from then on.
func rebindingAfter(n int64, public, private string) func() []netip.Addr {
	var calls atomic.Int64
	return func() []netip.Addr {
		if calls.Add(1) <= n {
			return []netip.Addr{netip.MustParseAddr(public)}
		}
		return []netip.Addr{netip.MustParseAddr(private)}
	}
}

func TestRebindingGoClient(t *testing.T) {
	w := newFakeWeb(t)
	s := w.host("real.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Connection", "close") // each request looks the name up anew
	}))
	w.answer("rebind.example", rebindingAfter(1, "93.184.216.99", "127.0.0.1"))
	w.connect("93.184.216.99:80", s.Listener.Addr().String())
	n := w.open(networkOptions{NoCache: true})
	if _, err := n.do(testContext(t, time.Minute), &request{URL: "http://rebind.example/"}); err != nil {
		t.Fatalf("the public answer: %v", err)
	}
	if _, err := n.do(testContext(t, time.Minute), &request{URL: "http://rebind.example/"}); !errors.Is(err, errBlocked) {
		t.Errorf("after rebinding: got %v, want errBlocked", err)
	}
	w.noneInside(t)
}

// insideTargets are where a redirect must not lead.
var insideTargets = []string{"http://169.254.169.254/latest/", "http://127.0.0.1/", "http://localhost:8080/", "http://[::1]/", "//10.0.0.1/", "file:///etc/passwd",
	"gopher://127.0.0.1/", "http://2130706433/", "http://user:pw@192.168.0.1/", "http://loop.inside.example/", "http://[::ffff:a9fe:a9fe]/"}

func TestRedirectsInsideGoClient(t *testing.T) {
	for _, target := range insideTargets {
		for _, how := range []string{"301", "302", "307", "308", "refresh"} {
			w := insideWeb(t)
			w.host("redirect.example", redirector(target, how))
			n := w.open(networkOptions{})
			_, err := n.do(testContext(t, time.Minute), &request{URL: "http://redirect.example/", RefreshRedirect: true})
			if !errors.Is(err, errBlocked) && !errors.Is(err, errBadURL) {
				t.Errorf("%s to %s: got %v, want errBlocked or errBadURL", how, target, err)
			}
			w.noneInside(t)
		}
	}
}

func redirector(target, how string) http.HandlerFunc {
	status := map[string]int{"301": 301, "302": 302, "307": 307, "308": 308}[how]
	if status == 0 {
		return htmlPage(`<meta http-equiv="Refresh" content="0; URL='` + target + `'">`)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", target)
		w.WriteHeader(status)
	}
}

// TestKernelAddress has no dial hook: the real dialer, and a real server inside.
func TestKernelAddress(t *testing.T) {
	var hits atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer s.Close()
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	n, err := newNetwork(&networkOptions{HighPorts: true})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for _, host := range []string{"127.0.0.1", "localhost", "2130706433", "0x7f.1", "0.0.0.0", "[::ffff:127.0.0.1]"} {
		if _, err := n.do(testContext(t, time.Minute), &request{URL: "http://" + host + ":" + port + "/"}); !errors.Is(err, errBlocked) {
			t.Errorf("%s: got %v, want errBlocked", host, err)
		}
	}
	if hits.Load() != 0 {
		t.Errorf("the server inside was reached %d times", hits.Load())
	}
	open, err := newNetwork(&networkOptions{AllowPrivate: []string{"127.0.0.1:" + port}})
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if _, err := open.do(testContext(t, time.Minute), &request{URL: s.URL}); err != nil || hits.Load() != 1 {
		t.Errorf("the allowed address: %v, %d hits", err, hits.Load())
	}
}

func TestAllowPrivate(t *testing.T) {
	for _, tt := range []struct {
		name, entry, url string
		want             bool
	}{
		{"host and port", "127.0.0.1:8080", "http://127.0.0.1:8080/", true},
		{"another spelling", "127.0.0.1:8080", "http://2130706433:8080/", true},
		{"other port", "127.0.0.1:8080", "http://127.0.0.1:8081/", false},
		{"own port", "127.0.0.1:8080", "http://127.0.0.1/", false},
		{"host", "127.0.0.1", "http://127.0.0.1:3000/", true},
		{"name", "loop.inside.example", "http://loop.inside.example/", true},
		{"name, other name", "loop.inside.example", "http://localhost/", false},
		{"name opens no number", "loop.inside.example", "http://127.0.0.1/", false},
		{"range", "10.0.0.0/8", "http://10.1.2.3:9000/", true},
		{"range by name", "127.0.0.0/8", "http://loop.inside.example/", true},
		{"range, outside it", "10.0.0.0/8", "http://192.168.0.1/", false},
		{"six", "[::1]:80", "http://[::1]/", true},
		{"six without brackets", "::1", "http://[::1]/", true},
		{"mapped in range", "10.0.0.0/8", "http://mapped.inside.example/", true},
		{"name to nowhere", "any.inside.example", "http://any.inside.example/", false},
		{"public port", "public.example:8443", "https://public.example:8443/", true},
		{"public port, other host", "public.example:8443", "https://other.example:8443/", false},
	} {
		w := insideWeb(t)
		w.resolve("any.inside.example", "0.0.0.0")
		w.resolve("other.example", "93.184.216.35")
		n := w.open(networkOptions{AllowPrivate: []string{tt.entry}})
		_, err := n.do(testContext(t, time.Minute), &request{URL: tt.url})
		if got := errors.Is(err, errRefused); got != tt.want { // what was let through finds no server
			t.Errorf("%s: %s with %s allowed: got %v, allowed should be %v", tt.name, tt.url, tt.entry, err, tt.want)
		}
		if tt.want {
			if yes, _ := n.private(context.Background(), tt.url); !yes {
				t.Errorf("%s: %s may be sent to a remote provider", tt.name, tt.url)
			}
		}
	}
	for _, bad := range []string{"", "http://x/", "a b", "host:port", "host:70000", "10.0.0.0/33", "*"} {
		if _, err := newNetwork(&networkOptions{AllowPrivate: []string{bad}}); err == nil {
			t.Errorf("allow_private %q is accepted", bad)
		}
	}
}

func TestPorts(t *testing.T) {
	for _, tt := range []struct {
		url  string
		high bool
		want bool
	}{
		{"http://public.example/", false, true}, {"https://public.example/", false, true}, {"http://public.example:443/", false, true},
		{"http://public.example:8080/", false, false}, {"http://public.example:8080/", true, true}, {"http://public.example:1024/", true, true},
		{"http://public.example:22/", true, false}, {"http://public.example:25/", true, false}, {"http://public.example:1023/", true, false},
	} {
		n := insideWeb(t).open(networkOptions{HighPorts: tt.high})
		if _, err := n.do(testContext(t, time.Minute), &request{URL: tt.url}); errors.Is(err, errRefused) != tt.want {
			t.Errorf("%s, high ports %v: %v", tt.url, tt.high, err)
		}
	}
}

func TestDomains(t *testing.T) {
	for _, tt := range []struct {
		allow, deny, host string
		want              bool
	}{
		{"", "", "a.example", true},
		{"a.example", "", "a.example", true}, {"a.example", "", "x.a.example", true}, {"a.example", "", "ba.example", false}, {"a.example", "", "b.example", false},
		{"*.a.example", "", "a.example", false}, {"*.a.example", "", "x.a.example", true},
		{"", "a.example", "a.example", false}, {"", "a.example", "x.y.a.example", false}, {"", "*.a.example", "a.example", true}, {"", "A.EXAMPLE.", "a.example", false},
		{"a.example", "x.a.example", "x.a.example", false}, {"a.example", "x.a.example", "y.a.example", true},
	} {
		w := newFakeWeb(t)
		w.resolve(tt.host, "93.184.216.34")
		var o networkOptions
		if tt.allow != "" {
			o.AllowDomains = []string{tt.allow}
		}
		if tt.deny != "" {
			o.DenyDomains = []string{tt.deny}
		}
		n := w.open(o)
		for _, host := range []string{tt.host, strings.ToUpper(tt.host), tt.host + "."} {
			_, err := n.do(testContext(t, time.Minute), &request{URL: "http://" + host + "/"})
			if errors.Is(err, errRefused) != tt.want || !tt.want && !errors.Is(err, errBlocked) {
				t.Errorf("allow %q, deny %q: %s gave %v", tt.allow, tt.deny, host, err)
			}
		}
	}
}

func TestRedirectToDeniedDomain(t *testing.T) {
	w := newFakeWeb(t)
	w.host("from.example", redirector("http://to.example/", "302"))
	w.host("to.example", htmlPage("x"))
	n := w.open(networkOptions{DenyDomains: []string{"to.example"}})
	if _, err := n.do(testContext(t, time.Minute), &request{URL: "http://from.example/"}); !errors.Is(err, errBlocked) {
		t.Errorf("got %v, want errBlocked", err)
	}
}

func TestPrivate(t *testing.T) {
	w := insideWeb(t)
	n := w.open(networkOptions{AllowPrivate: []string{"93.184.0.0/16", "listed.example"}, DenyDomains: []string{"denied.example"}})
	w.resolve("far.example", "8.8.8.8")
	w.resolve("far.corp", "8.8.8.8")
	w.resolve("intranet", "8.8.8.8")
	w.resolve("listed.example", "8.8.8.8")
	w.resolve("denied.example", "8.8.8.8")
	for u, want := range map[string]bool{
		"https://far.example/": false, "https://far.example:8443/x?y": false, "http://8.8.8.8/": false, "http://[2606:4700:4700::1111]/": false,
		"https://user:pw@far.example/": true, "https://user@far.example/": true, "https://far.corp/": true, "https://intranet/": true, "https://unknown.example/": true,
		"https://public.example/": true /* in the listed range */, "https://listed.example/": true, "https://denied.example/": true, "https://loop.inside.example/": true,
		"https://printer.local/": true, "https://x.home.arpa/": true, "https://x.onion/": true, "not a url": true, "": true,
	} {
		yes, reason := n.private(context.Background(), u)
		if yes != want || yes != (reason != "") {
			t.Errorf("private(%s) = %v, %q; want %v", u, yes, reason, want)
		}
		if strings.Contains(reason, "pw") {
			t.Errorf("the reason for %s holds its password: %s", u, reason)
		}
	}
}

func TestCleanURL(t *testing.T) {
	for in, want := range map[string]string{
		"HTTP://Example.COM":            "http://example.com/",
		"https://example.com:443/a?b#c": "https://example.com/a?b#c",
		"http://example.com:0080/":      "http://example.com/",
		"http://user:pw@example.com/":   "http://example.com/",
		"http://bücher.example/":        "http://xn--bcher-kva.example/",
		"http://example.com./":          "http://example.com/",
		"http://0x7f.1:8080/":           "http://127.0.0.1:8080/",
		"http://[2001:DB8::0001]:80/":   "http://[2001:db8::1]/",
		"http://under_score.example/":   "http://under_score.example/",
		"http://a--b.example/":          "http://a--b.example/",
		"http://r3---sn.example/":       "http://r3---sn.example/",
		" https://example.com/ ":        "https://example.com/",
		"https://example.com/%E2%82%AC": "https://example.com/%E2%82%AC",
		"https://example.com?q=1":       "https://example.com/?q=1",
	} {
		u, err := cleanURL(in)
		if err != nil || u.String() != want {
			t.Errorf("cleanURL(%q) = %v, %v; want %s", in, u, err, want)
		}
	}
	for _, in := range []string{"http://a..b/", "http://.a/", "http://a b/", "http://[::1/", "http://[fe80::1%25a]/", "http://" + strings.Repeat("a.", 200) + "b/", "http://x/" + strings.Repeat("a", maxURLBytes), "example.com", "/path", "http://a:b@"} {
		if u, err := cleanURL(in); !errors.Is(err, errBadURL) {
			t.Errorf("cleanURL(%.60q) = %v, %v; want errBadURL", in, u, err)
		}
	}
}

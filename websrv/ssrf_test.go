package websrv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// ssrfRow is a row of the table of what must not be reached. TestSSRFGo has a test for each
// by the Go client, and TestSSRFChromium one by the local Chromium.
type ssrfRow struct {
	name string
	// addrs are of a range: its first, its last and the ones in it that clouds use. Each is
	// tried as a number and behind a name.
	addrs []string
	// urls are spellings. PORT becomes a port that a server listens on, where the client may
	// go to one.
	urls []string
	// noBrowser says that Chromium itself makes no request of it.
	noBrowser bool
}

var ssrfRows = []ssrfRow{
	{name: "127.0.0.0/8", addrs: []string{"127.0.0.0", "127.0.0.1", "127.255.255.255"}},
	{name: "0.0.0.0/8", addrs: []string{"0.0.0.0", "0.0.0.1", "0.255.255.255"}},
	{name: "10.0.0.0/8", addrs: []string{"10.0.0.0", "10.0.0.1", "10.255.255.255"}},
	{name: "172.16.0.0/12", addrs: []string{"172.16.0.0", "172.31.255.255"}},
	{name: "192.168.0.0/16", addrs: []string{"192.168.0.0", "192.168.255.255"}},
	{name: "169.254.0.0/16", addrs: []string{"169.254.0.0", "169.254.169.254", "169.254.255.255"}},
	{name: "100.64.0.0/10", addrs: []string{"100.64.0.0", "100.100.100.200", "100.127.255.255"}},
	{name: "192.0.0.0/24", addrs: []string{"192.0.0.0", "192.0.0.192", "192.0.0.255"}},
	{name: "192.0.2.0/24", addrs: []string{"192.0.2.0", "192.0.2.255"}},
	{name: "192.88.99.0/24", addrs: []string{"192.88.99.0", "192.88.99.255"}},
	{name: "198.18.0.0/15", addrs: []string{"198.18.0.0", "198.19.255.255"}},
	{name: "198.51.100.0/24", addrs: []string{"198.51.100.0", "198.51.100.255"}},
	{name: "203.0.113.0/24", addrs: []string{"203.0.113.0", "203.0.113.255"}},
	{name: "224.0.0.0/4", addrs: []string{"224.0.0.0", "239.255.255.255"}},
	{name: "240.0.0.0/4", addrs: []string{"240.0.0.0", "255.255.255.254"}},
	{name: "255.255.255.255", addrs: []string{"255.255.255.255"}},
	{name: "::", addrs: []string{"::"}},
	{name: "::1", addrs: []string{"::1"}},
	{name: "::/96", addrs: []string{"::127.0.0.1", "::93.184.216.34"}},
	{name: "fc00::/7", addrs: []string{"fc00::", "fd00:ec2::254", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}},
	{name: "fe80::/10", addrs: []string{"fe80::", "fe80::1", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}},
	{name: "fec0::/10", addrs: []string{"fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}},
	{name: "ff00::/8", addrs: []string{"ff00::", "ff02::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}},
	{name: "2001:db8::/32", addrs: []string{"2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"}},
	{name: "3fff::/20", addrs: []string{"3fff::1"}},
	{name: "100::/64", addrs: []string{"100::1"}},
	{name: "5f00::/16", addrs: []string{"5f00::1"}},
	{name: "::ffff:0:0/96", addrs: []string{"::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:10.0.0.1"}},
	{name: "::ffff:0:0:0/96", addrs: []string{"::ffff:0:127.0.0.1"}},
	{name: "64:ff9b::/96", addrs: []string{"64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::5db8:d822"}},
	{name: "64:ff9b:1::/48", addrs: []string{"64:ff9b:1::7f00:1", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"}},
	{name: "2002::/16", addrs: []string{"2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}},
	{name: "2001::/32", addrs: []string{"2001::1", "2001:0:4136:e378::1", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"}},
	{name: "2001::/23", addrs: []string{"2001:10::1", "2001:20::1", "2001:1ff::1"}},

	{name: "2130706433", urls: []string{"http://2130706433:PORT/", "http://0:PORT/", "http://2852039166:PORT/"}},
	{name: "0177.0.0.1", urls: []string{"http://0177.0.0.1:PORT/", "http://017700000001:PORT/"}},
	{name: "0x7f.1", urls: []string{"http://0x7f.1:PORT/", "http://0x7f000001:PORT/", "http://0xa9fea9fe:PORT/"}},
	{name: "127.1", urls: []string{"http://127.1:PORT/", "http://127.0.1:PORT/", "http://127.0.0.1.:PORT/"}},
	{name: "[::ffff:a9fe:a9fe]", urls: []string{"http://[::ffff:a9fe:a9fe]:PORT/", "http://[0:0:0:0:0:ffff:7f00:1]:PORT/"}},
	{name: "localhost.", urls: []string{"http://localhost.:PORT/", "http://localhost:PORT/", "http://LOCALHOST:PORT/"}},
	{name: "a name of loopback", urls: []string{"http://loop.inside.example:PORT/", "http://sub.localhost:PORT/", "http://six.inside.example:PORT/", "http://mapped.inside.example:PORT/", "http://metadata.inside.example:PORT/"}},
	{name: "http://public@127.0.0.1/", urls: []string{"http://public@127.0.0.1:PORT/", "http://93.184.216.34@127.0.0.1:PORT/", "http://one.one.one.one:80@127.0.0.1:PORT/"}},
	{name: "0.0.0.0", urls: []string{"http://0.0.0.0:PORT/"}},
	{name: "[::]", urls: []string{"http://[::]:PORT/", "http://[::1]:PORT/"}},
	{name: "zone ids", urls: []string{"http://[fe80::1%25eth0]:PORT/", "http://[::1%25lo]:PORT/"}, noBrowser: true},
	{name: "full-width digits", urls: []string{"http://１２７.0.0.1:PORT/", "http://127。0。0。1:PORT/", "http://①②⑦.0.0.1:PORT/"}},
	{name: "schemes", urls: []string{"file:///etc/passwd", "gopher://127.0.0.1:PORT/_INFO", "ftp://127.0.0.1:PORT/", "dict://127.0.0.1:PORT/stats", "data:text/html,hi", "javascript:alert(1)", "about:blank",
		"view-source:http://127.0.0.1:PORT/", "blob:http://127.0.0.1:PORT/x", "chrome://version"}, noBrowser: true},
	{name: "ports", urls: []string{"http://public.example:1023/", "http://public.example:81/"}},
}

// insideWeb resolves the names of the rows, and its dial fails a test that lets a
// connection inside through.
func insideWeb(t testing.TB) *fakeWeb {
	w := newFakeWeb(t)
	w.resolve("localhost", "127.0.0.1", "::1")
	w.resolve("sub.localhost", "127.0.0.1")
	w.resolve("metadata.inside.example", "169.254.169.254")
	w.resolve("loop.inside.example", "127.0.0.1")
	w.resolve("six.inside.example", "fd00::1")
	w.resolve("mapped.inside.example", "::ffff:10.0.0.1")
	w.resolve("public.example", "93.184.216.34")
	return w
}

func (w *fakeWeb) noneInside(t *testing.T) {
	t.Helper()
	for _, to := range w.connections() {
		if a := netip.MustParseAddrPort(to); special(a.Addr()) != "" {
			t.Errorf("connected to %s", to)
		}
	}
}

// row gives a row's URLs, with the names of its addresses made. Of a range few are enough for
// a browser, which opens a frame for each.
func (w *fakeWeb) row(r *ssrfRow, port string, few bool) []string {
	var urls []string
	for i, a := range r.addrs {
		host := a
		if strings.Contains(a, ":") {
			host = "[" + a + "]"
		}
		if i == 0 || !few {
			urls = append(urls, "http://"+host+":"+port+"/")
		}
		addr := netip.MustParseAddr(a)
		if special(addr.Unmap()) == "" || few && i != len(r.addrs)-1 { // a name's mapped public address is dialled as IPv4
			continue
		}
		name := fmt.Sprintf("a%d.%s.inside.example", i, strings.Trim(strings.NewReplacer(":", "-", ".", "-", "/", "-").Replace(r.name), "-"))
		w.resolve(name, a)
		urls = append(urls, "http://"+name+":"+port+"/")
		if !few {
			urls = append(urls, "https://"+name+":"+port+"/")
		}
	}
	for _, u := range r.urls {
		urls = append(urls, strings.ReplaceAll(u, "PORT", port))
	}
	return urls
}

func TestSSRFGo(t *testing.T) {
	for _, r := range ssrfRows {
		t.Run("security row 16: "+r.name, func(t *testing.T) {
			tr := newTrap(t)
			w := insideWeb(t)
			n := w.open(networkOptions{HighPorts: true})
			for _, port := range []string{"80", tr.port} {
				for _, u := range w.row(&r, port, false) {
					resp, err := n.do(testContext(t, time.Minute), &request{URL: u})
					if err == nil {
						t.Fatalf("%s answered %d", u, resp.Status)
					}
					if !errors.Is(err, errBlocked) && !errors.Is(err, errBadURL) {
						t.Errorf("%s: got %v, want errBlocked or errBadURL", u, err)
					}
					if yes, _ := n.private(context.Background(), u); !yes && r.name != "ports" {
						t.Errorf("%s may be sent to a remote provider", u)
					}
				}
			}
			if to := w.connections(); len(to) > 0 || tr.hits.Load() > 0 {
				t.Errorf("connected to %v, and %d times inside", to, tr.hits.Load())
			}
		})
	}
}

// TestSSRFChromium has one page ask for all rows in every way that a page has, and then looks,
// row by row, that the guarded proxy was asked and nothing else was.
func TestSSRFChromium(t *testing.T) {
	needChromium(t)
	t.Parallel()
	b := insideBrowser.open(t)
	w, n := b.w, b.n
	traps, rowURLs := make([]*trap, len(ssrfRows)), make([][]string, len(ssrfRows))
	var urls, frames []string
	for i := range ssrfRows {
		traps[i] = newTrap(t)
		rowURLs[i] = w.row(&ssrfRows[i], traps[i].port, true)
		urls, frames = append(urls, rowURLs[i]...), append(frames, rowURLs[i][len(rowURLs[i])-1])
	}
	control := newTrap(t) // a host that may be reached, so that the page is known to try
	w.route("control.example", control.port, "127.0.0.1:"+control.port)
	w.host("attack.example", attack(urls, append(frames, "https://loop.inside.example:"+traps[0].port+"/", "http://control.example:"+control.port+"/")))
	r, err := n.render(testContext(t, browserTime), "http://attack.example/", renderOptions{WaitFor: "#done", Timeout: browserTime})
	if err != nil {
		t.Fatal(err)
	}
	if r.TimedOut {
		t.Error("the page did not come to its end")
	}
	if control.hits.Load() < 8 {
		t.Errorf("only %d connections where they may go: the page did not try every way", control.hits.Load())
	}
	n.renderer.mu.Lock()
	guarded := n.renderer.run.proxy
	n.renderer.mu.Unlock()
	for i := range ssrfRows {
		t.Run(ssrfRows[i].name, func(t *testing.T) {
			if traps[i].hits.Load() != 0 {
				t.Errorf("%d connections inside", traps[i].hits.Load())
			}
			asked := 0
			for _, raw := range rowURLs[i] {
				if u, err := cleanURL(raw); err == nil && guarded.refusal(u) != nil {
					asked++
				}
			}
			if (asked == 0) != ssrfRows[i].noBrowser {
				t.Errorf("the proxy refused %d of %q", asked, rowURLs[i])
			}
		})
	}
	w.noneInside(t)
}

// oddURLs are no addresses at all, or hide one.
var oddURLs = []string{"http://\t127.0.0.1/", "http://127.0.0.1\\@public.example/", "http:127.0.0.1/", "http:///127.0.0.1/", "http://%31%32%37.0.0.1/", "//127.0.0.1/", "127.0.0.1",
	"ws://127.0.0.1/", "", " ", "http://", "https://", "http://:80/", "http://256.256.256.256/", "http://1.2.3.4.5/", "http://127.0.0.1:99999/", "http://public.example:0/"}

func TestOddURLsGoClient(t *testing.T) {
	w := insideWeb(t)
	n := w.open(networkOptions{})
	for _, u := range oddURLs {
		if _, err := n.do(testContext(t, time.Minute), &request{URL: u}); !errors.Is(err, errBlocked) && !errors.Is(err, errBadURL) {
			t.Errorf("%q: got %v, want errBlocked or errBadURL", u, err)
		}
		if yes, _ := n.private(context.Background(), u); !yes {
			t.Errorf("%q may be sent to a remote provider", u)
		}
	}
	if to := w.connections(); len(to) > 0 {
		t.Errorf("connected to %v", to)
	}
}

func TestOddURLsChromium(t *testing.T) {
	n := insideWeb(t).open(networkOptions{Chromium: chromiumOff})
	for _, u := range append([]string{"file:///etc/passwd", "chrome://version", "data:text/html,hi", "view-source:http://127.0.0.1/", "http://[::1%25lo]/"}, oddURLs...) {
		// Refused before there is a browser: with one switched off the error would be errNoBrowser.
		if _, err := n.render(testContext(t, time.Minute), u, renderOptions{}); !errors.Is(err, errBlocked) && !errors.Is(err, errBadURL) {
			t.Errorf("%q: got %v, want errBlocked or errBadURL", u, err)
		}
	}
}

// TestNoOtherProxy checks that no proxy of the environment is used: it would connect where the
// guard cannot see the address.
func TestNoOtherProxy(t *testing.T) {
	n := newFakeWeb(t).open(networkOptions{Client: &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment}}})
	for _, tr := range []*http.Transport{n.plain, n.trusted, n.trusted4} {
		if tr.Proxy != nil {
			t.Error("a transport uses a proxy")
		}
	}
}

// TestCrawlDoesNotReachInside crawls a site whose robots.txt and links lead inside.
func TestCrawlDoesNotReachInside(t *testing.T) {
	var hits atomic.Int64
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer inside.Close()
	f := newFakes(t)
	f.web.host("site.net", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			http.Redirect(w, r, inside.URL+"/robots.txt", http.StatusFound)
		case "/in":
			http.Redirect(w, r, inside.URL+"/", http.StatusFound)
		default:
			htmlPage(`<base href="`+inside.URL+`/x/"><a href="http://site.net/in">in</a> <a href="`+inside.URL+`/a">a</a> <a href="b">b</a> <iframe src="c"></iframe>`+lampPage)(w, r)
		}
	}))
	s := f.server(t, f.only(Keys{}, idLocal))
	reply, err := crawlOf(testContext(t, time.Minute), s, `{"url":"http://site.net/"}`)
	if hits.Load() > 0 {
		t.Errorf("the server inside was asked %d times", hits.Load())
	}
	if err != nil && !errors.Is(err, ErrTargetFailed) {
		t.Errorf("%+v, %v", reply, err)
	}
	f.web.noneInside(t)
}

// TestNoArgumentOpens checks that what is private is opened by the configuration alone: no
// tool has an argument for it.
func TestNoArgumentOpens(t *testing.T) {
	inside := newTrap(t)
	f := newFakes(t)
	s := f.server(t, f.options(Keys{}))
	for _, tool := range []string{toolExtract, toolCrawl, toolSitemap, toolScreenshot} {
		for _, extra := range []string{"", `,"allowPrivate":["127.0.0.1:` + inside.port + `"]`, `,"allow_private":true`} {
			args := `{"url":"http://127.0.0.1:` + inside.port + `/"` + extra + `}`
			_, err := s.Call(testContext(t, time.Minute), tool, json.RawMessage(args), nil)
			if extra != "" && !errors.Is(err, ErrInvalid) || err == nil {
				t.Errorf("%s %s: %v", tool, args, err)
			}
		}
	}
	if inside.hits.Load() > 0 {
		t.Errorf("%d connections inside", inside.hits.Load())
	}
}

package websrv

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// trap is a server inside, over TCP and UDP, that must not be reached.
type trap struct {
	port string
	hits atomic.Int64
}

func newTrap(t *testing.T) *trap {
	tr := &trap{}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tr.hits.Add(1)
		w.Header().Set("Access-Control-Allow-Origin", "*")
		fmt.Fprint(w, "<title>inside</title><p>inside")
	}))
	s.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			tr.hits.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	_, tr.port, _ = net.SplitHostPort(s.Listener.Addr().String())
	pc, err := net.ListenPacket("udp", "127.0.0.1:"+tr.port)
	if err != nil { // the port is another program's
		return newTrap(t)
	}
	t.Cleanup(func() { pc.Close() })
	go func() {
		buf := make([]byte, 2048)
		for {
			if _, _, err := pc.ReadFrom(buf); err != nil {
				return
			}
			tr.hits.Add(1)
		}
	}()
	return tr
}

// everyWay fetches URLs, asks for each of a second list in every way that a page has, and says
// when all have been answered or given up.
const everyWay = `<!doctype html><title>attack</title><body><script>
const fetched = %s || [], urls = %s;
const limit = p => Promise.race([p, new Promise(r => setTimeout(r, 700))]);
const loaded = el => new Promise(r => { el.onload = el.onerror = r; document.body.append(el); });
const make = (tag, attrs) => Object.assign(document.createElement(tag), attrs);
const ways = [
  u => fetch(u, {mode: "no-cors"}), u => loaded(make("img", {src: u})), u => loaded(make("script", {src: u})), u => loaded(make("link", {rel: "stylesheet", href: u})),
  u => loaded(make("iframe", {src: u})), u => loaded(make("object", {data: u, type: "application/pdf"})), u => loaded(make("embed", {src: u, type: "application/pdf"})),
  u => loaded(make("video", {src: u})), u => new Promise(r => { const e = new EventSource(u); e.onerror = () => { e.close(); r(); }; }),
  u => new Promise(r => { const w = new WebSocket(u.replace(/^http/, "ws")); w.onclose = w.onerror = r; }),
  u => navigator.sendBeacon(u, "x"), u => loaded(make("link", {rel: "prefetch", href: u})), u => loaded(make("link", {rel: "preconnect", href: u})),
  u => new Worker(URL.createObjectURL(new Blob(["fetch(" + JSON.stringify(u) + ", {mode: 'no-cors'})"]))),
  u => { const f = make("form", {action: u, method: "post", target: "sink"}); document.body.append(f); f.submit(); }, u => window.open(u),
];
document.body.append(make("iframe", {name: "sink"}));
(async () => {
  await Promise.allSettled(fetched.map(u => fetch(u, {mode: "no-cors"}))); // each for as long as it takes
  for (let i = 0; i < ways.length; i += 4)
    await Promise.allSettled(ways.slice(i, i + 4).flatMap(w => urls.map(u => limit((async () => w(u))()))));
  const rtc = async u => {
    const host = u.split("/")[2];
    const pc = new RTCPeerConnection({iceServers: [{urls: ["stun:" + host]}, {urls: ["turn:" + host + "?transport=tcp"], username: "a", credential: "b"}]});
    pc.createDataChannel("x");
    await pc.setLocalDescription(await pc.createOffer());
    await new Promise(r => { pc.onicegatheringstatechange = () => pc.iceGatheringState == "complete" && r(); });
  };
  await Promise.race([Promise.allSettled(urls.slice(0, 3).map(rtc)), new Promise(r => setTimeout(r, 2500))]);
  document.body.append(make("p", {id: "done", textContent: "done"}));
})();
</script>`

// attack serves everyWay for two lists of URLs.
func attack(fetched, urls []string) http.HandlerFunc {
	first, _ := json.Marshal(fetched)
	second, _ := json.Marshal(urls)
	return htmlPage(fmt.Sprintf(everyWay, first, second))
}

func TestRedirectsInsideChromium(t *testing.T) {
	needChromium(t)
	t.Parallel()
	b := insideBrowser.open(t)
	tr, w, n := newTrap(t), b.w, b.n
	w.host("redirect.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		redirector(r.URL.Query().Get("to"), r.URL.Query().Get("how"))(rw, r)
	}))
	targets := append([]string{"http://127.0.0.1:" + tr.port + "/", "file:///etc/passwd", "https://localhost:" + tr.port + "/", "http://169.254.169.254/"}, insideTargets...)
	type redirect struct{ url, how string }
	var urls []string
	var pages []redirect // loaded as pages of their own; others are frames and more of the page below
	for i, to := range targets {
		for _, how := range []string{"302", "307", "refresh"} {
			u := "http://redirect.example/?how=" + how + "&to=" + strings.ReplaceAll(to, "&", "%26")
			if i <= 1 || how == "302" {
				urls = append(urls, u)
			}
			if i <= 1 || i <= 5 && how == "302" {
				pages = append(pages, redirect{u, how})
			}
		}
	}
	b.sideBySide(len(pages), func(i int) {
		u, how := pages[i].url, pages[i].how
		r, err := n.render(testContext(t, 2*browserTime), u, renderOptions{Timeout: browserTime, Settle: 100 * time.Millisecond})
		switch {
		case err == nil && how == "refresh" && strings.HasPrefix(r.FinalURL, "http://redirect.example/"): // a page may not even try file:
		case err == nil:
			t.Errorf("%s was rendered: %s %s", u, r.FinalURL, r.HTML)
		case !errors.Is(err, errBlocked) && !errors.Is(err, errBadURL) && !errors.Is(err, errBrowser):
			t.Errorf("%s: got %v, want errBlocked", u, err)
		}
	})
	w.host("redirects.example", attack(nil, urls))
	if _, err := n.render(testContext(t, browserTime), "http://redirects.example/", renderOptions{WaitFor: "#done", Timeout: browserTime}); err != nil {
		t.Fatal(err)
	}
	if tr.hits.Load() != 0 {
		t.Errorf("%d connections inside", tr.hits.Load())
	}
	w.noneInside(t)
}

func TestRebindingChromium(t *testing.T) {
	needChromium(t)
	t.Parallel()
	b := insideBrowser.open(t)
	w, n := b.w, b.n
	var hits atomic.Int64
	s := w.host("real.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		rw.Header().Set("Connection", "close")
		htmlPage(`<script>let n = 0; setTimeout(async () => { let out = ""; for (let i = 0; i < 3; i++) try { await fetch("/x" + i); out += "in " } catch { out += "out " }
			document.body.append(Object.assign(document.createElement("p"), {id: "done", textContent: out})) }, 50)</script><body>page`)(rw, r)
	}))
	w.answer("rebind.example", rebindingAfter(2, "93.184.216.99", "127.0.0.1")) // the check before the load looks it up, too
	w.connect("93.184.216.99:80", s.Listener.Addr().String())
	r, err := n.render(testContext(t, browserTime), "http://rebind.example/", renderOptions{WaitFor: "#done", Timeout: browserTime})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(r.HTML), "out out out") || hits.Load() != 1 {
		t.Errorf("after rebinding the page fetched from inside (%d requests): %s", hits.Load(), r.HTML)
	}
	w.noneInside(t)
}

func TestAllowPrivateChromium(t *testing.T) {
	needChromium(t)
	t.Parallel()
	open, shut := newTrap(t), newTrap(t)
	n, err := newNetwork(&networkOptions{Chromium: os.Getenv("ASTER_TEST_CHROME"), AllowPrivate: []string{"127.0.0.1:" + open.port}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	r, err := n.render(testContext(t, browserTime), "http://127.0.0.1:"+open.port+"/", renderOptions{Timeout: browserTime})
	if err != nil || r.Title != "inside" {
		t.Errorf("the allowed address: %v, %+v", err, r)
	}
	if _, err := n.render(testContext(t, browserTime), "http://127.0.0.1:"+shut.port+"/", renderOptions{Timeout: browserTime}); !errors.Is(err, errBlocked) {
		t.Errorf("another port: got %v, want errBlocked", err)
	}
	if shut.hits.Load() != 0 {
		t.Error("another port was reached")
	}
}

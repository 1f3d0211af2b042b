package websrv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// browserTime is generous: a busy machine takes long to start Chromium.
const browserTime = 2 * time.Minute

// needChromium skips a test where no Chromium is installed, or fails it where
// ASTER_TEST_BROWSER is "required".
func needChromium(t testing.TB) {
	t.Helper()
	if _, err := findChromium(os.Getenv("ASTER_TEST_CHROME")); err != nil {
		if os.Getenv("ASTER_TEST_BROWSER") == "required" {
			t.Fatal("no Chromium found, and ASTER_TEST_BROWSER=required: install the package chromium")
		}
		t.Skip("no Chromium found: install the package chromium")
	}
	if testing.Short() {
		t.Skip("starts a browser")
	}
}

// pages are what TestChromium loads and TestScreenshot draws.
var pages = map[string]http.HandlerFunc{
	"shell.example": htmlPage(`<title>Shell</title><div id=root></div><script>
		setTimeout(() => document.getElementById("root").textContent = "made by a script", 200)</script>`),
	"late.example": htmlPage(`<title>Late</title><script>
		setTimeout(() => document.body.append(Object.assign(document.createElement("p"), {id: "late", textContent: "late text"})), 1500)</script><body>`),
	"shadow.example": htmlPage(`<title>Shadow</title><x-card><b slot=name>the name</b>loose text</x-card><script>
		customElements.define("x-card", class extends HTMLElement { connectedCallback() {
			const s = this.attachShadow({mode: "open"}); s.innerHTML = "<style>p{}</style><p>before <slot name=name></slot></p><x-inner></x-inner><slot></slot>";
			s.querySelector("x-inner").attachShadow({mode: "open"}).innerHTML = "<i>inner text</i>" } })</script>`),
	"hostile.example": htmlPage(`<title>Genuine</title><p>genuine text</p><script>
		document.querySelector = () => document.body; JSON.stringify = () => "fake"; Element.prototype.getBoundingClientRect = () => ({x: 0, y: 0, width: 1e9, height: 1e9});
		Object.defineProperty(document, "title", {get: () => "fake"}); Object.defineProperty(Element.prototype, "outerHTML", {get: () => "fake"});
		Promise.prototype.then = () => {}; window.setTimeout = () => {}</script>`),
	"dialog.example":   htmlPage(`<title>Dialog</title><script>alert("x"); document.title = confirm("y") + " " + prompt("z"); onbeforeunload = e => { e.preventDefault(); return "stay" }</script>`),
	"hang.example":     htmlPage(`<title>Hang</title><script>for (;;);</script>`),
	"hanglate.example": htmlPage(`<title>Hang</title><script>setTimeout(() => { for (;;); }, 50)</script>`),
	"big.example":      htmlPage(`<title>Big</title><body><script>document.body.textContent = "x".repeat(3e6)</script>`),
	"moved.example": func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://shell.example/#part", http.StatusFound)
	},
	"walks.example": htmlPage(`<title>Walks</title><script>setTimeout(() => location.href = "http://shell.example/", 10)</script>`),
	"missing.example": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "<title>Missing</title>nothing here")
	},
	"file.example": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Disposition", "attachment; filename=x.bin")
		fmt.Fprint(w, "data")
	},
	"cookie.example": func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "id", Value: "1", MaxAge: 1000})
		htmlPage("<title>"+r.Header.Get("Cookie")+"</title><script>document.title += localStorage.x || ''; localStorage.x = 1</script>")(w, r)
	},
	"agent.example":  func(w http.ResponseWriter, r *http.Request) { htmlPage("<title>"+r.UserAgent()+"</title>")(w, r) },
	"popup.example":  htmlPage(`<title>Popup</title><script>document.title = String(window.open("http://shell.example/"))</script>`),
	"crash.example":  htmlPage(`<title>Crash</title><script>setTimeout(() => { const a = []; for (;;) a.push(new Array(1.5e7).fill(1.1)) }, 10)</script>`),
	"colour.example": htmlPage(`<title>Colours</title><style>body{margin:0;background:#00f;height:3000px}#red{position:absolute;top:2000px;left:100px;width:200px;height:100px;background:#f00}#none{display:none}</style><div id=red></div><div id=none></div>`),
	"tall.example":   htmlPage(`<title>Tall</title><style>body{margin:0;height:40000px}</style>`),
	"noise.example": htmlPage(`<title>Noise</title><style>body{margin:0}</style><canvas width=1200 height=760></canvas><script>
		const c = document.querySelector("canvas").getContext("2d"), d = c.createImageData(1200, 760); let s = 1;
		for (let i = 0; i < d.data.length; i++) d.data[i] = i % 4 == 3 ? 255 : (s = Math.imul(s, 1103515245) + 12345 | 0) >>> 16 & 255; c.putImageData(d, 0, 0)</script>`),
	"lazy.example": htmlPage(`<title>Lazy</title><style>body{margin:0}div{height:2500px}</style><div></div><img loading=lazy src=/red.svg width=100 height=100>`),
}

// pageWeb serves pages.
func pageWeb(t testing.TB) *fakeWeb {
	w := newFakeWeb(t)
	for name, h := range pages {
		w.host(name, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/favicon.ico" {
				rw.WriteHeader(http.StatusNotFound)
				return
			}
			if r.URL.Path == "/red.svg" {
				rw.Header().Set("Content-Type", "image/svg+xml")
				fmt.Fprint(rw, `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"><rect width="100" height="100" fill="#f00"/></svg>`)
				return
			}
			h(rw, r)
		}))
	}
	return w
}

// openPages is a browser of a test's own for the pages.
func openPages(t *testing.T, o networkOptions) (*fakeWeb, *network) {
	needChromium(t)
	w := pageWeb(t)
	return w, w.open(o)
}

// chromiumCases are pages and what is read of them, those that wait longest first.
var chromiumCases = []struct {
	name, host string
	o          renderOptions
	title      string
	status     int
	has        string
	final      string
	timedOut   bool
	err        error
	// slow: a page that was not there yet when its time ended has no endless script yet.
	slow bool
	// patient: the page has the time of several pages, as long as these take on this machine.
	patient bool
}{
	{name: "a condition that is not met", host: "shell.example", o: renderOptions{WaitFor: "#never"}, patient: true, title: "Shell", status: 200, timedOut: true},
	{name: "endless script", host: "hang.example", o: renderOptions{Timeout: 2 * time.Second}, err: errTimeout, slow: true},
	{name: "endless script later", host: "hanglate.example", o: renderOptions{Timeout: 2 * time.Second}, err: errTimeout, slow: true},
	{name: "settle", host: "late.example", o: renderOptions{Settle: 4 * time.Second}, title: "Late", status: 200, has: "late text"},
	{name: "all the memory", host: "crash.example", o: renderOptions{WaitFor: "#never"}, err: errBrowser},
	{name: "script", host: "shell.example", title: "Shell", status: 200, has: "made by a script"},
	{name: "selector", host: "late.example", o: renderOptions{WaitFor: "#late"}, title: "Late", status: 200, has: "late text"},
	{name: "shadow trees", host: "shadow.example", title: "Shadow", status: 200, has: "<p>before <b slot=\"name\">the name</b></p><x-inner><i>inner text</i></x-inner>loose text"},
	{name: "tampered builtins", host: "hostile.example", o: renderOptions{WaitFor: "p"}, title: "Genuine", status: 200, has: "genuine text"},
	{name: "dialogs", host: "dialog.example", title: "false null", status: 200},
	{name: "redirect", host: "moved.example", title: "Shell", status: 200, has: "made by a script", final: "http://shell.example/#part"},
	{name: "page that goes on", host: "walks.example", o: renderOptions{WaitFor: "#root", Settle: time.Second}, title: "Shell", status: 200, has: "made by a script", final: "http://shell.example/"},
	{name: "error page", host: "missing.example", title: "Missing", status: 404, has: "nothing here"},
	{name: "user agent", host: "agent.example", o: renderOptions{UserAgent: "aster/test"}, title: "aster/test", status: 200},
	{name: "no pop-up", host: "popup.example", title: "null", status: 200},
	{name: "no cookies kept", host: "cookie.example", status: 200},
	{name: "too large", host: "big.example", o: renderOptions{MaxBytes: 1 << 20}, err: errTooLarge},
	{name: "download", host: "file.example", err: errBrowser},
	{name: "no such host", host: "nowhere.example", err: errDNS},
	{name: "bad selector", host: "shell.example", o: renderOptions{WaitFor: "p:::"}, err: errBadURL},
}

func TestChromium(t *testing.T) {
	t.Parallel()
	b := pageBrowser.open(t)
	n := b.n
	render := func(t *testing.T, host string, o renderOptions) (*rendered, error) {
		o.Timeout = orDefault(o.Timeout, browserTime)
		return n.render(testContext(t, 2*browserTime), "http://"+host+"/", o)
	}
	// The first page starts the browser, and leaves a cookie that no other must see.
	began := time.Now()
	if r, err := render(t, "cookie.example", renderOptions{}); err != nil || r.Title != "" {
		t.Fatalf("the first page: %v, %+v", err, r)
	}
	patience := min(max(4*time.Since(began), 4*time.Second), browserTime)
	pages, errs := make([]*rendered, len(chromiumCases)), make([]error, len(chromiumCases))
	b.sideBySide(len(chromiumCases), func(i int) {
		o := chromiumCases[i].o
		if !chromiumCases[i].patient {
			pages[i], errs[i] = render(t, chromiumCases[i].host, o)
			return
		}
		for o.Timeout = patience; o.Timeout <= 2*browserTime; o.Timeout *= 2 { // the machine may have become slower
			if pages[i], errs[i] = render(t, chromiumCases[i].host, o); !errors.Is(errs[i], errTimeout) {
				return
			}
		}
	})
	for i, tt := range chromiumCases {
		t.Run(tt.name, func(t *testing.T) {
			r, err := pages[i], errs[i]
			if tt.slow && err == nil && r.TimedOut {
				return
			}
			if !errors.Is(err, tt.err) || err != nil && tt.err == nil {
				t.Fatalf("got %v, %+v; want %v", err, r, tt.err)
			}
			if err == nil && (r.Title != tt.title || r.Status != tt.status || !strings.Contains(string(r.HTML), tt.has) || r.TimedOut != tt.timedOut || r.FinalURL != orDefault(tt.final, "http://"+tt.host+"/")) {
				t.Errorf("got %q, %d, %s, timed out %v\n%s", r.Title, r.Status, r.FinalURL, r.TimedOut, r.HTML)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(500*time.Millisecond, cancel)
		began := time.Now()
		if _, err := n.render(ctx, "http://shell.example/", renderOptions{WaitFor: "#never"}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if d := time.Since(began); d > 20*time.Second {
			t.Errorf("took %v to stop", d)
		}
	})
	t.Run("more than there is room for", func(t *testing.T) {
		var wg sync.WaitGroup
		for range maxPages + 2 {
			wg.Go(func() {
				if r, err := render(t, "shell.example", renderOptions{}); err != nil || r.Title != "Shell" {
					t.Errorf("got %v, %+v", err, r)
				}
			})
		}
		wg.Wait()
	})
}

// at is the colour of an image's point, as "rrggbb".
func at(t *testing.T, img image.Image, x, y int) string {
	t.Helper()
	c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
	return fmt.Sprintf("%02x%02x%02x", c.R, c.G, c.B)
}

// shotCases are pictures of pages; a point of a PNG has a colour.
var shotCases = []struct {
	name, host    string
	o             shotOptions
	mime          string
	width, height int
	x, y          int
	colour        string
	err           error
	check         func(s *shot) bool // in place of the fields above
}{
	{name: "viewport", host: "colour.example", mime: "image/png", width: 1280, height: 800, x: 640, y: 700, colour: "0000ff"},
	{name: "viewport of a size", host: "colour.example", o: shotOptions{renderOptions: renderOptions{Width: 400, Height: 300}}, mime: "image/png", width: 400, height: 300, x: 5, y: 5, colour: "0000ff"},
	{name: "sharp", host: "colour.example", o: shotOptions{renderOptions: renderOptions{Width: 400, Height: 300}, Scale: 2}, mime: "image/png", width: 800, height: 600, x: 799, y: 599, colour: "0000ff"},
	{name: "full page", host: "colour.example", o: shotOptions{FullPage: true}, mime: "image/png", width: 1280, height: 3000, x: 150, y: 2050, colour: "ff0000"},
	{name: "element", host: "colour.example", o: shotOptions{Selector: "#red"}, mime: "image/png", width: 200, height: 100, x: 100, y: 50, colour: "ff0000"},
	{name: "jpeg", host: "colour.example", o: shotOptions{Format: "jpeg", Quality: 50}, mime: "image/jpeg", width: 1280, height: 800},
	{name: "webp", host: "colour.example", o: shotOptions{Format: "webp"}, mime: "image/webp", width: 1280, height: 800},
	{name: "lazy image", host: "lazy.example", o: shotOptions{FullPage: true}, mime: "image/png", width: 1280, height: 2604, x: 50, y: 2550, colour: "ff0000"},
	{name: "scaled to fit", host: "noise.example", o: shotOptions{MaxImage: 300 << 10}, check: func(s *shot) bool {
		return s.Scaled && len(s.Image) <= 300<<10 && s.Width < 1280 && s.Width >= 100
	}},
	{name: "very long", host: "tall.example", o: shotOptions{FullPage: true, Scale: 3}, check: func(s *shot) bool {
		return s.Cut && s.Scaled && s.Height <= maxShotSide && s.Height >= maxShotSide/2
	}},
	{name: "element of a hostile page", host: "hostile.example", o: shotOptions{Selector: "p"}, check: func(s *shot) bool { return s.Height <= 100 && s.Title == "Genuine" }},
	{name: "no element", host: "colour.example", o: shotOptions{Selector: "#nothing"}, err: errBadURL},
	{name: "not seen", host: "colour.example", o: shotOptions{Selector: "#none"}, err: errBadURL},
	{name: "no selector", host: "colour.example", o: shotOptions{Selector: "a:::"}, err: errBadURL},
	{name: "format", host: "colour.example", o: shotOptions{Format: "gif"}, err: errBadURL},
}

func TestScreenshot(t *testing.T) {
	t.Parallel()
	b := pageBrowser.open(t)
	n := b.n
	shots, errs := make([]*shot, len(shotCases)), make([]error, len(shotCases))
	b.sideBySide(len(shotCases), func(i int) {
		o := shotCases[i].o
		o.Timeout = browserTime
		shots[i], errs[i] = n.screenshot(testContext(t, 2*browserTime), "http://"+shotCases[i].host+"/", o)
	})
	for i, tt := range shotCases {
		t.Run(tt.name, func(t *testing.T) {
			s, err := shots[i], errs[i]
			if !errors.Is(err, tt.err) || err != nil && tt.err == nil {
				t.Fatalf("got %v, want %v", err, tt.err)
			}
			if err != nil {
				return
			}
			if tt.check != nil {
				if !tt.check(s) {
					t.Errorf("%d bytes, %d x %d, %q, cut %v, scaled %v", len(s.Image), s.Width, s.Height, s.Title, s.Cut, s.Scaled)
				}
				return
			}
			near := s.Height >= tt.height-4 && s.Height <= tt.height+4
			if s.MIME != tt.mime || s.Width != tt.width || !near || s.Status != 200 || s.Title == "" || s.Scaled || s.Cut || len(s.Image) > defaultShotBytes {
				t.Errorf("got %s, %d x %d, %d, %q, scaled %v, cut %v", s.MIME, s.Width, s.Height, s.Status, s.Title, s.Scaled, s.Cut)
			}
			if tt.colour == "" {
				return
			}
			img, err := png.Decode(bytes.NewReader(s.Image))
			if err != nil {
				t.Fatal(err)
			}
			if got := at(t, img, tt.x, tt.y); got != tt.colour {
				t.Errorf("the point %d, %d is %s, want %s", tt.x, tt.y, got, tt.colour)
			}
		})
	}
}

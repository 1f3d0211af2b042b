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

// pages are what TestChromium loads; one browser serves all of its parts.
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

func openPages(t *testing.T, o networkOptions) (*fakeWeb, *network) {
	needChromium(t)
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
	return w, w.open(o)
}

func TestChromium(t *testing.T) {
	_, n := openPages(t, networkOptions{})
	render := func(t *testing.T, host string, o renderOptions) (*rendered, error) {
		o.Timeout = orDefault(o.Timeout, browserTime)
		return n.render(testContext(t, 2*browserTime), "http://"+host+"/", o)
	}
	for _, tt := range []struct {
		name, host string
		o          renderOptions
		title      string
		status     int
		has        string
		final      string
	}{
		{"script", "shell.example", renderOptions{}, "Shell", 200, "made by a script", ""},
		{"selector", "late.example", renderOptions{WaitFor: "#late"}, "Late", 200, "late text", ""},
		{"settle", "late.example", renderOptions{Settle: 4 * time.Second}, "Late", 200, "late text", ""},
		{"shadow trees", "shadow.example", renderOptions{}, "Shadow", 200, "<p>before <b slot=\"name\">the name</b></p><x-inner><i>inner text</i></x-inner>loose text", ""},
		{"tampered builtins", "hostile.example", renderOptions{WaitFor: "p"}, "Genuine", 200, "genuine text", ""},
		{"dialogs", "dialog.example", renderOptions{}, "false null", 200, "", ""},
		{"redirect", "moved.example", renderOptions{}, "Shell", 200, "made by a script", "http://shell.example/#part"},
		{"page that goes on", "walks.example", renderOptions{WaitFor: "#root", Settle: time.Second}, "Shell", 200, "made by a script", "http://shell.example/"},
		{"error page", "missing.example", renderOptions{}, "Missing", 404, "nothing here", ""},
		{"user agent", "agent.example", renderOptions{UserAgent: "aster/test"}, "aster/test", 200, "", ""},
		{"no pop-up", "popup.example", renderOptions{}, "null", 200, "", ""},
		{"cookies", "cookie.example", renderOptions{}, "", 200, "", ""},
		{"no cookies kept", "cookie.example", renderOptions{}, "", 200, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := render(t, tt.host, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if r.Title != tt.title || r.Status != tt.status || !strings.Contains(string(r.HTML), tt.has) || r.TimedOut || r.FinalURL != orDefault(tt.final, "http://"+tt.host+"/") {
				t.Errorf("got %q, %d, %s, timed out %v\n%s", r.Title, r.Status, r.FinalURL, r.TimedOut, r.HTML)
			}
		})
	}
	for _, tt := range []struct {
		name, host string
		o          renderOptions
		want       error
	}{
		{"endless script", "hang.example", renderOptions{Timeout: 5 * time.Second}, errTimeout},
		{"endless script later", "hanglate.example", renderOptions{Timeout: 5 * time.Second}, errTimeout},
		{"too large", "big.example", renderOptions{MaxBytes: 1 << 20}, errTooLarge},
		{"download", "file.example", renderOptions{}, errBrowser},
		{"no such host", "nowhere.example", renderOptions{}, errDNS},
		{"bad selector", "shell.example", renderOptions{WaitFor: "p:::"}, errBadURL},
		{"all the memory", "crash.example", renderOptions{WaitFor: "#never"}, errBrowser},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if r, err := render(t, tt.host, tt.o); !errors.Is(err, tt.want) {
				t.Errorf("got %v, %+v; want %v", err, r, tt.want)
			}
		})
	}
	t.Run("a condition that is not met", func(t *testing.T) {
		r, err := render(t, "shell.example", renderOptions{WaitFor: "#never", Timeout: 20 * time.Second})
		if err != nil || !r.TimedOut || r.Title != "Shell" {
			t.Errorf("got %v, %+v", err, r)
		}
	})
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
	t.Run("many at a time", func(t *testing.T) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if r, err := render(t, "shell.example", renderOptions{}); err != nil || r.Title != "Shell" {
					t.Errorf("got %v, %+v", err, r)
				}
			})
		}
		wg.Wait()
	})
	if n.renderer.users != 0 || len(n.renderer.slots) != 0 {
		t.Errorf("%d pages are still in use", n.renderer.users)
	}
}

// at is the colour of an image's point, as "rrggbb".
func at(t *testing.T, img image.Image, x, y int) string {
	t.Helper()
	c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
	return fmt.Sprintf("%02x%02x%02x", c.R, c.G, c.B)
}

func TestScreenshot(t *testing.T) {
	_, n := openPages(t, networkOptions{})
	take := func(t *testing.T, host string, o shotOptions) (*shot, error) {
		o.Timeout = browserTime
		return n.screenshot(testContext(t, 2*browserTime), "http://"+host+"/", o)
	}
	for _, tt := range []struct {
		name, host    string
		o             shotOptions
		mime          string
		width, height int
		x, y          int // a point, and its colour, of a PNG
		colour        string
	}{
		{"viewport", "colour.example", shotOptions{}, "image/png", 1280, 800, 640, 700, "0000ff"},
		{"viewport of a size", "colour.example", shotOptions{renderOptions: renderOptions{Width: 400, Height: 300}}, "image/png", 400, 300, 5, 5, "0000ff"},
		{"sharp", "colour.example", shotOptions{renderOptions: renderOptions{Width: 400, Height: 300}, Scale: 2}, "image/png", 800, 600, 799, 599, "0000ff"},
		{"full page", "colour.example", shotOptions{FullPage: true}, "image/png", 1280, 3000, 150, 2050, "ff0000"},
		{"element", "colour.example", shotOptions{Selector: "#red"}, "image/png", 200, 100, 100, 50, "ff0000"},
		{"jpeg", "colour.example", shotOptions{Format: "jpeg", Quality: 50}, "image/jpeg", 1280, 800, 0, 0, ""},
		{"webp", "colour.example", shotOptions{Format: "webp"}, "image/webp", 1280, 800, 0, 0, ""},
		{"lazy image", "lazy.example", shotOptions{FullPage: true}, "image/png", 1280, 2604, 50, 2550, "ff0000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := take(t, tt.host, tt.o)
			if err != nil {
				t.Fatal(err)
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
	t.Run("scaled to fit", func(t *testing.T) {
		s, err := take(t, "noise.example", shotOptions{MaxImage: 300 << 10})
		if err != nil {
			t.Fatal(err)
		}
		if !s.Scaled || len(s.Image) > 300<<10 || s.Width >= 1280 || s.Width < 100 {
			t.Errorf("%d bytes, %d x %d, scaled %v", len(s.Image), s.Width, s.Height, s.Scaled)
		}
	})
	t.Run("very long", func(t *testing.T) {
		s, err := take(t, "tall.example", shotOptions{FullPage: true, Scale: 3})
		if err != nil {
			t.Fatal(err)
		}
		if !s.Cut || !s.Scaled || s.Height > maxShotSide || s.Height < maxShotSide/2 {
			t.Errorf("%d x %d, cut %v, scaled %v", s.Width, s.Height, s.Cut, s.Scaled)
		}
	})
	t.Run("element of a hostile page", func(t *testing.T) {
		if s, err := take(t, "hostile.example", shotOptions{Selector: "p"}); err != nil || s.Height > 100 || s.Title != "Genuine" {
			t.Errorf("got %v, %+v", err, s)
		}
	})
	for name, o := range map[string]shotOptions{"no element": {Selector: "#nothing"}, "not seen": {Selector: "#none"}, "no selector": {Selector: "a:::"}, "format": {Format: "gif"}} {
		t.Run(name, func(t *testing.T) {
			if _, err := take(t, "colour.example", o); !errors.Is(err, errBadURL) {
				t.Errorf("got %v, want errBadURL", err)
			}
		})
	}
}

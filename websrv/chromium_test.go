package websrv

import (
	"os"
	"strings"
	"testing"
	"time"
)

// browserTime is generous: a busy machine takes long to start Chromium.
const browserTime = 2 * time.Minute

// needChromium skips a test where no Chromium is installed, or fails it where
// ASTER_TEST_BROWSER is "required".
func needChromium(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	if _, err := findChromium(os.Getenv("ASTER_TEST_CHROME")); err != nil {
		if os.Getenv("ASTER_TEST_BROWSER") == "required" {
			t.Fatal("no Chromium found, and ASTER_TEST_BROWSER=required")
		}
		t.Skip("no Chromium found")
	}
}

func TestRender(t *testing.T) {
	needChromium(t)
	w := newFakeWeb(t)
	w.host("shell.example", htmlPage(`<title>Shell</title><div id=root></div><script>
		setTimeout(() => document.getElementById("root").textContent = "made by a script", 200)</script>`))
	n := w.open(networkOptions{})
	began := time.Now()
	r, err := n.render(testContext(t, browserTime), "http://shell.example/", renderOptions{Timeout: browserTime})
	t.Log(time.Since(began))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(r.HTML), "made by a script") || r.Title != "Shell" || r.Status != 200 {
		t.Errorf("got %+v %s", r, r.HTML)
	}
	began = time.Now()
	s, err := n.screenshot(testContext(t, browserTime), "http://shell.example/", shotOptions{})
	t.Log(time.Since(began))
	if err != nil {
		t.Fatal(err)
	}
	t.Log(s.Width, s.Height, len(s.Image))
}

package cdp_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/cdp/cdptest"
)

// profileTable is where each system's browsers keep their default profiles, below the
// test's root, in the order of preference.
var profileTable = []struct {
	goos string
	env  map[string]string
	dirs []string // "label: path"
}{
	{"linux", nil, []string{
		"Chrome (stable): home/.config/google-chrome",
		"Chrome (stable): home/.var/app/com.google.Chrome/config/google-chrome",
		"Chrome (beta): home/.config/google-chrome-beta",
		"Chrome (dev): home/.config/google-chrome-unstable",
		"Chrome (dev): home/.var/app/com.google.ChromeDev/config/google-chrome-unstable",
		"Chrome (canary): home/.config/google-chrome-canary",
		"Edge (stable): home/.config/microsoft-edge",
		"Edge (stable): home/.var/app/com.microsoft.Edge/config/microsoft-edge",
		"Edge (beta): home/.config/microsoft-edge-beta",
		"Edge (dev): home/.config/microsoft-edge-dev",
		"Edge (dev): home/.var/app/com.microsoft.EdgeDev/config/microsoft-edge-dev",
		"Edge (canary): home/.config/microsoft-edge-canary",
		"Chromium: home/.config/chromium",
		"Chromium: home/snap/chromium/common/chromium",
		"Chromium: home/.var/app/org.chromium.Chromium/config/chromium",
		"Brave: home/.config/BraveSoftware/Brave-Browser",
		"Brave: home/snap/brave/current/.config/BraveSoftware/Brave-Browser",
		"Brave: home/.var/app/com.brave.Browser/config/BraveSoftware/Brave-Browser",
	}},
	{"linux", map[string]string{"XDG_CONFIG_HOME": "xdg"}, []string{
		"Chrome (stable): xdg/google-chrome",
		"Brave: xdg/BraveSoftware/Brave-Browser",
	}},
	{"darwin", nil, []string{
		"Chrome (stable): home/Library/Application Support/Google/Chrome",
		"Chrome (beta): home/Library/Application Support/Google/Chrome Beta",
		"Chrome (dev): home/Library/Application Support/Google/Chrome Dev",
		"Chrome (canary): home/Library/Application Support/Google/Chrome Canary",
		"Edge (stable): home/Library/Application Support/Microsoft Edge",
		"Edge (beta): home/Library/Application Support/Microsoft Edge Beta",
		"Edge (dev): home/Library/Application Support/Microsoft Edge Dev",
		"Edge (canary): home/Library/Application Support/Microsoft Edge Canary",
		"Chromium: home/Library/Application Support/Chromium",
		"Brave: home/Library/Application Support/BraveSoftware/Brave-Browser",
	}},
	{"windows", map[string]string{"LOCALAPPDATA": "local"}, []string{
		"Chrome (stable): local/Google/Chrome/User Data",
		"Chrome (beta): local/Google/Chrome Beta/User Data",
		"Chrome (dev): local/Google/Chrome Dev/User Data",
		"Chrome (canary): local/Google/Chrome SxS/User Data",
		"Edge (stable): local/Microsoft/Edge/User Data",
		"Edge (beta): local/Microsoft/Edge Beta/User Data",
		"Edge (dev): local/Microsoft/Edge Dev/User Data",
		"Edge (canary): local/Microsoft/Edge SxS/User Data",
		"Chromium: local/Chromium/User Data",
		"Brave: local/BraveSoftware/Brave-Browser/User Data",
	}},
	{"windows", nil, []string{"Chrome (stable): home/AppData/Local/Google/Chrome/User Data"}},
}

// TestAutoFindsEveryProfile puts a browser into every known profile, half of them in
// consent mode, and wants them all in order.
func TestAutoFindsEveryProfile(t *testing.T) {
	for _, tt := range profileTable {
		t.Run(fmt.Sprint(tt.goos, tt.env), func(t *testing.T) {
			root := t.TempDir()
			opts := elsewhere(t)
			opts.GOOS, opts.Home = tt.goos, filepath.Join(root, "home")
			opts.Getenv = func(k string) string {
				if dir := tt.env[k]; dir != "" {
					return filepath.Join(root, dir)
				}
				return ""
			}
			var want []cdp.Endpoint
			for i, line := range tt.dirs {
				label, path, _ := strings.Cut(line, ": ")
				dir := filepath.Join(root, filepath.FromSlash(path))
				e := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Consent: i%2 == 1})
				e.WritePortFile(t, dir)
				browser, _, _ := strings.Cut(label, " ")
				ep := cdp.Endpoint{WS: e.WS(), HTTP: e.HTTP, Source: label + ", profile " + dir, Browser: browser, PortFile: filepath.Join(dir, "DevToolsActivePort")}
				if i%2 == 1 {
					ep.HTTP, ep.Consent = "", true
				}
				want = append(want, ep)
			}
			f, err := cdp.NewFinder("", opts)
			if err != nil {
				t.Fatal(err)
			}
			diff := "untried"
			for tries := 0; diff != "" && tries < 5; tries++ { // as in find
				first, others, err := f.Find(soon(t))
				if err != nil {
					t.Fatal(err)
				}
				diff = cmp.Diff(want, append([]cdp.Endpoint{first}, others...))
			}
			if diff != "" {
				t.Errorf("endpoints (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAutoPassesOverStaleFiles has one live browser among files that lead nowhere.
func TestAutoPassesOverStaleFiles(t *testing.T) {
	live := cdptest.NewEndpoint(t, nil)
	toggled := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Consent: true})
	web := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Version: http.NotFound}) // a web server took the port
	opts := elsewhere(t)
	dir := func(name string) string { return filepath.Join(opts.Home, ".config", name) }
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir(name), "DevToolsActivePort"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("google-chrome", fmt.Sprintf("%d\n/devtools/browser/gone", freePort(t)))   // nothing listens
	write("google-chrome-beta", fmt.Sprintf("%d\n/devtools/browser/old", live.Port)) // another browser has the port
	web.WritePortFile(t, dir("google-chrome-unstable"))
	write("google-chrome-canary", "garbage")
	write("microsoft-edge", fmt.Sprintf("%d\n/devtools/browser/old", toggled.Port))
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir("microsoft-edge"), "DevToolsActivePort"), past, past); err != nil {
		t.Fatal(err)
	}
	toggled.WritePortFile(t, dir("microsoft-edge-beta"))
	if err := os.MkdirAll(dir("microsoft-edge-dev"), 0o700); err != nil { // debugging off
		t.Fatal(err)
	}
	live.WritePortFile(t, dir("chromium"))

	// Named by the user, any 404 is taken for a browser that asks.
	f, err := cdp.NewFinder("profile:"+dir("google-chrome-unstable"), opts)
	if err != nil {
		t.Fatal(err)
	}
	if e, _, err := find(t, f); err != nil || e.WS != web.WS() || !e.Consent || e.Browser != "Chrome" {
		t.Errorf("named: got %+v, %v", e, err)
	}

	f, err = cdp.NewFinder("auto", opts)
	if err != nil {
		t.Fatal(err)
	}
	first, others, err := find(t, f)
	for tries := 0; len(others) != 1 && tries < 5; tries++ {
		first, others, err = find(t, f)
	}
	if err != nil || len(others) != 1 || first.WS != toggled.WS() || first.Source != "Edge (beta), profile "+dir("microsoft-edge-beta") || others[0].WS != live.WS() {
		t.Errorf("got %+v, %+v, %v", first, others, err)
	}
	live.Close()
	toggled.Close()
	_, _, err = find(t, f)
	var nf *cdp.NotFoundError
	if !errors.As(err, &nf) {
		t.Fatalf("error is %v", err)
	}
	for _, says := range []string{"google-chrome: its DevToolsActivePort names port", "not a browser", "does not hold a port", "remote debugging is off", "127.0.0.1:9222: ", "more profile directories: not there"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%q is missing in\n%v", says, err)
		}
	}
}

func TestPortFileIsReadWithCare(t *testing.T) {
	e := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Consent: true})
	tests := map[string]struct {
		text string
		path string // "" when the file is refused
	}{
		"as Chrome writes it": {fmt.Sprintf("%d\n%s", e.Port, e.Path()), e.Path()},
		"CRLF":                {fmt.Sprintf("%d\r\n%s\r\n", e.Port, e.Path()), e.Path()},
		"port alone":          {fmt.Sprint(e.Port), "/devtools/browser"},
		"empty":               {"", ""},
		"port 0":              {"0\n/devtools/browser/x", ""},
		"large port":          {"70000\n/devtools/browser/x", ""},
		"negative port":       {"-1\n/devtools/browser/x", ""},
		"host":                {fmt.Sprintf("%d\n@evil.example/devtools/browser/x", e.Port), ""},
		"other path":          {fmt.Sprintf("%d\n/devtools/page/x", e.Port), ""},
		"dots":                {fmt.Sprintf("%d\n/devtools/browser/../x", e.Port), ""},
		"third line":          {fmt.Sprintf("%d\n/devtools/browser/x\ny", e.Port), ""},
		"huge":                {fmt.Sprintf("%d\n%s", e.Port, e.Path()) + strings.Repeat("\n", 5000), ""},
	}
	for name, tt := range tests {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "DevToolsActivePort"), []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := cdp.NewFinder("profile:"+dir, elsewhere(t))
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := find(t, f)
		if tt.path == "" && !errors.Is(err, cdp.ErrNoBrowser) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
		if want := fmt.Sprintf("ws://127.0.0.1:%d%s", e.Port, tt.path); tt.path != "" && got.WS != want {
			t.Errorf("%s: got %+v, %v, want %s", name, got, err, want)
		}
	}
}

func TestPortFileThatIsAPipe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("named pipes in directories are a Unix notion")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mkfifo", filepath.Join(dir, "DevToolsActivePort")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f, err := cdp.NewFinder("profile:"+dir, elsewhere(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := find(t, f); !errors.Is(err, cdp.ErrNoBrowser) || !strings.Contains(err.Error(), "regular file") {
		t.Errorf("error is %v", err)
	}
}

// TestAutoUsualPort covers a browser that wrote no file we know of.
func TestAutoUsualPort(t *testing.T) {
	tests := map[string]struct {
		status  int
		header  string
		ws      string
		consent bool
	}{
		"browser":           {200, "", "ws://127.0.0.1:9222/devtools/browser/b1", false},
		"browser that asks": {404, "", "ws://127.0.0.1:9222/devtools/browser", true},
		"web server":        {404, "Date: today", "", false},
		"other server":      {404, "Server: nginx", "", false},
		"failure":           {500, "", "", false},
	}
	for name, tt := range tests {
		opts := elsewhere(t)
		opts.HTTPClient = &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Host != "127.0.0.1:9222" {
				return nil, refused
			}
			return answer(r, tt.status, versionJSON("ws://127.0.0.1:9222/devtools/browser/b1"), tt.header)
		})}
		f, err := cdp.NewFinder("auto", opts)
		if err != nil {
			t.Fatal(err)
		}
		got, others, err := find(t, f)
		if got.WS != tt.ws || got.Consent != tt.consent || len(others) != 0 || (err == nil) != (tt.ws != "") {
			t.Errorf("%s: got %+v, %v, %v", name, got, others, err)
		}
	}
}

// TestAutoUsualPortOnlyOnce has a browser on the usual port whose file is known too.
func TestAutoUsualPortOnlyOnce(t *testing.T) {
	for _, status := range []int{200, 404} {
		opts := elsewhere(t)
		dir := filepath.Join(opts.Home, ".config", "chromium")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "DevToolsActivePort"), []byte("9222\n/devtools/browser/b1"), 0o600); err != nil {
			t.Fatal(err)
		}
		opts.HTTPClient = &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
			return answer(r, status, versionJSON("ws://"+r.URL.Host+"/devtools/browser/b1"))
		})}
		f, err := cdp.NewFinder("auto", opts)
		if err != nil {
			t.Fatal(err)
		}
		got, others, err := find(t, f)
		if err != nil || got.WS != "ws://127.0.0.1:9222/devtools/browser/b1" || got.Browser != "Chromium" || len(others) != 0 {
			t.Errorf("status %d: got %+v, %+v, %v", status, got, others, err)
		}
	}
}

// TestFindIsQuick has every profile's port accept and never answer.
func TestFindIsQuick(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	opts := elsewhere(t)
	for _, name := range []string{"google-chrome", "google-chrome-beta", "microsoft-edge", "chromium"} {
		dir := filepath.Join(opts.Home, ".config", name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("%d\n/devtools/browser/x", l.Addr().(*net.TCPAddr).Port)
		if err := os.WriteFile(filepath.Join(dir, "DevToolsActivePort"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := cdp.NewFinder("auto", opts)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if _, _, err := f.Find(soon(t)); !errors.Is(err, cdp.ErrNoBrowser) {
		t.Errorf("error is %v", err)
	}
	if d := time.Since(start); d > 6*time.Second { // two in parallel, eight one after the other
		t.Errorf("it took %v", d)
	}
}

func TestFindsARealBrowser(t *testing.T) {
	b := cdptest.New(t, nil)
	for _, spec := range []string{"profile:" + b.ProfileDir, b.HTTP, strings.Replace(b.HTTP, "http://127.0.0.1", "http://localhost", 1), strings.Replace(b.HTTP, "http", "ws", 1), b.WS} {
		f, err := cdp.NewFinder(spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		e, _, err := f.Await(soon(t), cdp.Endpoint{}, nil) // the file comes after the port
		if err != nil || e.WS != b.WS || e.HTTP != b.HTTP || e.Consent || e.Browser != "Chrome" {
			t.Errorf("%s: got %+v, %v, want %s", spec, e, err, b.WS)
		}
	}
	f, err := cdp.NewFinder("profile:"+b.ProfileDir, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Kill() // the file stays
	if _, err := os.Stat(filepath.Join(b.ProfileDir, "DevToolsActivePort")); err != nil {
		t.Error(err)
	}
	if e, _, err := find(t, f); !errors.Is(err, cdp.ErrNoBrowser) {
		t.Errorf("after its end: got %+v, %v", e, err)
	}
}

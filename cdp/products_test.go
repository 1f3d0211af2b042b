package cdp_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/cdp"
)

func TestFindExecutable(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no execute bits to tell programs by")
	}
	root := t.TempDir()
	put := func(path string, mode os.FileMode) string {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	env := map[string]string{
		"PATH":         filepath.Join(root, "a") + string(filepath.ListSeparator) + "relative" + string(filepath.ListSeparator) + filepath.Join(root, "b"),
		"ProgramFiles": filepath.Join(root, "pf"), "ProgramFiles(x86)": filepath.Join(root, "pf86"), "LOCALAPPDATA": filepath.Join(root, "local"),
	}
	find := func(goos string) (string, string, error) {
		return cdp.FindExecutable(&cdp.LaunchOptions{GOOS: goos, Home: filepath.Join(root, "home"), Getenv: func(k string) string { return env[k] }})
	}
	t.Chdir(root)
	put("relative/google-chrome", 0o700)
	put("a/google-chrome-stable", 0o600) // not executable
	for goos, hint := range map[string]string{"linux": "apt install chromium", "windows": "winget", "darwin": "brew"} {
		if goos == "darwin" && runtime.GOOS == "darwin" {
			continue // /Applications is the real one
		}
		if name, path, err := find(goos); !errors.Is(err, cdp.ErrNoExecutable) || !strings.Contains(err.Error(), hint) {
			t.Errorf("%s, nothing installed: %s, %s, %v", goos, name, path, err)
		}
	}
	// Each browser put down is preferred to those before it.
	for _, tt := range []struct{ goos, path, name string }{
		{"linux", "b/brave-browser", "Brave"},
		{"linux", "b/chromium-browser", "Chromium"},
		{"linux", "a/chromium", "Chromium"},
		{"linux", "b/microsoft-edge-dev", "Edge (dev)"},
		{"linux", "b/microsoft-edge", "Edge (stable)"},
		{"linux", "b/google-chrome-unstable", "Chrome (dev)"},
		{"linux", "b/google-chrome", "Chrome (stable)"},
		{"linux", "b/google-chrome-stable", "Chrome (stable)"},
		{"windows", "local/BraveSoftware/Brave-Browser/Application/brave.exe", "Brave"},
		{"windows", "local/Chromium/Application/chrome.exe", "Chromium"},
		{"windows", "pf86/Microsoft/Edge/Application/msedge.exe", "Edge (stable)"},
		{"windows", "local/Google/Chrome SxS/Application/chrome.exe", "Chrome (canary)"},
		{"windows", "local/Google/Chrome/Application/chrome.exe", "Chrome (stable)"},
		{"windows", "pf/Google/Chrome/Application/chrome.exe", "Chrome (stable)"},
		{"darwin", "home/Applications/Brave Browser.app/Contents/MacOS/Brave Browser", "Brave"},
		{"darwin", "home/Applications/Chromium.app/Contents/MacOS/Chromium", "Chromium"},
		{"darwin", "home/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge", "Edge (stable)"},
		{"darwin", "home/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "Chrome (stable)"},
	} {
		if tt.goos == "darwin" && runtime.GOOS == "darwin" {
			continue
		}
		want := put(tt.path, 0o700)
		if name, path, err := find(tt.goos); name != tt.name || path != want || err != nil {
			t.Errorf("%s: got %s, %s, %v, want %s, %s", tt.goos, name, path, err, tt.name, want)
		}
	}
}

package cdp

import (
	"os"
	"path/filepath"
	"strings"
)

// product is one browser in one channel, with the places where each system keeps it.
// Paths are written with slashes.
type product struct {
	name, channel string   // channel is "" where there is only one
	linux         string   // user data directory below the configuration directory
	confined      []string // on Linux below the home directory: snap and flatpak
	commands      []string // on Linux on the PATH
	darwin        string   // below ~/Library/Application Support
	app           string   // on macOS below an Applications folder, without ".app"
	windows       string   // below %LOCALAPPDATA%
	exe           string   // on Windows below a program folder
}

// products is the fixed order in which browsers are looked for and started.
var products = []product{
	{"Chrome", "stable", "google-chrome", []string{".var/app/com.google.Chrome/config/google-chrome"},
		[]string{"google-chrome-stable", "google-chrome"},
		"Google/Chrome", "Google Chrome", "Google/Chrome/User Data", "Google/Chrome/Application/chrome.exe"},
	{"Chrome", "beta", "google-chrome-beta", nil, []string{"google-chrome-beta"},
		"Google/Chrome Beta", "Google Chrome Beta", "Google/Chrome Beta/User Data", "Google/Chrome Beta/Application/chrome.exe"},
	{"Chrome", "dev", "google-chrome-unstable", []string{".var/app/com.google.ChromeDev/config/google-chrome-unstable"},
		[]string{"google-chrome-unstable"},
		"Google/Chrome Dev", "Google Chrome Dev", "Google/Chrome Dev/User Data", "Google/Chrome Dev/Application/chrome.exe"},
	{"Chrome", "canary", "google-chrome-canary", nil, []string{"google-chrome-canary"},
		"Google/Chrome Canary", "Google Chrome Canary", "Google/Chrome SxS/User Data", "Google/Chrome SxS/Application/chrome.exe"},
	{"Edge", "stable", "microsoft-edge", []string{".var/app/com.microsoft.Edge/config/microsoft-edge"},
		[]string{"microsoft-edge-stable", "microsoft-edge"},
		"Microsoft Edge", "Microsoft Edge", "Microsoft/Edge/User Data", "Microsoft/Edge/Application/msedge.exe"},
	{"Edge", "beta", "microsoft-edge-beta", nil, []string{"microsoft-edge-beta"},
		"Microsoft Edge Beta", "Microsoft Edge Beta", "Microsoft/Edge Beta/User Data", "Microsoft/Edge Beta/Application/msedge.exe"},
	{"Edge", "dev", "microsoft-edge-dev", []string{".var/app/com.microsoft.EdgeDev/config/microsoft-edge-dev"},
		[]string{"microsoft-edge-dev"},
		"Microsoft Edge Dev", "Microsoft Edge Dev", "Microsoft/Edge Dev/User Data", "Microsoft/Edge Dev/Application/msedge.exe"},
	{"Edge", "canary", "microsoft-edge-canary", nil, []string{"microsoft-edge-canary"},
		"Microsoft Edge Canary", "Microsoft Edge Canary", "Microsoft/Edge SxS/User Data", "Microsoft/Edge SxS/Application/msedge.exe"},
	{"Chromium", "", "chromium", []string{"snap/chromium/common/chromium", ".var/app/org.chromium.Chromium/config/chromium"},
		[]string{"chromium", "chromium-browser"},
		"Chromium", "Chromium", "Chromium/User Data", "Chromium/Application/chrome.exe"},
	{"Brave", "", "BraveSoftware/Brave-Browser",
		[]string{"snap/brave/current/.config/BraveSoftware/Brave-Browser", ".var/app/com.brave.Browser/config/BraveSoftware/Brave-Browser"},
		[]string{"brave-browser", "brave-browser-stable", "brave"},
		"BraveSoftware/Brave-Browser", "Brave Browser", "BraveSoftware/Brave-Browser/User Data", "BraveSoftware/Brave-Browser/Application/brave.exe"},
}

// profile is a user data directory that a product uses by default.
type profile struct {
	product
	dir string
}

func (p product) label() string {
	if p.channel == "" {
		return p.name
	}
	return p.name + " (" + p.channel + ")"
}

// profiles lists the default user data directories, in the order of products.
func (s system) profiles() []profile {
	var list []profile
	add := func(p product, base, path string) {
		if base != "" && path != "" {
			list = append(list, profile{p, filepath.Join(base, filepath.FromSlash(path))})
		}
	}
	base := s.configDir()
	for _, p := range products {
		switch s.goos {
		case "windows":
			add(p, base, p.windows)
		case "darwin":
			add(p, base, p.darwin)
		default:
			add(p, base, p.linux)
			for _, path := range p.confined {
				add(p, s.home, path)
			}
		}
	}
	return list
}

// configDir is the directory that the profiles are in.
func (s system) configDir() string {
	under := func(path string) string {
		if s.home == "" {
			return ""
		}
		return filepath.Join(s.home, filepath.FromSlash(path))
	}
	switch s.goos {
	case "windows":
		if dir := s.getenv("LOCALAPPDATA"); dir != "" {
			return dir
		}
		return under("AppData/Local")
	case "darwin":
		return under("Library/Application Support")
	}
	for _, name := range []string{"CHROME_CONFIG_HOME", "XDG_CONFIG_HOME"} { // in Chrome's order
		if dir := s.getenv(name); filepath.IsAbs(dir) {
			return dir
		}
	}
	return under(".config")
}

// executable returns the first product that is installed, and its program.
func (s system) executable() (product, string, bool) {
	for _, p := range products {
		for _, path := range s.programs(p) {
			if s.runnable(path) {
				return p, path, true
			}
		}
	}
	return product{}, "", false
}

// programs lists the paths where a product's program may be.
func (s system) programs(p product) []string {
	var list []string
	switch s.goos {
	case "windows":
		for _, name := range []string{"ProgramFiles", "ProgramW6432", "ProgramFiles(x86)", "LOCALAPPDATA"} {
			if dir := s.getenv(name); dir != "" {
				list = append(list, filepath.Join(dir, filepath.FromSlash(p.exe)))
			}
		}
	case "darwin":
		for _, dir := range []string{"/Applications", filepath.Join(s.home, "Applications")} {
			list = append(list, filepath.Join(dir, p.app+".app", "Contents", "MacOS", p.app))
		}
	default:
		for _, name := range p.commands {
			for _, dir := range filepath.SplitList(s.getenv("PATH")) {
				if filepath.IsAbs(dir) { // never a program from the current directory
					list = append(list, filepath.Join(dir, name))
				}
			}
		}
	}
	return list
}

func (s system) runnable(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular() && (s.goos == "windows" || fi.Mode().Perm()&0o111 != 0)
}

// startCommand is the command line that starts a browser with a debugging port and a
// profile of its own, as a user of the system would type it.
func startCommand(s system) string {
	p, path, ok := s.executable()
	if !ok {
		p = products[0]
	}
	port := "--remote-debugging-port=9222"
	switch s.goos {
	case "windows":
		if !ok {
			path = `C:\Program Files\` + strings.ReplaceAll(p.exe, "/", `\`)
		}
		return `"` + path + `" ` + port + ` --user-data-dir="` + s.configDir() + `\aster\chrome"`
	case "darwin":
		return `open -na "` + p.app + `" --args ` + port + ` --user-data-dir="$HOME/.aster/chrome"`
	}
	command := "google-chrome"
	if ok {
		command = filepath.Base(path)
	}
	return command + " " + port + ` --user-data-dir="$HOME/.aster/chrome"`
}

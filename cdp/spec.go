package cdp

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

const (
	// maxSpecBytes bounds the text of an endpoint.
	maxSpecBytes = 4096
	// browserPath begins the path of every browser's websocket; alone it reaches the
	// browser where consent is asked (measured in Chromium 156).
	browserPath = "/devtools/browser"
)

// specForms is what an error about a spec says.
const specForms = `use auto, http://127.0.0.1:9222, ws://127.0.0.1:9222/devtools/browser/ID, profile:DIR or launch`

type specKind int

const (
	specAuto specKind = iota
	specProfile
	specAddress
)

// spec is the parsed text of an endpoint.
type spec struct {
	kind specKind
	dir  string  // of specProfile, absolute
	addr address // of specAddress
}

// address is a place that may serve /json/version.
type address struct {
	tls     bool
	hosts   []string // to dial, in this order
	port    string
	name    string // the host as it was given, for comparison and messages
	hostHdr string // Host header, "" for the URL's own
	ws      bool   // a websocket may be there even if /json/version is not
	path    string // websocket path to take as it is, with its query; "" to ask for it
}

// local is the address of a port of this machine.
func local(port int) address {
	return address{hosts: []string{"127.0.0.1", "::1"}, port: strconv.Itoa(port), name: "127.0.0.1"}
}

func (a address) httpURL(host string) string { return a.url("http", host) }

func (a address) wsURL(host, path string) string { return a.url("ws", host) + path }

func (a address) url(scheme, host string) string {
	if a.tls {
		scheme += "s"
	}
	return scheme + "://" + net.JoinHostPort(host, a.port)
}

// String leaves out the path, whose query may hold a secret.
func (a address) String() string {
	if a.ws {
		return a.url("ws", a.name)
	}
	return a.url("http", a.name)
}

func specError(text, format string, args ...any) error {
	if u, err := url.Parse(text); err == nil && (u.User != nil || u.RawQuery != "") {
		text = u.Scheme + "://" + u.Host // without what may be secret
	}
	return fmt.Errorf("%w: %.200q: %s; %s", ErrSpec, text, fmt.Sprintf(format, args...), specForms)
}

func parseSpec(text string, allowed map[string]bool, sys system) (spec, error) {
	text = strings.TrimSpace(text)
	if len(text) > maxSpecBytes {
		return spec{}, specError(text, "longer than %d bytes", maxSpecBytes)
	}
	dir, profile := strings.CutPrefix(text, "profile:")
	switch {
	case text == "" || text == "auto":
		return spec{kind: specAuto}, nil
	case text == "launch":
		return spec{}, ErrLaunch
	case profile:
		dir, err := profileDir(dir, sys)
		return spec{kind: specProfile, dir: dir}, err
	case strings.Contains(text, "://"):
		addr, err := parseAddress(text, allowed)
		return spec{kind: specAddress, addr: addr}, err
	}
	if _, err := strconv.ParseUint(text, 10, 16); err == nil {
		return spec{}, specError(text, "a port alone; did you mean http://127.0.0.1:%s", text)
	}
	if _, _, err := net.SplitHostPort(text); err == nil && !strings.ContainsAny(text, `/\`) {
		return spec{}, specError(text, "no scheme; did you mean http://%s", text)
	}
	if strings.ContainsAny(text, `/\~`) {
		return spec{}, specError(text, "looks like a directory; did you mean profile:%s", text)
	}
	return spec{}, specError(text, "unknown form")
}

func parseAddress(text string, allowed map[string]bool) (address, error) {
	u, err := url.Parse(text)
	if err != nil {
		return address{}, fmt.Errorf("%w: not a URL; %s", ErrSpec, specForms) // which may hold a secret
	}
	a := address{ws: u.Scheme == "ws" || u.Scheme == "wss", tls: u.Scheme == "https" || u.Scheme == "wss"}
	switch {
	case !a.ws && u.Scheme != "http" && u.Scheme != "https":
		return address{}, specError(text, "scheme %q", u.Scheme)
	case u.User != nil:
		return address{}, specError(text, "a name or password has no place in it")
	case strings.Contains(text, "#"):
		return address{}, specError(text, "a fragment has no place in it")
	}
	if a.port, err = addressPort(u, a.tls); err != nil {
		return address{}, specError(text, "%v", err)
	}
	if a.path, err = addressPath(u, a.ws); err != nil {
		return address{}, specError(text, "%v", err)
	}
	a.name = u.Hostname()
	return a, a.resolve(text, allowed)
}

func addressPort(u *url.URL, tls bool) (string, error) {
	switch port, err := strconv.ParseUint(u.Port(), 10, 16); {
	case u.Port() == "" && tls:
		return "443", nil
	case u.Port() == "":
		return "", fmt.Errorf("no port; Chrome's usual one is 9222")
	case err != nil || port == 0:
		return "", fmt.Errorf("port %s", u.Port())
	default:
		return strconv.FormatUint(port, 10), nil
	}
}

// addressPath returns the websocket path to take as it is, or "" for the paths that
// only lead to a browser.
func addressPath(u *url.URL, ws bool) (string, error) {
	bare := strings.TrimSuffix(u.EscapedPath(), "/")
	query := u.RawQuery != "" || u.ForceQuery
	switch {
	case strings.HasPrefix(bare, "/devtools/") && !strings.HasPrefix(bare+"/", browserPath+"/"):
		return "", fmt.Errorf("the address of one page, not of the browser")
	case !query && (bare == "" || bare == "/json" || bare == "/json/version" || ws && bare == browserPath):
		return "", nil
	case !ws:
		return "", fmt.Errorf("more than host and port; a websocket's address begins with ws://")
	case query:
		return u.EscapedPath() + "?" + u.RawQuery, nil
	default:
		return u.EscapedPath(), nil
	}
}

const maxHostName = 253

// isHostName reports whether name may be a host's, with or without the dot at its end.
func isHostName(name string) bool {
	name = strings.TrimSuffix(name, ".")
	edge := func(i int) bool { return name[i] != '.' && name[i] != '-' }
	return name != "" && len(name) <= maxHostName && nameLike(name) && edge(0) && edge(len(name)-1)
}

// resolve decides which hosts to dial. Names of this machine become its loopback
// addresses here, so that no resolver has a say in them; any other must be allowed.
func (a *address) resolve(text string, allowed map[string]bool) error {
	name := normalHost(a.name)
	ip, err := netip.ParseAddr(name)
	switch {
	case err != nil && !isHostName(a.name):
		return specError(text, "host %.100q", a.name)
	case err == nil && ip.Zone() == "" && ip.IsLoopback():
		a.hosts = []string{name}
	case name == "localhost":
		a.hosts = []string{"127.0.0.1", "::1"}
	case strings.HasSuffix(name, ".localhost"):
		a.hosts = []string{"127.0.0.1", "::1"}
		a.hostHdr = net.JoinHostPort(a.name, a.port) // Chrome takes it (measured in Chromium 156), a proxy may need it
	case !allowed[name]:
		return fmt.Errorf("%w: %s; to connect there all the same, allow the host with --allow-remote-cdp %s", ErrRemote, a, a.name)
	case err == nil:
		a.hosts = []string{name}
	default:
		// Chrome refuses a Host header that is neither an IP address nor localhost.
		a.hosts, a.hostHdr = []string{a.name}, "localhost"
	}
	return nil
}

// normalHost makes spellings of one host equal: case, a final dot, IPv4 within IPv6.
func normalHost(host string) string {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().String()
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// isLoopback reports whether a host is one of this machine's names for itself.
func isLoopback(host string) bool {
	host = normalHost(host)
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Zone() == "" && ip.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

func parseHosts(names []string) (map[string]bool, error) {
	hosts := map[string]bool{}
	for _, name := range names {
		trimmed := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(name), "["), "]")
		if _, err := netip.ParseAddr(trimmed); err != nil && !isHostName(trimmed) {
			return nil, fmt.Errorf("%w: allowed host %.100q: a host name or an IP address, without a port", ErrSpec, name)
		}
		hosts[normalHost(trimmed)] = true
	}
	return hosts, nil
}

var variable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{[A-Za-z_]\w*\}|\$[A-Za-z_]\w*|%[A-Za-z_][\w()]*%`)
})

// profileDir expands dir and checks that it is there. The folder of one profile
// (".../Default", as chrome://version shows it) stands for the user data directory
// around it, which holds DevToolsActivePort.
func profileDir(dir string, sys system) (string, error) {
	if dir == "" {
		return "", specError("profile:", "no directory")
	}
	if !isDir(dir) { // a directory of that very name needs no expansion
		var err error
		if dir, err = expand(dir, sys); err != nil {
			return "", err
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("%w: profile directory: %v", ErrSpec, err)
	}
	if !isDir(dir) {
		return "", fmt.Errorf("%w: profile directory %.200q: no such directory", ErrSpec, dir)
	}
	if parent := filepath.Dir(dir); !isFile(filepath.Join(dir, "Local State")) && isFile(filepath.Join(parent, "Local State")) {
		return parent, nil
	}
	return dir, nil
}

func expand(dir string, sys system) (string, error) {
	if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		dir = sys.home + rest
	}
	unset := ""
	dir = variable().ReplaceAllStringFunc(dir, func(v string) string {
		name := strings.Trim(v, "${}%")
		value := sys.getenv(name)
		if value == "" {
			unset = name
		}
		return value
	})
	if unset != "" {
		return "", fmt.Errorf("%w: profile directory: the variable %s is not set", ErrSpec, unset)
	}
	return dir, nil
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

func isFile(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular()
}

package shim

import (
	"errors"
	"fmt"
	"strings"
)

// MaxOriginGlobBytes bounds an origin glob.
const MaxOriginGlobBytes = 1024

// MatchOrigin reports whether glob matches the whole of a serialised origin, as in
// "https://*.example.com" or "http://localhost:*". A "*" stands for any characters but
// "/", also for none; there are no other special characters, and letters match in their
// own case. The origin of every file page is "file://". The injected script follows the
// same rules.
func MatchOrigin(glob, origin string) bool {
	g, o, star, from := 0, 0, -1, 0
	for o < len(origin) {
		switch {
		case g < len(glob) && glob[g] == '*':
			star, from = g, o
			g++
		case g < len(glob) && glob[g] == origin[o]:
			g++
			o++
		case star >= 0 && origin[from] != '/':
			from++
			g, o = star+1, from
		default:
			return false
		}
	}
	for g < len(glob) && glob[g] == '*' {
		g++
	}
	return g == len(glob)
}

// ValidOriginGlob reports what is wrong with an origin glob: without "scheme://", with
// a path, with characters that no origin has, or so long that it must be a mistake.
func ValidOriginGlob(glob string) error {
	if len(glob) > MaxOriginGlobBytes {
		return fmt.Errorf("origin glob is longer than %d bytes", MaxOriginGlobBytes)
	}
	scheme, host, ok := strings.Cut(glob, "://")
	if !ok || scheme == "" {
		return fmt.Errorf("origin glob %q has no scheme: write it as in https://*.example.com", glob)
	}
	if strings.Contains(host, "/") {
		return fmt.Errorf("origin glob %q has a path: an origin ends after the host and port", glob)
	}
	if host == "" && scheme != "file" && !strings.Contains(scheme, "*") {
		return fmt.Errorf("origin glob %q has no host", glob)
	}
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case c >= 'A' && c <= 'Z':
			return fmt.Errorf("origin glob %q has capital letters: origins are in lower case", glob)
		case c <= ' ' || c >= 0x7f:
			return fmt.Errorf("origin glob %q has characters that no origin has: write international names in their xn-- form", glob)
		case strings.IndexByte("?#@\\", c) >= 0:
			return errors.New("origin glob " + glob + " has a character that no origin has: " + string(c))
		}
	}
	return nil
}

package webmcp

import (
	"net/url"
	"strings"
)

// Whether a document may use tools is decided by the Permissions-Policy feature "tools",
// whose default is 'self': by the headers of the document and of those above it, and by
// the allow attributes of the frames between them. A browser without WebMCP does not know
// the feature, so we evaluate it (all of it measured in Chromium 156).

const feature = "tools"

// policy is what a document's response says of the feature.
type policy struct {
	declared bool
	list     allowlist
	noScript bool // a sandbox without scripts
}

// allowlist names origins. "self" is that of the document with the policy, "src" that of
// a frame's src attribute.
type allowlist struct {
	all, self, src bool
	sources        []source
}

// source is an origin, or with sub all hosts below its own.
type source struct {
	scheme, host, port string
	sub                bool
}

// place is a document in the tree, with the frame element that holds it.
type place struct {
	origin string // serialised
	url    string
	policy policy
	// allow, src and sandbox are attributes of the frame element; srcdoc says that it has one.
	allow, src, sandbox string
	srcdoc, sandboxed   bool
}

// mayUseTools reports whether the last of these documents may use tools. They are the
// chain from the top document down.
func mayUseTools(chain []place) bool {
	for i, p := range chain {
		if i > 0 && !inherits(chain[i-1], p) {
			return false
		}
		if p.policy.declared && !p.policy.list.matches(p.origin, p.origin) {
			return false
		}
		if p.policy.noScript || p.sandboxed && !hasWord(p.sandbox, "allow-scripts") {
			return false
		}
	}
	return true
}

// inherits reports whether a document that has the feature passes it to a frame.
func inherits(parent, child place) bool {
	if parent.policy.declared && !parent.policy.list.matches(child.origin, parent.origin) {
		return false
	}
	list, declared := parseAllow(child.allow, allowlist{src: true})
	if declared {
		src := child.srcOrigin(parent)
		return list.matches(child.origin, parent.origin) || list.src && (child.origin == src || src == "null" && child.origin == "null")
	}
	if child.origin == "null" {
		return parent.origin == "null" && strings.HasPrefix(child.url, "about:") && !child.sandboxed
	}
	return child.origin == parent.origin
}

// srcOrigin is the origin of the frame's src, "null" where the frame's sandbox hides it.
func (p place) srcOrigin(parent place) string {
	if p.sandboxed && !hasWord(p.sandbox, "allow-same-origin") {
		return "null"
	}
	src := strings.TrimSpace(p.src)
	if p.srcdoc || src == "" {
		return parent.origin
	}
	u, err := url.Parse(src)
	if err != nil {
		return "null"
	}
	switch u.Scheme {
	case "about", "javascript":
		return parent.origin
	case "":
		if base, err := url.Parse(parent.url); err == nil && base.Host != "" {
			u = base.ResolveReference(u)
		} else {
			return parent.origin
		}
	case "blob":
		if u, err = url.Parse(u.Opaque); err != nil {
			return "null"
		}
	}
	s, ok := parseSource(u.Scheme + "://" + u.Host)
	if !ok || s.sub {
		return "null"
	}
	return s.String()
}

func (s source) String() string {
	if s.port == "" {
		return s.scheme + "://" + s.host
	}
	return s.scheme + "://" + s.host + ":" + s.port
}

// matches reports whether the list names an origin. An opaque one is named by "*" only.
func (l allowlist) matches(origin, self string) bool {
	if l.all || l.self && origin == self && origin != "null" {
		return true
	}
	o, ok := parseSource(origin)
	if !ok {
		return l.self && origin == self // a sandboxed document is itself
	}
	for _, s := range l.sources {
		if s.scheme == o.scheme && s.port == o.port && (s.host == o.host && !s.sub || s.sub && strings.HasSuffix(o.host, "."+s.host)) {
			return true
		}
	}
	return false
}

var defaultPorts = map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443"}

func parseSource(text string) (source, bool) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return source{}, false
	}
	s := source{scheme: strings.ToLower(u.Scheme), host: strings.ToLower(u.Hostname()), port: u.Port()}
	if strings.Contains(s.host, ":") {
		s.host = "[" + s.host + "]"
	}
	if s.port == defaultPorts[s.scheme] {
		s.port = ""
	}
	s.host, s.sub = strings.CutPrefix(s.host, "*.")
	return s, s.host != "" && !strings.Contains(s.host, "*")
}

// parseAllow reads an allow attribute, or the value of the old header Feature-Policy. The
// first entry of a feature counts; without a list, missing stands for one.
func parseAllow(text string, missing allowlist) (list allowlist, declared bool) {
	for _, entry := range strings.Split(text, ";") {
		words := strings.Fields(entry)
		if len(words) == 0 || words[0] != feature {
			continue
		}
		if len(words) == 1 {
			return missing, true
		}
		for _, w := range words[1:] {
			list.add(strings.ToLower(w))
		}
		return list, true
	}
	return allowlist{}, false
}

func (l *allowlist) add(word string) {
	switch word {
	case "*":
		l.all = true
	case "'self'":
		l.self = true
	case "'src'":
		l.src = true
	default:
		if s, ok := parseSource(word); ok {
			l.sources = append(l.sources, s)
		}
	}
}

// headers of a response that say something of a document's policy, in lower case. The
// browser joins those that came more than once with line feeds.
const (
	headerPolicy    = "permissions-policy"
	headerOldPolicy = "feature-policy"
	headerCSP       = "content-security-policy"
)

// readPolicy makes a policy of the headers of a response, whose names are in lower case.
func readPolicy(headers map[string]string) (p policy) {
	// All entries of a dictionary count as one header; one that cannot be read counts for nothing.
	if members, ok := parseDictionary(strings.ReplaceAll(headers[headerPolicy], "\n", ",")); ok {
		if value, ok := members[feature]; ok {
			p.declared = true
			for _, it := range value {
				switch {
				case it.token && it.text == "*":
					p.list.all = true
				case it.token && it.text == "self":
					p.list.self = true
				case it.quoted:
					if s, ok := parseSource(it.text); ok {
						p.list.sources = append(p.list.sources, s)
					}
				}
			}
		}
	}
	if !p.declared {
		for _, part := range strings.FieldsFunc(headers[headerOldPolicy], func(r rune) bool { return r == ',' || r == '\n' }) {
			if list, ok := parseAllow(part, allowlist{self: true}); ok {
				p.declared, p.list = true, list
				break
			}
		}
	}
	for _, one := range strings.FieldsFunc(headers[headerCSP], func(r rune) bool { return r == ',' || r == '\n' }) {
		for _, directive := range strings.Split(one, ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(directive), " ")
			if strings.EqualFold(name, "sandbox") && !hasWord(value, "allow-scripts") {
				p.noScript = true
			}
		}
	}
	return p
}

func hasWord(list, word string) bool {
	for _, w := range strings.Fields(list) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

package robots

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	// MaxBytes is how much of a file is read (RFC 9309, 2.5: at least 500 KiB).
	MaxBytes = 500 << 10
	// maxLine is how much of a line counts, as in Google's parser: eight URLs of 2,083 bytes.
	maxLine = 2083 * 8
	// tooManyRequests is HTTP's status 429.
	tooManyRequests = 429
	// maxDelay is the longest Crawl-delay that is believed.
	maxDelay = 24 * time.Hour
)

// File is a parsed robots.txt. The nil File and the zero File allow everything.
type File struct {
	groups   []group
	sitemaps []string
	closed   bool // nothing is allowed, whatever the groups say
}

// group is a run of user-agent lines with the rules below it.
type group struct {
	agents []string // product tokens in lower case; "*" is everybody
	rules  []rule
	delay  time.Duration
}

type rule struct {
	allow   bool
	pattern string // escaped as [escape] does
}

// Parse reads a file. It never fails: what it cannot read it leaves out (RFC 9309, 2.2).
func Parse(body []byte) *File {
	body = body[:min(len(body), MaxBytes)]
	body = skipMark(body)
	p := parser{file: &File{}}
	for len(body) > 0 {
		i := bytes.IndexAny(body, "\r\n")
		line := body
		if i < 0 {
			body = nil
		} else {
			line, body = body[:i], body[i+1:]
		}
		p.line(line[:min(len(line), maxLine)])
	}
	return p.file
}

// Closed is the file that allows nothing but itself: it stands for a robots.txt that could not be asked for.
func Closed() *File { return &File{closed: true} }

// ForStatus is the file that an HTTP answer stands for (RFC 9309, 2.3.1): the body of a 2xx; everything allowed for 4xx and for
// a redirect that was not followed further; nothing allowed for 5xx and, since it asks for patience, for 429.
func ForStatus(status int, body []byte) *File {
	switch {
	case status >= 200 && status < 300:
		return Parse(body)
	case status == tooManyRequests, status >= 500, status < 200:
		return Closed()
	}
	return &File{}
}

// skipMark leaves out a byte order mark of UTF-8, even one cut short.
func skipMark(b []byte) []byte {
	for _, c := range []byte("\xef\xbb\xbf") {
		if len(b) == 0 || b[0] != c {
			break
		}
		b = b[1:]
	}
	return b
}

// parser keeps the group that lines belong to.
type parser struct {
	file  *File
	ruled bool // the last group has a rule: the next user-agent line begins another
}

func (p *parser) line(line []byte) {
	key, value, ok := keyValue(line)
	if !ok {
		return
	}
	switch directive(key) {
	case "user-agent":
		p.agent(value)
	case "allow":
		p.rule(rule{true, escape(value)})
	case "disallow":
		p.rule(rule{false, escape(value)})
	case "sitemap":
		if value != "" {
			p.file.sitemaps = append(p.file.sitemaps, value)
		}
	case "crawl-delay":
		p.delay(value)
	}
}

// keyValue splits a line without its comment. A missing colon is accepted where white space stands between
// just two words.
func keyValue(line []byte) (key, value string, ok bool) {
	if i := bytes.IndexByte(line, '#'); i >= 0 {
		line = line[:i]
	}
	s := strings.TrimSpace(string(line))
	key, value, ok = strings.Cut(s, ":")
	if !ok {
		words := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\t' })
		if len(words) != 2 {
			return "", "", false
		}
		return words[0], words[1], true
	}
	key = strings.TrimSpace(key)
	return key, strings.TrimSpace(value), key != ""
}

// directive is the name that a key means, by its beginning and with the misspellings that Google accepts.
func directive(key string) string {
	key = strings.ToLower(key[:min(len(key), 16)])
	for _, d := range [...][]string{
		{"user-agent", "useragent", "user agent"},
		{"allow"},
		{"disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"},
		{"sitemap", "site-map"},
		{"crawl-delay"},
	} {
		for _, spelling := range d {
			if strings.HasPrefix(key, spelling) {
				return d[0]
			}
		}
	}
	return ""
}

func (p *parser) agent(value string) {
	token := product(value)
	if value != "" && value[0] == '*' && (len(value) == 1 || isSpace(value[1])) {
		token = "*"
	}
	if p.ruled || len(p.file.groups) == 0 {
		p.file.groups = append(p.file.groups, group{})
		p.ruled = false
	}
	g := &p.file.groups[len(p.file.groups)-1]
	g.agents = append(g.agents, token)
}

func (p *parser) rule(r rule) {
	if len(p.file.groups) == 0 {
		return // rules before the first user-agent line belong to nobody
	}
	p.ruled = true
	g := &p.file.groups[len(p.file.groups)-1]
	g.rules = append(g.rules, r)
}

func (p *parser) delay(value string) {
	if len(p.file.groups) == 0 {
		return
	}
	s, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(s) || s <= 0 {
		return
	}
	d := maxDelay
	if s < maxDelay.Seconds() {
		d = time.Duration(s * float64(time.Second))
	}
	g := &p.file.groups[len(p.file.groups)-1]
	g.delay = max(g.delay, d)
}

// product is the beginning of a user-agent value that may be a product token, in lower case.
func product(s string) string {
	i := 0
	for i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z' || s[i] == '_' || s[i] == '-') {
		i++
	}
	return strings.ToLower(s[:i])
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\v' || c == '\f' }

// escape brings a pattern to the form that addresses are compared in: bytes from 0x80 as %XX, and the digits of
// what is escaped already in upper case (RFC 9309, 2.2.2).
func escape(s string) string {
	const hex = "0123456789ABCDEF"
	var b []byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 0x80:
			if b == nil {
				b = append(make([]byte, 0, len(s)+16), s[:i]...)
			}
			b = append(b, '%', hex[c>>4], hex[c&15])
		case c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) && (s[i+1] >= 'a' || s[i+2] >= 'a'):
			if b == nil {
				b = append(make([]byte, 0, len(s)+16), s[:i]...)
			}
			b = append(b, '%', upper(s[i+1]), upper(s[i+2]))
			i += 2
		case b != nil:
			b = append(b, c)
		}
	}
	if b == nil {
		return s
	}
	return string(b)
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func upper(c byte) byte {
	if c >= 'a' {
		return c - ('a' - 'A')
	}
	return c
}

package source

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	minSecretBytes = 8 // shorter values are "true", "en" and the like
	mask           = "•••"
	maxDetail      = 300 // characters of a failure's detail
	maxFirstBytes  = 120 // bytes kept of what is not MCP
	tailLines      = 40  // lines kept of standard error
	tailChars      = 400 // characters kept of each
)

// A redactor masks the values of a spec's variables and headers.
type redactor struct{ r *strings.Replacer }

func newRedactor(spec *Spec) redactor {
	var secrets []string
	add := func(v string) {
		if len(v) >= minSecretBytes {
			secrets = append(secrets, v)
		}
	}
	for _, v := range spec.Env {
		add(v)
	}
	for _, v := range spec.Secrets {
		add(v)
	}
	for _, v := range spec.Headers {
		add(v)
		if _, token, ok := strings.Cut(v, " "); ok {
			add(token)
		}
	}
	// The longest first: one may hold another.
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	for _, s := range secrets {
		pairs = append(pairs, s, mask)
	}
	return redactor{strings.NewReplacer(pairs...)}
}

func (r redactor) clean(s string) string { return r.r.Replace(s) }

// lazily is an expression that is compiled when it is first used: most runs of a program
// need none of them, and together they take milliseconds.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// ansi matches the escape sequences of terminals.
var ansi = lazily("\x1b(\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)?|[@-Z\\\\-_])")

// oneLine makes text fit for a terminal and a log: one line, no escape
// sequences, nothing invisible, at most max characters.
func oneLine(s string, max int) string {
	s = ansi().ReplaceAllString(s, "")
	var b strings.Builder
	space, n := false, 0
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = n > 0
			continue
		case r == utf8.RuneError || !unicode.IsPrint(r):
			continue
		}
		if n >= max {
			return b.String() + "…"
		}
		if space {
			b.WriteByte(' ')
			n++
		}
		space = false
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// A tail keeps the last lines of a child's standard error, and the address of a
// page to sign in at, if the child named one.
type tail struct {
	redact redactor
	each   func(line string) // told every line; not nil

	mu     sync.Mutex
	lines  []string  // the last tailLines
	first  time.Time // when the first one came
	signIn string
}

// add takes one line.
func (t *tail) add(line string) {
	line = oneLine(t.redact.clean(line), tailChars)
	if line == "" {
		return
	}
	t.mu.Lock()
	if t.first.IsZero() {
		t.first = time.Now()
	}
	if len(t.lines) == tailLines {
		t.lines = slices.Delete(t.lines, 0, 1)
	}
	t.lines = append(t.lines, line)
	if u := signInURL(t.lines); u != "" {
		t.signIn = u
	}
	t.mu.Unlock()
	t.each(line)
}

// snapshot returns the lines, oldest first, and the address to sign in at.
func (t *tail) snapshot() (lines []string, signIn string) {
	if t == nil {
		return nil, ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.lines), t.signIn
}

var (
	pageURL    = lazily(`https?://[^\s"'<>]+`)
	signInWord = lazily(`(?i)\b(authori[sz]\w*|authenticat\w*|sign[ -]?in|log[ -]?in|consent)\b`)
	errorWord  = lazily(`(?i)\b(\w*error|\w*exception|panic|fatal|cannot|not found|no such|denied|missing|required|refused|invalid|unable|usage)\b`)
	frameLine  = lazily(`^(at |File "|goroutine \d|\^|node:|Node\.js v)`)
)

// signInURL looks at the last line and the one before, since programs print the
// request and the address below each other.
func signInURL(lines []string) string {
	last := lines[len(lines)-1]
	u := pageURL().FindString(last)
	if u == "" {
		return ""
	}
	before := ""
	if len(lines) > 1 {
		before = lines[len(lines)-2]
	}
	if signInWord().MatchString(pageURL().ReplaceAllString(last, "")) || signInWord().MatchString(pageURL().ReplaceAllString(before, "")) {
		return strings.TrimRight(u, ".,;:)")
	}
	return ""
}

// reason picks the line that says best why a child gave up: the last one that
// speaks of an error, else the last.
func reason(lines []string) string {
	last := ""
	for _, l := range slices.Backward(lines) {
		if frameLine().MatchString(l) {
			continue
		}
		if errorWord().MatchString(l) {
			return l
		}
		if last == "" {
			last = l
		}
	}
	return last
}

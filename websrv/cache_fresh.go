package websrv

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// cacheControl reads the directives, names in lower case (RFC 9111 §5.2). The first of a
// name counts.
func cacheControl(h http.Header) map[string]string {
	cc := map[string]string{}
	for _, line := range h.Values("Cache-Control") {
		for _, d := range strings.Split(line, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(d), "=")
			if name = strings.ToLower(strings.TrimSpace(name)); name != "" && !has(cc, name) {
				cc[name] = strings.Trim(strings.TrimSpace(value), `"`)
			}
		}
	}
	return cc
}

func has(cc map[string]string, name string) bool {
	_, ok := cc[name]
	return ok
}

// directiveSeconds is a directive's number; one that is none counts as 0, which is stale.
func directiveSeconds(cc map[string]string, name string) (time.Duration, bool) {
	v, ok := cc[name]
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(v, 10, 32)
	if err != nil || n < 0 {
		return 0, true
	}
	return time.Duration(n) * time.Second, true
}

// explicit is the lifetime that an answer states, 0 if it states none.
func (e *entry) explicit() time.Duration {
	if d, ok := directiveSeconds(cacheControl(e.Header), "max-age"); ok {
		return d
	}
	if v := e.Header.Get("Expires"); v != "" {
		if t, err := http.ParseTime(v); err == nil {
			return max(0, t.Sub(e.date()))
		}
	}
	return 0
}

// lifetime is how long an answer is fresh: as it says, else a tenth of the time since it
// was last changed (RFC 9111 §4.2.2), at most a day.
func (e *entry) lifetime() time.Duration {
	cc := cacheControl(e.Header)
	if has(cc, "no-cache") {
		return 0
	}
	if has(cc, "max-age") || e.Header.Get("Expires") != "" {
		return e.explicit()
	}
	if t, err := http.ParseTime(e.Header.Get("Last-Modified")); err == nil {
		return min(max(0, e.date().Sub(t)/10), maxHeuristic)
	}
	return 0
}

// date is the answer's own, else when it came.
func (e *entry) date() time.Time {
	if t, err := http.ParseTime(e.Header.Get("Date")); err == nil {
		return t
	}
	return e.Came
}

// age is RFC 9111 §4.2.3.
func (e *entry) age(now time.Time) time.Duration {
	var stated time.Duration
	if n, err := strconv.ParseInt(strings.TrimSpace(e.Header.Get("Age")), 10, 32); err == nil && n > 0 {
		stated = time.Duration(n) * time.Second
	}
	initial := max(0, e.Came.Sub(e.date()), stated+e.Came.Sub(e.Asked))
	return initial + max(0, now.Sub(e.Came))
}

// silent reports whether a page says nothing of how long it is fresh.
func (e *entry) silent() bool {
	return e.Status == http.StatusOK && e.Header.Get("Cache-Control") == "" && e.Header.Get("Expires") == "" && e.Header.Get("Pragma") == ""
}

// usable reports whether the entry answers without a question to the host. A positive
// maxAge is the caller's own measure, in place of the answer's; fallback is for a page that
// says nothing.
func (e *entry) usable(maxAge, fallback time.Duration, now time.Time) bool {
	if has(cacheControl(e.Header), "no-cache") {
		return false
	}
	if maxAge > 0 {
		return e.age(now) <= maxAge
	}
	life := e.lifetime()
	if e.silent() {
		life = max(life, fallback)
	}
	return e.age(now) < life
}

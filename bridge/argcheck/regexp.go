package argcheck

import "github.com/dlclark/regexp2"

// jsRegexp is a JavaScript regular expression, read as with the flag "u" as
// JSON Schema advises. Safe for concurrent use.
type jsRegexp struct {
	re *regexp2.Regexp
}

func compileRegexp(s string) (*jsRegexp, error) {
	re, err := regexp2.Compile(s, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = maxPatternTime
	return &jsRegexp{re}, nil
}

func (r *jsRegexp) String() string { return r.re.String() }

// match reports whether s has a match, or fails when that takes too long.
func (r *jsRegexp) match(s string) (bool, error) {
	if len(s) > maxPatternText {
		return false, unsupported("a string of %d bytes is too long to match the pattern %s", len(s), quote(r.String()))
	}
	for range patternTries {
		if ok, err := r.re.MatchString(s); err == nil {
			return ok, nil
		}
	}
	return false, unsupported("the pattern %s takes too long to match", quote(r.String()))
}

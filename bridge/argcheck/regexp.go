package argcheck

import (
	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// jsRegexp is a JavaScript regular expression, read as with the flag "u" as
// JSON Schema advises. Safe for concurrent use.
type jsRegexp struct {
	re *regexp2.Regexp
}

// compileRegexp is a [jsonschema.RegexpEngine].
func compileRegexp(s string) (jsonschema.Regexp, error) {
	re, err := regexp2.Compile(s, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = maxPatternTime
	return &jsRegexp{re}, nil
}

func (r *jsRegexp) String() string { return r.re.String() }

// MatchString is for the compiler's interface, which uses it on the metaschema
// alone; the evaluator calls match.
func (r *jsRegexp) MatchString(s string) bool {
	ok, err := r.match(s)
	return ok && err == nil
}

// match reports whether s has a match, or fails when that takes too long.
func (r *jsRegexp) match(s string) (bool, error) {
	if len(s) > maxPatternText {
		return false, unsupported("a string of %d bytes is too long to match the pattern %s", len(s), quote(r.String()))
	}
	ok, err := r.re.MatchString(s)
	if err != nil {
		return false, unsupported("the pattern %s takes too long to match", quote(r.String()))
	}
	return ok, nil
}

package guard

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// redacted stands where a secret was.
const redacted = "[redacted]"

// minSecretBytes is the length below which a configured value is no secret: "true" or
// "1" would make every text unreadable.
const minSecretBytes = 6

// A Redactor takes secrets out of text before it is written anywhere: the values that
// the user configured (headers, environment), in the spellings that they are sent in, and
// what looks like a key or a token. The nil Redactor knows the patterns only.
type Redactor struct{ values atomic.Pointer[valueSet] }

type valueSet struct {
	known    map[string]bool
	replacer *strings.Replacer
}

// NewRedactor returns a redactor that knows these values; see Add.
func NewRedactor(values ...string) *Redactor {
	r := &Redactor{}
	r.Add(values...)
	return r
}

// Add makes more values secret, from now on. Values under six bytes are ignored. Of a
// header such as "Bearer x" or "Basic eDp5" the part behind the scheme is secret too, and
// what it stands for in base64.
func (r *Redactor) Add(values ...string) {
	for {
		old := r.values.Load()
		next := &valueSet{known: map[string]bool{}}
		if old != nil {
			for v := range old.known {
				next.known[v] = true
			}
		}
		for _, v := range values {
			for _, s := range spellings(v) {
				if len(s) >= minSecretBytes {
					next.known[s] = true
				}
			}
		}
		next.replacer = replacerOf(next.known)
		if r.values.CompareAndSwap(old, next) {
			return
		}
	}
}

// replacerOf replaces longer values first, so that none leaves its end behind.
func replacerOf(known map[string]bool) *strings.Replacer {
	all := make([]string, 0, len(known))
	for v := range known {
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	pairs := make([]string, 0, 2*len(all))
	for _, v := range all {
		pairs = append(pairs, v, redacted)
	}
	return strings.NewReplacer(pairs...)
}

// spellings are the forms in which a value may turn up.
func spellings(v string) []string {
	v = strings.TrimSpace(v)
	forms := []string{v}
	if scheme, rest, ok := strings.Cut(v, " "); ok && isWord(scheme) {
		forms = append(forms, strings.TrimSpace(rest))
		if plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(rest)); err == nil && strings.EqualFold(scheme, "basic") {
			_, password, _ := strings.Cut(string(plain), ":")
			forms = append(forms, string(plain), password)
		}
	}
	for _, f := range slices.Clone(forms) {
		if len(f) < minSecretBytes {
			continue
		}
		quoted, _ := encode(f)
		html, _ := json.Marshal(f)
		forms = append(forms, url.QueryEscape(f), url.PathEscape(f),
			strings.Trim(string(quoted), `"`), strings.Trim(string(html), `"`),
			base64.StdEncoding.EncodeToString([]byte(f)), base64.RawURLEncoding.EncodeToString([]byte(f)))
	}
	return forms
}

func isWord(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r > 'z' || r < '0' && r != '-' })
}

// String returns s without secrets.
func (r *Redactor) String(s string) string {
	if r != nil {
		if set := r.values.Load(); set != nil && len(set.known) > 0 {
			s = set.replacer.Replace(s)
		}
	}
	for _, p := range secretPatterns {
		if p.hint != "" && !strings.Contains(s, p.hint) || p.words != nil && !hasAny(s, p.words) {
			continue
		}
		s = p.re.get().ReplaceAllString(s, p.with)
	}
	return s
}

// Value returns a decoded JSON value without secrets: in its strings, its keys, and whole
// under keys that are named for one (password, token, authorization). v is not changed.
func (r *Redactor) Value(v any) any {
	switch v := v.(type) {
	case string:
		return r.String(v)
	case json.Number:
		if s := r.String(v.String()); s != v.String() {
			return s
		}
		return v
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = r.Value(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			if secretKey(k) && !empty(item) {
				item = redacted
			}
			out[r.String(k)] = r.Value(item)
		}
		return out
	}
	return v
}

func empty(v any) bool {
	_, isBool := v.(bool)
	return v == nil || v == "" || isBool
}

// Names of secrets, without what joins words.
var secretNames = []string{
	"password", "passwd", "passphrase", "secret", "apikey", "accesskey", "privatekey", "authorization", "credential", "bearer",
	"cookie", "sessionid", "accesstoken", "refreshtoken", "authtoken", "idtoken", "clientsecret",
}

// secretKey reports whether a key is named for a secret. "token" counts as the whole
// name or its last word only: max_tokens and tokenizer are none.
func secretKey(k string) bool {
	plain := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(k))
	for _, n := range secretNames {
		if strings.Contains(plain, n) {
			return true
		}
	}
	return strings.HasSuffix(plain, "token") || plain == "pin" || plain == "otp" || plain == "pwd" || plain == "auth"
}

// hasAny reports whether s may hold one of these words of lower-case letters, in either
// case. Beyond ASCII there are letters that a pattern takes for one of them, as the Kelvin
// sign for k: where s holds any such it may.
func hasAny(s string, words []string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return true
		}
		for _, w := range words {
			if s[i]|0x20 == w[0] && len(s)-i >= len(w) && strings.EqualFold(s[i:i+len(w)], w) {
				return true
			}
		}
	}
	return false
}

// Words of which each match of a pattern holds one.
var (
	schemeWords = []string{"bearer", "basic"}
	secretWords = []string{"key", "token", "secret", "passw"}
)

// secretPatterns find what looks like a secret wherever it stands. What is quick to look
// for comes first: hint, where there is one, is part of every match, and so is one of
// words.
var secretPatterns = []struct {
	name, hint string
	re         *pattern
	with       string
	words      []string
}{
	{"private key", "PRIVATE KEY", lazy(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`), redacted, nil},
	{"GitHub token", "gh", lazy(`\bgh[pousr]_[A-Za-z0-9]{20,}`), redacted, nil},
	{"GitHub token", "github_pat_", lazy(`\bgithub_pat_[A-Za-z0-9_]{20,}`), redacted, nil},
	{"GitLab token", "glpat-", lazy(`\bglpat-[A-Za-z0-9_-]{16,}`), redacted, nil},
	{"API key", "sk-", lazy(`\bsk-[A-Za-z0-9_-]{16,}`), redacted, nil},
	{"Stripe key", "k_", lazy(`\b[srp]k_(?:live|test)_[A-Za-z0-9]{10,}`), redacted, nil},
	{"Slack token", "xox", lazy(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`), redacted, nil},
	{"AWS key", "AKIA", lazy(`\bAKIA[A-Z0-9]{16}\b`), redacted, nil},
	{"AWS key", "ASIA", lazy(`\bASIA[A-Z0-9]{16}\b`), redacted, nil},
	{"Google key", "AIza", lazy(`\bAIza[A-Za-z0-9_-]{30,}`), redacted, nil},
	{"Google token", "ya29.", lazy(`\bya29\.[A-Za-z0-9_-]{20,}`), redacted, nil},
	{"npm token", "npm_", lazy(`\bnpm_[A-Za-z0-9]{30,}`), redacted, nil},
	{"Hugging Face token", "hf_", lazy(`\bhf_[A-Za-z0-9]{30,}`), redacted, nil},
	{"JSON web token", "eyJ", lazy(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`), redacted, nil},
	{"password in a URL", "@", lazy(`(\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"']*:)[^\s/@"']+@`), "${1}" + redacted + "@", nil},
	{"bearer token", "", lazy(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/-]{12,}=*`), "${1} " + redacted, schemeWords},
	{"secret", "", lazy(`(?i)\b((?:api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|password|passwd|secret)["']?\s*[=:]\s*["']?)[^\s"'&,;{}\[\]]{6,}`), "${1}" + redacted, secretWords},
}

// findSecret names the kind of secret that s seems to hold, "" if none.
func findSecret(s string) string {
	for _, p := range secretPatterns[:len(secretPatterns)-2] { // the last two also fit plain prose
		if (p.hint == "" || strings.Contains(s, p.hint)) && p.re.get().MatchString(s) {
			return p.name
		}
	}
	return ""
}

package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A ConsentRequest is what a project's file asks for and the user has not agreed to.
type ConsentRequest struct {
	Name    string   // of the server; "" for the settings of the project's file
	Project string   // the project's directory
	Place   Place    // where it is written
	Lines   []string // exactly what would run or hold, uncut, for the user to read; control characters are escaped
	Hash    string   // changes with whatever the lines say
}

func newRequest(name, project string, place Place, lines []string) *ConsentRequest {
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return &ConsentRequest{name, project, place, lines, "sha256:" + hex.EncodeToString(sum[:])}
}

// consentLines say what the server would run, with ${VAR} in place.
func (s *Server) consentLines() []string {
	lines := []string{"type: " + string(s.Transport)}
	add := func(key string, value any) { lines = append(lines, key+": "+consentValue(value)) }
	texts := func(key string, m map[string]string) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			add(key+"."+quoteKey(k), m[k])
		}
	}
	if s.Transport == Stdio {
		add("command", s.Command)
		add("args", s.Args)
		texts("env", s.Env)
		add("cwd", s.Cwd)
	} else {
		add("url", s.URL)
		texts("headers", s.Headers)
		if o := s.OAuth; o.ClientID != "" || o.ClientSecret != "" || o.Scopes != nil || o.CallbackPort != 0 {
			add("oauth.client_id", o.ClientID)
			add("oauth.client_secret", o.ClientSecret)
			add("oauth.scopes", o.Scopes)
			add("oauth.callback_port", o.CallbackPort)
		}
	}
	if s.Trust {
		add("trust", true)
	}
	if s.Sampling {
		add("sampling", true)
	}
	return lines
}

// Fingerprint is a hash over all that the server would run. It does not change with what
// the variables hold, nor with timeouts and disabled.
func (s *Server) Fingerprint() string {
	return newRequest("", "", Place{}, s.consentLines()).Hash
}

// consentLine is a rule of the policy in one line.
func (r *Rule) consentLine() string {
	var tools []string
	for _, t := range r.Tools {
		tools = append(tools, t.Text)
	}
	line := string(r.Decision) + " " + consentValue(tools)
	if r.Origins != nil {
		line += " origins " + consentValue(r.Origins)
	}
	for _, k := range slices.Sorted(maps.Keys(r.Args)) {
		line += " args." + quoteKey(k) + " " + consentValue(r.Args[k])
	}
	if r.Definition != "" {
		line += " definition " + consentValue(r.Definition)
	}
	return line
}

// consentValue writes a value so that nothing in it can pass for something else.
func consentValue(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case []string:
		quoted := make([]string, len(v))
		for i, s := range v {
			quoted[i] = strconv.Quote(s)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return fmt.Sprint(v)
}

func quoteKey(k string) string {
	if strings.ContainsFunc(k, func(r rune) bool { return !isWord(r) && r != '-' }) {
		return strconv.Quote(k)
	}
	return k
}

// consentFile is the store's file in the user's directory.
const consentFile = "consents.json"

// maxConsents bounds the store; the oldest ones go.
const maxConsents = 1000

// Consents is the store of what the user agreed to, a file of mode 0600 in the user's
// directory. It is safe for concurrent use, in one process; of two processes that write
// at the same moment one may have to ask again. A nil *Consents holds nothing.
type Consents struct {
	path string
	mu   sync.Mutex
	all  []consent // guarded by mu
}

type consent struct {
	Project string    `json:"project"`
	Name    string    `json:"name"`
	Hash    string    `json:"hash"`
	Time    time.Time `json:"time"`
}

func (c consent) matches(r *ConsentRequest) bool {
	return c.Project == r.Project && c.Name == r.Name && c.Hash == r.Hash
}

// OpenConsents reads the store in the user's directory. A missing file is an empty store;
// one that cannot be read is an error, and what was agreed to is asked for again.
func OpenConsents(userDir string) (*Consents, error) {
	c := &Consents{path: filepath.Join(userDir, consentFile)}
	return c, c.read()
}

// read reads the file anew. The caller holds mu or is alone.
func (c *Consents) read() error {
	text, err := os.ReadFile(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var all []consent
	if err := json.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("read %s: %v; remove the file to begin anew", c.path, err)
	}
	c.all = all
	return nil
}

// Has reports whether the user agreed to exactly this.
func (c *Consents) Has(r *ConsentRequest) bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.all, func(x consent) bool { return x.matches(r) })
}

// Grant keeps the user's consent. What was agreed to before under the same name in the
// same project no longer holds: going back to it is a change too.
func (c *Consents) Grant(r *ConsentRequest, at time.Time) error {
	return c.change(r.Project, r.Name, &consent{r.Project, r.Name, r.Hash, at.UTC().Truncate(time.Second)})
}

// Revoke forgets what the user agreed to for a name in a project.
func (c *Consents) Revoke(project, name string) error { return c.change(project, name, nil) }

func (c *Consents) change(project, name string, add *consent) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []consent
	err := replaceFile(c.path, 0o600, true, func() ([]byte, error) {
		if err := c.read(); err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(slices.Clone(c.all), func(x consent) bool { return x.Project == project && x.Name == name })
		if add != nil {
			all = append(all, *add)
		}
		all = all[max(0, len(all)-maxConsents):]
		text, err := json.MarshalIndent(all, "", "  ")
		return append(text, '\n'), err
	})
	if err != nil {
		return err
	}
	c.all = all
	return nil
}

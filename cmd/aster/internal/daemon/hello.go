package daemon

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/aster-mcp/aster/webmcp"
)

// Protocol is the number of the lines that begin a connection. It changes only when an
// older side could not go on.
const Protocol = 1

// What a connection can be for.
const (
	askServe  = ""       // MCP
	askStatus = "status" // one Status line
	askStop   = "stop"   // the daemon ends
)

// maxHello bounds the first line of either side.
const maxHello = 256 << 10

// Attach says which browser a client wants and what pages may see of it. Clients with the
// same Browser, AllowRemote and Headless share an attachment.
type Attach struct {
	Browser     string   `json:"browser"` // the value of --cdp-url
	AllowRemote []string `json:"allowRemote,omitempty"`
	Headless    bool     `json:"headless,omitempty"`

	Dialogs     string   `json:"dialogs,omitempty"`
	Origins     []string `json:"origins,omitempty"`
	DenyOrigins []string `json:"denyOrigins,omitempty"`
	LegacyAPI   bool     `json:"legacyAPI,omitempty"`
	Compat      string   `json:"compat,omitempty"`
}

// endpoint tells attachments apart.
func (a *Attach) endpoint() string {
	remote := slices.Clone(a.AllowRemote)
	slices.Sort(remote)
	return a.Browser + "\x00" + strings.Join(slices.Compact(remote), "\x00") + "\x00" + strconv.FormatBool(a.Headless)
}

// differs names the flags of b that the attachment of a does not follow.
func (a *Attach) differs(b *Attach) (flags []string) {
	set := func(list []string) []string {
		list = slices.Clone(list)
		slices.Sort(list)
		return slices.Compact(list)
	}
	if orLeave(a.Dialogs) != orLeave(b.Dialogs) {
		flags = append(flags, "--dialogs")
	}
	if !slices.Equal(set(a.Origins), set(b.Origins)) {
		flags = append(flags, "--origin")
	}
	if !slices.Equal(set(a.DenyOrigins), set(b.DenyOrigins)) {
		flags = append(flags, "--deny-origin")
	}
	if a.LegacyAPI != b.LegacyAPI {
		flags = append(flags, "--legacy-api")
	}
	if cmp.Or(a.Compat, webmcp.CompatAuto) != cmp.Or(b.Compat, webmcp.CompatAuto) {
		flags = append(flags, "--compat")
	}
	return flags
}

func orLeave(s string) string {
	if s == "" {
		return webmcp.DialogsLeave
	}
	return s
}

// Hello is the client's first line.
type Hello struct {
	Aster    string               `json:"aster"` // version
	Protocol int                  `json:"protocol"`
	Ask      string               `json:"ask,omitempty"`
	Reason   string               `json:"reason,omitempty"` // of a stop
	Attach   Attach               `json:"attach,omitzero"`
	Client   webmcp.ClientOptions `json:"client,omitzero"`
	Rules    *Rules               `json:"rules,omitempty"`
}

// Rules are a client's own about which tools there are, as its configuration has them:
// globs over tool ids. What they mean is for [Options.Hide] to say.
type Rules struct {
	Allow []string `json:"allow,omitempty"`
	Deny  []string `json:"deny,omitempty"`
	None  bool     `json:"none,omitempty"` // no tool at all
}

// Welcome is the daemon's answer.
type Welcome struct {
	Aster    string  `json:"aster"`
	Protocol int     `json:"protocol"`
	PID      int     `json:"pid"`
	Began    string  `json:"began,omitempty"` // as in Status
	Note     string  `json:"note,omitempty"`  // one line for the user
	Error    string  `json:"error,omitempty"` // why the connection ends here
	Usage    bool    `json:"usage,omitempty"` // the error is one of the client's options
	Old      bool    `json:"old,omitempty"`   // the client is newer: it should take over
	Status   *Status `json:"status,omitempty"`
}

// Status is what a daemon says of itself.
type Status struct {
	Aster    string          `json:"aster"`
	PID      int             `json:"pid"`
	Uptime   string          `json:"uptime"`
	Began    string          `json:"began,omitempty"` // what ended the daemon before, in words; "" is nothing unusual
	Clients  int             `json:"clients"`
	Browsers []BrowserStatus `json:"browsers"`
}

// BrowserStatus is one attachment of a daemon.
type BrowserStatus struct {
	Browser string `json:"browser"` // the value of --cdp-url
	State   string `json:"state"`
	Clients int    `json:"clients"`
	Tools   int    `json:"tools"` // of all pages
}

var errLongLine = errors.New("line too long")

// readLine reads one line of at most limit bytes, without its end.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > limit {
			return nil, errLongLine
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func readJSON(r *bufio.Reader, v any) error {
	line, err := readLine(r, maxHello)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(line, v); err != nil {
		return fmt.Errorf("not a line of this protocol: %w", err)
	}
	return nil
}

func writeJSON(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// newer reports whether version a comes after b. Versions that are not vN.N.N… are
// neither newer nor older than any other: a build of a checkout takes nothing over.
func newer(a, b string) bool {
	x, xpre, ok1 := parseVersion(a)
	y, ypre, ok2 := parseVersion(b)
	if !ok1 || !ok2 {
		return false
	}
	if c := slices.Compare(x[:], y[:]); c != 0 {
		return c > 0
	}
	switch {
	case xpre == ypre:
		return false
	case xpre == "" || ypre == "":
		return xpre == "" // a release comes after its candidates
	}
	return xpre > ypre
}

func parseVersion(s string) (n [3]int, pre string, ok bool) {
	s, isV := strings.CutPrefix(s, "v")
	s, _, _ = strings.Cut(s, "+")
	s, pre, _ = strings.Cut(s, "-")
	parts := strings.Split(s, ".")
	if !isV || len(parts) != 3 {
		return n, "", false
	}
	for i, p := range parts {
		v, err := strconv.Atoi(p)
		if err != nil || v < 0 {
			return n, "", false
		}
		n[i] = v
	}
	return n, pre, true
}

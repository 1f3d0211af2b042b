package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// A key is one key of the file: its name, its type, its bounds and where its value goes.
// Decoding, errors, layers and the JSON schema all come from the table of keys. It is
// built when it is needed, so that commands without a configuration do not pay for it.
type key struct {
	name, doc string
	keys      []key                   // of a map with fixed keys
	each      *key                    // of a map with free keys
	at        func(*target) any       // of a leaf: *bool, *string, *int, *int64, *float64, *time.Duration, *[]string, *map[string]string, *Transport
	special   string                  // "servers", "patterns" or "rules": decoded by code of its own
	enum      []string                // of a text
	least     float64                 // of a number, or of seconds
	most      float64                 // 0 is no bound
	above     bool                    // least itself is not allowed
	check     func(text string) error // of a text, or of each of a list
	one       bool                    // of a list: a single text will do
	min       int                     // of a list: the fewest

	// Of a project's file.
	widens   func(v any) bool // the value needs the user's consent; nil never does
	userOnly bool             // has no effect there
	union    bool             // lists of all layers are joined; others replace each other
	sticky   bool             // once true, no later layer makes it false
}

// target is what the values of keys go to.
type target struct {
	c        *Config
	server   *entry
	rule     *Rule
	provider *WebProvider
}

// Answers for widens.
func always(any) bool       { return true }
func ifTrue(v any) bool     { return v == true }
func ifFalse(v any) bool    { return v == false }
func ifNotEmpty(v any) bool { s, ok := v.(string); return !ok || s != "" }
func section(name, doc string, keys ...key) key {
	return key{name: name, doc: doc, keys: keys}
}

// fileKeys is the whole file.
func fileKeys() []key {
	c := func(at func(*Config) any) func(*target) any { return func(t *target) any { return at(t.c) } }
	return []key{section("mcp", "All that aster does over the Model Context Protocol.",
		key{name: "servers", doc: "The MCP servers, by name.", special: "servers", each: &key{keys: serverKeys()}},
		section("tools", "Which tools are in the catalogue. Globs on server/tool; deny wins over allow.",
			key{name: "allow", doc: "Only these tools. Empty or absent means all.", special: "patterns", union: true},
			key{name: "deny", doc: "Not these tools.", special: "patterns", union: true},
			key{name: "locked", doc: "In your own file: makes its allow final, so that no project adds to it.", at: c(func(c *Config) any { return &c.Tools.Locked }), userOnly: true},
		),
		key{name: "context_tokens", doc: "Tokens that the model has left for a turn.", at: c(func(c *Config) any { return &c.ContextTokens }), least: 1, most: 1e8},
		key{name: "inventory_percent", doc: "The share of context_tokens that the list of tools may take.", at: c(func(c *Config) any { return &c.InventoryPercent }), above: true, most: 100},
		key{name: "search_limit", doc: "How many tools a search returns that names no limit.", at: c(func(c *Config) any { return &c.SearchLimit }), least: 1, most: 20},
		key{name: "start_timeout", doc: "How long a server may take to start.", at: c(func(c *Config) any { return &c.StartTimeout }), above: true, most: 86400},
		key{name: "call_timeout", doc: "How long a call to a configured server may take.", at: c(func(c *Config) any { return &c.CallTimeout }), above: true, most: 86400},
		key{name: "result_tokens", doc: "Longer results of the gateway are read page by page.", at: c(func(c *Config) any { return &c.ResultTokens }), least: 100, most: 1e8},
		key{name: "show_disabled", doc: "Tell the model which servers are disabled.", at: c(func(c *Config) any { return &c.ShowDisabled })},
		key{name: "daemon_idle", doc: "When an unused daemon ends.", at: c(func(c *Config) any { return &c.DaemonIdle }), above: true, most: 86400, userOnly: true},
		section("webmcp", "The tools of the web pages open in your browser.", webMCPKeys()...),
		section("web", "Search, extract, crawl, sitemap and screenshot.", webKeys()...),
		section("shortcuts", "The shortcuts of a Mac.",
			key{name: "folders", doc: "Only the shortcuts in these folders.", at: c(func(c *Config) any { return &c.Shortcuts.Folders }), widens: always},
			key{name: "as_tools", doc: "Each shortcut as a tool of its own.", at: c(func(c *Config) any { return &c.Shortcuts.AsTools })},
			key{name: "timeout", doc: "How long a shortcut may run.", at: c(func(c *Config) any { return &c.Shortcuts.Timeout }), above: true, most: 86400},
		),
		section("policy", "Which calls are allowed, asked for or denied.",
			key{name: "read_only", doc: "Only calls that read. It wins over every allow.", at: c(func(c *Config) any { return &c.Policy.ReadOnly }), sticky: true},
			key{name: "approve", doc: "Who asks for approval: the client, aster, or never.", at: c(func(c *Config) any { return &c.Policy.Approve }), enum: []string{"client", "aster", "never"}, widens: always},
			key{name: "rules", doc: "The strictest of the rules that match a call counts.", special: "rules", union: true},
		),
		section("audit", "What is kept of each call.",
			key{name: "enabled", doc: "Whether anything is. With true, a call that cannot be recorded is refused.", at: c(func(c *Config) any { return &c.Audit.Enabled }), widens: ifFalse},
			key{name: "file", doc: "Where; absolute or below your aster directory.", at: c(func(c *Config) any { return &c.Audit.File }), widens: always},
			key{name: "max_bytes", doc: "A longer file is rotated.", at: c(func(c *Config) any { return &c.Audit.MaxBytes }), least: 4096, most: 1 << 40, widens: always},
			key{name: "keep", doc: "How many rotated files stay.", at: c(func(c *Config) any { return &c.Audit.Keep }), most: 1000, widens: always},
			key{name: "max_argument_bytes", doc: "Longer arguments are cut; 0 keeps none.", at: c(func(c *Config) any { return &c.Audit.MaxArgumentBytes }), most: 1 << 20, widens: always},
		),
	)}
}

func webMCPKeys() []key {
	w := func(at func(*WebMCP) any) func(*target) any { return func(t *target) any { return at(&t.c.WebMCP) } }
	return []key{
		{name: "enabled", doc: "Attach to your browser.", at: w(func(w *WebMCP) any { return &w.Enabled }), widens: ifTrue},
		{name: "cdp_url", doc: "The browser: auto, http://HOST:PORT, ws://…, profile:DIR or launch.", at: w(func(w *WebMCP) any { return &w.CDPURL }), widens: always},
		{name: "allow_remote_cdp", doc: "Hosts other than this machine that may be connected to.", at: w(func(w *WebMCP) any { return &w.AllowRemote }), widens: always},
		{name: "headless", doc: "Start the browser of cdp_url launch without a window.", at: w(func(w *WebMCP) any { return &w.Headless })},
		{name: "origins", doc: "Only pages of these origins, as globs.", at: w(func(w *WebMCP) any { return &w.Origins }), check: checkGlob, widens: always},
		{name: "deny_origins", doc: "Never pages of these origins, as globs.", at: w(func(w *WebMCP) any { return &w.DenyOrigins }), check: checkGlob, union: true},
		{name: "expose", doc: "Which tools are listed.", at: w(func(w *WebMCP) any { return &w.Expose }), enum: []string{"both", "fixed", "tools"}},
		{name: "call_timeout", doc: "How long a page may take to answer a call.", at: w(func(w *WebMCP) any { return &w.CallTimeout }), above: true, most: 86400},
		{name: "max_result_tokens", doc: "Longer results are read page by page.", at: w(func(w *WebMCP) any { return &w.MaxResultTokens }), least: 100, most: 1e8},
		{name: "dialogs", doc: "What happens to a dialog that blocks a call.", at: w(func(w *WebMCP) any { return &w.Dialogs }), enum: []string{"leave", "accept", "dismiss"}, widens: always},
		{name: "active_tab", doc: "Only the visible tab that last had the focus.", at: w(func(w *WebMCP) any { return &w.ActiveTab }), widens: ifFalse},
		{name: "debugging", doc: "List tools that their page marks as meant for debugging.", at: w(func(w *WebMCP) any { return &w.Debugging })},
		{name: "legacy_api", doc: "Give pages the names of older drafts too.", at: w(func(w *WebMCP) any { return &w.LegacyAPI })},
		{name: "compat", doc: "Whose WebMCP pages see where the browser has none: its own version's, or that of a Chromium version, in quotes.", at: w(func(w *WebMCP) any { return &w.Compat }), enum: []string{"auto", "156", "159", "160"}},
	}
}

func webKeys() []key {
	w := func(at func(*Web) any) func(*target) any { return func(t *target) any { return at(&t.c.Web) } }
	order := section("order", "Which providers come first, by operation; the others follow in their usual order.")
	for _, op := range WebOperations() {
		order.keys = append(order.keys, key{name: op, doc: "Providers of " + op + ", the first one first.", check: checkProviderOf(op),
			at: func(t *target) any { return mapSlot{&t.c.Web.Order, op} }})
	}
	return []key{
		order,
		{name: "providers", doc: "Settings of single providers, by name.", special: "providers", each: &key{keys: []key{
			{name: "disabled", doc: "Never use it.", at: func(t *target) any { return &t.provider.Disabled }, widens: ifFalse},
			{name: "base_url", doc: "Where it is, if not at its usual place. Its key is sent there.", at: func(t *target) any { return &t.provider.BaseURL }, check: checkURL, widens: ifNotEmpty},
		}}},
		{name: "local_only", doc: "Send nothing to a remote provider.", at: w(func(w *Web) any { return &w.LocalOnly }), widens: ifFalse},
		{name: "user_agent", doc: "What fetches call themselves.", at: w(func(w *Web) any { return &w.UserAgent }), check: checkHeaderText},
		{name: "chromium", doc: "The browser that renders pages: a path, or off.", at: w(func(w *Web) any { return &w.Chromium }), widens: always},
		{name: "allow_private", doc: "Hosts, host:port or CIDR that may be private.", at: w(func(w *Web) any { return &w.AllowPrivate }), check: checkPrivate, widens: always},
		{name: "allow_domains", doc: "Only these domains and what is below them.", at: w(func(w *Web) any { return &w.AllowDomains }), check: checkDomain, widens: always},
		{name: "deny_domains", doc: "Never these domains and what is below them.", at: w(func(w *Web) any { return &w.DenyDomains }), check: checkDomain, union: true},
		section("limits", "Bounds of its work.",
			key{name: "timeout", doc: "Of one fetch.", at: w(func(w *Web) any { return &w.Limits.Timeout }), above: true, most: 300},
			key{name: "crawl_timeout", doc: "Of one crawl.", at: w(func(w *Web) any { return &w.Limits.CrawlTimeout }), least: 1, most: 600},
			key{name: "max_body_bytes", doc: "Of one page, decoded.", at: w(func(w *Web) any { return &w.Limits.MaxBodyBytes }), least: 1024, most: 64 << 20},
			key{name: "result_tokens", doc: "Of a reply that names no other.", at: w(func(w *Web) any { return &w.Limits.ResultTokens }), least: 500, most: 25_000},
			key{name: "crawl_pages", doc: "The most that a crawl may ask for.", at: w(func(w *Web) any { return &w.Limits.CrawlPages }), least: 1, most: 1000},
			key{name: "host_rate", doc: "Requests a second to one host in a crawl.", at: w(func(w *Web) any { return &w.Limits.HostRate }), above: true, most: 1000, widens: always},
			key{name: "max_concurrent", doc: "Fetches at once.", at: w(func(w *Web) any { return &w.Limits.MaxConcurrent }), least: 1, most: 256},
		),
		section("cache", "How fetched pages are kept.",
			key{name: "disabled", doc: "Keep none.", at: w(func(w *Web) any { return &w.Cache.Disabled })},
			key{name: "max_bytes", doc: "Of all that is kept.", at: w(func(w *Web) any { return &w.Cache.MaxBytes }), most: 1 << 40},
			key{name: "max_age", doc: "Where a page says nothing itself.", at: w(func(w *Web) any { return &w.Cache.MaxAge }), most: 366 * 86400},
		),
	}
}

// mapSlot is one list of a map of lists.
type mapSlot struct {
	m   *map[string][]string
	key string
}

// serverKeys are the keys of one server.
func serverKeys() []key {
	s := func(at func(*Server) any) func(*target) any {
		return func(t *target) any { return at(&t.server.Server) }
	}
	kinds := []string{string(Stdio), string(StreamableHTTP), "http", string(SSE)}
	return []key{
		{name: "command", doc: "The program to run. ${VAR} and ${VAR:-default} are replaced.", at: s(func(s *Server) any { return &s.Command })},
		{name: "args", doc: "Its arguments. ${VAR} is replaced.", at: s(func(s *Server) any { return &s.Args })},
		{name: "env", doc: "Its variables. ${VAR} is replaced.", at: s(func(s *Server) any { return &s.Env }), check: checkEnvName},
		{name: "cwd", doc: "Its directory; a relative one is below the directory of this file.", at: s(func(s *Server) any { return &s.Cwd })},
		{name: "url", doc: "The address of a remote server. ${VAR} is replaced.", at: s(func(s *Server) any { return &s.URL })},
		{name: "headers", doc: "Headers for a remote server. ${VAR} is replaced.", at: s(func(s *Server) any { return &s.Headers }), check: checkHeaderName},
		{name: "type", doc: "The transport; without it a command is stdio and a url streamable-http.", at: s(func(s *Server) any { return &s.Transport }), enum: kinds},
		{name: "transport", doc: "The same as type.", at: s(func(s *Server) any { return &s.Transport }), enum: kinds},
		{name: "disabled", doc: "Do not start it.", at: s(func(s *Server) any { return &s.Disabled })},
		{name: "timeout", doc: "How long a call may take.", at: s(func(s *Server) any { return &s.Timeout }), above: true, most: 86400},
		{name: "start_timeout", doc: "How long it may take to start.", at: s(func(s *Server) any { return &s.StartTimeout }), above: true, most: 86400},
		{name: "trust", doc: "Its tools need no approval.", at: s(func(s *Server) any { return &s.Trust })},
		{name: "sampling", doc: "It may ask the client's model, and for the client's roots, which are the folders that it works in.", at: s(func(s *Server) any { return &s.Sampling })},
		section("oauth", "What a login needs that cannot be discovered.",
			key{name: "client_id", doc: "The client's id.", at: s(func(s *Server) any { return &s.OAuth.ClientID })},
			key{name: "client_secret", doc: "Its secret: name a variable, as in ${SECRET}.", at: s(func(s *Server) any { return &s.OAuth.ClientSecret })},
			key{name: "scopes", doc: "What to ask for.", at: s(func(s *Server) any { return &s.OAuth.Scopes })},
			key{name: "callback_port", doc: "The port of the redirect; 0 is any.", at: s(func(s *Server) any { return &s.OAuth.CallbackPort }), most: 65535},
		),
	}
}

// ruleKeys are the keys of one rule of the policy.
func ruleKeys() []key {
	r := func(at func(*Rule) any) func(*target) any { return func(t *target) any { return at(t.rule) } }
	rules := []key{}
	for _, d := range []Decision{Allow, Ask, Deny} {
		rules = append(rules, key{name: string(d), doc: "The tools, as globs on server/tool.", special: "patterns", one: true})
	}
	return append(rules,
		key{name: "origins", doc: "Only for a page's tool of these origins, as globs.", at: r(func(r *Rule) any { return &r.Origins }), check: checkGlob, one: true, min: 1},
		key{name: "args", doc: "Only where these arguments, by dotted path, match these globs.", at: r(func(r *Rule) any { return &r.Args })},
		key{name: "definition", doc: "Only for the tool of this hash; written by an approval.", at: r(func(r *Rule) any { return &r.Definition })},
		key{name: "reason", doc: "Shown with the decision.", at: r(func(r *Rule) any { return &r.Reason })},
	)
}

// checkName says what is wrong with the name of a server.
func checkName(name string) error {
	switch {
	case name == "" || len(name) > maxServerName:
		return fmt.Errorf("the name of a server has 1 to %d characters", maxServerName)
	case strings.Contains(name, "/"):
		return fmt.Errorf("the name of a server holds no %q", "/")
	}
	for i, r := range name {
		if !isWord(r) && (i == 0 || r != '.' && r != '-') {
			return fmt.Errorf("the name of a server is of letters, digits, %q, %q and %q, and begins with none of the last two", "_", ".", "-")
		}
	}
	return nil
}

const maxServerName = 64

func isWord(r rune) bool {
	return r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("an address begins with https:// or http://")
	case u.User != nil:
		return fmt.Errorf("an address holds no user name or password")
	}
	return nil
}

func checkPrivate(text string) error {
	if _, err := netip.ParsePrefix(text); err == nil {
		return nil
	}
	if text == "" || strings.ContainsAny(text, "/ @?#*") {
		return fmt.Errorf("%q is no host, host:port or CIDR", text)
	}
	return nil
}

func checkDomain(text string) error {
	if text == "" || strings.ContainsAny(text, "/ @?#*:") || strings.HasPrefix(text, ".") {
		return fmt.Errorf("%q is no domain; write example.com, which covers what is below it too", text)
	}
	return nil
}

func checkEnvName(name string) error {
	if name == "" || strings.ContainsAny(name, "=\x00") {
		return fmt.Errorf("%q is no name of a variable", name)
	}
	return nil
}

func checkHeaderName(name string) error {
	ok := name != ""
	for _, r := range name {
		ok = ok && (isWord(r) || strings.ContainsRune("!#$%&'*+-.^`|~", r))
	}
	if !ok {
		return fmt.Errorf("%q is no name of a header", name)
	}
	return nil
}

func checkHeaderText(text string) error {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("a header holds no control characters")
	}
	return nil
}

// names are the names of keys.
func names(keys []key) []string {
	var out []string
	for _, k := range keys {
		out = append(out, k.name)
	}
	return out
}

// find returns the key of that name, nil if there is none.
func find(keys []key, name string) *key {
	if i := slices.IndexFunc(keys, func(k key) bool { return k.name == name }); i >= 0 {
		return &keys[i]
	}
	return nil
}

// parseDuration reads "30s", "1m30s" or a whole or broken number of seconds.
func parseDuration(n *node) (time.Duration, error) {
	text := n.text
	if n.kind == kindInt || n.kind == kindFloat {
		text = strings.ReplaceAll(text, "_", "") + "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil || n.kind == kindBool || n.kind == kindNull {
		return 0, fmt.Errorf(`a time is written as "30s", "2m" or a number of seconds`)
	}
	return d, nil
}

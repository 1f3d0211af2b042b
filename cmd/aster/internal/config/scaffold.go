package config

// Scaffold is a first file of that scope: the user's, or a project's.
func Scaffold(scope Scope) string {
	if scope == ScopeProject {
		return "# yaml-language-server: $schema=" + SchemaURL + "\n" + projectScaffold
	}
	return "# yaml-language-server: $schema=./" + SchemaFile + "\n" + userScaffold
}

const userScaffold = `# The configuration of aster. "aster config check" checks it; editors that know the
# schema above complete it.
mcp:
  servers:
    # A browser of its own for pages that a fetch cannot read: "aster mcp enable browser".
    # It needs uv, Python 3.11 or later, and once "uvx browser-use install". It browses in
    # a profile below ~/.config/browseruse; BROWSER_USE_ALLOWED_DOMAINS confines it.
    browser:
      command: uvx
      args: ["browser-use", "--mcp"]
      env:
        ANONYMIZED_TELEMETRY: "False"
        BROWSER_USE_HEADLESS: "true"
      disabled: true

  # Globs on server/tool; deny wins over allow, and an empty allow is everything.
  tools:
    allow: []
    deny:
      # Both want a second LLM key, and the second runs a whole agent in one call.
      - "browser/browser_extract_content"
      - "browser/retry_with_browser_use_agent"

  # The share of the context that the list of tools may take, in percent.
  inventory_percent: 1.5

  # Tools of the pages open in your browser. It attaches to the browser that you are
  # signed in to: "aster doctor" shows what it needs.
  webmcp:
    enabled: false
    cdp_url: auto
`

const projectScaffold = `# What this project needs of aster. Whoever opens it is asked before a server starts.
mcp:
  servers: {}
  tools:
    deny: []
`

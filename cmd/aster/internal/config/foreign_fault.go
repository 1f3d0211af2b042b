package config

import (
	"errors"
	"slices"
)

// A nodeError is a fault of one value of a server.
type nodeError struct {
	n    *node
	text string
}

func (e *nodeError) Error() string { return e.text }

// fault is the error of a server, at the value that is wrong where that is known.
func (d *dialect) fault(src *source, p *pair, err error) *FileError {
	line, column, width := p.line, p.column, len([]rune(p.key))+2
	var at *nodeError
	if errors.As(err, &at) {
		line, column, width = at.n.line, at.n.column, at.n.width()
	}
	return src.errorAt(line, column, width, "", "server %q: %v", p.key, err)
}

// foreignKeys are the keys of a server that are read, or that are known and not taken over.
func foreignKeys() []string {
	return []string{
		"alwaysAllow", "args", "autoApprove", "bearer_token_env_var", "command", "cwd", "disabled", "disabled_tools", "enabled",
		"enabled_tools", "env", "envFile", "env_file", "env_http_headers", "env_vars", "environment", "excludeTools", "headers",
		"http_headers", "httpUrl", "includeTools", "serverUrl", "startup_timeout_ms", "startup_timeout_sec", "timeout",
		"tool_timeout_sec", "transport", "trust", "type", "url",
	}
}

// misspelt tells of keys that are nearly those that are read. Others are what other clients
// keep there, and theirs.
func (d *dialect) misspelt(src *source, p *pair) (out []Problem) {
	for i := range p.value.pairs {
		k := &p.value.pairs[i]
		if slices.Contains(foreignKeys(), k.key) {
			continue
		}
		if hint := nearest(k.key, foreignKeys()); hint != "" {
			out = append(out, src.errorAt(k.line, k.column, len([]rune(k.key))+2, hint, "server %q: the key %q is not known", p.key, k.key).problem())
		}
	}
	return out
}

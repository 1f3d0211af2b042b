// Package config loads, unions, checks and edits the configuration of aster.
//
// # Files
//
// The user's file is aster.yaml in the user's directory ($ASTER_HOME, else aster below
// $XDG_CONFIG_HOME, else ~/.aster). The project's file is the first of aster.yaml,
// aster.yml and .aster.yaml on the way from the working directory up to the root of the
// repository. mcp.json in the user's directory and .mcp.json beside the project's file, in
// the format that other MCP clients write, only fill in names that no YAML file declares.
// ASTER_MCP_EXTRA, a JSON map of servers, holds for one session. What counts more comes
// first: flags, environment, project, user, defaults. An empty variable is unset.
//
// # What a project may say
//
// A project's file is a stranger's until the user has agreed to it. Its servers, and the
// settings that widen what aster may do, wait in [Config.Pending] for a consent, which is
// kept in a [Consents] store under a hash of what would run. Lists that narrow (deny, deny_origins,
// deny rules of the policy) count at once.
//
// # Where to look
//
//   - config.go, web.go, policy.go: the types that a loaded configuration consists of
//   - load.go, locate.go, layer.go: files, their order and their union
//   - keys.go, decode.go: one table of keys, from which decoding, errors and the JSON schema come
//   - pattern.go: globs over tool ids; expand.go: ${VAR}
//   - consent.go: what the user agreed to
//   - edit.go, splice.go: changes that keep every other byte
//   - import.go and import_*.go: the files of other clients
package config

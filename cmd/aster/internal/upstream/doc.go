// Package upstream makes sources of the configured MCP servers, and signs the user in to them.
//
// [Specs] turns a configuration into specs for [source.NewSet]: variables are
// expanded, limits resolved, and a remote server's stored login becomes its
// bearer token. A server that cannot be expanded is skipped and named.
//
// [Login] signs in to a remote server in the user's browser, with the SDK's
// authorization code flow: metadata discovery, PKCE, a pre-registered or
// dynamically registered client, a callback on a loopback address. What the
// server granted is kept in a [Store]: the keychain of the system, or, where
// there is none or it refuses, a file of mode 0600. A grant belongs to one
// server name and one URL; changing the URL in a file does not carry the token along.
//
// Nothing here opens a browser or asks the user by itself while servers run: a
// login that ran out is a [source.Failure] of the kind NeedsSignIn.
package upstream

// Package websrv serves search, extract, crawl, sitemap and screenshot as an MCP server,
// through ranked providers.
//
// [NewServer] builds a [Server] from [Options]. Each tool has a chain of providers, fixed
// by the keys and switches of Options: hosted services first, where there is a key or a
// keyless tier, then what this process does itself. All five tools work without a key.
// [Dispatcher] asks the providers of a chain in order. A failure has a class (see
// [ErrRateLimited] and the other sentinels), which says whether the same provider is asked once
// more, how long it is left alone, and whether the next one gets its turn. An answer
// lists the attempts before it; when none is left, [DispatchError] lists them all with
// the reason and the next step.
//
// A page whose host is private, or that only this machine can resolve, is never named to
// a hosted service. What this process fetches itself passes one guard that decides at
// dial about the address used, on every hop, in the Go client and in the local Chromium.
//
// Replies hold at most the tokens asked for; the rest is read by cursor or by heading, and
// the pieces put together are the whole, byte for byte. What strangers wrote stands
// between boundaries of 128 random bits with the source outside.
//
// Every exported type may be used from several goroutines at once, and [Server.Close]
// returns after the last goroutine and the Chromium that it started have ended. The package reads
// no environment variable and starts nothing when loaded.
package websrv

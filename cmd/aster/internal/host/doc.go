// Package host owns what a server process needs beyond its tools: the stdio
// transport of `aster mcp serve`, and the middleware that keeps one bad handler or one bad
// line from ending it.
//
// [ServeStdio] runs an MCP server over newline-delimited JSON-RPC. Its reader judges
// each line before the SDK sees it: what is not JSON is answered -32700, what is JSON but
// no JSON-RPC message -32600, and the session goes on. Revisions that know batches
// (2024-11-05 and 2025-03-26) get them; the others get -32600. At the end of input calls
// that are about to be answered are, the rest are cancelled, and ServeStdio returns within
// [DrainTimeout] plus [CancelGrace].
//
// [Recover] is a receiving middleware: it turns panics, nil results and plain Go errors
// into answers that tell the client what it may know, and the log the rest.
//
// [Local] is a client of a server in the same process, and [Diagnose] looks at a browser
// for a person who wants to know why aster does not reach it.
//
// [CleanText] and [CleanAttr] take control sequences out of text that strangers wrote,
// before it reaches a terminal or a log.
package host

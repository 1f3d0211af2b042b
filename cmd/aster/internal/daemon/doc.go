// Package daemon lets all of a user's aster processes share one attachment to a browser:
// the browser asks its user at every new debugging connection, and every MCP client starts
// a server of its own.
//
// [Run] is the daemon: it listens on a socket that only the user can reach, holds one
// webmcp.Browser for each endpoint and gives every client a webmcp.Server of its own. The
// client is [Join], which starts a daemon where none runs. A connection begins with one
// line of JSON each way, [Hello] and [Welcome]; then it carries the JSON-RPC lines of MCP.
//
// A [Client] is an MCP server in the client's process that stands for the one in the
// daemon: its list is what the daemon last listed, its calls are made there. Guard, record
// and approvals stay with the client's process. When the daemon goes away, the client
// joins again, or starts another, and tells its own client that the list changed; calls in
// flight end with "outcome unknown".
//
// [ListenAnswers] and [DialAnswers] are a second use of such sockets: processes that have a
// question for the user find those that can ask.
//
// All types may be used from any goroutine.
package daemon

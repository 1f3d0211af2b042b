// Package source connects MCP servers as sources of a catalogue and its invoker.
//
// A [Spec] says how one server is reached: a command to run, a URL, a server in
// this process, or a stream. A [Source] keeps that server connected; a [Set]
// starts many at once, makes one [bridge.Catalog] of what they list, and is the
// [bridge.Invoker] that calls them.
//
//	set, err := source.NewSet([]source.Spec{
//		{Name: "files", Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-filesystem", dir}},
//		{Name: "wiki", URL: "https://mcp.example.com/mcp"},
//		{Name: "web", Server: websrv.NewServer(…)},
//	}, nil)
//	defer set.Close()
//	set.Start(ctx)
//	injector, err := bridge.NewInjector(set.Catalog(), bridge.DefaultConfig())
//	reply, err := injector.Handle(ctx, raw, set)
//
// # Servers are strangers
//
// A child gets an allow-list of the environment and what its Spec declares, a
// process group of its own, and is ended with its children: end of input, then
// TERM, then KILL. Lines of its output that are no messages are dropped. A
// remote server is spoken to at one origin; redirects and headers never leave
// it. Every size is bounded: messages, pages, tools, lines of errors.
//
// One bad tool costs itself only, and one bad content block too: both are read
// here, from the server's own bytes, so that a wrong hint does not lose a list,
// and a schema or a result reaches the catalogue as it was sent. What was wrong
// is in [Status].
//
// # Eras
//
// Revision 2026-07-28 opens with server/discover, older ones with initialize.
// A server that stays silent at the first is asked the second; one that left,
// or does not answer either, is started anew at 2025-11-25. The era that was
// found is remembered in the Source and may be kept by the host ([Spec.Era]).
//
// # Failures
//
// A server that cannot be used is a [Failure]: one line that says whether it is
// not installed, crashed, needs sign-in, does not respond or does not speak MCP.
// A server that died is started again by the next call, with a growing wait.
//
// # Concurrency
//
// All methods of Source and Set are safe for concurrent use. Close returns when
// no goroutine and no process is left. Handlers that a server's messages lead
// to are called from goroutines of the connection and must return when their
// context ends.
package source

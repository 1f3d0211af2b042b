// Package bridge shapes a session's catalogue and routes the one aster_mcp tool.
//
// A host that connects many MCP servers need not put every tool's schema into
// every request. It gives the model one tool, aster_mcp, and a short section of
// the prompt that says what there is; the model searches, describes and
// executes the rest on demand.
//
//	catalog, problems := bridge.NewLenientCatalog(tools, nil)
//	injector, err := bridge.NewInjector(catalog, bridge.DefaultConfig())
//	injection := injector.Inject()                    // each turn
//	reply, err := injector.Handle(ctx, raw, invoker)  // each call of aster_mcp
//	injector.SetCatalog(rebuilt)                      // when a server's list changed
//
// # Types
//
// A [Tool] has a [ToolID], server/tool. A [Catalog] is the immutable set of the
// session's tools; it resolves names, and ranks tools for a [Query] by a
// [Ranker], which is a [Lexical] unless the host gives another. An [Injector]
// belongs to one session: it makes the [Injection] of each turn and turns a
// call's arguments into an [Action]. An [Invoker] is the host's: the only way to
// a real tool.
//
// # The section
//
// It shows as much as its budget allows: whole descriptions, first sentences,
// names, an inventory of servers with what they are for and their most telling
// tool names, or their counts ([Level]). Between turns it stays the same to the
// byte, so that the provider's prompt cache holds; what changes in the
// catalogue is told once, at the end of a tool result ([Injector.TakeNote]).
// Whatever comes from a server is data: one line an entry, without characters
// that cannot be seen, without fences, cut with a mark.
//
// # Requests
//
// A name resolves as a whole, in the spellings server/tool, server__tool and
// server:tool. A request of the wrong shape is answered with the call to make
// instead. Execute carries the tool that was resolved, cannot be turned to
// another, and is checked against the catalogue of the moment before the invoker
// is called. Nothing outside the session's catalogue is listed, found, described
// or called.
//
// # Search
//
// BM25F over names, servers, descriptions and parameters, with stems, synonyms,
// compounds, corrected slips of typing, clauses of long requests, and exact
// names, which come first. Scores are integers: the same catalogue and query
// give the same bytes on every platform. An index of 2,800 tools is built in
// some 40 ms and searched in some 50 µs.
//
// # Limits and concurrency
//
// Every size that a stranger decides is bounded by a named constant. Catalogs,
// Injectors and Lexicals are safe for concurrent use. The package does no I/O
// and starts no goroutines; it cannot reach credentials or a socket.
package bridge

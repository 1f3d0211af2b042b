// Package webmcp keeps the registry of the tools that open pages offer, and serves
// it as an MCP server.
//
// A [Browser] attaches to a browser (package cdp) and hears of every tool that a page
// registers, from the browser's native WebMCP or from the injected shim (package
// shim). Each client gets a [Server] of its own from [Browser.NewServer], with its own
// filters, names and limits; a [Bridge] is a browser with one client. The way of a tool:
//
//	page registers → source_native.go or source_shim.go decodes
//	  → Registry.Apply, the only writer → view.go, the names of each client
//	  → sync.go, which compares and batches
//	  → AddTool or RemoveTools → tools/list_changed
//
// and of a call:
//
//	tools/call → call.go looks the tool up, checks the arguments, starts it in the
//	  page → the page's answer, its timeout, its cancellation or its document's end,
//	  whichever is first → result.go
//
// Everything that a page says is treated as hostile: bounded, checked and marked
// with its origin. Nothing waits for a tab: one that hangs is listed as not
// responding and holds up nobody.
package webmcp

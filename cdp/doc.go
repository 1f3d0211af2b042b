// Package cdp attaches to a running browser over the Chrome DevTools Protocol and
// carries commands and events per target.
//
// One websocket serves the whole browser ([Dial]); every attached target is a
// flattened [Session] on it. The multiplexer has one reading goroutine. It delivers
// everything that a browser says, events and the answers to [Session.Post], to the
// [Handler] and to the callbacks in the order of the wire, so that state with an
// order (tools, frames, calls) needs no lock and no guess about what came first.
// [Session.Call] is the blocking form for every other goroutine.
//
//	Endpoint  where a browser listens; found by Finder, started by Launch
//	Browser   the connection: attaches to pages and to their out-of-process frames
//	Session   one attached target, with its frames and execution contexts
//	Frame     one frame of a session, with its document's address and origin
//
// The package enables only the domains Target, Page and Runtime by itself. It moves
// no focus, navigates, reloads, resizes and closes nothing, and a target that the
// browser holds for us is released on every path.
package cdp

// Package guard lets every real call pass once: decision, approval, call, record.
//
// A [Guard] has one door, [Guard.Invoke]. What it does there, in this order:
//
//	arguments decoded once, and refused if they cannot be decoded in one way only
//	  → the tool's definition is the one that was approved ([Pins])
//	  → [Policy.Decide] on the resolved server/tool, the decoded arguments and the origin
//	  → where it says Ask: an earlier answer for the session, else the [Approver]
//	  → [Auditor] Begin → the call, with the decoded arguments encoded anew → [Auditor] End
//
// Nothing else makes a decision, so a host that routes each call through Invoke has
// decided, asked and recorded it exactly once. [Guard.Middleware] does that for a server
// of the MCP SDK.
//
// # Where to look
//
//   - guard.go: Guard, Options and the way of a call; request.go: what a call is
//   - args.go: arguments that mean one thing; glob.go, policy.go, match.go: rules
//   - approve.go, question.go, terminal.go, elicit.go, state.go: how the user is asked
//   - grant.go: what the user answered for longer than one call
//   - pin.go, pinstore.go, digest.go, diff.go: definitions that were approved
//   - scan.go, hidden.go, shadow.go, confusable.go, encoded.go, phrases.go: warnings
//   - audit.go, rotate.go, read.go, follow.go, stats.go: the record of calls
//   - redact.go: secrets; text.go: strangers' text on a terminal
//   - middleware.go: the guard in front of an MCP server
//
// # What is hostile
//
// Definitions, arguments, results, origins and clients' names are strangers' text. The
// detection of warnings needs neither network nor files, is bounded in time by the size of
// its input, and a check that fails stops no other. A server's hints never loosen a
// decision; they may tighten it.
//
// # Concurrency and limits
//
// All types are safe for concurrent use unless they say otherwise. Calls of one tool that
// need an answer wait for each other, so that one answer for the session serves all of
// them; calls of different tools do not. What strangers decide the size of is bounded by a
// named constant. The package reads no environment and starts no process.
package guard

// Package chat turns MCP results into OpenAI-shaped messages.
//
// An endpoint of that shape takes a bare string on a tool turn and content
// parts on a user turn. [Messages] therefore puts the text of every result into
// its tool message and all images into one user message behind them:
//
//	calls := []chat.Call{{ID: "call_1", Tool: "web/screenshot", Result: result}}
//	history = append(history, chat.Messages(calls, nil)...)
//
// Images are decoded, brought down to 2,048 pixels on the long edge and 10 MB,
// and encoded anew, which also drops what else a file may hold; one that cannot
// be decoded is named in the text and never passed on. A model without image
// input ([Options.NoImages]) gets a note in place of each. Sound, links and
// binary resources are named. Text over the limit is cut with a mark that says
// how much is missing and, where the host keeps [Pages], which handle reads on;
// nothing is lost.
//
// Results are a stranger's: everything taken from one is bounded by a constant
// of this package. Messages may be called concurrently, and Pages is safe for
// concurrent use.
package chat

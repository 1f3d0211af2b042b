// Package shortcuts lists and runs the Mac's shortcuts as an MCP server.
//
// [NewServer] serves two tools, list and run, over a [Runner]; [NewRunner] is the runner
// of this Mac. Elsewhere NewRunner returns [ErrNotMac].
//
//	list → osascript, "Shortcuts Events": name, id, folder, input, number of actions
//	       → /usr/bin/shortcuts list, where that fails: name, id, folder
//	run  → the list, to find the one shortcut that is meant → osascript, "Shortcuts", by id
//	       → /usr/bin/sips, where it gives a TIFF or HEIC picture: PNG or JPEG
//
// A run goes through the Shortcuts app, as the seed of this program does, so that the
// dialogs of a shortcut show; the command line tool would block on them, and adds an
// action to the user's shortcut for good (FB19805797, macOS 15.5).
//
// # What is hostile
//
// Names and inputs come from a model and may hold anything. Both scripts are fixed texts;
// values reach them as arguments, never as source, and no shell is involved. What a script
// prints is marked off with a random text that a name cannot guess. Names are compared in
// normal form C, since macOS hands out both forms.
//
// # Limits and concurrency
//
// A run ends at its time limit, or with its context: then osascript is killed, and the
// shortcut itself may go on, which the error says. Output, images and lists are bounded by
// named constants. Everything is safe for concurrent use; at most [MaxRuns] run at once.
//
// The scripts were written after the dictionaries of both programs and cannot be tested
// without a Mac; testdata/check-on-a-mac.sh does, and says what to expect.
package shortcuts

// Package cli parses the arguments of the aster command and prints for people.
//
// [Main] is the whole program; [Run] is the same with an [Env] in place of the operating
// system's, for tests in process. Each command has an xxxOptions struct, which its flags
// fill, and an xxxRun function, which does the work.
//
// Results go to Env.Stdout, everything else to Env.Stderr: logs through log/slog, and the
// error that ends a command. A command under `aster mcp serve` writes nothing but
// protocol messages to stdout. Exit codes are the constants that begin with Exit.
package cli

// Package hard attacks the finished program from outside, as pages, servers, networks,
// models and users may, and says in a table what held.
//
// It has tests only. They build aster once, without the race detector, run it as
// processes with homes of their own, and meet it at its edges: as clients over stdio and
// HTTP, as servers that the command fake plays, as browsers that cdptest fakes, as pages in
// a real Chromium, with signals, full disks and files that change.
//
// # Cases
//
// A case is a row of a table: what is done, what held, and figures. Every case ends with
// the same checks, whatever it was about: no process that descends from it is left, nothing
// lies in its temporary directory, configuration, record and state are whole files, the
// program told of no crash, and each line on its standard output was a message.
//
// # Forms
//
// The short form is an ordinary test. ASTER_HARD=long runs the long one, with the full
// numbers and cases that take minutes; ASTER_HARD_TABLE names a file for the table, and
// ASTER_HARD_SEED repeats the random choices of a run, and ASTER_HARD_EXE names a program to
// attack in place of one that is built. The script .ci/hard sets them.
//
// # Where to look
//
//   - main_test.go, case_test.go: building, the rows, the checks after each of them
//   - process_test.go, client_test.go: programs as they look from outside
//   - load_test.go, fault_*_test.go, input_*test.go, page_*test.go, server_*test.go,
//     web_test.go, secret_test.go, endpoint_test.go, soak_test.go: the attacks
//   - rows_test.go: the checks on servers and pages, each of which an attack must take
//   - fuzz_test.go: the fuzz targets of the module, found by reading it
package hard

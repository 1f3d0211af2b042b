// Package filelock lets one process at a time change a file.
package filelock

//go:build !linux

package host

// releaseProgram does nothing: other systems count a program's own pages apart.
func releaseProgram() error { return nil }

package cli

import "testing"

func TestShellQuote(t *testing.T) {
	for _, tt := range []struct {
		goos string
		word string
		want string
	}{
		{"linux", "/home/ann o'hara/bin/aster", `'/home/ann o'\''hara/bin/aster'`},
		{"darwin", "/Users/ann/Application Support/aster", `'/Users/ann/Application Support/aster'`},
		{"windows", `C:\Program Files\aster\aster.exe`, `"C:\Program Files\aster\aster.exe"`},
		{"windows", `C:\aster.exe`, `C:\aster.exe`},
		{"linux", "", "''"},
		{"linux", "a$b", "'a$b'"},
		{"linux", "/usr/bin/aster", "/usr/bin/aster"},
	} {
		if got := shellQuote(tt.goos, []string{tt.word}); got != tt.want {
			t.Errorf("%q on %s: %s, want %s", tt.word, tt.goos, got, tt.want)
		}
	}
}

func TestTemporary(t *testing.T) {
	for exe, want := range map[string]bool{
		"/tmp/go-build3056/b001/exe/aster":      true,
		"/home/u/.cache/go-build/ab/cd-d/aster": true,
		"/home/u/go/bin/aster":                  false,
	} {
		if got := temporary(exe); got != want {
			t.Errorf("temporary(%q) = %v", exe, got)
		}
	}
}

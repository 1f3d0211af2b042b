package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var (
	testMain  = regexp.MustCompile(`(?m)^func TestMain\(m \*testing\.M\)`)
	leakCheck = regexp.MustCompile(`\bcdptest\.Main\(`)
	ownCheck  = regexp.MustCompile(`\bMain\(m\)`) // in cdptest itself
)

// TestLeakChecks checks that each package with tests fails where these leave goroutines or
// processes: it has a TestMain, and that calls cdptest.Main.
func TestLeakChecks(t *testing.T) {
	dir := root(t)
	for pkg, files := range packages(t) {
		check, tests, main, calls := leakCheck, false, false, false
		if pkg == "cdp/cdptest" {
			check = ownCheck
		}
		for _, f := range files {
			if !f.test {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.path)))
			if err != nil {
				t.Fatal(err)
			}
			tests, main, calls = true, main || testMain.Match(text), calls || check.Match(text)
		}
		if tests && !(main && calls) {
			t.Errorf("%s has tests, but no TestMain that calls cdptest.Main: see cmd/aster/internal/guard/main_test.go", pkg)
		}
	}
}

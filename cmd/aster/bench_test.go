package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBenchmarksPage makes a page of recorded output, as .ci/bench does.
func TestBenchmarksPage(t *testing.T) {
	in, err := os.Open(filepath.Join("testdata", "bench", "output.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cmd := exec.Command("go", "run", filepath.Join("..", "..", ".ci", "tools", "benchmarks.go"),
		"-date", "2026-12-02", "-commit", "abc1234", "-go", "go1.26.0", "-browser", "Chromium 156")
	cmd.Stdin, cmd.Stderr = in, os.Stderr
	got, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	page := filepath.Join("testdata", "bench", "page.md")
	if *update {
		if err := os.WriteFile(page, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the page (-want +got):\n%s", diff)
	}
}

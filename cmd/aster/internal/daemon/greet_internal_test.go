package daemon

import (
	"fmt"
	"net"
	"path/filepath"
	"testing"
)

// TestGreetAfterTheEnd checks that the reason of a daemon that refuses is read, also where it
// has closed before the first line was sent.
func TestGreetAfterTheEnd(t *testing.T) {
	ln, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	conn, err := net.Dial("unix", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	other, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(other, `{"error":"too new"}`)
	other.Close()
	if w, _, err := greet(conn, &Hello{}); err != nil || w.Error != "too new" {
		t.Errorf("%+v, %v", w, err)
	}
}

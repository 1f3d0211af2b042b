package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/bridge/source"
	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// TestMain makes the test binary a server that sessions of the tests start, too.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "serve-one" {
		fakeServer("child", "read").Run(context.Background(), &mcp.StdioTransport{})
		return
	}
	os.Exit(cdptest.Main(m))
}

// childConfig has the test binary as its one server.
func childConfig(t *testing.T) *config.Config {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Servers = []*config.Server{{Name: "child", Transport: config.Stdio, Command: exe, Args: []string{"serve-one"}, Trust: true}}
	return c
}

func childSession(t *testing.T, c *config.Config, state string) *host.Session {
	t.Helper()
	s, err := host.NewSession(&host.SessionOptions{Config: c, StateDir: state})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRestart(t *testing.T) {
	c, state := childConfig(t), t.TempDir()
	s := childSession(t, c, state)
	defer s.Close()
	s.Start(t.Context())
	before := s.Servers()[0].Status
	if before.State != source.Connected {
		t.Fatal(before)
	}
	// The list is written behind the server's start.
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if list, err := host.OpenLists(state).Load(c.Servers[0]); list != nil && err == nil {
			break
		}
	}
	if kept, err := host.Restart(state, "child"); !kept || err != nil {
		t.Errorf("kept %v, %v", kept, err)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if now := s.Servers()[0].Status; now.State == source.Connected && now.PID != before.PID {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the running session did not start its server anew")
		}
	}
}

// TestRestartClock has the clock set back: what another clock wrote into the file lies in
// the future, and the wish of now before the session's start.
func TestRestartClock(t *testing.T) {
	c, state := childConfig(t), t.TempDir()
	file := filepath.Join(state, "restart.json")
	wish := func(server string, when time.Time) string {
		return fmt.Sprintf(`{"server":%q,"time":%q}`, server, when.Format(time.RFC3339Nano))
	}
	future := wish("child", time.Now().AddDate(1, 0, 0))
	if err := os.WriteFile(file, []byte("["+future+"]"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := childSession(t, c, state)
	defer s.Close()
	s.Start(t.Context())
	before := s.Servers()[0].Status
	if before.State != source.Connected {
		t.Fatal(before)
	}
	text := "[" + future + "," + wish("child", time.Now().AddDate(-1, 0, 0)) + "]"
	if err := errors.Join(os.WriteFile(file+".new", []byte(text), 0o600), os.Rename(file+".new", file)); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if now := s.Servers()[0].Status; now.State == source.Connected && now.PID != before.PID {
			break
		}
		if time.Now().After(end) {
			t.Fatal("a wish of before the session's start, by the clock, is not heeded")
		}
	}
	if _, err := host.Restart(state, "other"); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(left), "child") {
		t.Errorf("wishes of far away times stay: %s, %v", left, err)
	}
}

// TestKnownTools has a session whose server is not up: its tools of before count, as long
// as their definitions are the approved ones.
func TestKnownTools(t *testing.T) {
	c, state := childConfig(t), t.TempDir()
	s := childSession(t, c, state)
	s.Start(t.Context())
	s.Close()

	s = childSession(t, c, state)
	tool, ok := s.Catalog().Get("child/read")
	if !ok || s.Servers()[0].Status.State != source.Idle {
		t.Fatalf("%v, %s: the tool is not known before the start", ok, s.Servers()[0].Status)
	}
	raw, err := s.Call(t.Context(), tool, json.RawMessage(`{"x":"1"}`), &host.Caller{Direct: true, Client: guard.Client{Name: "test"}})
	if err != nil || !json.Valid(raw) || s.Servers()[0].Status.State != source.Connected {
		t.Errorf("a call starts the server: %s, %v", raw, err)
	}
	s.Close()

	// Somebody writes a definition that nobody approved, with a sum that is right.
	lists := host.OpenLists(state)
	list, err := lists.Load(c.Servers[0])
	if err != nil || list == nil {
		t.Fatal(list, err)
	}
	list.Tools[0].Description = "Reads all files and sends them"
	list.Tools = append(list.Tools, bridge.Tool{Server: "child", Name: "more", InputSchema: json.RawMessage(`{"type":"object"}`)})
	if err := lists.Save(list); err != nil {
		t.Fatal(err)
	}
	s = childSession(t, c, state)
	defer s.Close()
	for tool := range s.Catalog().All() {
		t.Errorf("%s counts, though its definition was never approved", tool.ID())
	}
}

package shim_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/shim"
)

// injectAll makes the shim part of every document of the browser, those in popups and
// in frames of other processes included, until the returned func is called.
func injectAll(t testing.TB, b *cdptest.Browser, cfg shim.Config) (stop func()) {
	t.Helper()
	if cfg.Secret == "" {
		cfg.Secret = testSecret
	}
	return injectScript(t, b, shim.Script(cfg))
}

// injectScript does it for any script.
func injectScript(t testing.TB, b *cdptest.Browser, source string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c, err := cdptest.Dial(ctx, b.WS)
	if err != nil {
		t.Fatal(err)
	}
	auto := map[string]any{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true}
	c.Subscribe(func(e cdptest.Event) {
		if e.Method != "Target.attachedToTarget" {
			return
		}
		var a struct{ SessionID string }
		json.Unmarshal(e.Params, &a)
		go func() { // ends with its commands, or with the connection
			ctx := context.Background()
			c.Call(ctx, a.SessionID, "Page.enable", nil)
			c.Call(ctx, a.SessionID, "Runtime.enable", nil)
			c.Call(ctx, a.SessionID, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": source, "includeCommandLineAPI": true})
			c.Call(ctx, a.SessionID, "Target.setAutoAttach", auto)
			c.Call(ctx, a.SessionID, "Runtime.runIfWaitingForDebugger", nil)
		}()
	})
	if _, err := c.Call(ctx, "", "Target.setAutoAttach", auto); err != nil {
		t.Fatal(err)
	}
	return c.Close
}

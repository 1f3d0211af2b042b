package webmcp_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/aster-mcp/aster/cdp/cdptest"
)

// A tab that is opened at an address is not held by the browser, although it says so
// (measured in Chromium 156): its page may be quicker than the shim, and gets it all the
// same.
func TestTabsOpenedAtAnAddress(t *testing.T) {
	r := newRig(t, false, nil)
	const tabs = 8
	for i := range tabs {
		url := r.Page(fmt.Sprintf("/quick%d", i), script(fmt.Sprintf(`(function look() { if (document.modelContext) {%s} else setTimeout(look, 5); })()`, register(fmt.Sprintf("quick%d", i), "() => 'ok'"))))
		openAt(t, r.browser, url)
	}
	r.awaitTools(t, tabs)
}

// openAt opens a tab at an address, as a link in another program does.
func openAt(t *testing.T, b *cdptest.Browser, url string) {
	t.Helper()
	raw, err := b.User(t).Call(t.Context(), "", "Target.createTarget", map[string]any{"url": url})
	var created struct{ TargetID string }
	if err != nil || json.Unmarshal(raw, &created) != nil {
		t.Fatalf("createTarget: %s %v", raw, err)
	}
	t.Cleanup(func() { b.AttachPage(t, created.TargetID).Close(t) })
}

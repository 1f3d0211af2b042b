package webmcp_test

import (
	"slices"
	"testing"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/webmcp"
)

// Headers are listened to where documents may get the shim only: not in a browser that has
// WebMCP for all of them, but in one where an origin trial gave it to this document.
func TestHeadersUnderNative(t *testing.T) {
	for _, tc := range []struct {
		name, trial string
		want        []string
	}{
		{"for all documents", "", []string{"Network.enable", "Network.disable"}},
		{"by another trial", "SomethingElse", []string{"Network.enable", "Network.disable"}},
		{"by an origin trial", "WebMCP", []string{"Network.enable"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &fakePage{withID: true, responds: true, trial: tc.trial}
			e := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Handler: f.handle})
			r := &rig{}
			r.attach(t, func(o *webmcp.Options) { o.Finder = finder(t, e.HTTP) })
			r.awaitNames(t, "after", "greet")
			r.call(t, "after", nil) // comes after what was sent when the response was told
			f.mu.Lock()
			got := slices.Clone(f.network)
			f.mu.Unlock()
			if !slices.Equal(got, tc.want) {
				t.Errorf("sent %q, want %q", got, tc.want)
			}
		})
	}
}

// What foundNative asks: a browser with the flag says of no trial that it is on.
func TestOriginTrialsOfNative(t *testing.T) {
	b := cdptest.Shared(t, true)
	s := cdptest.Serve(t)
	p := b.NewPage(t, s.Page("/trials", script("")))
	defer p.Close(t)
	var tree struct {
		FrameTree struct{ Frame struct{ ID string } }
	}
	remarshal(t, p.Call(t, "Page.getFrameTree", nil), &tree)
	var r struct {
		OriginTrials []struct{ TrialName, Status string }
	}
	remarshal(t, p.Call(t, "Page.getOriginTrials", map[string]any{"frameId": tree.FrameTree.Frame.ID}), &r)
	for _, trial := range r.OriginTrials {
		if trial.Status == "Enabled" {
			t.Errorf("the trial %s is on", trial.TrialName)
		}
	}
}

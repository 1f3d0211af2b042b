package host_test

import (
	"context"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

func TestDiagnose(t *testing.T) {
	for _, native := range []bool{false, true} {
		b := cdptest.New(t, &cdptest.Options{Native: native})
		b.NewPage(t, cdptest.Serve(t).URL+"/tools.html")
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		d, err := host.Diagnose(ctx, cdp.Endpoint{WS: b.WS}, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		if native {
			want = 1
		}
		if d.Product == "" || d.Tabs != 2 || d.Asked != 1 || d.Native != want || d.Silent != 0 {
			t.Errorf("native %v: %+v, want 2 tabs, 1 asked, %d native", native, *d, want)
		}
	}
}

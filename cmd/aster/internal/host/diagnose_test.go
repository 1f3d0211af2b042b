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
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
		defer cancel()
		want := host.Diagnosis{Tabs: 2, Asked: 1}
		if native {
			want.Native = 1
		}
		var got host.Diagnosis
		for ctx.Err() == nil { // on a loaded machine a page may answer late
			d, err := host.Diagnose(ctx, cdp.Endpoint{WS: b.WS}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got = *d; got.Silent == 0 {
				break
			}
		}
		if got.Product == "" {
			t.Error("no product")
		}
		got.Product = ""
		if got != want {
			t.Errorf("native %v: %+v, want %+v", native, got, want)
		}
	}
}

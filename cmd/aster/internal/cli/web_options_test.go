package cli

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/websrv"
)

// TestWebOptionsOfEachKey sets the keys of mcp.web one by one: none is without effect.
func TestWebOptionsOfEachKey(t *testing.T) {
	base := func() *config.Web {
		return &config.Web{Limits: config.WebLimits{ResultTokens: 8_000, HostRate: 2}}
	}
	before := webServerOptions(base())
	var set func(path string, v reflect.Value, w *config.Web)
	set = func(path string, v reflect.Value, w *config.Web) {
		for i := range v.NumField() {
			name, f := path+v.Type().Field(i).Name, v.Field(i)
			if f.Kind() == reflect.Struct {
				set(name+".", f, w)
				continue
			}
			old := reflect.ValueOf(f.Interface())
			switch f.Interface().(type) {
			case bool:
				f.SetBool(true)
			case string:
				f.SetString("x")
			case time.Duration:
				f.SetInt(int64(7 * time.Second))
			case float64:
				f.SetFloat(7)
			case []string:
				f.Set(reflect.ValueOf([]string{"x"}))
			case map[string][]string:
				f.Set(reflect.ValueOf(map[string][]string{"search": {"exa"}}))
			case map[string]config.WebProvider:
				f.Set(reflect.ValueOf(map[string]config.WebProvider{"exa": {Disabled: true}}))
			default:
				f.SetInt(777)
			}
			if cmp.Equal(before, webServerOptions(w), cmpopts.IgnoreUnexported(websrv.Options{})) {
				t.Errorf("%s changes nothing", name)
			}
			f.Set(old)
		}
	}
	w := base()
	set("", reflect.ValueOf(w).Elem(), w)
}

// TestWebProviderNames compares the names that the configuration takes with the server's.
func TestWebProviderNames(t *testing.T) {
	for _, op := range config.WebOperations() {
		want := websrv.DefaultOrder(websrv.Op(op))
		slices.Sort(want)
		if diff := cmp.Diff(want, config.WebProviders(op)); diff != "" || len(want) == 0 {
			t.Errorf("%s (-websrv +config):\n%s", op, diff)
		}
	}
	want := websrv.ProviderIDs()
	slices.Sort(want)
	if diff := cmp.Diff(want, config.WebProviders("")); diff != "" {
		t.Errorf("all (-websrv +config):\n%s", diff)
	}
}

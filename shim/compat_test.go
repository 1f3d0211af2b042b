package shim_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/shim"
)

// compatScenarios reads testdata/compat/VERSION.js. A scenario begins with a line
// "//// what changes: title"; lines with "//= " are its trace.
func compatScenarios(t *testing.T, version int) (list []scenario, want map[string][]string) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("testdata/compat/%d.js", version))
	if err != nil {
		t.Fatal(err)
	}
	want = map[string][]string{}
	for _, part := range strings.Split("\n"+string(b), "\n//// ")[1:] {
		name, body, _ := strings.Cut(part, "\n")
		if want[name] != nil {
			t.Fatalf("two scenarios are named %q", name)
		}
		for _, line := range strings.Split(body, "\n") {
			if line, ok := strings.CutPrefix(line, "//= "); ok {
				want[name] = append(want[name], line)
			}
		}
		if only := os.Getenv("ASTER_TEST_SCENARIO"); strings.Contains(name, only) {
			list = append(list, scenario{name: name, body: body})
		}
	}
	return list, want
}

// No browser here has WebMCP as later versions have it: the traces that the scenarios
// bring with them are from what is known of those.
func TestCompat(t *testing.T) {
	cdptest.Require(t)
	server().Page("/opaque", `<!doctype html><script>(async () => {
	  const mc = document.modelContext;
	  await mc.registerTool({name: 'a', description: 'd', execute() {}});
	  const [t] = await mc.getTools();
	  parent.postMessage(t.origin + ' ' + await mc.executeTool(t).catch((e) => e.name + ': ' + e.message), '*');
	})()</script>`)
	for _, version := range []int{shim.Compat159, shim.Compat160} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			list, want := compatScenarios(t, version)
			stop := injectAll(t, plainBrowser(), shim.Config{Compat: version})
			defer stop()
			got := play(t, plainBrowser(), list)
			for _, s := range list {
				if diff := cmp.Diff(want[s.name], got[s.name]); diff != "" {
					t.Errorf("%s: known (-) and got (+):\n%s", s.name, diff)
				}
			}
		})
	}
}

func TestCompatFor(t *testing.T) {
	t.Parallel()
	for major, want := range map[int]int{0: 156, 150: 156, 156: 156, 158: 156, 159: 159, 160: 160, 200: 160} {
		if got := shim.CompatFor(major); got != want {
			t.Errorf("Chromium %d is played as %d, want %d", major, got, want)
		}
	}
}

package websrv

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/aster-mcp/aster/cdp/cdptest"
)

// testsAtOnce is more than the cores that these tests are meant to run on: most of those that
// run side by side wait, for a browser or for a pause to pass.
const testsAtOnce = "3"

// TestMain fails where a test leaves goroutines, processes or pages of a browser.
func TestMain(m *testing.M) {
	flag.Set("test.parallel", testsAtOnce) // before the command line is read, which has the last word
	os.Exit(cdptest.Main(closing{m}))
}

// closing closes what tests share after they have run.
type closing struct{ m *testing.M }

func (c closing) Run() int {
	code := c.m.Run()
	for _, b := range testBrowsers {
		if n := b.close(); n > 0 {
			fmt.Fprintf(os.Stderr, "%d pages of a browser that tests share are still in use\n", n)
			code = 1
		}
	}
	return code
}

package boundxml_test

import (
	"os"
	"testing"

	"github.com/aster-mcp/aster/cdp/cdptest"
)

// TestMain fails where a test leaves goroutines or processes.
func TestMain(m *testing.M) { os.Exit(cdptest.Main(m)) }

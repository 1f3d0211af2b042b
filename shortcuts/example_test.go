package shortcuts_test

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/aster-mcp/aster/shortcuts"
)

// A host leaves the server out where there are no shortcuts.
func ExampleNewServer() {
	_, err := shortcuts.NewServer(nil)
	fmt.Println("on another system:", runtime.GOOS == "darwin" || errors.Is(err, shortcuts.ErrNotMac))
	// Output: on another system: true
}

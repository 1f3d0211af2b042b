package shortcuts_test

import (
	"context"
	"fmt"

	"github.com/aster-mcp/aster/shortcuts"
)

// In place of the Mac's programs a test puts its own.
func ExampleNewProgramRunner() {
	runner := shortcuts.NewProgramRunner(shortcuts.Programs{Osascript: "testdata/osascript", Shortcuts: "testdata/shortcuts"})
	_, err := runner.List(context.Background())
	fmt.Println("without them it is an error:", err != nil)
}

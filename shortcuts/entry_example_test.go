package shortcuts_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aster-mcp/aster/shortcuts"
)

// In place of the Mac's programs a test puts its own.
func ExampleNewProgramRunner() {
	runner := shortcuts.NewProgramRunner(shortcuts.Programs{Osascript: "testdata/osascript", Shortcuts: "testdata/shortcuts"})
	_, err := runner.List(context.Background())
	fmt.Println("without them it is an error:", err != nil)
}

// The shortcuts of this Mac.
func ExampleNewRunner() {
	runner, err := shortcuts.NewRunner()
	if errors.Is(err, shortcuts.ErrNotMac) {
		fmt.Println("only a Mac has shortcuts")
		return
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	list, err := runner.List(context.Background())
	fmt.Println(len(list), err)
}

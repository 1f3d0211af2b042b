package source_test

import (
	"context"
	"fmt"

	"github.com/aster-mcp/aster/bridge/source"
)

// One server without a set. A failed start is a state with words for a person.
func ExampleNew() {
	s, err := source.New(source.Spec{Name: "notes", Command: "no-such-command-xyz"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	fmt.Println(s.Start(context.Background()) != nil)
	fmt.Println(s.Status())
	// Output:
	// true
	// not installed: "no-such-command-xyz" is not on PATH
}

// A child gets what it needs to run, and no secrets of its parent.
func ExampleBaseEnv() {
	fmt.Println(source.BaseEnv([]string{"PATH=/bin", "GITHUB_TOKEN=s3cret", "HOME=/home/ada"}))
	// Output: [HOME=/home/ada PATH=/bin]
}

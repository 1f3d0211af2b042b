package chat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aster-mcp/aster/bridge/chat"
)

// What is cut from a long result is read on by a handle, with the action read.
func ExampleNewPages() {
	pages := chat.NewPages(0)
	long, err := json.Marshal(map[string]any{"content": []map[string]string{{"type": "text", "text": strings.Repeat("line of a log\n", 500)}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	messages := chat.Messages([]chat.Call{{ID: "call_1", Result: long}}, &chat.Options{Limits: chat.Limits{MaxTokens: 200}, Pages: pages})
	fmt.Println(len(messages[0].Text) < len(long))
	_, err = pages.ReadPage(context.Background(), "a handle that nobody gave")
	fmt.Println(err != nil)
	// Output:
	// true
	// true
}

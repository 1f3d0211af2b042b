package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/aster-mcp/aster/bridge"
)

// guard is this program's own policy: calls of trusted tools are made, all others only if
// the user agrees to exactly what is called. It sees the resolved tool and its arguments,
// never the envelope that the model wrote.
type guard struct {
	next    bridge.Invoker // makes the calls
	trusted []string       // prefixes of IDs
	out     io.Writer

	mu sync.Mutex // one question at a time
	in *bufio.Reader
}

// Invoke implements bridge.Invoker.
func (g *guard) Invoke(ctx context.Context, tool bridge.Tool, arguments json.RawMessage) (json.RawMessage, error) {
	id := string(tool.ID())
	if !slices.ContainsFunc(g.trusted, func(p string) bool { return strings.HasPrefix(id, p) }) && !g.agreed(id, arguments) {
		fmt.Fprintf(g.out, "refused %q\n", id)
		return nil, fmt.Errorf("the user did not agree: %w", bridge.ErrDenied)
	}
	fmt.Fprintf(g.out, "call %q\n", id)
	return g.next.Invoke(ctx, tool, arguments)
}

// agreed asks the user. The ID and the arguments are strangers' text, so they are quoted.
func (g *guard) agreed(id string, arguments json.RawMessage) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	fmt.Fprintf(g.out, "Call %q with %q? [y/N] ", id, arguments)
	line, err := g.in.ReadString('\n')
	return err == nil && strings.EqualFold(strings.TrimSpace(line), "y")
}

package config_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
)

// TestHostileFiles holds texts on which a parser without bounds takes minutes or runs out
// of stack. Whether they load does not matter.
func TestHostileFiles(t *testing.T) {
	const size = 60 << 10
	rows := func(format string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"brackets":     "a: " + strings.Repeat("[", size),
		"closed":       "a: " + strings.Repeat("[", size/2) + strings.Repeat("]", size/2),
		"maps":         strings.Repeat("{a: ", size/4),
		"dashes":       strings.Repeat("- ", size/2),
		"marks":        strings.Repeat("? ", size/2),
		"shallow":      "a: [" + strings.Repeat(strings.Repeat("[", 20)+strings.Repeat("]", 20)+",", size/400) + "]",
		"keys":         "x-a:\n" + rows("  k%d: 1\n"),
		"tags":         "a: " + strings.Repeat("!x ", size/3),
		"anchors":      "a: " + strings.Repeat("&x ", size/3),
		"one line":     "a: \"" + strings.Repeat("x", size) + "\"",
		"quotes":       strings.Repeat("\"", size),
		"unknown keys": "mcp:\n" + rows("  k%d: 1\n"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.user(text)
			start := time.Now()
			_, err := config.Load(&w.opts)
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("took %v", d)
			} else {
				t.Logf("%v", d)
			}
			if err != nil && len(err.Error()) > 8<<10 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		})
	}
}

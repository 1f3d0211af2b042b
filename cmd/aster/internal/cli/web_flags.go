package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// toolValue is a flag that is an argument of a web tool, under the tool's name for it.
type toolValue struct {
	args map[string]any
	name string
	kind string // "string", "int", "float", "bool" or "stringArray"
}

// String is empty: the help names the default in words.
func (v *toolValue) String() string { return "" }

// Type is what the help shows where the flag's text names nothing.
func (v *toolValue) Type() string { return v.kind }

// IsBoolFlag lets a switch stand alone.
func (v *toolValue) IsBoolFlag() bool { return v.kind == "bool" }

// Set takes the value.
func (v *toolValue) Set(s string) error {
	switch v.kind {
	case "string":
		v.args[v.name] = s
	case "stringArray":
		list, _ := v.args[v.name].([]string)
		v.args[v.name] = append(list, s)
	default:
		var n any
		if err := json.Unmarshal([]byte(s), &n); err != nil {
			return v.wrong()
		}
		switch x := n.(type) {
		case float64:
			if v.kind == "float" || v.kind == "int" && x == float64(int(x)) {
				v.args[v.name] = json.Number(s)
				return nil
			}
		case bool:
			if v.kind == "bool" {
				v.args[v.name] = x
				return nil
			}
		}
		return v.wrong()
	}
	return nil
}

// wrong says what the flag wants; what was given, and to which flag, stands before it.
func (v *toolValue) wrong() error {
	switch v.kind {
	case "int":
		return errors.New("give a whole number")
	case "float":
		return errors.New("give a number, such as 1.5")
	}
	return errors.New("give true or false, or the flag alone")
}

// progressBar shows on a terminal how far a crawl is.
type progressBar struct {
	mu    sync.Mutex
	w     io.Writer // nil shows nothing
	shown int       // characters on the line; guarded by mu
}

// progress makes the bar of a command; it shows something on a terminal only.
func (r *webRun) progress() *progressBar {
	f, ok := r.env.Stderr.(*os.File)
	if !ok || r.tool != "crawl" || !isTerminal(f) {
		return &progressBar{}
	}
	return &progressBar{w: f}
}

// barWidth is the length of the bar, in characters.
const barWidth = 24

func (b *progressBar) tell(done, total int, message string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.w == nil {
		return
	}
	line := host.CleanText(message)
	if total > 0 {
		full := min(barWidth, barWidth*done/total)
		line = fmt.Sprintf("[%s%s] %d/%d %s", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), done, total, line)
	}
	if r := []rune(line); len(r) > 79 {
		line = string(r[:79])
	}
	n := len([]rune(line))
	fmt.Fprintf(b.w, "\r%s%s", line, strings.Repeat(" ", max(0, b.shown-n)))
	b.shown = n
}

// clear takes the bar away.
func (b *progressBar) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.w != nil && b.shown > 0 {
		fmt.Fprintf(b.w, "\r%s\r", strings.Repeat(" ", b.shown))
	}
	b.w = nil
}

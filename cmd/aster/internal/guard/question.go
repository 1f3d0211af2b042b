package guard

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aster-mcp/aster/bridge"
)

// Bounds on what a question shows of the arguments; what is over is cut with a mark that
// says how much is missing.
const (
	maxShownArguments = 20  // top-level ones
	maxShownArgument  = 600 // characters of each
	maxShownWarnings  = 5
)

// A Question asks the user for one call. Its fields are strangers' text as it came,
// secrets aside; Text and Lines are safe to show.
type Question struct {
	ID        bridge.ToolID
	Class     Class
	Origin    string         // of a page's tool
	Client    Client         // who wants to call
	Arguments map[string]any // decoded, secrets redacted; not to be changed
	Reason    string         // why the user is asked
	Warnings  []Warning      // about the tool's definition
	Choices   []Answer       // what may be answered beside no

	binding string // what an answer that comes later must be bound to
}

// Offers reports whether the question may be answered with a.
func (q *Question) Offers(a Answer) bool { return a == AnswerNo || slices.Contains(q.Choices, a) }

// Text is the question for a person: who wants to call what, with which arguments. Every
// argument stands on a line of its own that begins with two spaces, and holds nothing
// that a terminal or a reader would not see.
func (q *Question) Text() string { return strings.Join(q.Lines(), "\n") }

// Lines is Text line by line.
func (q *Question) Lines() []string {
	who := Show(q.Client.Name, maxShownName)
	if who == "" {
		who = "The model"
	}
	lines := []string{fmt.Sprintf("%s wants to call %s", who, Show(string(q.ID), maxShownName))}
	if q.Origin != "" {
		lines = append(lines, "of the page at "+Show(q.Origin, maxShownName))
	}
	lines = append(lines, q.argumentLines()...)
	for i, w := range q.Warnings {
		if i == maxShownWarnings {
			lines = append(lines, fmt.Sprintf("Warning: %d more", len(q.Warnings)-i))
			break
		}
		lines = append(lines, "Warning: "+w.Text)
	}
	if q.Reason != "" {
		lines = append(lines, "Asked because: "+q.Reason)
	}
	return lines
}

func (q *Question) argumentLines() []string {
	if len(q.Arguments) == 0 {
		return []string{"without arguments."}
	}
	lines := []string{"with"}
	for i, key := range slices.Sorted(maps.Keys(q.Arguments)) {
		if i == maxShownArguments {
			lines = append(lines, fmt.Sprintf("  …[%d more arguments]…", len(q.Arguments)-i))
			break
		}
		value := ""
		switch v := q.Arguments[key].(type) {
		case string:
			value = `"` + Show(v, maxShownArgument) + `"`
		default:
			raw, err := encode(v)
			if err != nil {
				raw = []byte("(cannot be shown)")
			}
			value = Show(string(raw), maxShownArgument)
		}
		lines = append(lines, fmt.Sprintf("  %s: %s", Show(key, maxShownName), value))
	}
	return lines
}

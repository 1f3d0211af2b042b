package shortcuts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Errors that callers test.
var (
	ErrNotMac    = errors.New("shortcuts exist on macOS only")
	ErrNotFound  = errors.New("no such shortcut")
	ErrAmbiguous = errors.New("several shortcuts have this name")
	// ErrTimeout is a run that did not end within its limit; the shortcut may go on.
	ErrTimeout = errors.New("the shortcut did not end in time")
	// ErrNotAllowed is macOS refusing this program to control Shortcuts.
	ErrNotAllowed = errors.New("macOS does not allow this program to control Shortcuts")
	// ErrCancelled is the user cancelling the shortcut.
	ErrCancelled = errors.New("the user cancelled the shortcut")
	// ErrTooLarge is a bound that was reached.
	ErrTooLarge = errors.New("too large")
)

// Bounds.
const (
	DefaultTimeout = 120 * time.Second // of a run
	MaxTimeout     = 24 * time.Hour
	MaxShortcuts   = 20_000    // in a list
	MaxInputBytes  = 512 << 10 // of text; the arguments of a program are bounded by macOS
	MaxOutputBytes = 8 << 20   // of a script
	MaxImageBytes  = 10 << 20  // of an image that is passed on; larger ones are linked
	MaxRuns        = 4         // at once
	maxShownName   = 120       // characters in an error
	maxCandidates  = 10
)

// A Shortcut is one shortcut of the user's. Its texts are the user's, or those of whoever
// made it.
type Shortcut struct {
	Name   string `json:"name"`
	ID     string `json:"id"`
	Folder string `json:"folder,omitempty"`
	// AcceptsInput and Actions are nil where only the command line tool answered.
	AcceptsInput *bool `json:"acceptsInput,omitempty"`
	Actions      *int  `json:"actions,omitempty"`
}

// An Input is what a shortcut is given: nothing, a text, or a file.
type Input struct {
	Text *string
	File string // absolute path
}

// A Value is a shortcut's result, or a part of one.
type Value struct {
	Kind string // text, number, boolean, file, data, none or other
	Text string // the text; the path of a file; the class of other
	Data []byte // of data, and of a file that is a picture in another form than models take
}

// A Runner lists and runs shortcuts. Both return soon after ctx ends, and both must be
// safe for concurrent use.
type Runner interface {
	// List returns all shortcuts, in any order.
	List(ctx context.Context) ([]Shortcut, error)
	// Run runs the shortcut of an ID and returns what it gave: several values for a list.
	Run(ctx context.Context, id string, in Input, limit time.Duration) ([]Value, error)
}

// sortShortcuts puts a list into its order: by folder, name and ID.
func sortShortcuts(list []Shortcut) {
	slices.SortFunc(list, func(a, b Shortcut) int {
		return cmp.Or(cmp.Compare(a.Folder, b.Folder), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
}

// inFolders is a copy of the list with the shortcuts of these folders; nil keeps all.
func inFolders(list []Shortcut, folders []string) []Shortcut {
	if folders == nil {
		return slices.Clone(list)
	}
	return slices.DeleteFunc(slices.Clone(list), func(s Shortcut) bool {
		return !slices.ContainsFunc(folders, func(f string) bool { return s.Folder != "" && sameName(f, s.Folder) })
	})
}

func sameName(a, b string) bool { return norm.NFC.String(a) == norm.NFC.String(b) }

// folded is a text in the form in which case and normal form do not count.
func folded(s string) string { return norm.NFC.String(strings.ToLower(s)) }

// pick finds the shortcut that is meant: by ID, else by its exact name. A name that
// several have is refused with their IDs, an unknown one with what is near.
func pick(list []Shortcut, name, id string) (Shortcut, error) {
	if name == "" && id == "" {
		return Shortcut{}, errors.New("give the name or the id of a shortcut")
	}
	var found []Shortcut
	for _, s := range list {
		if (id == "" || strings.EqualFold(s.ID, id)) && (name == "" || sameName(s.Name, name)) {
			found = append(found, s)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return Shortcut{}, fmt.Errorf("%w: %s; give the id of one: %s", ErrAmbiguous, quote(name), candidates(found))
	case id != "" && name != "":
		return Shortcut{}, fmt.Errorf("%w with both the id %s and the name %s", ErrNotFound, quote(id), quote(name))
	case id != "":
		return Shortcut{}, fmt.Errorf("%w: id %s", ErrNotFound, quote(id))
	}
	if near := similar(list, name); len(near) > 0 {
		return Shortcut{}, fmt.Errorf("%w: %s; names must match exactly. Did you mean %s?", ErrNotFound, quote(name), candidates(near))
	}
	return Shortcut{}, fmt.Errorf("%w: %s; list shows all", ErrNotFound, quote(name))
}

// similar finds names that differ in case, spaces and signs only, else those that hold
// the name.
func similar(list []Shortcut, name string) (near []Shortcut) {
	want := letters(name)
	if want == "" {
		return nil
	}
	var holds []Shortcut
	for _, s := range list {
		switch got := letters(s.Name); {
		case got == want:
			near = append(near, s)
		case strings.Contains(got, want):
			holds = append(holds, s)
		}
	}
	if len(near) == 0 {
		return holds
	}
	return near
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, norm.NFKC.String(s))
}

func candidates(list []Shortcut) string {
	var parts []string
	for i, s := range list {
		if i == maxCandidates {
			parts = append(parts, fmt.Sprintf("%d more", len(list)-i))
			break
		}
		part := fmt.Sprintf("%s (id %s", quote(s.Name), clean(s.ID))
		if s.Folder != "" {
			part += ", folder " + quote(s.Folder)
		}
		parts = append(parts, part+")")
	}
	return strings.Join(parts, ", ")
}

// quote shows a name in an error: bounded, and with escapes for what cannot be seen.
func quote(s string) string { return fmt.Sprintf("%q", short(s)) }

func short(s string) string {
	if utf8.RuneCountInString(s) > maxShownName {
		return string([]rune(s)[:maxShownName]) + "…"
	}
	return s
}

// clean is a text on one line without characters that cannot be seen.
func clean(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}, s)), " ")
}

package shortcuts

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// errorNumber is how osascript ends a message: "… (-1712)".
var errorNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\((-?[0-9]+)\)\s*$`) })

// errNoResult is AppleScript's way to say that a command gave nothing.
var errNoResult = errors.New("no result")

// scriptError makes an error of what a script wrote to its standard error, by the numbers
// of AppleScript.
func scriptError(stderr string) error {
	message := clean(strings.ToValidUTF8(stderr, "\ufffd"))
	number := ""
	if m := errorNumber().FindStringSubmatch(message); m != nil {
		number = m[1]
	}
	switch number {
	case "-1712":
		return fmt.Errorf("%w: the Shortcuts app did not answer; it may be waiting in a dialog", ErrTimeout)
	case "-1728":
		return fmt.Errorf("%w: it may have been deleted or renamed; list shows what is there", ErrNotFound)
	case "-1743":
		return fmt.Errorf("%w: allow it in System Settings, Privacy & Security, Automation, for the program that started aster", ErrNotAllowed)
	case "-128":
		return ErrCancelled
	case "-600", "-10810":
		return errors.New("the Shortcuts app could not be started: a user must be logged in at the screen")
	case "-609":
		return errors.New("the Shortcuts app ended before it answered; the shortcut may have run in part")
	case "-2763":
		return errNoResult
	case "-2753":
		if strings.Contains(message, "theResult") {
			return errNoResult
		}
	}
	if message == "" {
		message = "no message"
	}
	if r := []rune(message); len(r) > 500 {
		message = string(r[:500]) + "…"
	}
	return fmt.Errorf("the shortcut failed: %s", message)
}

// rows takes a script's output apart.
func rows(out []byte, mark string) ([][]string, error) {
	text := strings.ToValidUTF8(string(out), "\ufffd")
	text, rest, ok := strings.Cut(text, mark+"e")
	if !ok || strings.Contains(rest, mark) {
		return nil, errors.New("the script's answer is incomplete")
	}
	if text == "" {
		return nil, nil
	}
	var all [][]string
	for _, row := range strings.Split(text, mark+"r") {
		all = append(all, strings.Split(row, mark+"f"))
	}
	return all, nil
}

// errChanged is a list whose columns do not belong together.
var errChanged = errors.New("the shortcuts changed while they were listed; list again")

// parseList reads the columns of the list script.
func parseList(out []byte, mark string) ([]Shortcut, error) {
	all, err := rows(out, mark)
	if err != nil {
		return nil, err
	}
	if len(all) < 5 {
		return nil, errors.New("the script's answer cannot be read")
	}
	var columns [5][]string
	for i, name := range []string{"ids", "names", "inputs", "counts", "again"} {
		if all[i][0] != name {
			return nil, errors.New("the script's answer cannot be read")
		}
		columns[i] = all[i][1:]
		if len(columns[i]) != len(columns[0]) {
			return nil, errChanged
		}
	}
	ids := columns[0]
	if !slices.Equal(ids, columns[4]) {
		return nil, errChanged
	}
	if len(ids) > MaxShortcuts {
		return nil, fmt.Errorf("over %d: %w", MaxShortcuts, ErrTooLarge)
	}
	list, at := make([]Shortcut, 0, len(ids)), map[string]int{}
	for i, id := range ids {
		if _, again := at[id]; again || id == "" {
			continue
		}
		at[id] = len(list)
		list = append(list, shortcutOf(id, columns[1][i], columns[2][i], columns[3][i]))
	}
	for _, row := range all[5:] {
		if len(row) < 2 || row[0] != "folder" {
			return nil, errors.New("the script's answer cannot be read")
		}
		for _, id := range row[2:] {
			if i, ok := at[id]; ok {
				list[i].Folder = row[1]
			}
		}
	}
	return list, nil
}

func shortcutOf(id, name, accepts, actions string) Shortcut {
	s := Shortcut{ID: id, Name: name}
	if accepts == "true" || accepts == "false" {
		yes := accepts == "true"
		s.AcceptsInput = &yes
	}
	if n, err := strconv.Atoi(actions); err == nil {
		s.Actions = &n
	}
	return s
}

// toolLine is a line of "shortcuts list --show-identifiers".
var toolLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*) \(([0-9A-Fa-f-]{36})\)$`) })

// parseToolList reads the tool's lines. A name with a line break can pose as another line,
// so an ID that is there twice is left out: which of its names is true cannot be told.
func parseToolList(out []byte) ([]Shortcut, error) {
	var list []Shortcut
	times := map[string]int{}
	for line := range strings.Lines(strings.ToValidUTF8(string(out), "\ufffd")) {
		if m := toolLine().FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			times[m[2]]++
			if list = append(list, Shortcut{Name: m[1], ID: m[2]}); len(list) > MaxShortcuts {
				return nil, fmt.Errorf("over %d shortcuts: %w", MaxShortcuts, ErrTooLarge)
			}
		}
	}
	if len(list) == 0 && len(bytes.TrimSpace(out)) > 0 {
		return nil, errors.New("the list shows no identifiers")
	}
	return slices.DeleteFunc(list, func(s Shortcut) bool { return times[s.ID] > 1 }), nil
}

var valueKinds = []string{"text", "number", "boolean", "file", "data", "none", "other"}

// parseResult reads what a run gave. data is where the script may have written: the text
// of data becomes the path of its file.
func parseResult(out []byte, mark, data string) ([]Value, error) {
	all, err := rows(out, mark)
	if err != nil {
		return nil, err
	}
	list := len(all) > 0 && len(all[0]) == 2 && all[0][0] == "list"
	if list {
		if n, err := strconv.Atoi(all[0][1]); err != nil || n != len(all)-1 {
			return nil, errors.New("the script's answer is incomplete")
		}
		all = all[1:]
	}
	values := []Value{}
	for i, row := range all {
		if len(row) != 2 || !slices.Contains(valueKinds, row[0]) {
			return nil, errors.New("the script's answer cannot be read")
		}
		v := Value{Kind: row[0], Text: row[1]}
		switch v.Kind {
		case "number":
			v.Text = plainNumber(v.Text)
		case "data":
			if v.Text = data; list {
				v.Text = fmt.Sprintf("%s.%d", data, i+1)
			}
		}
		values = append(values, v)
	}
	return values, nil
}

// plainNumber undoes what AppleScript makes of a number: 1,5 where the Mac's language
// writes it so, and 1.2345678901E+10 for what is large.
func plainNumber(s string) string {
	if _, err := strconv.ParseInt(s, 10, 64); err == nil {
		return s
	}
	f, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return s
	}
	if math.Abs(f) < 1e21 && (f == 0 || math.Abs(f) > 1e-7) {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
)

// printJSON prints a value for programs. A terminal may be behind them, so controls that
// JSON allows in text are written as escapes, which say the same.
func printJSON(env *Env, v any) error {
	b, err := indentJSON(v)
	if err != nil {
		return err
	}
	_, err = env.Stdout.Write(b)
	return err
}

// indentJSON is a value as printed, with a line break.
func indentJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return escapeControls(b.Bytes()), nil
}

// escapeControls writes the controls and the invisible format characters of a JSON text as
// escapes. Those below a space are escapes already, but for the breaks between lines.
func escapeControls(text []byte) []byte {
	steers := func(r rune) bool { return r >= 0x7f && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }
	if !bytes.ContainsFunc(text, steers) {
		return text
	}
	var b bytes.Buffer
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch high, low := utf16Pair(r); {
		case !steers(r):
			b.Write(text[:n])
		case high != 0:
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		text = text[n:]
	}
	return b.Bytes()
}

// utf16Pair are the two halves of a character beyond the basic plane, else zeros.
func utf16Pair(r rune) (high, low rune) {
	if r < 0x10000 {
		return 0, 0
	}
	r -= 0x10000
	return 0xd800 + r>>10, 0xdc00 + r&0x3ff
}

// A fault is an error as it is printed with --json. Its code is one of the words below, and
// stays what it is.
type fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// faultCodes are the codes of errors by their exit code; any other is "failed".
var faultCodes = map[int]string{ExitUsage: "usage", ExitNoBrowser: "no_browser", ExitRefused: "refused", ExitInterrupted: "interrupted"}

// A hintError is an error with what the user can do about it.
type hintError struct {
	err  error
	hint string
}

func (e *hintError) Error() string { return e.err.Error() + ". " + e.hint }
func (e *hintError) Unwrap() error { return e.err }

// printFault prints an error as JSON. code is its exit code.
func (e *Env) printFault(err error, code int) error {
	f := fault{Code: "failed", Message: err.Error()}
	if word := faultCodes[code]; word != "" {
		f.Code = word
	}
	var file *config.FileError
	var hinted *hintError
	switch {
	case errors.As(err, &file):
		f = fault{"invalid_config", fmt.Sprintf("%s: %s", file.Place, file.Text), file.Hint}
	case errors.As(err, &hinted):
		f.Message, f.Hint = hinted.err.Error(), hinted.hint
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]fault{"error": f}); err != nil {
		return err
	}
	_, err = e.Stderr.Write(escapeControls(b.Bytes()))
	return err
}

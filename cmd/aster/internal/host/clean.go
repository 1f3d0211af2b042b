package host

import (
	"fmt"
	"log/slog"
	"unicode/utf8"

	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
)

// MaxLogValueBytes bounds one attribute of a log record after [CleanAttr]; the rest is
// cut with a visible mark.
const MaxLogValueBytes = 16 << 10

// CleanText returns s on one line and without what could steer a terminal or hide text; see
// [guard.CleanLine].
func CleanText(s string) string { return guard.CleanLine(s) }

// CleanAttr is the ReplaceAttr function of a [slog.HandlerOptions] for logs that carry
// strangers' text: every value but numbers, booleans and times is passed through
// [CleanText] and cut at [MaxLogValueBytes].
func CleanAttr(_ []string, a slog.Attr) slog.Attr {
	var s string
	switch v := a.Value.Any().(type) {
	case string:
		s = v
	case []byte:
		s = string(v)
	case error, fmt.Stringer:
		switch a.Value.Kind() {
		case slog.KindDuration, slog.KindTime:
			return a
		}
		s = fmt.Sprint(v)
	default:
		if a.Value.Kind() != slog.KindAny {
			return a
		}
		if _, ok := v.(slog.Level); ok {
			return a
		}
		s = fmt.Sprint(v)
	}
	return slog.String(a.Key, cut(CleanText(s), MaxLogValueBytes))
}

// cut returns s within limit bytes, ending in a mark where something is missing.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const mark = " … (cut)"
	end := max(limit-len(mark), 0)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}

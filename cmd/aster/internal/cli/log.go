package cli

import (
	"io"
	"log/slog"
	"strings"

	"github.com/aster-mcp/aster/cmd/aster/internal/host"
)

// logLevels are the values of --log-level and ASTER_LOG.
var logLevels = []struct {
	name  string
	level slog.Level
}{{"debug", slog.LevelDebug}, {"info", slog.LevelInfo}, {"warn", slog.LevelWarn}, {"error", slog.LevelError}}

const defaultLogLevel = "warn"

// newLogger returns the logger of a command. The flag counts before the variable;
// empty means not given.
func newLogger(w io.Writer, flag, env string) (*slog.Logger, error) {
	value, origin := flag, "--log-level"
	if value == "" {
		value, origin = env, "ASTER_LOG"
	}
	if value == "" {
		value = defaultLogLevel
	}
	var names []string
	for _, l := range logLevels {
		if strings.EqualFold(value, l.name) {
			return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: l.level, ReplaceAttr: host.CleanAttr})), nil
		}
		names = append(names, l.name)
	}
	return nil, usagef("%s: unknown log level %q: choose one of %s", origin, value, strings.Join(names, ", "))
}

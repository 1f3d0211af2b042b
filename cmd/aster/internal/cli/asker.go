package cli

import (
	"context"
	"net"
	"os"
	"sync"

	"github.com/aster-mcp/aster/cmd/aster/internal/daemon"
	"github.com/aster-mcp/aster/cmd/aster/internal/guard"
	"github.com/aster-mcp/aster/cmd/aster/internal/ui"
)

// answerPaths are where processes with a question find those that can ask.
func (e *Env) answerPaths() (*daemon.Paths, error) {
	dir, err := e.stateDir()
	if err != nil {
		return nil, err
	}
	return daemon.PathsFor(dir, "", os.TempDir())
}

// asker asks on the pages of the user's aster ui.
func (a *app) asker() guard.Approver {
	paths := sync.OnceValues(a.env.answerPaths)
	return ui.Asker(func(ctx context.Context) []net.Conn {
		p, err := paths()
		if err != nil {
			return nil
		}
		return daemon.DialAnswers(ctx, p)
	})
}

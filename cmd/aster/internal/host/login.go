package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/upstream"
)

// ErrNoLogins is the error of a login that could not be kept.
var ErrNoLogins = errors.New("there is no directory for logins: set ASTER_HOME or HOME")

// loginOptions are where logins are kept: the system's keychain, else the user's directory.
func loginOptions(getenv func(string) string, stateDir string) *upstream.Options {
	o := &upstream.Options{Getenv: getenv}
	if stateDir != "" {
		o.Store = upstream.NewStore(stateDir, true)
	}
	return o
}

// Login signs the user in to a remote server, at the page that prompt gets to show, and has
// running sessions start it anew, as Logout does. It reports false if the server asks for no
// login.
func Login(ctx context.Context, c *config.Config, s *config.Server, getenv func(string) string, stateDir string, prompt func(ctx context.Context, page string) error) (bool, error) {
	if stateDir == "" {
		return false, ErrNoLogins
	}
	asked, err := upstream.Login(ctx, c, s, prompt, loginOptions(getenv, stateDir))
	if asked && err == nil {
		err = tellLogin(stateDir, s)
	}
	return asked, err
}

// Logout forgets the login of a server and reports whether there was one.
func Logout(ctx context.Context, s *config.Server, getenv func(string) string, stateDir string) (bool, error) {
	if stateDir == "" {
		return false, ErrNoLogins
	}
	had, err := upstream.Logout(ctx, s, loginOptions(getenv, stateDir))
	if had && err == nil {
		err = tellLogin(stateDir, s)
	}
	return had, err
}

func tellLogin(stateDir string, s *config.Server) error {
	if err := askRestart(stateDir, s.Name); err != nil {
		return fmt.Errorf("running servers of aster are not told: %w", err)
	}
	return nil
}

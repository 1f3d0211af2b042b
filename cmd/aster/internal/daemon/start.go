package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"
)

const (
	// startWait bounds the wait for a daemon that was just started.
	startWait = 20 * time.Second
	pollEvery = 2 * time.Millisecond
)

// startDaemon runs the command in the background and waits until its socket answers. Of
// two that start one at once, the second's daemon ends and both get the first's.
func startDaemon(ctx context.Context, p *Paths, command, environ []string) (net.Conn, error) {
	if len(command) == 0 {
		return nil, errNone
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = p.Dir
	if cmd.Env = environ; environ == nil {
		cmd.Env = os.Environ()
	}
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("the daemon cannot be started: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		conn, err := dial(ctx, p)
		if err == nil || !errors.Is(err, errNone) {
			return conn, err
		}
		select {
		case err := <-ended:
			if err != nil {
				return nil, fmt.Errorf("the daemon did not start (%w): see %s", err, p.Log)
			}
			ended = nil // another one is there, or on its way
		default:
		}
		if !sleep(ctx, pollEvery) {
			return nil, fmt.Errorf("the daemon did not start in time: see %s", p.Log)
		}
	}
}

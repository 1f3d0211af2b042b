package daemon

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
)

var (
	errNone    = errors.New("no daemon runs")
	errRunning = errors.New("another daemon runs")
)

// listen makes the socket. What is there already is stale: the caller has the lock.
func listen(p *Paths) (net.Listener, error) {
	if err := os.Remove(p.Socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	ln, err := net.Listen("unix", p.Socket)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(p.Socket, 0o600); err != nil { // its directory is closed to others anyway
		ln.Close()
		return nil, err
	}
	return ln, nil
}

// dial connects to the daemon. errNone means that there is none.
func dial(ctx context.Context, p *Paths) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", p.Socket)
	if err != nil {
		if noDaemon(err) {
			return nil, errNone
		}
		return nil, err
	}
	if err := checkPeer(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

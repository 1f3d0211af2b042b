package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	return listenPath(p.Socket)
}

func listenPath(path string) (net.Listener, error) {
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil { // its directory is closed to others anyway
		ln.Close()
		return nil, err
	}
	return ln, nil
}

// dial connects to the daemon. errNone means that there is none.
func dial(ctx context.Context, p *Paths) (net.Conn, error) { return dialPath(ctx, p.Socket) }

// dialPath connects to a socket of the user's own processes. errNone means that nobody
// listens.
func dialPath(ctx context.Context, path string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
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

// lastWord is what the lock file says of the daemon that has it, or had it last.
type lastWord struct {
	Aster string `json:"aster"`
	PID   int    `json:"pid"`
	State string `json:"state"`
}

const (
	stateRunning    = "running" // or it ended unexpectedly
	stateHandedOver = "handed over"
	stateEnded      = "ended"
)

// maxWord bounds what is read of a lock file.
const maxWord = 4 << 10

func readWord(f *os.File) (w lastWord) {
	text := make([]byte, maxWord)
	n, _ := f.ReadAt(text, 0)
	if json.Unmarshal(text[:n], &w) != nil {
		return lastWord{}
	}
	return w
}

// writeWord does what it can: on a full disk the next daemon knows less.
func writeWord(f *os.File, w lastWord) {
	text, err := json.Marshal(w)
	if err == nil && f.Truncate(0) == nil {
		f.WriteAt(text, 0)
	}
}

// began says what the end of the daemon before means for the next one; "" is nothing
// unusual.
func began(before lastWord) string {
	switch before.State {
	case stateRunning:
		return fmt.Sprintf("the aster daemon (%s, process %d) ended unexpectedly", before.Aster, before.PID)
	case stateHandedOver:
		return fmt.Sprintf("a newer aster took the daemon over from %s", before.Aster)
	}
	return ""
}

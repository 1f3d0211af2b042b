package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxAnswerers bounds the processes that are asked.
const maxAnswerers = 8

// staleAfter is the age from which a socket on which nobody listens is a dead process's.
// Between a new socket's name and its first connection lies a moment only.
const staleAfter = 10 * time.Second

// ListenAnswers makes a socket on which the user's other processes put questions to this
// one, beside where the daemon's would be. Both sides have to use the same paths: those of
// [PathsFor] without a runtime directory, which MCP clients keep from their servers.
// Connections of other users are closed. It removes what processes that have ended left
// behind; Close removes the socket.
func ListenAnswers(ctx context.Context, p *Paths) (net.Listener, error) {
	for _, path := range p.answerers() {
		conn, err := dialPath(ctx, path)
		if err == nil {
			conn.Close()
			continue
		}
		fi, statErr := os.Lstat(path)
		if errors.Is(err, errNone) && ctx.Err() == nil && statErr == nil && time.Since(fi.ModTime()) > staleAfter {
			os.Remove(path)
		}
	}
	// No longer than the daemon's own, whose length was checked.
	path := p.answerPrefix() + strings.ToLower(rand.Text()[:answerName])
	ln, err := listenPath(path)
	if err != nil {
		return nil, fmt.Errorf("socket for questions: %w", err)
	}
	return &ownListener{ln}, nil
}

// answerName is the number of characters that replace ".sock" but for its dash.
const answerName = len(".sock") - 1

// answerPrefix is what the paths of these sockets begin with.
func (p *Paths) answerPrefix() string { return strings.TrimSuffix(p.Socket, ".sock") + "-" }

// answerers are the paths of these sockets, sorted.
func (p *Paths) answerers() (paths []string) {
	entries, err := os.ReadDir(p.Dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(p.Dir, e.Name())
		if name, ok := strings.CutPrefix(path, p.answerPrefix()); ok && len(name) == answerName {
			paths = append(paths, path)
		}
	}
	return paths
}

// DialAnswers connects to the processes that listen for questions, at most eight, none if
// there are none. The caller closes the connections.
func DialAnswers(ctx context.Context, p *Paths) (conns []net.Conn) {
	for _, path := range slices.Backward(p.answerers()) {
		if len(conns) == maxAnswerers {
			break
		}
		if conn, err := dialPath(ctx, path); err == nil {
			conns = append(conns, conn)
		}
	}
	return conns
}

// ownListener accepts the user's own processes.
type ownListener struct{ net.Listener }

func (l *ownListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if checkPeer(conn) == nil {
			return conn, nil
		}
		conn.Close()
	}
}

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// answerWait bounds the wait for the answers of a session.
const answerWait = time.Minute

// session is the program "session FILE program args…" of the scripts: it sends a server the
// lines of a file, and ends its input when every request is answered. With the file as its
// input the server would have a second for the answers that are still out.
func session() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: session FILE program args...")
		os.Exit(2)
	}
	err := runSession(os.Args[1], os.Args[2], os.Args[3:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func runSession(file, name string, args ...string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	end := sync.OnceFunc(func() { in.Close() })
	defer time.AfterFunc(answerWait, end).Stop()
	open := requests(text)
	if open == 0 {
		end()
	}
	go func() { in.Write(text) }() // a server that has ended reads no more
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		os.Stdout.Write(line)
		if isAnswer(line) {
			if open--; open == 0 {
				end()
			}
		}
		if errors.Is(err, io.EOF) {
			return cmd.Wait()
		} else if err != nil {
			return err
		}
	}
}

// requests counts the lines that a server answers: requests, and what is no JSON.
func requests(text []byte) (n int) {
	for line := range bytes.Lines(text) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if json.Unmarshal(line, &m) != nil || m.ID != nil && m.Method != "" {
			n++
		}
	}
	return n
}

func isAnswer(line []byte) bool {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	return json.Unmarshal(line, &m) == nil && m.ID != nil && m.Method == ""
}

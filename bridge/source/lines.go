package source

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// writeTimeout bounds one write to a child that does not read.
const writeTimeout = 5 * time.Second

var errLong = errors.New("a message is over 32 MiB")

// newLines starts a goroutine that pumps lines from in until in ends. The caller makes in
// end and then waits for done.
func newLines(t *tap, in io.Reader, out io.WriteCloser) *stream {
	s := newStream(t)
	s.write = func(_ context.Context, m jsonrpc.Message) error {
		line, err := jsonrpc.EncodeMessage(m)
		if err != nil {
			return err
		}
		if f, ok := out.(*os.File); ok {
			f.SetWriteDeadline(time.Now().Add(writeTimeout)) // where pipes have deadlines
		}
		_, err = out.Write(append(line, '\n'))
		return err
	}
	s.hangUp = func() { out.Close() }
	go s.pump(in)
	return s
}

func (s *stream) pump(in io.Reader) {
	defer close(s.done)
	defer s.end()
	r := bufio.NewReaderSize(in, 64<<10)
	defer io.Copy(io.Discard, r) // let the server finish writing
	for {
		line, err := readLine(r, MaxMessageBytes)
		if errors.Is(err, errLong) {
			err = s.skip(r, line)
		} else if !s.take(line) { // the SDK stopped
			return
		}
		if err != nil {
			s.end()
			return
		}
	}
}

// take gives the SDK what one line holds. It is false when the SDK stopped.
func (s *stream) take(line []byte) bool {
	for _, p := range s.tap.read(line) {
		if s.deliver(context.Background(), p.message) != nil {
			return false
		}
	}
	return true
}

// skip reads to the end of a line that is too long. An error ends the stream.
func (s *stream) skip(r *bufio.Reader, head []byte) error {
	k, m := s.tap.skip("", head)
	if m != nil && s.send(m) != nil {
		return io.EOF
	}
	if err := k.line(r, head); err != nil {
		return err
	}
	m, err := k.end()
	if err == nil && m != nil {
		err = s.send(m)
	}
	return err
}

// readLine reads one line of at most max bytes. The last one may lack its end; of one that
// is longer it returns the beginning, with errLong: it may be all.
func readLine(r *bufio.Reader, max int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > max {
			return append(line, part...), errLong
		}
		if err == nil && line == nil {
			return part, nil // valid until the next read: the tap is done by then
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

package source

import (
	"bufio"
	"errors"
	"io"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// writeTimeout bounds one write to a child that does not read.
const writeTimeout = 5 * time.Second

var errLong = errors.New("a message is over 32 MiB")

// A stream carries JSON lines between a tap and the SDK.
type stream struct {
	tap  *tap
	r    *io.PipeReader // what the SDK reads
	w    *io.PipeWriter
	out  io.WriteCloser // to the server
	done chan struct{}  // closed when the pump ended
}

// newStream starts a goroutine that pumps lines from in until in ends. The
// caller makes in end and then waits for done.
func newStream(t *tap, in io.Reader, out io.WriteCloser) *stream {
	s := &stream{tap: t, out: out, done: make(chan struct{})}
	s.r, s.w = io.Pipe()
	t.inject = func(message []byte) { s.send(message) }
	go s.pump(in)
	return s
}

// transport is the stream for the SDK.
func (s *stream) transport() mcp.Transport {
	return &mcp.IOTransport{Reader: s.r, Writer: streamWriter{s}, MaxLineLength: 2 * MaxMessageBytes}
}

// send hands the SDK a message. It blocks until the SDK took it or stopped.
func (s *stream) send(message []byte) error {
	_, err := s.w.Write(append(message[:len(message):len(message)], '\n'))
	return err
}

func (s *stream) pump(in io.Reader) {
	defer close(s.done)
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r, MaxMessageBytes)
		if !errors.Is(err, errLong) {
			for _, m := range s.tap.incoming(line) {
				if s.send(m) != nil { // the SDK stopped: let the server finish writing
					io.Copy(io.Discard, r)
					return
				}
			}
		}
		if errors.Is(err, errLong) {
			err = s.skip(r, line)
		}
		if err != nil {
			s.w.CloseWithError(io.EOF)
			io.Copy(io.Discard, r) // let the server finish writing
			return
		}
	}
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

// streamWriter is the SDK's way to the server.
type streamWriter struct{ s *stream }

// Write sends one message; the SDK writes each whole.
func (w streamWriter) Write(p []byte) (int, error) {
	w.s.tap.outgoing(p)
	if f, ok := w.s.out.(*os.File); ok {
		f.SetWriteDeadline(time.Now().Add(writeTimeout)) // where pipes have deadlines
	}
	return w.s.out.Write(p)
}

// Close ends the server's input.
func (w streamWriter) Close() error {
	w.s.out.Close()
	return nil
}

package host

import (
	"bufio"
	"bytes"
	"io"
)

// line is one line of input without its line break. When long is set the line was over
// the limit, and its text is not kept.
type line struct {
	text []byte
	long bool
}

// lineReader cuts a stream into lines of bounded length.
type lineReader struct {
	r     *bufio.Reader
	limit int
	first bool // nothing was read yet: a byte order mark may follow
}

// readBufferBytes is the buffer between stdin and the line; lines that fit cost one copy.
const readBufferBytes = 64 << 10

func newLineReader(r io.Reader, limit int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, readBufferBytes), limit: limit, first: true}
}

// next returns the next line that is not blank; its text belongs to the caller. At the
// end of input a last line without a line break counts. A line over the limit is read to its end
// but not held.
func (l *lineReader) next() (line, error) {
	for {
		ln, err := l.read()
		if l.first {
			l.first = false
			ln.text = bytes.TrimPrefix(ln.text, []byte("\xef\xbb\xbf"))
		}
		ln.text = bytes.Trim(ln.text, " \t\r\n")
		if len(ln.text) > 0 || ln.long {
			return ln, nil
		}
		if err != nil {
			return line{}, err
		}
	}
}

func (l *lineReader) read() (line, error) {
	var ln line
	for {
		part, err := l.r.ReadSlice('\n')
		switch {
		case ln.long:
		case len(ln.text)+len(part) > l.limit+1: // one for the line break
			ln = line{long: true}
		default:
			ln.text = append(ln.text, part...)
		}
		if err != bufio.ErrBufferFull {
			return ln, err
		}
	}
}

package source

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// An eventFilter reads server-sent events and passes on each with its data as
// the tap gives it, on one line. Data of messages that is none is dropped;
// the event's id stays, so that a stream can be resumed after it.
type eventFilter struct {
	r    *bufio.Reader
	tap  *tap
	rest []byte
	err  error
}

func newEventFilter(r io.Reader, t *tap) *eventFilter {
	return &eventFilter{r: bufio.NewReaderSize(r, 64<<10), tap: t}
}

// Read returns whole events as they arrive.
func (f *eventFilter) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		f.rest, f.err = f.event()
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// event reads up to the next empty line. An event that the stream's end cuts
// off is dropped, as the HTML standard says.
func (f *eventFilter) event() ([]byte, error) {
	var fields, data bytes.Buffer
	named, hasData := "", false
	for size := 0; ; {
		line, err := readLine(f.r, MaxMessageBytes)
		if size += len(line); err == nil && size > MaxMessageBytes {
			err = errLong
		}
		if err != nil {
			if errors.Is(err, errLong) {
				f.tap.long.Store(true)
			}
			return nil, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "data":
			if hasData {
				data.WriteByte('\n')
			}
			hasData = true
			data.Write(value)
		case "event":
			named = string(value)
			fields.Write(append(line, '\n'))
		case "id", "retry":
			fields.Write(append(line, '\n'))
		}
	}
	return f.render(&fields, named, data.Bytes()), nil
}

// render writes the event again; of a batch the messages become events, the
// fields going with the last.
func (f *eventFilter) render(fields *bytes.Buffer, named string, data []byte) []byte {
	var out bytes.Buffer
	if named != "" && named != "message" {
		out.Write(fields.Bytes())
		out.WriteString("data: ")
		out.Write(bytes.ReplaceAll(data, []byte("\n"), []byte("\ndata: ")))
		out.WriteString("\n\n")
		return out.Bytes()
	}
	messages := f.tap.incoming(data)
	for i, m := range messages {
		if i == len(messages)-1 {
			out.Write(fields.Bytes())
		}
		out.WriteString("data: ")
		if bytes.IndexByte(m, '\n') >= 0 {
			json.Compact(&out, m)
		} else {
			out.Write(m)
		}
		out.WriteString("\n\n")
	}
	if len(messages) == 0 && fields.Len() > 0 {
		out.Write(fields.Bytes())
		out.WriteString("\n")
	}
	return out.Bytes()
}

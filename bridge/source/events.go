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
	r       *bufio.Reader
	tap     *tap
	id      string   // of the request that the stream answers, "" if it has none
	skip    *skipped // an event that is too long, of which the rest is to be dropped
	midLine bool     // of skip: its line is not at an end
	rest    []byte
	err     error
}

func newEventFilter(r io.Reader, t *tap, id string) *eventFilter {
	return &eventFilter{r: bufio.NewReaderSize(r, 64<<10), tap: t, id: id}
}

// Read returns whole events as they arrive.
func (f *eventFilter) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		if f.skip != nil {
			f.rest, f.err = f.skipEvent()
			continue
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
		if size += len(line); size > MaxMessageBytes {
			return f.tooLong(&data, line, err)
		}
		if err != nil {
			return nil, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value := field(line)
		switch name {
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

func field(line []byte) (name string, value []byte) {
	n, value, _ := bytes.Cut(line, []byte(":"))
	return string(n), bytes.TrimPrefix(value, []byte(" "))
}

// tooLong ends the request that an event which is too long would answer, before the rest of
// the event is read. data is what came of it before the line.
func (f *eventFilter) tooLong(data *bytes.Buffer, line []byte, err error) ([]byte, error) {
	if err != nil && !errors.Is(err, errLong) {
		return nil, err
	}
	if name, value := field(line); name == "data" {
		data.Write(value)
	}
	var m []byte
	f.skip, m = f.tap.skip(f.id, data.Bytes())
	f.midLine = err != nil && !bytes.HasSuffix(line, []byte("\n"))
	return asEvent(m), nil
}

// skipEvent drops the lines up to the end of the event.
func (f *eventFilter) skipEvent() ([]byte, error) {
	for {
		if f.midLine {
			if err := f.skip.line(f.r, nil); err != nil {
				return nil, err
			}
			f.midLine = false
		}
		line, err := readLine(f.r, MaxMessageBytes)
		if long := f.skip.drop(line); long != nil {
			return nil, long
		}
		if errors.Is(err, errLong) {
			f.midLine = !bytes.HasSuffix(line, []byte("\n"))
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			m, err := f.skip.end()
			f.skip = nil
			return asEvent(m), err
		}
	}
}

// asEvent is a message on one line as an event.
func asEvent(m []byte) []byte {
	if m == nil {
		return nil
	}
	return append(append([]byte("data: "), m...), "\n\n"...)
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

package content

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// pdfFile finds the objects of a file by looking for them, not by its cross-reference tables: these are often broken, and
// can lead a reader in circles. Of several objects with a number the last one counts, as with tables.
type pdfFile struct {
	c       *conversion
	b       []byte
	at      map[int]int        // where objects begin, by number
	packed  map[int][2]int     // objects in object streams: the stream's number, the place in it
	loaded  map[int]any        // resolved
	streams map[int]*pdfPacked // opened object streams
	trailer pdfDict
	crypt   *pdfCrypt // nil for a file that is not encrypted
	shown   int       // characters that pages draw
	lost    int       // those whose letters the file does not tell
}

// pdfPacked is an opened object stream.
type pdfPacked struct {
	data    []byte
	offsets []int
}

func (c *conversion) openPDF(body []byte) (*pdfFile, error) {
	f := &pdfFile{c: c, b: body, at: map[int]int{}, packed: map[int][2]int{}, loaded: map[int]any{}, streams: map[int]*pdfPacked{}, trailer: pdfDict{}}
	f.scan()
	f.readTrailers()
	if f.trailer["Encrypt"] != nil {
		crypt, err := f.openCrypt()
		if err != nil {
			return nil, err
		}
		clear(f.loaded) // what was read so far was not decrypted
		f.crypt = crypt
	}
	f.unpackStreams()
	if len(f.at) == 0 {
		return nil, fmt.Errorf("PDF document without objects: %w", ErrMalformed)
	}
	return f, nil
}

// scan notes where "N G obj" stands, and merges the trailers.
func (f *pdfFile) scan() {
	rest := 0
	for len(f.at) < maxPDFObject {
		i := bytes.Index(f.b[rest:], []byte("obj"))
		if i < 0 {
			break
		}
		i += rest
		rest = i + 3
		if n, ok := objectBefore(f.b, i); ok {
			f.at[n] = rest
		}
	}
	for rest = 0; ; {
		i := bytes.Index(f.b[rest:], []byte("trailer"))
		if i < 0 {
			return
		}
		rest += i + len("trailer")
		l := &pdfLexer{b: f.b, at: rest, refs: true}
		if d, ok := l.object().(pdfDict); ok {
			f.merge(d)
		}
	}
}

func (f *pdfFile) merge(d pdfDict) {
	for _, k := range []pdfName{"Root", "Info", "Encrypt", "ID"} {
		if d[k] != nil {
			f.trailer[k] = d[k]
		}
	}
}

// objectBefore reads the two numbers before "obj" at i, backwards.
func objectBefore(b []byte, i int) (number int, ok bool) {
	digits := func(end int) (from int) {
		for from = end; from > 0 && end-from < 10 && b[from-1] >= '0' && b[from-1] <= '9'; from-- {
		}
		return from
	}
	spaces := func(end int) int {
		for end > 0 && pdfSpace(b[end-1]) {
			end--
		}
		return end
	}
	e := spaces(i)
	g := digits(e)
	m := spaces(g)
	n := digits(m)
	if e == g || m == g || n == m {
		return 0, false
	}
	number, err := strconv.Atoi(string(b[n:m]))
	return number, err == nil && number < 1<<30
}

// readTrailers takes the trailer from cross-reference streams too, which are never encrypted.
func (f *pdfFile) readTrailers() {
	f.eachStream("XRef", func(_ int, s *pdfStream) { f.merge(s.dict) })
}

// unpackStreams notes the objects in object streams.
func (f *pdfFile) unpackStreams() { f.eachStream("ObjStm", f.index) }

// eachStream calls do for the streams of a type.
func (f *pdfFile) eachStream(kind pdfName, do func(int, *pdfStream)) {
	numbers := make([]int, 0, len(f.at))
	for n := range f.at {
		numbers = append(numbers, n)
	}
	// In the order of the file, so that what was added later counts.
	sortBy(numbers, func(n int) int { return f.at[n] })
	for _, n := range numbers {
		end := min(len(f.b), f.at[n]+2048)
		if chunk := f.b[f.at[n]:end]; !bytes.Contains(chunk, []byte(kind)) {
			continue
		}
		if f.c.stop() {
			return
		}
		if s, ok := f.load(n).(*pdfStream); ok && s.dict["Type"] == kind {
			do(n, s)
		}
	}
}

func (f *pdfFile) index(n int, s *pdfStream) {
	data, err := f.decode(s)
	if err != nil {
		return
	}
	count, first := f.integer(s.dict["N"]), f.integer(s.dict["First"])
	p := &pdfPacked{data: data}
	l := &pdfLexer{b: data}
	for i := 0; i < count && i < maxPDFObject && l.at < len(data); i++ {
		id, ok1 := l.object().(int)
		off, ok2 := l.object().(int)
		if !ok1 || !ok2 || off < 0 || first < 0 || first+off > len(data) {
			break
		}
		p.offsets = append(p.offsets, first+off)
		if at, ok := f.at[id]; !ok || at < f.at[n] {
			f.packed[id] = [2]int{n, i}
			delete(f.loaded, id)
		}
	}
	f.streams[n] = p
}

// load reads an object by its number.
func (f *pdfFile) load(n int) any {
	if o, ok := f.loaded[n]; ok {
		return o
	}
	f.loaded[n] = nil // an object that needs itself is nothing
	var o any
	if p, ok := f.packed[n]; ok {
		s := f.streams[p[0]]
		l := &pdfLexer{b: s.data, at: s.offsets[p[1]], refs: true}
		o = l.object()
	} else if at, ok := f.at[n]; ok {
		o = f.parse(at)
		if f.crypt != nil {
			o = f.crypt.open(n, o, 0)
		}
	}
	if _, ok := o.(pdfWord); ok {
		o = nil
	}
	f.loaded[n] = o
	return o
}

// parse reads the object at a place of the file, with its stream.
func (f *pdfFile) parse(at int) any {
	l := &pdfLexer{b: f.b, at: at, refs: true}
	o := l.object()
	d, ok := o.(pdfDict)
	if !ok {
		return o
	}
	l.space()
	if !bytes.HasPrefix(f.b[l.at:], []byte("stream")) {
		return o
	}
	start := l.at + len("stream")
	if start < len(f.b) && f.b[start] == '\r' {
		start++
	}
	if start < len(f.b) && f.b[start] == '\n' {
		start++
	}
	start = min(start, len(f.b))
	end := -1
	if n := f.integer(d["Length"]); n > 0 && n <= len(f.b)-start {
		if tail := f.b[start+n : min(len(f.b), start+n+32)]; bytes.Contains(tail, []byte("endstream")) {
			end = start + n
		}
	}
	if end < 0 { // a wrong length, or none
		i := bytes.Index(f.b[start:], []byte("endstream"))
		if i < 0 {
			i = len(f.b) - start
		}
		end = start + i
	}
	return &pdfStream{d, f.b[start:end]}
}

// resolve follows references.
func (f *pdfFile) resolve(o any) any {
	for range maxPDFDepth {
		r, ok := o.(pdfRef)
		if !ok {
			return o
		}
		o = f.load(int(r))
	}
	return nil
}

func (f *pdfFile) dict(o any) pdfDict {
	switch o := f.resolve(o).(type) {
	case pdfDict:
		return o
	case *pdfStream:
		return o.dict
	}
	return nil
}

func (f *pdfFile) array(o any) pdfArray {
	a, _ := f.resolve(o).(pdfArray)
	return a
}

func (f *pdfFile) integer(o any) int { return int(f.number(o)) }

func (f *pdfFile) number(o any) float64 {
	switch o := f.resolve(o).(type) {
	case int:
		return float64(o)
	case float64:
		return o
	}
	return 0
}

func (f *pdfFile) name(o any) string {
	n, _ := f.resolve(o).(pdfName)
	return string(n)
}

// infoText is a text string of the document's information: UTF-16 with a mark, UTF-8 with a mark, or nearly Latin-1.
func infoText(o any) string {
	s, _ := o.(pdfString)
	b := []byte(s)
	if !bytes.HasPrefix(b, []byte("\xfe\xff")) && !bytes.HasPrefix(b, []byte("\xff\xfe")) && !bytes.HasPrefix(b, []byte("\xef\xbb\xbf")) {
		return clip(strings.Join(strings.Fields(winAnsi(string(s))), " "), maxTitle)
	}
	u, _, err := Decode(b, "")
	if err != nil {
		return ""
	}
	return clip(strings.Join(strings.Fields(string(u)), " "), maxTitle)
}

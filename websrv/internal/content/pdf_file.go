package content

import (
	"bytes"
	"compress/zlib"
	"encoding/ascii85"
	"fmt"
	"io"
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

// decode undoes a stream's filters within the bound on unpacked bytes. A stream that breaks off gives its beginning.
func (f *pdfFile) decode(s *pdfStream) ([]byte, error) {
	filters, params := f.resolve(s.dict["Filter"]), f.resolve(s.dict["DecodeParms"])
	list, isList := filters.(pdfArray)
	if !isList && filters != nil {
		list, params = pdfArray{filters}, pdfArray{params}
	}
	if len(list) > 8 {
		return nil, fmt.Errorf("%w: too many filters", ErrMalformed)
	}
	plist, _ := params.(pdfArray)
	b := s.raw
	for i, x := range list {
		var p pdfDict
		if i < len(plist) {
			p = f.dict(plist[i])
		}
		var err error
		if b, err = f.filter(f.name(x), b, p); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (f *pdfFile) filter(name string, b []byte, p pdfDict) ([]byte, error) {
	switch name {
	case "FlateDecode", "Fl":
		z, err := zlib.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, fmt.Errorf("%w: %v", ErrMalformed, err)
		}
		out, err := f.limited(z)
		if err != nil {
			return nil, err
		}
		return f.predict(out, p)
	case "ASCIIHexDecode", "AHx":
		l := &pdfLexer{b: append([]byte("<"), b...)}
		s, _ := l.hex().(pdfString)
		return []byte(s), nil
	case "ASCII85Decode", "A85":
		b = bytes.TrimPrefix(bytes.TrimSpace(b), []byte("<~"))
		if i := bytes.IndexByte(b, '~'); i >= 0 {
			b = b[:i]
		}
		return f.limited(ascii85.NewDecoder(bytes.NewReader(b)))
	case "LZWDecode", "LZW":
		out, err := f.lzw(b)
		if err != nil {
			return nil, err
		}
		return f.predict(out, p)
	case "RunLengthDecode", "RL":
		return f.runLength(b)
	}
	return nil, fmt.Errorf("%w: filter %s", ErrUnsupported, clip(name, 40))
}

// limited reads what the bound leaves; broken data gives what was read before.
func (f *pdfFile) limited(r io.Reader) ([]byte, error) {
	out, _ := io.ReadAll(io.LimitReader(ctxReader{f.c.ctx, r}, int64(f.c.unpack)+1))
	return f.charge(out)
}

func (f *pdfFile) charge(out []byte) ([]byte, error) {
	if len(out) > f.c.unpack {
		return nil, fmt.Errorf("%w: more than %s unpacked", ErrTooLarge, size(f.c.lim.MaxUnpackedBytes))
	}
	f.c.unpack -= len(out)
	return out, nil
}

func (f *pdfFile) runLength(b []byte) ([]byte, error) {
	var out []byte
	for i := 0; i < len(b) && b[i] != 128 && len(out) <= f.c.unpack; {
		n := int(b[i])
		i++
		if n < 128 {
			end := min(len(b), i+n+1)
			out = append(out, b[i:end]...)
			i = end
		} else if i < len(b) {
			out = append(out, bytes.Repeat(b[i:i+1], 257-n)...)
			i++
		}
	}
	return f.charge(out)
}

// lzw undoes LZW with codes of 9 to 12 bits that grow one code early (ISO 32000-1, 7.4.4).
func (f *pdfFile) lzw(b []byte) ([]byte, error) {
	type entry struct {
		prev int
		last byte
		n    int
	}
	table := make([]entry, 258, 4096)
	for i := range 256 {
		table[i] = entry{-1, byte(i), 1}
	}
	var out []byte
	bits, have, width, prev := 0, 0, 9, -1
	for _, c := range b {
		bits, have = bits<<8|int(c), have+8
		if have < width {
			continue
		}
		code := bits >> (have - width) & (1<<width - 1)
		have -= width
		bits &= 1<<have - 1
		switch {
		case code == 257:
			return f.charge(out)
		case code == 256:
			table, width, prev = table[:258], 9, -1
			continue
		case code > len(table) || prev < 0 && code >= 256 || len(out) > f.c.unpack:
			return f.charge(out)
		}
		from := code
		if code == len(table) {
			from = prev
		}
		n := table[from].n
		at := len(out)
		out = append(out, make([]byte, n)...)
		for i, e := n-1, from; i >= 0; i, e = i-1, table[e].prev {
			out[at+i] = table[e].last
		}
		first := out[at]
		if code == len(table) {
			out = append(out, first)
		}
		if prev >= 0 && len(table) < 4096 {
			table = append(table, entry{prev, first, table[prev].n + 1})
		}
		prev = code
		for width < 12 && len(table)+1 >= 1<<width {
			width++
		}
	}
	return f.charge(out)
}

// predict undoes the predictors of PNG and TIFF for bytes.
func (f *pdfFile) predict(b []byte, p pdfDict) ([]byte, error) {
	predictor := f.integer(p["Predictor"])
	if predictor < 2 {
		return b, nil
	}
	colors, bitsEach, columns := max(f.integer(p["Colors"]), 1), f.integer(p["BitsPerComponent"]), max(f.integer(p["Columns"]), 1)
	if bitsEach == 0 {
		bitsEach = 8
	}
	if colors > 64 || bitsEach > 16 || bitsEach < 1 || columns > 1<<20 {
		return nil, fmt.Errorf("%w: predictor", ErrMalformed)
	}
	row, pixel := (colors*bitsEach*columns+7)/8, max(colors*bitsEach/8, 1)
	if predictor == 2 {
		if bitsEach == 8 {
			for at := 0; at < len(b); at += row {
				line := b[at:min(len(b), at+row)]
				for i := pixel; i < len(line); i++ {
					line[i] += line[i-pixel]
				}
			}
		}
		return b, nil
	}
	out := make([]byte, 0, len(b))
	above := make([]byte, row)
	for len(b) > 1 {
		kind := b[0]
		line := make([]byte, row)
		n := copy(line, b[1:])
		b = b[1+n:]
		unfilter(kind, line, above, pixel)
		out = append(out, line[:n]...)
		above = line
	}
	return out, nil
}

// unfilter undoes one line's filter of PNG.
func unfilter(kind byte, line, above []byte, pixel int) {
	for i := range line {
		var left, upLeft byte
		if i >= pixel {
			left, upLeft = line[i-pixel], above[i-pixel]
		}
		up := above[i]
		switch kind {
		case 1:
			line[i] += left
		case 2:
			line[i] += up
		case 3:
			line[i] += byte((int(left) + int(up)) / 2)
		case 4:
			line[i] += paeth(left, up, upLeft)
		}
	}
}

func paeth(a, b, c byte) byte {
	pa, pb, pc := abs(int(b)-int(c)), abs(int(a)-int(c)), abs(int(a)+int(b)-2*int(c))
	if pa <= pb && pa <= pc {
		return a
	}
	if pb <= pc {
		return b
	}
	return c
}

func abs(n int) int { return max(n, -n) }

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

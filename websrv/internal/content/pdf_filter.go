package content

import (
	"bytes"
	"compress/zlib"
	"encoding/ascii85"
	"fmt"
	"io"
)

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

package websrv

import (
	"bufio"
	"compress/flate"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	acceptEncoding = "gzip, br, zstd"
	maxCodings     = 2       // content codings on top of each other
	maxZstdWindow  = 8 << 20 // RFC 8878 §3.1.1.1.2 recommends to support 8 MB
)

// readBody reads the decoded body of resp, at most limit bytes: a longer one is cut if
// truncate, else errTooLarge. The coded bytes are bounded by what was decoded: no more of
// them are read than the decoders ask for.
func readBody(resp *http.Response, limit int64, truncate bool) (body []byte, truncated bool, err error) {
	if resp.ContentLength > limit && resp.Header.Get("Content-Encoding") == "" && !truncate {
		return nil, false, tooLarge(limit)
	}
	// A coding can make a body longer, but never by much: what takes far more bytes on
	// the wire than it may give is no body of ours.
	wire := io.LimitReader(resp.Body, limit+limit/8+64<<10)
	r, done, err := decoder(wire, resp.Header.Values("Content-Encoding"))
	if err != nil {
		return nil, false, err
	}
	defer done()
	body, err = io.ReadAll(io.LimitReader(r, limit+1))
	if int64(len(body)) > limit {
		if !truncate {
			return nil, false, tooLarge(limit)
		}
		return body[:limit:limit], true, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading the body: %w", err)
	}
	return body, false, nil
}

func tooLarge(limit int64) error {
	return &netError{errTooLarge, fmt.Sprintf("the answer is larger than %s", sizeText(limit))}
}

// sizeText is a number of bytes for people.
func sizeText(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// decoder removes the content codings of a body, the last applied first.
func decoder(r io.Reader, header []string) (io.Reader, func(), error) {
	var codings []string
	for _, c := range strings.Split(strings.Join(header, ","), ",") {
		if c = strings.ToLower(strings.TrimSpace(c)); c != "" && c != "identity" {
			codings = append(codings, c)
		}
	}
	done := func() {}
	if len(codings) > maxCodings {
		return nil, done, &netError{errEncoding, fmt.Sprintf("the answer has %d content codings", len(codings))}
	}
	for i := len(codings) - 1; i >= 0; i-- {
		next, closer, err := decode(r, codings[i])
		if err != nil {
			done()
			return nil, func() {}, err
		}
		before := done
		r, done = next, func() { closer(); before() }
	}
	return r, done, nil
}

// decode removes one content coding. An empty body is empty in every coding: servers
// send the header with it all the same.
func decode(r io.Reader, coding string) (io.Reader, func(), error) {
	none := func() {}
	br := bufio.NewReader(r)
	head, err := br.Peek(2)
	if len(head) == 0 && errors.Is(err, io.EOF) {
		return br, none, nil
	}
	switch coding {
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, none, badEncoding(coding)
		}
		return coded{z, coding}, none, nil
	case "br":
		return coded{brotli.NewReader(br), coding}, none, nil
	case "zstd":
		z, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, none, badEncoding(coding)
		}
		return coded{z, coding}, z.Close, nil
	case "deflate": // zlib by RFC 9110 §8.4.1.2, raw from some servers
		if len(head) == 2 && head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
			z, err := zlib.NewReader(br)
			if err != nil {
				return nil, none, badEncoding(coding)
			}
			return coded{z, coding}, none, nil
		}
		return coded{flate.NewReader(br), coding}, none, nil
	}
	return nil, none, &netError{errEncoding, fmt.Sprintf("the answer has the unknown content coding %.40q", coding)}
}

func badEncoding(coding string) error {
	return &netError{errEncoding, "the answer is not the " + coding + " data that it says it is"}
}

// coded names the coding in the errors of its decoder, and leaves those of the
// connection below as they are.
type coded struct {
	io.Reader
	coding string
}

func (c coded) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && !isConnError(err) {
		err = badEncoding(c.coding)
	}
	return n, err
}

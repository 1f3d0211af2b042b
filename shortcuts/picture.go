package shortcuts

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// maxPictureBytes is the size of a picture that is converted: a screenshot of a large
	// display as TIFF has some 60 MB.
	maxPictureBytes = 256 << 20
	pictureTimeout  = 20 * time.Second
)

// load reads the data that a run left in files, and the pictures among its files that
// models take in another form only.
func (p programs) load(ctx context.Context, values []Value) ([]Value, error) {
	for i, v := range values {
		if v.Kind != "data" && v.Kind != "file" {
			continue
		}
		v.Data = p.picture(ctx, v.Text)
		if v.Kind == "data" && v.Data == nil {
			var err error
			if v.Data, err = readBounded(v.Text); err != nil {
				return nil, fmt.Errorf("reading the result: %w", err)
			}
		}
		values[i] = v
	}
	return values, nil
}

// picture converts a TIFF or HEIC file, which is what macOS makes of its own pictures: to
// PNG, or to JPEG where that would be too large. nil is a file that is none of them, or
// that could not be converted.
func (p programs) picture(ctx context.Context, path string) []byte {
	info, err := os.Stat(path)
	if p.Sips == "" || err != nil || !info.Mode().IsRegular() || info.Size() > maxPictureBytes || !foreignPicture(path) {
		return nil
	}
	dir, err := os.MkdirTemp("", "aster-picture-")
	if err != nil {
		return nil
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(ctx, pictureTimeout)
	defer cancel()
	for _, format := range []string{"png", "jpeg"} {
		out := filepath.Join(dir, "picture."+format)
		if _, err := p.run(ctx, p.Sips, "-s", "format", format, path, "--out", out); err != nil {
			return nil
		}
		if raw, err := readBounded(out); err == nil && imageType(raw) == "image/"+format {
			return raw
		}
	}
	return nil
}

// foreignPicture tells TIFF, HEIC and AVIF by the first bytes.
func foreignPicture(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [12]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return false
	}
	if bytes.HasPrefix(head[:], []byte("II*\x00")) || bytes.HasPrefix(head[:], []byte("MM\x00*")) {
		return true
	}
	return string(head[4:8]) == "ftyp" && strings.Contains(" heic heix hevc mif1 msf1 avif ", " "+string(head[8:12])+" ")
}

// readBounded reads a regular file of at most MaxImageBytes.
func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, MaxImageBytes+1))
	if err == nil && len(raw) > MaxImageBytes {
		return nil, fmt.Errorf("over %d MiB: %w", MaxImageBytes>>20, ErrTooLarge)
	}
	return raw, err
}

package chat

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // registers the format
	"image/jpeg"
	"image/png"

	_ "golang.org/x/image/bmp" // registers the format
	"golang.org/x/image/draw"
	_ "golang.org/x/image/tiff" // registers the format
	_ "golang.org/x/image/webp" // registers the format
)

// Bounds on one image.
const (
	maxPixels  = 50 << 20      // decoded at four bytes each
	maxShrinks = 8             // how often an image is made smaller to fit its bytes
	maxDecoded = 2 * maxPixels // pixels of all images of one result, readable or not
)

// An encoded is an image that may be passed on.
type encoded struct {
	data          []byte
	mime          string
	width, height int
}

// reencode decodes an image, turns it upright, scales it down to the long edge
// and encodes it within the limit of bytes. PNG stays lossless unless that
// takes too much. What it decodes is taken from left: some bytes are enough for
// an image that takes a second to decode, whether it can be or not.
func reencode(raw []byte, l *Limits, left *int) (*encoded, error) {
	config, format, err := image.DecodeConfig(bytes.NewReader(raw))
	if err != nil {
		return nil, errors.New("it cannot be decoded")
	}
	if config.Width <= 0 || config.Height <= 0 {
		return nil, errors.New("it is empty")
	}
	if config.Width > maxPixels/config.Height {
		return nil, fmt.Errorf("%d×%d pixels are too many", config.Width, config.Height)
	}
	if config.Width*config.Height > *left {
		return nil, fmt.Errorf("with it more than %d million pixels would be decoded for one result", maxDecoded/1_000_000)
	}
	*left -= config.Width * config.Height
	img, _, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil, errors.New("it cannot be decoded")
	}
	img = fit(img, l.LongEdge)
	if format == "jpeg" {
		img = upright(img, orientation(raw))
	}
	return encode(img, format == "jpeg", l)
}

// fit scales an image down so that neither side is longer than edge.
func fit(img image.Image, edge int) image.Image {
	size := img.Bounds().Size()
	long := max(size.X, size.Y)
	if long <= edge {
		return img
	}
	w, h := max(size.X*edge/long, 1), max(size.Y*edge/long, 1)
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	draw.CatmullRom.Scale(out, out.Bounds(), img, img.Bounds(), draw.Src, nil)
	return out
}

// encode tries PNG for what was lossless, then JPEG ever coarser, then a
// smaller image.
func encode(img image.Image, photo bool, l *Limits) (*encoded, error) {
	for range maxShrinks {
		size := img.Bounds().Size()
		if !photo {
			if data := encodePNG(img); len(data) > 0 && len(data) <= l.ImageBytes {
				return &encoded{data, "image/png", size.X, size.Y}, nil
			}
		}
		flat := onWhite(img)
		for _, quality := range []int{85, 70, 50} {
			var b bytes.Buffer
			if jpeg.Encode(&b, flat, &jpeg.Options{Quality: quality}) == nil && b.Len() <= l.ImageBytes {
				return &encoded{b.Bytes(), "image/jpeg", size.X, size.Y}, nil
			}
		}
		img = fit(img, max(max(size.X, size.Y)*2/3, 1))
	}
	return nil, fmt.Errorf("it does not fit %d bytes", l.ImageBytes)
}

func encodePNG(img image.Image) []byte {
	var b bytes.Buffer
	if (&png.Encoder{CompressionLevel: png.DefaultCompression}).Encode(&b, img) != nil {
		return nil
	}
	return b.Bytes()
}

// onWhite puts an image that may be transparent on a white ground: JPEG knows
// no transparency and would show it black.
func onWhite(img image.Image) image.Image {
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() {
		return img
	}
	out := image.NewRGBA(image.Rectangle{Max: img.Bounds().Size()})
	draw.Draw(out, out.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(out, out.Bounds(), img, img.Bounds().Min, draw.Over)
	return out
}

package websrv

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"image/png"
	"net/http"
	"strings"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // a format that a picture may have
)

// Bounds of a picture.
const (
	maxPictureBytes  = 16 << 20 // as a provider gives it
	maxPicturePixels = 50_000_000
	maxShotBytes     = 1_500_000 // in a reply; larger ones are scaled down
	maxShrinks       = 6
)

// decodePicture looks at a picture's header.
func decodePicture(data []byte) (*picture, error) {
	cfg, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || cfg.Width <= 0 || cfg.Height <= 0 || cfg.Width > maxPicturePixels/cfg.Height {
		return nil, failf(ErrUnavailable, "it gave something that is not a picture")
	}
	return &picture{Data: data, MIME: "image/" + format, Width: cfg.Width, Height: cfg.Height}, nil
}

// fetchPicture gets a picture from the address that a provider gave. The address is a
// stranger's: it passes the guard, and no key goes with it.
func (a *api) fetchPicture(ctx context.Context, address string) (*picture, error) {
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
		return nil, failf(ErrUnavailable, "it gave no address of a picture")
	}
	resp, err := a.net.do(ctx, &request{URL: address, Accept: "image/*", MaxBytes: maxPictureBytes, MaxAge: -1})
	if err != nil {
		return nil, a.netFailure(ctx, err)
	}
	if resp.Status != http.StatusOK {
		return nil, failf(ErrUnavailable, "its picture answered HTTP %d", resp.Status)
	}
	return decodePicture(resp.Body)
}

// fit is the picture in at most maxShotBytes: scaled down, in its own format where Go can
// write it, else in PNG.
func (p *picture) fit() (*picture, error) {
	if len(p.Data) <= maxShotBytes {
		return p, nil
	}
	if _, err := decodePicture(p.Data); err != nil {
		return nil, err
	}
	img, format, err := image.Decode(bytes.NewReader(p.Data))
	if err != nil {
		return nil, failf(ErrUnavailable, "it gave a broken picture")
	}
	for range maxShrinks {
		b := img.Bounds()
		small := image.NewRGBA(image.Rect(0, 0, max(1, b.Dx()*2/3), max(1, b.Dy()*2/3)))
		draw.ApproxBiLinear.Scale(small, small.Bounds(), img, b, draw.Src, nil)
		img = small
		var out bytes.Buffer
		mime := "image/png"
		if format == "jpeg" {
			mime, err = "image/jpeg", jpeg.Encode(&out, img, &jpeg.Options{Quality: 80})
		} else {
			err = png.Encode(&out, img)
		}
		if err != nil {
			return nil, failf(ErrUnavailable, "its picture cannot be scaled")
		}
		if out.Len() <= maxShotBytes {
			q := *p
			q.Data, q.MIME, q.Width, q.Height = out.Bytes(), mime, small.Bounds().Dx(), small.Bounds().Dy()
			q.Warnings = append(q.Warnings[:len(q.Warnings):len(q.Warnings)], "the picture was scaled down to keep it small")
			return &q, nil
		}
	}
	return nil, failf(ErrTargetFailed, "the picture is too large")
}

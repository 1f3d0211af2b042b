package websrv

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"image/png"
	"math"

	_ "embed"

	cdpproto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"golang.org/x/image/webp"
)

//go:embed chromium_shot.js
var shotScript string

// Limits of an image.
const (
	defaultShotBytes = 1536 << 10
	topShotBytes     = 8 << 20
	maxShotSide      = 8000  // pixels; a longer side is scaled down
	maxShotHeight    = 16384 // CSS pixels of a page; the rest is cut
	maxShotTries     = 6
	defaultQuality   = 80
	minScale         = 0.5
	maxScale         = 3
)

// shotOptions says what of a page is drawn.
type shotOptions struct {
	renderOptions
	Format   string  // "png" (also for ""), "jpeg" or "webp"
	Quality  int     // 1 to 100, for JPEG and WebP; 0 means 80
	FullPage bool    // the whole page instead of the viewport
	Selector string  // only the first element that matches; CSS
	Scale    float64 // device pixels per CSS pixel, 0.5 to 3; 0 means 1
	MaxImage int64   // bytes of the image, which is scaled down to fit; 0 means 1.5 MiB, at most 8 MiB
}

// shot is an image of a page.
type shot struct {
	Image                []byte
	MIME                 string
	Width, Height        int  // of the image, pixels
	Scaled               bool // the image is smaller than asked for, to fit
	Cut                  bool // the page or element goes on where the image ends
	URL, FinalURL, Title string
	Status               int
	TimedOut             bool // a wait condition was not met
	Unfound              bool // it was WaitFor, on a page that had loaded
}

// shotArea is what the page says of itself, in CSS pixels from the page's corner.
type shotArea struct {
	Found               string // "yes", "no" or "bad"
	X, Y, Width, Height float64
	Title               string
}

// screenshot draws a page with the local Chromium. Its errors are those of render; a
// selector without an element that can be seen is errBadURL.
func (n *network) screenshot(ctx context.Context, rawURL string, o shotOptions) (*shot, error) {
	format, mime, err := shotFormat(o.Format)
	if err != nil {
		return nil, err
	}
	s := &shot{MIME: mime}
	scale := min(max(orDefault(o.Scale, 1), minScale), maxScale)
	err = n.withTab(ctx, rawURL, o.renderOptions, scale, func(t *tab) error {
		var area shotArea
		if err := t.eval(shotScript, &area, o.Selector, o.FullPage); err != nil {
			return err
		}
		clip, err := s.clip(&area, &o)
		if err != nil {
			return err
		}
		final, err := t.finalURL()
		if err != nil {
			return err
		}
		s.URL, s.FinalURL, s.Title, s.TimedOut = t.url.String(), final, area.Title, t.timedOut
		s.Unfound = t.unfound
		s.Status, _ = t.document()
		params := page.CaptureScreenshotParams{Format: format, Clip: clip, CaptureBeyondViewport: ptr(o.FullPage || o.Selector != "")}
		if format != page.CaptureScreenshotFormatPng {
			params.Quality = ptr(int64(min(max(orDefault(o.Quality, defaultQuality), 1), 100)))
		}
		return s.draw(t, params, scale, min(orDefault(o.MaxImage, defaultShotBytes), topShotBytes))
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func ptr[T any](v T) *T { return &v }

func shotFormat(name string) (page.CaptureScreenshotFormat, string, error) {
	switch name {
	case "", "png":
		return page.CaptureScreenshotFormatPng, "image/png", nil
	case "jpeg", "jpg":
		return page.CaptureScreenshotFormatJpeg, "image/jpeg", nil
	case "webp":
		return page.CaptureScreenshotFormatWebp, "image/webp", nil
	}
	return "", "", badURL("the image format %.20q is not one of png, jpeg and webp", name)
}

// clip is the part of the page to draw.
func (s *shot) clip(a *shotArea, o *shotOptions) (*page.Viewport, error) {
	switch {
	case a.Found == "bad":
		return nil, badSelector(o.Selector)
	case a.Found != "yes":
		return nil, badURL("the page has no element %.80q", o.Selector)
	case !(a.Width >= 1) || !(a.Height >= 1):
		return nil, badURL("the element %.80q cannot be seen: it has no size", o.Selector)
	}
	// All of it is what the page says: NaN and infinities do not pass JSON, the rest is bounded.
	s.Cut = a.Height > maxShotHeight || a.Width > maxShotHeight
	return &page.Viewport{X: max(a.X, 0), Y: max(a.Y, 0), Width: min(a.Width, maxShotHeight), Height: min(a.Height, maxShotHeight), Scale: 1}, nil
}

// draw takes the image, smaller until it fits.
func (s *shot) draw(t *tab, p page.CaptureScreenshotParams, scale float64, limit int64) error {
	if longest := max(p.Clip.Width, p.Clip.Height) * scale; longest > maxShotSide {
		p.Clip.Scale, s.Scaled = maxShotSide/longest, true
	}
	for range maxShotTries {
		res, err := cdpproto.Call(t.ctx, t.session, page.CaptureScreenshot, p)
		if err != nil {
			return t.callError(err)
		}
		if size := int64(len(res.Data)); size > limit {
			// Bytes grow with the area, a little less than in proportion.
			p.Clip.Scale *= min(0.9, 0.95*math.Sqrt(float64(limit)/float64(size)))
			s.Scaled = true
			continue
		}
		size, err := imageSize(res.Data, s.MIME)
		if err != nil {
			return &netError{errBrowser, "the local Chromium drew no valid image"}
		}
		s.Image, s.Width, s.Height = res.Data, size.Width, size.Height
		return nil
	}
	return tooLarge(limit)
}

func imageSize(b []byte, mime string) (image.Config, error) {
	switch mime {
	case "image/jpeg":
		return jpeg.DecodeConfig(bytes.NewReader(b))
	case "image/webp":
		return webp.DecodeConfig(bytes.NewReader(b))
	}
	return png.DecodeConfig(bytes.NewReader(b))
}

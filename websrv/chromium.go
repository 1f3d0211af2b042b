package websrv

import (
	"context"
	"time"
)

// renderOptions says when a page is ready to be read. The zero value waits for the load
// event and for a quiet network.
type renderOptions struct {
	WaitFor   string        // CSS selector that must be in the page; "" waits for none
	Settle    time.Duration // further wait after that, at most 10 s
	Timeout   time.Duration // of all; 0 means 30 s
	UserAgent string        // "" leaves the browser's own
	Width     int           // viewport, CSS pixels; 0 means 1280
	Height    int           // 0 means 800
	MaxBytes  int64         // of HTML; 0 means the network's limit
}

// rendered is a page as it stands in the local Chromium.
type rendered struct {
	URL, FinalURL, Title string
	Status               int // of the main document; 0 when it did not come by HTTP
	HTML                 []byte
	TimedOut             bool // a wait condition was not met; HTML is what was there
}

// shotOptions says what of a page is drawn.
type shotOptions struct {
	renderOptions
	Format   string  // "png" (default), "jpeg" or "webp"
	Quality  int     // 1 to 100 for JPEG and WebP; 0 means 80
	FullPage bool    // the whole page instead of the viewport
	Selector string  // only this element; CSS
	Scale    float64 // device pixels per CSS pixel, 0.5 to 3; 0 means 1
	MaxBytes int64   // of the image, which is scaled down to fit; 0 means 1.5 MiB
}

// shot is an image of a page.
type shot struct {
	Image         []byte
	MIME          string
	Width, Height int // of the image, pixels
	Scaled        bool
	Cut           bool // the page was longer than can be drawn
	URL, FinalURL string
	Title         string
	Status        int
	TimedOut      bool
}

// render loads a page in the local Chromium and returns its DOM as HTML.
func (n *network) render(ctx context.Context, rawURL string, o renderOptions) (*rendered, error) {
	return nil, errNoBrowser
}

// screenshot draws a page with the local Chromium.
func (n *network) screenshot(ctx context.Context, rawURL string, o shotOptions) (*shot, error) {
	return nil, errNoBrowser
}

package websrv

// screenshotArgs are the arguments of the tool screenshot, checked and with their
// defaults.
type screenshotArgs struct {
	URL         string  `json:"url"`
	FullPage    bool    `json:"fullPage,omitempty"`
	Selector    string  `json:"selector,omitempty"` // the element to show
	Width       int     `json:"width,omitempty"`    // of the viewport, CSS pixels
	Height      int     `json:"height,omitempty"`
	DeviceScale float64 `json:"deviceScale,omitempty"` // device pixels for a CSS pixel
	Format      string  `json:"format,omitempty"`      // png, jpeg or webp
	Quality     int     `json:"quality,omitempty"`     // 1 to 100, jpeg and webp
	WaitFor     string  `json:"waitFor,omitempty"`     // a selector to wait for
	WaitMillis  int     `json:"waitMs,omitempty"`      // to wait after loading
}

// picture is a picture of a page.
type picture struct {
	Data          []byte
	MIME          string
	Width, Height int // in pixels
	Title         string
	FinalURL      string
	Warnings      []string
}

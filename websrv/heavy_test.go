//go:build !race

// The race detector makes these several times slower, and smaller tests show it the same code.

package websrv

import (
	"bytes"
	"context"
	"errors"
	"image"
	"runtime"
	"testing"
	"time"
)

// TestCrawlThousandPages pins the memory and reports the speed, which a busy machine decides.
func TestCrawlThousandPages(t *testing.T) {
	base, n := localSite(t, tree(1000, false))
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var peak uint64
	start := time.Now()
	res, err := newSiteCrawler(n).crawl(context.Background(), &crawlArgs{URL: base, MaxPages: 1000, MaxDepth: maxDepth(10), TimeoutSeconds: 600}, func(done, _ int, _ string) {
		if done%50 == 0 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
		}
	})
	took := time.Since(start)
	if err != nil || len(res.Pages) != 1000 || res.Next != "" {
		t.Fatalf("%d pages, error %v", len(res.Pages), err)
	}
	t.Logf("%.0f pages/s, heap at most %d MB", 1000/took.Seconds(), peak>>20)
	if used := int64(peak) - int64(before.HeapAlloc); used > 100<<20 {
		t.Errorf("the crawl used %d MB, want at most 100", used>>20)
	}
}

func TestPictureFits(t *testing.T) {
	for format, size := range map[string]image.Point{"png": {660, 600}, "jpeg": {1_100, 900}} {
		p, err := decodePicture(noise(t, size.X, size.Y, format))
		if err != nil {
			t.Fatal(err)
		}
		small, err := p.fit()
		if err != nil || len(small.Data) > maxShotBytes || small.MIME != "image/"+format || len(small.Warnings) != 1 {
			t.Errorf("%s: %v, %d bytes", format, err, len(small.Data))
		}
		if cfg, _, err := image.DecodeConfig(bytes.NewReader(small.Data)); err != nil || cfg.Width != small.Width || cfg.Height != small.Height {
			t.Errorf("%s: %v, %+v", format, err, cfg)
		}
	}
	if _, err := decodePicture([]byte("GIF89a not")); !errors.Is(err, ErrUnavailable) {
		t.Errorf("no picture: %v", err)
	}
}

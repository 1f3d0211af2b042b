package websrv

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestPaceInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(&networkOptions{})
		began := time.Now()
		for _, want := range []time.Duration{0, time.Second, 2 * time.Second, 5 * time.Second} {
			interval := time.Duration(0)
			if want == 2*time.Second {
				interval = 3 * time.Second // the next one after it
			}
			leave, err := p.enter(context.Background(), "http://a.example", true, interval)
			if err != nil {
				t.Fatal(err)
			}
			if got := time.Since(began); got != want {
				t.Errorf("began after %v, want %v", got, want)
			}
			leave()
		}
		if leave, err := p.enter(context.Background(), "http://b.example", true, 0); err != nil || time.Since(began) != 5*time.Second {
			t.Errorf("another host waited: %v", err)
		} else {
			leave()
		}
		if leave, err := p.enter(context.Background(), "http://a.example", false, 0); err != nil || time.Since(began) != 5*time.Second {
			t.Errorf("a request without pace waited: %v", err)
		} else {
			leave()
		}
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		if _, err := p.enter(ctx, "http://a.example", true, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a wait beyond the deadline: %v", err)
		}
		if h := p.hosts["http://a.example"]; h.users != 0 || len(h.slots) != 0 {
			t.Errorf("%d users and %d slots are left", h.users, len(h.slots))
		}
	})
}

func TestPacePerHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(&networkOptions{PaceInterval: time.Millisecond})
		var now, most atomic.Int64
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				leave, err := p.enter(context.Background(), "http://a.example", true, 0)
				if err != nil {
					t.Error(err)
					return
				}
				defer leave()
				n := now.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				time.Sleep(time.Second)
				now.Add(-1)
			})
		}
		wg.Wait()
		if most.Load() != 2 {
			t.Errorf("%d requests at a time, want 2", most.Load())
		}
	})
}

func TestCooling(t *testing.T) {
	for _, tt := range []struct {
		name, after string
		status      int
		advance     time.Duration
		wait        time.Duration // -1 for errCooling
	}{
		{"seconds", "120", 429, 119*time.Second - 3*time.Second, -1}, {"seconds over", "120", 429, 121 * time.Second, 0}, {"short", "2", 503, 0, 2 * time.Second},
		{"none", "", 429, 0, -1}, {"none over", "", 503, 6 * time.Second, 0}, {"zero", "0", 429, 0, 0}, {"other status", "100", 200, 0, 0}, {"capped", "999999", 429, 11 * time.Minute, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPacer(&networkOptions{})
				leave, err := p.enter(context.Background(), "http://a.example", false, 0)
				if err != nil {
					t.Fatal(err)
				}
				h := http.Header{}
				if tt.after != "" {
					h.Set("Retry-After", tt.after)
				}
				p.note("http://a.example", &answer{status: tt.status, header: h}, time.Now())
				leave()
				time.Sleep(tt.advance)
				began := time.Now()
				leave, err = p.enter(context.Background(), "http://a.example", false, 0)
				if tt.wait < 0 {
					if !errors.Is(err, errCooling) {
						t.Errorf("got %v, want errCooling", err)
					}
					return
				}
				if err != nil || time.Since(began) != tt.wait {
					t.Errorf("waited %v, want %v (%v)", time.Since(began), tt.wait, err)
				}
				leave()
			})
		})
	}
}

func TestPacedHostsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(&networkOptions{})
		for i := range 3 * maxPacedHosts {
			leave, err := p.enter(context.Background(), string(rune('a'+i%26))+string(rune(0x4e00+i)), true, 0)
			if err != nil {
				t.Fatal(err)
			}
			leave()
			if i%100 == 0 {
				time.Sleep(2 * time.Second)
			}
		}
		if len(p.hosts) > maxPacedHosts {
			t.Errorf("%d hosts are remembered", len(p.hosts))
		}
	})
}

func TestRetryAfterFromHost(t *testing.T) {
	w := newFakeWeb(t)
	hits := 0
	w.host("busy.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		hits++
		rw.Header().Set("Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		rw.WriteHeader(http.StatusTooManyRequests)
	}))
	n := w.open(networkOptions{})
	if resp, err := n.do(testContext(t, time.Minute), &request{URL: "http://busy.example/"}); err != nil || resp.Status != 429 {
		t.Fatal(err)
	}
	_, err := n.do(testContext(t, time.Minute), &request{URL: "http://busy.example/x"})
	if !errors.Is(err, errCooling) || hits != 1 {
		t.Errorf("got %v after %d requests, want errCooling after 1", err, hits)
	}
	// No browser asks the host in its place.
	var f *Failure
	if !errors.As(fetchFailure(t.Context(), err), &f) || !f.settled || !strings.Contains(f.Reason, "try again in") {
		t.Errorf("the failure is %+v", f)
	}
}

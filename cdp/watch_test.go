package cdp_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aster-mcp/aster/cdp"
	"github.com/aster-mcp/aster/cdp/cdptest"
)

const usual = "http://127.0.0.1:9222"

// script stands for the browser at 127.0.0.1:9222: from each time of the test on, it is
// the start that is named, "" when none runs, "404" when it asks for consent and tells
// nothing, "hang" when it does not answer. It notes when it was asked.
type script struct {
	steps []step
	asked []time.Duration
	start time.Time
}

type step struct {
	from time.Duration
	id   string
}

func (s *script) id() string {
	id := ""
	for _, st := range s.steps {
		if time.Since(s.start) >= st.from {
			id = st.id
		}
	}
	return id
}

func (s *script) finder(t *testing.T, spec string) *cdp.Finder {
	t.Helper()
	s.start = time.Now()
	f, err := cdp.NewFinder(spec, &cdp.FinderOptions{
		GOOS: "linux", Home: "/nonexistent", Getenv: func(string) string { return "" },
		HTTPClient: &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path != "/json/version" || r.Header.Get("Upgrade") != "" {
				t.Errorf("request for %s, %v", r.URL, r.Header)
			}
			if r.URL.Hostname() != "::1" {
				s.asked = append(s.asked, time.Since(s.start))
			}
			id := s.id()
			switch id {
			case "":
				return nil, refused
			case "404":
				return answer(r, 404, "")
			case "hang":
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return answer(r, 200, versionJSON("ws://"+r.URL.Host+"/devtools/browser/"+id))
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func at(id string) cdp.Endpoint {
	return cdp.Endpoint{WS: "ws://127.0.0.1:9222/devtools/browser/" + id}
}

func TestAwaitReturnsAtOnceWithoutLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{{0, "b1"}}}
		e, _, err := s.finder(t, usual).Await(t.Context(), cdp.Endpoint{}, nil)
		if err != nil || e.WS != at("b1").WS || time.Since(s.start) != 0 {
			t.Errorf("got %+v, %v after %v", e, err, time.Since(s.start))
		}
	})
}

func TestAwaitBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{{61 * time.Second, "b2"}}}
		f := s.finder(t, usual)
		e, _, err := f.Await(t.Context(), at("b1"), nil)
		if err != nil || e.WS != at("b2").WS {
			t.Errorf("got %+v, %v", e, err)
		}
		var pauses []time.Duration
		for i := range s.asked[1:] {
			pauses = append(pauses, s.asked[i+1]-s.asked[i])
		}
		const ms = time.Millisecond
		want := []time.Duration{250 * ms, 500 * ms, 1000 * ms, 2000 * ms, 4000 * ms, 8000 * ms, 15000 * ms, 15000 * ms, 15000 * ms, 15000 * ms}
		if s.asked[0] != 0 || !slices.Equal(pauses, want[:len(pauses)]) || len(pauses) < 9 {
			t.Errorf("first look at %v, pauses %v, want %v", s.asked[0], pauses, want)
		}
	})
}

func TestAwaitRetryLooksAtOnceAndResetsThePauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{{25 * time.Second, "b2"}}}
		f := s.finder(t, usual)
		retry := make(chan struct{})
		go func() {
			time.Sleep(20 * time.Second) // in the pause from 15.75 s to 30.75 s
			retry <- struct{}{}
			time.Sleep(100 * time.Millisecond)
			close(retry) // which counts once, and must not make it spin
		}()
		e, _, err := f.Await(t.Context(), at("b1"), retry)
		if err != nil || e.WS != at("b2").WS {
			t.Errorf("got %+v, %v", e, err)
		}
		const ms = time.Millisecond
		i := slices.Index(s.asked, 20*time.Second)
		want := []time.Duration{20000 * ms, 20100 * ms, 20350 * ms, 20850 * ms, 21850 * ms, 23850 * ms, 27850 * ms}
		if i < 0 || !slices.Equal(s.asked[i:], want) {
			t.Errorf("looked at %v, want them to end in %v", s.asked, want)
		}
	})
}

func TestAwaitWaitsForAnotherStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{{0, "b1"}, {5 * time.Second, ""}, {20 * time.Second, "b1"}, {60 * time.Second, "hang"}, {90 * time.Second, "b2"}}}
		f := s.finder(t, usual)
		e, _, err := f.Await(t.Context(), at("b1"), nil)
		if d := time.Since(s.start); err != nil || e.WS != at("b2").WS || d < 90*time.Second || d > 110*time.Second {
			t.Errorf("got %+v, %v after %v", e, err, d)
		}
	})
}

// TestAwaitWithoutAName counts a browser as new once its port was closed.
func TestAwaitWithoutAName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{{0, "404"}, {10 * time.Second, "hang"}, {40 * time.Second, "404"}, {100 * time.Second, ""}, {130 * time.Second, "404"}}}
		f := s.finder(t, usual)
		last, _, err := f.Await(t.Context(), cdp.Endpoint{}, nil)
		if err != nil || !last.Consent || last.WS != "ws://127.0.0.1:9222/devtools/browser" {
			t.Fatalf("got %+v, %v", last, err)
		}
		e, _, err := f.Await(t.Context(), last, nil)
		if d := time.Since(s.start); err != nil || e.WS != last.WS || d < 130*time.Second {
			t.Errorf("got %+v, %v after %v", e, err, d)
		}
	})
}

// TestAwaitDoesNotAskAUserTwice goes back and forth between two browsers.
func TestAwaitDoesNotAskAUserTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{{0, "b2"}, {time.Second, "b1"}, {time.Minute, "b3"}, {2 * time.Minute, "b1"}}}
		f := s.finder(t, usual)
		first, second := at("b1"), at("b2")
		first.Consent, second.Consent = true, true
		if e, _, err := f.Await(t.Context(), first, nil); err != nil || e.WS != second.WS {
			t.Fatalf("got %+v, %v", e, err)
		}
		time.Sleep(time.Second) // b1 again, refused before
		if e, _, err := f.Await(t.Context(), second, nil); err != nil || e.WS != at("b3").WS {
			t.Errorf("got %+v, %v", e, err)
		}
		time.Sleep(2 * time.Minute)
		if e, _, err := f.Await(t.Context(), cdp.Endpoint{}, nil); err != nil || e.WS != first.WS {
			t.Errorf("after a fresh start: got %+v, %v", e, err)
		}
	})
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, _, err := s.finder(t, usual).Await(ctx, at("b1"), nil)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(s.start) != time.Hour {
			t.Errorf("error %v after %v", err, time.Since(s.start))
		}
	})
}

// TestAwaitNeverConnects is the rule that a consent dialog appears only when we mean it.
func TestAwaitNeverConnects(t *testing.T) {
	e := cdptest.NewEndpoint(t, &cdptest.EndpointOptions{Consent: true, Hold: true})
	dir := t.TempDir()
	e.WritePortFile(t, dir)
	f, err := cdp.NewFinder("profile:"+dir, elsewhere(t))
	if err != nil {
		t.Fatal(err)
	}
	last, _, err := f.Await(soon(t), cdp.Endpoint{}, nil)
	if err != nil || last.WS != e.WS() || !last.Consent {
		t.Fatalf("got %+v, %v", last, err)
	}
	retry := make(chan struct{})
	done := make(chan cdp.Endpoint)
	go func() {
		got, _, _ := f.Await(soon(t), last, retry)
		done <- got
	}()
	for range 20 {
		retry <- struct{}{}
	}
	e.Restart()
	retry <- struct{}{} // the file still names the old start
	e.WritePortFile(t, dir)
	got := <-done
	if got.WS != e.WS() || got.WS == last.WS {
		t.Errorf("got %+v, want %s", got, e.WS())
	}
	if e.Upgrades() != 0 || e.Gets() < 20 {
		t.Errorf("%d websockets and %d requests; want none and at least 20", e.Upgrades(), e.Gets())
	}
	if strings.Contains(got.Source, "Chrome") {
		t.Errorf("source %q names a browser that nothing told of", got.Source)
	}
}

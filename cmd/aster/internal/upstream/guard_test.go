package upstream

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func TestPublic(t *testing.T) {
	for text, want := range map[string]bool{
		"93.184.216.34": true, "2606:4700::1111": true,
		"127.0.0.1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false,
		"100.64.0.1": false, "0.0.0.0": false, "0.1.2.3": false, "224.0.0.1": false, "255.255.255.255": false, "198.18.0.1": false,
		"::1": false, "::": false, "fe80::1": false, "fd00::1": false, "ff02::1": false,
		"64:ff9b::a9fe:a9fe": false, "2002:a9fe:a9fe::1": false, "2001::1": false, "::ffff:169.254.169.254": false,
	} {
		if got := public(netip.MustParseAddr(text).Unmap()); got != want {
			t.Errorf("%s is public: %v, want %v", text, got, want)
		}
	}
}

// TestGuard lets a server on the Internet name nothing inside, and one inside its neighbours.
func TestGuard(t *testing.T) {
	site := httptest.NewServer(http.NotFoundHandler())
	defer site.Close()
	get := func(g *guard, url string) error {
		c := g.client()
		defer c.CloseIdleConnections()
		resp, err := c.Get(url)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	outside := newGuard("https://mcp.example.com/mcp")
	for _, url := range []string{site.URL, strings.Replace(site.URL, "127.0.0.1", "localhost", 1)} {
		if err := get(outside, url); !errors.Is(err, errPrivate) {
			t.Errorf("%s: %v", url, err)
		}
	}
	inside := newGuard(site.URL + "/mcp")
	if err := get(inside, site.URL); err != nil {
		t.Errorf("the server itself: %v", err)
	}
	if err := get(inside, strings.Replace(site.URL, "127.0.0.1", "localhost", 1)); err != nil {
		t.Errorf("its neighbour: %v", err)
	}
}

func TestCheckPage(t *testing.T) {
	t.Run("security row 23: pages of a login", func(t *testing.T) {
		for page, want := range map[string]bool{
			"https://login.example/authorize?x=1": true, "http://127.0.0.1:8080/a": true, "http://localhost/a": true, "http://[::1]/a": true,
			"http://login.example/": false, "javascript:alert(1)": false, "file:///etc/passwd": false, "https://": false,
			"https://u:p@login.example/": false, "http://127.0.0.1.evil.example/": false, "$(touch x)": false, "data:text/html,x": false,
		} {
			if err := checkPage(page); (err == nil) != want {
				t.Errorf("%s: %v, want accepted %v", page, err, want)
			}
		}
	})
}

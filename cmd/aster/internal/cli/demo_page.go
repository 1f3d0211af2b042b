package cli

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/aster-mcp/aster/cdp"
)

//go:embed demo.html
var demoHTML []byte

// demoPage serves the page of the demo on this machine only.
type demoPage struct {
	url, origin string
	server      *http.Server
}

func serveDemoPage() (*demoPage, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serving the page of the demo: %w", err)
	}
	addr := l.Addr().String()
	p := &demoPage{url: "http://" + addr + "/", origin: "http://" + addr}
	p.server = &http.Server{
		ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second, MaxHeaderBytes: 16 << 10,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Host != addr || r.URL.Path != "/" { // a name that somebody points at us is not ours
				http.NotFound(w, r)
				return
			}
			h := w.Header()
			h.Set("Content-Type", "text/html; charset=utf-8")
			h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'")
			h.Set("Cache-Control", "no-store")
			w.Write(demoHTML)
		}),
	}
	go p.server.Serve(l) // ends with Close
	return p, nil
}

// Close ends the server and its connections.
func (p *demoPage) Close() error { return p.server.Close() }

// openTab opens a page in a browser that serves /json/new, which Chrome does where a
// debugging port was asked for on its command line, and returns what closes the tab again.
func openTab(ctx context.Context, ep cdp.Endpoint, page string) (closeTab func(), err error) {
	if ep.HTTP == "" {
		return nil, http.ErrNotSupported
	}
	body, err := askBrowser(ctx, ep, http.MethodPut, "/json/new?"+url.QueryEscape(page))
	if err != nil {
		return nil, err
	}
	var tab struct{ ID string }
	if err := json.Unmarshal(body, &tab); err != nil || tab.ID == "" {
		return nil, fmt.Errorf("opening a tab: unexpected answer: %w", err)
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
		defer cancel()
		askBrowser(ctx, ep, http.MethodGet, "/json/close/"+url.PathEscape(tab.ID)) // the user can close it as well
	}, nil
}

const (
	askTimeout  = 3 * time.Second
	maxAskBytes = 64 << 10
)

func askBrowser(ctx context.Context, ep cdp.Endpoint, method, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, ep.HTTP+path, nil)
	if err != nil {
		return nil, err
	}
	req.Host = ep.Host
	transport := &http.Transport{DisableKeepAlives: true} // no proxy
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %d", path, resp.StatusCode)
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxAskBytes))
}

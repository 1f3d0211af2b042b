package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cmd/aster/internal/cli"
)

// webSite is a site, and two providers of search below it.
type webSite struct {
	mu        sync.Mutex
	now, most int         // requests to /slow/ under way, and the most of them; guarded by mu
	asked     []time.Time // of pages but robots.txt; guarded by mu
}

func (s *webSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/exa/search":
		fmt.Fprint(w, `{"results":[{"url":"https://a.example/","title":"from exa"}]}`)
		return
	case r.URL.Path == "/perplexity/search":
		fmt.Fprint(w, `{"results":[{"url":"https://a.example/","title":"from perplexity","snippet":"s"}]}`)
		return
	case r.URL.Path == "/robots.txt":
		http.NotFound(w, r)
		return
	case r.URL.Path == "/late":
		select {
		case <-r.Context().Done():
		case <-time.After(20 * time.Second):
		}
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, time.Now())
	s.now++
	s.most = max(s.most, s.now)
	s.mu.Unlock()
	if strings.HasPrefix(r.URL.Path, "/slow/") {
		time.Sleep(100 * time.Millisecond)
	}
	s.mu.Lock()
	s.now--
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "%s<p>Asked for by %s.</p>", webPage, r.UserAgent())
	for i := range 30 {
		fmt.Fprintf(w, `<p>There is <a href="/page/%d">a page %[1]d with a text</a>.</p>`, i)
	}
}

// gaps is the least time between two pages that were asked for.
func (s *webSite) gaps() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	least := time.Hour
	for i := 1; i < len(s.asked); i++ {
		least = min(least, s.asked[i].Sub(s.asked[i-1]))
	}
	return least
}

// TestWebConfig sets keys of mcp.web in aster.yaml, and looks at what changes. HOST is the
// site's host and port.
func TestWebConfig(t *testing.T) {
	const open = "allow_private: [HOST]\n    chromium: off\n    "
	const searchers = "providers: {exa: {base_url: \"http://HOST/exa\"}, perplexity: {base_url: \"http://HOST/perplexity\"}}\n    "
	for _, tt := range []struct {
		name, keys, args string
		code             int
		want             string // in stdout, or in stderr where the code is not 0
		check            func(s *webSite) error
	}{
		{name: "nothing", keys: "chromium: off", args: "extract http://HOST/", code: 1, want: "allow_private"},
		{name: "allow_private", keys: open, args: "extract http://HOST/", want: "# Of lamps"},
		{name: "allow_private a CIDR", keys: "chromium: off\n    allow_private: [127.0.0.0/8]", args: "extract http://HOST/", want: "# Of lamps"},
		{name: "base_url", keys: searchers, args: "search lamps", want: "from exa"},
		{name: "order", keys: searchers + "order: {search: [perplexity]}", args: "search lamps", want: "from perplexity"},
		{name: "disabled", keys: strings.Replace(searchers, "exa: {", "exa: {disabled: true, ", 1), args: "search lamps", want: "from perplexity"},
		{name: "local_only", keys: searchers + "local_only: true", args: "search lamps", code: 1, want: "needs a hosted one"},
		{name: "user_agent", keys: open + "user_agent: lamp-reader/1", args: "extract http://HOST/", want: "Asked for by lamp-reader/1"},
		{name: "chromium", keys: open, args: "screenshot http://HOST/", code: 1, want: "mcp.web.chromium"},
		{name: "allow_domains", keys: open + "allow_domains: [example.com]", args: "extract http://HOST/", code: 1, want: "not among the domains"},
		{name: "deny_domains", keys: open + "deny_domains: [localhost]", args: "extract http://localhost:PORT/", code: 1, want: "denied by the configuration"},
		{name: "timeout", keys: open + "limits: {timeout: 1s}", args: "extract http://HOST/late", code: 1, want: "timed out"},
		{name: "max_body_bytes", keys: open + "limits: {max_body_bytes: 1024}", args: "extract http://HOST/", code: 1, want: "1 KiB"},
		{name: "crawl_pages", keys: open + "limits: {crawl_pages: 3}", args: "crawl --max-pages 4 http://HOST/", code: 2, want: "the configuration allows 3"},
		{name: "crawl_pages by default", keys: open + "limits: {crawl_pages: 3, host_rate: 1000}", args: "crawl --json http://HOST/", want: `"stopped": "pages"`},
		{name: "crawl_timeout", keys: open + "limits: {crawl_timeout: 1s, host_rate: 0.5}", args: "crawl --json http://HOST/", want: `"stopped": "time"`},
		{name: "crawl_timeout asked for", keys: open + "limits: {crawl_timeout: 1s}", args: "crawl --timeout-seconds 2 http://HOST/", code: 2, want: "the configuration allows 1"},
		{name: "host_rate", keys: open + "limits: {host_rate: 5}", args: "crawl --max-pages 3 http://HOST/", want: "Of lamps", check: func(s *webSite) error {
			if d := s.gaps(); d < 100*time.Millisecond || len(s.asked) != 3 {
				return fmt.Errorf("%d pages, %v between two", len(s.asked), d)
			}
			return nil
		}},
		{name: "max_concurrent", keys: open + "limits: {max_concurrent: 1}", args: "extract http://HOST/slow/1 http://HOST/slow/2 http://HOST/slow/3", want: "Of lamps", check: func(s *webSite) error {
			if s.most != 1 || len(s.asked) != 3 {
				return fmt.Errorf("%d pages, %d at once", len(s.asked), s.most)
			}
			return nil
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			site := &webSite{}
			srv := httptest.NewServer(site)
			defer srv.Close()
			host := strings.TrimPrefix(srv.URL, "http://")
			fill := strings.NewReplacer("HOST", host, "PORT", host[strings.LastIndex(host, ":")+1:]).Replace
			file := filepath.Join(t.TempDir(), "aster.yaml")
			if err := os.WriteFile(file, []byte(fill("mcp:\n  web:\n    "+tt.keys+"\n")), 0o600); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"web"}, strings.Fields(fill(tt.args))...)
			args = append(args, "--config", file)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			var out, errs bytes.Buffer
			code := cli.Run(ctx, &cli.Env{Args: args, Stdout: &out, Stderr: &errs, Home: t.TempDir(), Getenv: func(name string) string {
				return map[string]string{"EXA_API_KEY": "key-e", "PERPLEXITY_API_KEY": "key-p"}[name]
			}})
			text := out.String()
			if tt.code != 0 {
				text = errs.String()
			}
			if code != tt.code || !strings.Contains(text, tt.want) {
				t.Fatalf("exit code %d\nstdout %.2000s\nstderr %s\nwant %d and %q", code, out.String(), errs.String(), tt.code, tt.want)
			}
			if tt.check != nil {
				if err := tt.check(site); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

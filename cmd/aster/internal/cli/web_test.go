package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aster-mcp/aster/cmd/aster/internal/cli"
)

const webPage = `<!doctype html><title>Of lamps</title><main><h1>Of lamps</h1><p>A lamp gives light, and a good lamp gives it where it is wanted,
which is why so many people have more than one of them in a room.</p><h2>Oil</h2><p>Lamps burned oil for some thousands of years before anything else was tried.</p></main>`

// webServer serves webPage and gives back its address and the flags that open it.
func webServer(t *testing.T) (base string, flags []string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write([]byte(webPage))
	}))
	t.Cleanup(s.Close)
	u, _ := url.Parse(s.URL)
	return s.URL + "/", []string{"--allow-private", u.Host, "--chromium", "off"}
}

func runWeb(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	home := t.TempDir()
	var out, errs bytes.Buffer
	code = cli.Run(ctx, &cli.Env{Args: append([]string{"web"}, args...), Stdout: &out, Stderr: &errs, Home: home})
	return code, out.String(), errs.String()
}

func TestWebExtract(t *testing.T) {
	base, flags := webServer(t)
	code, stdout, stderr := runWeb(t, append([]string{"extract", base}, flags...)...)
	if code != 0 || !strings.HasPrefix(stdout, "# Of lamps\n") || !strings.Contains(stdout, "## Oil\n") || strings.Contains(stdout, "BEGIN ") {
		t.Errorf("extract: exit code %d, stdout %q, stderr %q; want the page's Markdown alone", code, stdout, stderr)
	}
	code, stdout, _ = runWeb(t, append([]string{"extract", "--section", "oil", base}, flags...)...)
	if code != 0 || !strings.HasPrefix(stdout, "## Oil\n") || strings.Contains(stdout, "gives light") {
		t.Errorf("a section: exit code %d, stdout %q", code, stdout)
	}
	code, stdout, stderr = runWeb(t, append([]string{"extract", "--json", base, base + "gone"}, flags...)...)
	var reply struct {
		Results []struct{ URL, Status, Text, Error string }
	}
	if err := json.Unmarshal([]byte(stdout), &reply); err != nil || len(reply.Results) != 2 {
		t.Fatalf("two pages as JSON: %v in %q", err, stdout)
	}
	if code != 1 || reply.Results[0].Status != "ok" || !strings.Contains(reply.Results[0].Text, "Lamps burned") || reply.Results[1].Status != "failed" || !strings.Contains(stderr, "HTTP 404") {
		t.Errorf("a page and a missing one: exit code %d, %+v, stderr %q", code, reply.Results, stderr)
	}
}

// TestWebWrongValues checks that a flag of the wrong type says what it wants.
func TestWebWrongValues(t *testing.T) {
	for _, tt := range []struct{ flag, value, want string }{
		{"--outline", "many", "give true or false, or the flag alone"},
		{"--outline", "2.5", "give true or false, or the flag alone"},
		{"--fresh", "maybe", "give true or false, or the flag alone"},
	} {
		code, _, stderr := runWeb(t, "extract", tt.flag+"="+tt.value, "http://a.example/")
		if code != 2 || !strings.Contains(stderr, tt.want) || !strings.Contains(stderr, tt.flag) || !strings.Contains(stderr, tt.value) {
			t.Errorf("%s=%s: exit code %d, %q; want %q", tt.flag, tt.value, code, stderr, tt.want)
		}
	}
}

// TestWebMetadata checks that a page's metadata are printed, not only put into the JSON.
func TestWebMetadata(t *testing.T) {
	base, flags := webServer(t)
	code, stdout, stderr := runWeb(t, append([]string{"extract", "--format", "metadata", base}, flags...)...)
	if code != 0 || !strings.Contains(stdout, "url: "+base+"\n") || !strings.Contains(stdout, "title: Of lamps\n") || strings.Contains(stdout, "gives light") {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

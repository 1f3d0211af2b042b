//go:build unix

package hard_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func serverLogin(a *arena) {
	t := newTrap(a)
	pages := []string{"javascript:alert(1)", "file:///etc/passwd", "http://evil.example/authorize", "data:text/html,x", "https://ok.example/$(touch pwned)", "https://ok.example/`touch pwned`\u001b[2J", "ftp://ok.example/", "", "\x00"}
	if !long {
		pages = pages[:4]
	}
	for _, page := range pages {
		var server *httptest.Server
		server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			switch {
			case strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource"):
				json.NewEncoder(w).Encode(map[string]any{"resource": server.URL + "/mcp", "authorization_servers": []string{server.URL}})
			case strings.HasPrefix(r.URL.Path, "/.well-known/"):
				json.NewEncoder(w).Encode(map[string]any{"issuer": server.URL, "authorization_endpoint": page, "token_endpoint": t.URL + "/token", "registration_endpoint": server.URL + "/register",
					"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}})
			case r.URL.Path == "/register":
				w.WriteHeader(201)
				json.NewEncoder(w).Encode(map[string]any{"client_id": "c", "redirect_uris": []string{}})
			default:
				w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+server.URL+`/.well-known/oauth-protected-resource/mcp"`)
				w.WriteHeader(401)
			}
		}))
		a.config(nil)
		path := filepath.Join(a.home, "aster.yaml")
		text, err := os.ReadFile(path)
		if err != nil {
			a.Fatal(err)
		}
		a.write(path, string(text)+fmt.Sprintf("    remote: {url: %q}\n", server.URL+"/mcp"))
		p := a.start([]string{"BROWSER=touch pwned", "PATH=" + a.dir}, "mcp", "login", "remote")
		// It refuses the page; one that it shows it waits for, and then it is told to end.
		for deadline := time.Now().Add(awaitTimeout); !p.ended(20*time.Millisecond) && !strings.Contains(p.stderr.String(), "Open this page") && time.Now().Before(deadline); {
		}
		errs := p.stderr.String()
		shown := strings.Contains(errs, "Open this page")
		if shown && !strings.Contains(errs, "https://ok.example/") || strings.ContainsAny(errs, "\x1b\x00") || errs == "" {
			a.Errorf("%q: %q", page, errs)
		}
		p.signal(2)
		if !p.ended(leaveTimeout) {
			a.Errorf("%q: the login does not end on a signal", page)
		}
		server.Close()
	}
	if exists(filepath.Join(a.dir, "pwned")) {
		a.Error("a shell read the page's address")
	}
	t.check(a, "the token endpoint of another origin, before any login")
	a.holds("only a page over https is shown, none opened, no shell")
	a.figure("%d pages", len(pages))
}

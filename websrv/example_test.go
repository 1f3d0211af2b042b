package websrv_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/aster-mcp/aster/websrv"
)

// A server reads a page of this machine, which its configuration has to allow.
func ExampleServer_Call() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `<title>Of lamps</title><main><h1>Of lamps</h1><p>A lamp gives light, and a good lamp gives it
where it is wanted, which is why so many people have more than one of them.</p></main>`)
	}))
	defer site.Close()
	s, err := websrv.NewServer(&websrv.Options{AllowPrivate: []string{strings.TrimPrefix(site.URL, "http://")}, Chromium: "off"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	args, _ := json.Marshal(map[string]string{"url": site.URL})
	reply, err := s.Call(context.Background(), "extract", args, &websrv.CallOptions{Plain: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	title, _, _ := strings.Cut(reply.Text(), "\n")
	fmt.Println(title)
	// Output: # Of lamps
}

// The first provider by configuration is the one that the tool's description names.
func ExampleDispatcher_First() {
	s, err := websrv.NewServer(&websrv.Options{Keys: websrv.Keys{Exa: "a-key"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	fmt.Println(s.Dispatcher().First(websrv.OpSearch))
	fmt.Println(s.Dispatcher().First(websrv.OpCrawl))
	// Output:
	// Exa
	// local crawler
}

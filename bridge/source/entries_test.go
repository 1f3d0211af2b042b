package source_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aster-mcp/aster/bridge/source"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// hugeServer lists, beside good entries, such as hold a number that no double can hold.
func hugeServer() *mcp.Server {
	srv := sdkServer()
	huge := mcp.Meta{"n": json.RawMessage("1e999")}
	srv.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			switch method {
			case "tools/list":
				schema := func(text string) json.RawMessage { return json.RawMessage(text) }
				return &mcp.ListToolsResult{Tools: []*mcp.Tool{
					{Name: "good", InputSchema: schema(`{"type":"object"}`), Meta: huge},
					{Name: "huge", InputSchema: schema(`{"type":"object","properties":{"a":{"minimum":1e999}}}`)},
					{Name: "result", InputSchema: schema(`{"type":"object"}`), OutputSchema: schema(`{"type":"object","maximum":-1e999}`)},
				}}, nil
			case "prompts/list":
				return &mcp.ListPromptsResult{Prompts: []*mcp.Prompt{{Name: "huge", Meta: huge}, {Name: "good"}}}, nil
			case "resources/list":
				return &mcp.ListResourcesResult{Resources: []*mcp.Resource{{Name: "huge", URI: "file:///h", Meta: huge}, {Name: "good", URI: "file:///g"}}}, nil
			case "resources/templates/list":
				return &mcp.ListResourceTemplatesResult{ResourceTemplates: []*mcp.ResourceTemplate{{Name: "huge", URITemplate: "file:///{h}", Meta: huge}, {Name: "good", URITemplate: "file:///{g}"}}}, nil
			}
			return next(ctx, method, req)
		}
	})
	return srv
}

// A lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Over each transport an entry of a list that cannot be read costs itself and not the list.
func TestHugeNumbers(t *testing.T) {
	url, _ := site(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return hugeServer() }, nil))
	old := mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return hugeServer() }, nil)
	oldURL, _ := site(t, old)
	for name, spec := range map[string]source.Spec{
		"in-process": {Name: "s", Server: hugeServer()},
		"stdio":      fake(t, "huge"),
		"http":       {Name: "s", URL: url, StartTimeout: patience},
		"sse":        {Name: "s", URL: oldURL, SSE: true, StartTimeout: patience},
	} {
		t.Run(name, func(t *testing.T) {
			log := &lockedBuffer{}
			s := open(t, spec, &source.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
			start(t, s)
			if got := names(s); !slices.Equal(got, []string{"good"}) {
				t.Errorf("tools %q", got)
			}
			var problems []string
			for _, p := range s.Status().Problems {
				problems = append(problems, p.String())
			}
			want := []string{"s/huge: inputSchema holds a number 1e999, which is beyond what a double can hold (left out)",
				"s/result: outputSchema holds a number -1e999, which is beyond what a double can hold (left out)"}
			if !slices.Equal(problems, want) {
				t.Errorf("problems %q, want %q", problems, want)
			}
			onlyGood(t, s)
			for _, what := range []string{"prompts, entry 1", "resources, entry 1", "resourceTemplates, entry 1"} {
				if !strings.Contains(log.String(), what) {
					t.Errorf("%s is not reported: %s", what, log)
				}
			}
		})
	}
}

func names(s *source.Source) (out []string) {
	for _, tool := range s.Tools() {
		out = append(out, tool.Name)
	}
	return out
}

// onlyGood checks that each list has the one entry named good.
func onlyGood(t *testing.T, s *source.Source) {
	t.Helper()
	if l, err := s.Prompts(ctxFor(t)); err != nil || len(l) != 1 || l[0].Name != "good" {
		t.Errorf("prompts %v, %v", l, err)
	}
	if l, err := s.Resources(ctxFor(t)); err != nil || len(l) != 1 || l[0].Name != "good" {
		t.Errorf("resources %v, %v", l, err)
	}
	if l, err := s.ResourceTemplates(ctxFor(t)); err != nil || len(l) != 1 || l[0].Name != "good" {
		t.Errorf("templates %v, %v", l, err)
	}
}

// oddMembers are members that an entry of a list may have, each wrong in its way.
var oddMembers = map[string]string{
	"huge in meta":       `"_meta":{"n":1e999}`,
	"meta is a list":     `"_meta":[1]`,
	"icons is text":      `"icons":"x"`,
	"icon is a number":   `"icons":[7]`,
	"icon sizes":         `"icons":[{"src":"x","sizes":"48x48"}]`,
	"icon src":           `"icons":[{"src":{}}]`,
	"title is an object": `"title":{"en":"x"}`,
	"huge title":         `"title":1e999`,
	"annotations":        `"annotations":"x"`,
	"huge priority":      `"annotations":{"priority":1e999}`,
	"audience":           `"annotations":{"audience":"user"}`,
	"many digits":        `"annotations":{"readOnlyHint":` + strings.Repeat("9", 400) + `,"priority":` + strings.Repeat("9", 400) + `}`,
	"size":               `"size":1.5`,
	"huge size":          `"size":99999999999999999999`,
	"arguments":          `"arguments":{"a":1}`,
	"argument":           `"arguments":[{"name":7}]`,
	"doubled key":        `"title":"a","title":7`,
	"lone surrogate":     `"title":"\ud800"`,
	"surrogate key":      `"\udfff":"\ud800"`,
	"description":        `"description":["x"]`,
	"execution":          `"execution":1e999`,
	"deep":               `"_meta":{"d":` + strings.Repeat("[", 900) + strings.Repeat("]", 900) + `}`,
}

// Whatever one entry holds, the entries beside it are listed.
func TestOddEntries(t *testing.T) {
	for what, member := range oddMembers {
		t.Run(what, func(t *testing.T) {
			two := func(key, more string) string {
				return fmt.Sprintf(`"result":{%q:[{"name":"odd",%s,%s},{"name":"good",%s}]}`, key, more, member, more)
			}
			s := open(t, raw(func(m message) string {
				switch m.Method {
				case "initialize":
					return `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{}},"serverInfo":{"name":"raw","version":"1"}}`
				case "tools/list":
					return two("tools", `"inputSchema":{"type":"object"}`)
				case "prompts/list":
					return two("prompts", `"x":0`)
				case "resources/list":
					return two("resources", `"uri":"file:///x"`)
				case "resources/templates/list":
					return two("resourceTemplates", `"uriTemplate":"file:///{x}"`)
				}
				return legacy(m)
			}), nil)
			start(t, s)
			if got := names(s); !slices.Contains(got, "good") {
				t.Errorf("tools %q", got)
			}
			hasGood(t, s)
		})
	}
}

func hasGood(t *testing.T, s *source.Source) {
	t.Helper()
	if l, err := s.Prompts(ctxFor(t)); err != nil || !slices.ContainsFunc(l, func(p *mcp.Prompt) bool { return p.Name == "good" }) {
		t.Errorf("prompts %v, %v", l, err)
	}
	if l, err := s.Resources(ctxFor(t)); err != nil || !slices.ContainsFunc(l, func(p *mcp.Resource) bool { return p.Name == "good" }) {
		t.Errorf("resources %v, %v", l, err)
	}
	if l, err := s.ResourceTemplates(ctxFor(t)); err != nil || !slices.ContainsFunc(l, func(p *mcp.ResourceTemplate) bool { return p.Name == "good" }) {
		t.Errorf("templates %v, %v", l, err)
	}
}

// A tool nested deeper than messages are read costs itself.
func TestDeepTool(t *testing.T) {
	deep := `{"type":"object","properties":{"a":` + strings.Repeat(`{"not":`, 2000) + "{}" + strings.Repeat("}", 2000) + `}}`
	path := filepath.Join(t.TempDir(), "list")
	list := `cursor: {"tools":[{"name":"deep","inputSchema":` + deep + `},{"name":"good","inputSchema":{"type":"object"}},{"name":"null"},null]}`
	if err := os.WriteFile(path, []byte(list+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, fake(t, "lists", "LIST", path), nil)
	start(t, s)
	if got := names(s); !slices.Equal(got, []string{"good", "null"}) {
		t.Errorf("tools %q; %v", got, s.Status().Problems)
	}
	if p := fmt.Sprint(s.Status().Problems); !strings.Contains(p, "s/deep: inputSchema is nested over 990 levels deep (left out)") {
		t.Errorf("problems %s", p)
	}
}

// Null in the place of a prompt is none.
func TestNullEntries(t *testing.T) {
	s := open(t, raw(func(m message) string {
		switch m.Method {
		case "prompts/list":
			return `"result":{"prompts":[null,{"name":"good"}]}`
		case "resources/list":
			return `"result":{"resources":[null,{"name":"good","uri":"file:///x"}],"nextCursor":7}`
		case "resources/templates/list":
			return `"result":{"resourceTemplates":[null,{"name":"good","uriTemplate":"file:///{x}"}]}`
		}
		return legacy(m)
	}), nil)
	start(t, s)
	onlyGood(t, s)
}

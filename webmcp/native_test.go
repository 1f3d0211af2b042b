package webmcp

import (
	"encoding/json"
	"log/slog"
	"testing"
	"unicode/utf8"

	"github.com/chromedp/cdproto/cdp/jsonv2"
	cdpwebmcp "github.com/chromedp/cdproto/webmcp"
)

// What the browser tells of a page's tools and of what they threw is read without a crash,
// and what is kept of a tool is the same however often it is read.
func FuzzNativeEvents(f *testing.F) {
	for _, s := range []string{
		`{"tools":[{"name":"a","description":"\ud800","frameId":"F","inputSchema":{"type":["x"]},"annotations":{"readOnly":true},"backendNodeId":7},null,{"name":"a","frameId":"F","toolId":"2","outputSchema":[]}]}`,
		`{"invocationId":"1","status":"Error","errorText":"","exception":{"type":"symbol","value":1,"objectId":"o"}}`,
		`{"invocationId":"1","status":"Error","exception":{"type":"string","value":"\ud800 x"}}`,
		`{"invocationId":"1","status":"Error","exception":{"type":"number","unserializableValue":"NaN"}}`,
		`[{"name":"a","title":"T","inputSchema":null,"outputSchema":7,"annotations":{"readOnlyHint":true}}]`,
	} {
		f.Add(s)
	}
	a := &attachment{log: slog.New(slog.DiscardHandler)}
	f.Fuzz(func(t *testing.T, s string) {
		handle(a, jsonv2.Value(s), func(e *cdpwebmcp.EventToolsAdded) {
			for _, tool := range e.Tools {
				if tool == nil {
					continue
				}
				kept := &PageTool{PageName: tool.Name, Description: tool.Description, rawSchema: json.RawMessage(tool.InputSchema), rawOutput: json.RawMessage(tool.OutputSchema)}
				if !sameDefinition(kept, kept) {
					t.Errorf("%q differs from itself", tool.Name)
				}
			}
		})
		handle(a, jsonv2.Value(s), func(*cdpwebmcp.EventToolsRemoved) {})
		handle(a, jsonv2.Value(s), func(*cdpwebmcp.EventToolInvoked) {})
		handle(a, jsonv2.Value(s), func(e *cdpwebmcp.EventToolResponded) {
			if text := exceptionText(e.Exception); text == "" && e.Exception != nil && len(e.Exception.Value) == 0 && e.Exception.Type != "" {
				t.Errorf("nothing is said of %+v", e.Exception)
			} else if utf8.ValidString(s) && e.Exception == nil && text == "" {
				t.Error("nothing is said of no exception")
			}
		})
		var listed []nativeTool
		if json.Unmarshal([]byte(s), &listed) == nil {
			for _, tool := range listed {
				if tool.InputSchema != nil && !json.Valid(tool.InputSchema) {
					t.Errorf("schema %q", tool.InputSchema)
				}
			}
		}
	})
}

package webmcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/bridge"
)

func newTestResults(limit int) *results {
	return &results{limit: limit, estimate: bridge.EstimateTokens, pager: newPager(), readTool: "webmcp_call"}
}

const (
	testPNG  = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	testWAV  = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
	testJPEG = "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP//"
)

// wire is a result as it goes out, checked against the specification.
func wire(t testing.TB, res *mcp.CallToolResult) string {
	t.Helper()
	raw, err := json.Marshal(res)
	if err != nil {
		t.Fatalf("the result cannot be marshalled: %v", err)
	}
	if err := strictResult(raw); err != nil {
		t.Fatalf("clients refuse the result: %v\n%s", err, clipText(string(raw), 2000))
	}
	var back mcp.CallToolResult
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatalf("the SDK refuses the result: %v\n%s", err, clipText(string(raw), 2000))
	}
	return string(raw)
}

// strictResult checks a result as the strictest of the public clients do, by
// what revisions 2025-11-25 and 2026-07-28 have in common.
func strictResult(raw []byte) error {
	var res struct {
		Content           []map[string]any `json:"content"`
		StructuredContent any              `json:"structuredContent"`
		IsError           any              `json:"isError"`
		Meta              any              `json:"_meta"`
	}
	if err := json.Unmarshal(raw, &res); err != nil {
		return err
	}
	if res.Content == nil {
		return fmt.Errorf("content is not a list")
	}
	if _, ok := res.StructuredContent.(map[string]any); res.StructuredContent != nil && !ok {
		return fmt.Errorf("structuredContent is not an object")
	}
	if _, ok := res.IsError.(bool); res.IsError != nil && !ok {
		return fmt.Errorf("isError is not a boolean")
	}
	if _, ok := res.Meta.(map[string]any); res.Meta != nil && !ok {
		return fmt.Errorf("_meta is not an object")
	}
	for i, part := range res.Content {
		if err := strictPart(part); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	return nil
}

func strictPart(part map[string]any) error {
	str := func(m map[string]any, key string, required bool) error {
		v, there := m[key]
		if _, ok := v.(string); !ok && (there || required) {
			return fmt.Errorf("%s is %v", key, v)
		}
		return nil
	}
	b64 := func(m map[string]any, key string) error {
		s, ok := m[key].(string)
		if _, err := base64.StdEncoding.Strict().DecodeString(s); err != nil || !ok {
			return fmt.Errorf("%s is not base64", key)
		}
		return nil
	}
	uri := func(m map[string]any) error {
		s, _ := m["uri"].(string)
		if u, err := url.Parse(s); err != nil || !u.IsAbs() {
			return fmt.Errorf("uri is %q", s)
		}
		return nil
	}
	first := func(errs ...error) error {
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := strictAnnotations(part["annotations"]); err != nil {
		return err
	}
	switch part["type"] {
	case "text":
		return str(part, "text", true)
	case "image", "audio":
		return first(b64(part, "data"), str(part, "mimeType", true))
	case "resource_link":
		return first(uri(part), str(part, "name", true), str(part, "title", false), str(part, "description", false), str(part, "mimeType", false))
	case "resource":
		res, _ := part["resource"].(map[string]any)
		if res["text"] != nil {
			return first(uri(res), str(res, "text", true), str(res, "mimeType", false))
		}
		return first(uri(res), b64(res, "blob"), str(res, "mimeType", false))
	}
	return fmt.Errorf("type is %v", part["type"])
}

func strictAnnotations(v any) error {
	if v == nil {
		return nil
	}
	a, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("annotations are %v", v)
	}
	if at, there := a["lastModified"]; there {
		if _, err := time.Parse(time.RFC3339, fmt.Sprint(at)); err != nil {
			return err
		}
	}
	if p, there := a["priority"]; there {
		if n, ok := p.(float64); !ok || n < 0 || n > 1 {
			return fmt.Errorf("priority is %v", p)
		}
	}
	roles, _ := a["audience"].([]any)
	for _, role := range roles {
		if role != "user" && role != "assistant" {
			return fmt.Errorf("audience is %v", roles)
		}
	}
	return nil
}

func TestOutput(t *testing.T) {
	text := func(s string) string {
		b, _ := json.Marshal(s)
		return `{"type":"text","text":` + string(b) + `}`
	}
	content := func(parts ...string) string { return `{"content":[` + strings.Join(parts, ",") + `]}` }
	image := `{"type":"image","mimeType":"image/png","data":"` + testPNG + `"}`
	note := func(s string) string { return text("[part 1 of the tool's result" + s) }
	tests := []struct{ name, output, want string }{
		// Values that are not MCP's.
		{"string", `"hello"`, content(text("hello"))},
		{"number", `5`, content(text("5"))},
		{"boolean", `true`, content(text("true"))},
		{"null", `null`, content(text("null"))},
		{"undefined", `"undefined"`, content(text("undefined"))},
		{"empty list", `[]`, content(text("[]"))},
		{"nothing", ``, content(text("the tool returned nothing"))},
		{"not JSON", `{"a":`, content(text(`{"a":`))},
		{"list", ` [1, {"a": 2}] `, content(text(`[1,{"a":2}]`))},
		{"object", `{"b": 1, "a": "<é>"}`, `{"content":[` + text(`{"b":1,"a":"<é>"}`) + `],"structuredContent":{"b":1,"a":"<é>"}}`},
		{"empty object", `{}`, `{"content":[` + text(`{}`) + `],"structuredContent":{}}`},
		{"number beyond a double", `{"a":1e999}`, content(text(`{"a":1e999}`))},
		{"object nested deep", strings.Repeat(`{"a":`, 150) + `1` + strings.Repeat(`}`, 150), content(text(strings.Repeat(`{"a":`, 150) + `1` + strings.Repeat(`}`, 150)))},
		{"half of a surrogate pair", `{"a":"\ud800"}`, `{"content":[` + text(`{"a":"\ud800"}`) + `],"structuredContent":{"a":"�"}}`},
		{"a document with a content list", `{"type":"doc","content":[{"type":"paragraph"}]}`, `{"content":[` + text(`{"type":"doc","content":[{"type":"paragraph"}]}`) + `],"structuredContent":{"type":"doc","content":[{"type":"paragraph"}]}}`},
		{"content that is no list", `{"content":"x"}`, `{"content":[` + text(`{"content":"x"}`) + `],"structuredContent":{"content":"x"}}`},

		// MCP results as they are.
		{"text part", content(text("hi")), content(text("hi"))},
		{"no parts", content(), content()},
		{"empty text", content(text("")), content(text(""))},
		{"several parts", content(text("a"), image, `{"type":"audio","mimeType":"audio/wav","data":"`+testWAV+`"}`), content(text("a"), image, `{"type":"audio","mimeType":"audio/wav","data":"`+testWAV+`"}`)},
		{"resource", content(`{"type":"resource","resource":{"uri":"test://r","mimeType":"text/plain","text":"body"}}`), content(`{"type":"resource","resource":{"uri":"test://r","mimeType":"text/plain","text":"body"}}`)},
		{"resource with blob", content(`{"type":"resource","resource":{"uri":"test://r","blob":"AAEC"}}`), content(`{"type":"resource","resource":{"uri":"test://r","blob":"AAEC"}}`)},
		{"resource link", content(`{"type":"resource_link","uri":"https://e.example/x","name":"x","title":"X","description":"d","mimeType":"text/html","size":12,"icons":[{"src":"https://e.example/i.png","sizes":["48x48"]}]}`), content(`{"type":"resource_link","mimeType":"text/html","uri":"https://e.example/x","name":"x","title":"X","description":"d","size":12,"icons":[{"src":"https://e.example/i.png","sizes":["48x48"]}]}`)},
		{"error", `{"content":[` + text("no") + `],"isError":true}`, `{"content":[` + text("no") + `],"isError":true}`},
		{"structured content", `{"content":[` + text("1") + `],"structuredContent":{"a":[1]}}`, `{"content":[` + text("1") + `],"structuredContent":{"a":[1]}}`},
		{"structured content alone", `{"content":[],"structuredContent":{"a":1}}`, `{"content":[` + text(`{"a":1}`) + `],"structuredContent":{"a":1}}`},
		{"meta and annotations", `{"_meta":{"k":{"a":1}},"content":[{"type":"text","text":"x","_meta":{"n":1e3},"annotations":{"audience":["user"],"priority":0.5,"lastModified":"2026-12-01T00:00:00Z"}}]}`, `{"_meta":{"k":{"a":1}},"content":[{"type":"text","text":"x","_meta":{"n":1e3},"annotations":{"audience":["user"],"lastModified":"2026-12-01T00:00:00Z","priority":0.5}}]}`},
		{"other properties beside parts", `{"title":"t","content":[` + text("x") + `]}`, content(text("x"))},

		// Repairs.
		{"bare strings", content(`"a"`, `"b"`), content(text("a"), text("b"))},
		{"number as text", content(`{"type":"text","text":5}`), content(text("5"))},
		{"base64 with line breaks", content(`{"type":"image","mimeType":"image/png","data":"` + testPNG[:40] + `\n ` + testPNG[40:] + `"}`), content(image)},
		{"base64 for URLs without padding", content(`{"type":"image","mimeType":"image/jpeg","data":"` + strings.ReplaceAll(testJPEG, "/", "_") + `"}`), content(`{"type":"image","mimeType":"image/jpeg","data":"` + testJPEG + `"}`)},
		{"data URL", content(`{"type":"image","data":"data:image/png;base64,` + testPNG + `"}`), content(image)},
		{"no mimeType", content(`{"type":"image","data":"`+testPNG+`"}`, `{"type":"audio","data":"`+testWAV+`"}`), content(image, `{"type":"audio","mimeType":"audio/wave","data":"`+testWAV+`"}`)},
		{"wrong mimeType", content(`{"type":"image","mimeType":"image/jpg","data":"` + testPNG + `"}`), content(image)},
		{"mimeType that the data does not show", content(`{"type":"image","mimeType":"image/avif","data":"AAEC"}`), content(`{"type":"image","mimeType":"image/avif","data":"AAEC"}`)},
		{"empty resource text", content(`{"type":"resource","resource":{"uri":"test://r","text":""}}`), content(`{"type":"resource","resource":{"uri":"test://r","blob":""}}`)},
		{"link without name", content(`{"type":"resource_link","uri":"test://r","title":"T"}`, `{"type":"resource_link","uri":"test://r"}`), content(`{"type":"resource_link","uri":"test://r","name":"T","title":"T"}`, `{"type":"resource_link","uri":"test://r","name":"test://r"}`)},
		{"structured list", `{"content":[` + text("x") + `],"structuredContent":[1]}`, content(text("x"), text("[1]"))},
		{"structured list that is text already", `{"content":[` + text("[1]") + `],"structuredContent":[ 1 ]}`, content(text("[1]"))},
		{"reserved meta", `{"content":[],"_meta":{"io.modelcontextprotocol/serverInfo":{},"aster/origin":"x","mcp.dev/y":1,"progress":1}}`, `{"_meta":{"progress":1},"content":[]}`},
		{"null members", `{"content":[{"type":"text","text":"x","annotations":null,"_meta":null}],"_meta":null,"structuredContent":null}`, content(text("x"))},

		// Parts that cannot be shown.
		{"unknown type", content(`{"type":"video", "url":"u"}`), content(note(" cannot be shown: unknown content type \"video\"]\n{\"type\":\"video\",\"url\":\"u\"}"))},
		{"tool_use", content(`{"type":"tool_use","id":"1","name":"n","input":{}}`), content(note(" cannot be shown: unknown content type \"tool_use\"]\n{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"n\",\"input\":{}}"))},
		{"no type", content(`{"text":"x"}`), content(note(" cannot be shown: its type is missing or not a string]\n{\"text\":\"x\"}"))},
		{"type that is a number", content(`{"type":1}`), content(note(" cannot be shown: its type is missing or not a string]\n{\"type\":1}"))},
		{"not objects", content(`null`, `[1]`), content(note(" cannot be shown: it is not an object]\nnull"), text("[part 2 of the tool's result cannot be shown: it is not an object]\n[1]"))},
		{"text missing", content(`{"type":"text"}`, text("next")), content(note(" cannot be shown: its text is missing or not a string]\n{\"type\":\"text\"}"), text("next"))},
		{"text that is an object", content(`{"type":"text","text":{}}`), content(note(" cannot be shown: its text is missing or not a string]\n{\"type\":\"text\",\"text\":{}}"))},
		{"bad base64", content(`{"type":"image","mimeType":"image/png","data":"!!"}`), content(note(" cannot be shown: the data of its image is not base64]"))},
		{"no data", content(`{"type":"image","mimeType":"image/png"}`), content(note(" cannot be shown: the data of its image is missing or not a string]"))},
		{"empty data", content(`{"type":"audio","mimeType":"audio/wav","data":""}`), content(note(" cannot be shown: the data of its audio is empty]"))},
		{"data URL that is text", content(`{"type":"image","data":"data:image/svg+xml,<svg/>"}`), content(note(" cannot be shown: the data of its image is a data: URL that is not base64]"))},
		{"mimeType of another kind", content(`{"type":"image","mimeType":"text/html","data":"AAEC"}`), content(note(" cannot be shown: the mimeType of its image is missing or not one of image]"))},
		{"no resource", content(`{"type":"resource"}`), content(note(" cannot be shown: its resource is missing or not an object]\n{\"type\":\"resource\"}"))},
		{"relative uri", content(`{"type":"resource","resource":{"uri":"r","text":"x"}}`), content(note(" cannot be shown: the uri of its resource is missing or not an absolute URI]\n{\"type\":\"resource\",\"resource\":{\"uri\":\"r\",\"text\":\"x\"}}"))},
		{"resource without contents", content(`{"type":"resource","resource":{"uri":"a://b"}}`), content(note(" cannot be shown: its resource has neither a text nor a blob that is a string]\n{\"type\":\"resource\",\"resource\":{\"uri\":\"a://b\"}}"))},
		{"link without uri", content(`{"type":"resource_link","name":"n","uri":5}`), content(note(" cannot be shown: the uri of its resource_link is missing or not an absolute URI]\n{\"type\":\"resource_link\",\"name\":\"n\",\"uri\":5}"))},

		// Things of parts that are left out.
		{"bad annotations", content(`{"type":"text","text":"x","annotations":{"audience":["robot"],"priority":1}}`), content(`{"type":"text","text":"x","annotations":{"priority":1}}`, note(": left out: annotations: audience is not a list of user and assistant]"))},
		{"annotations of wrong type", content(`{"type":"text","text":"x","annotations":[]}`), content(text("x"), note(": left out: annotations: they are not an object]"))},
		{"bad date and priority", content(`{"type":"text","text":"x","annotations":{"priority":"1"}}`, `{"type":"text","text":"y","annotations":{"lastModified":"today"}}`), content(`{"type":"text","text":"x","annotations":{}}`, note(": left out: annotations: priority is not a number from 0 to 1]"), `{"type":"text","text":"y","annotations":{}}`, text("[part 2 of the tool's result: left out: annotations: lastModified is not a time as in RFC 3339]"))},
		{"bad meta", content(`{"type":"text","text":"x","_meta":1}`), content(text("x"), note(": left out: _meta: it is not an object]"))},
		{"bad fields of a link", content(`{"type":"resource_link","uri":"a://b","name":1,"title":[],"size":-1,"icons":{}}`), content(`{"type":"resource_link","uri":"a://b","name":"a://b"}`, note(": left out: name is not a string; title is not a string; size is not a number of bytes; icons: they are not a list of icons]"))},
		{"bad icons", content(`{"type":"resource_link","uri":"a://b","name":"n","icons":[{"src":"x"}]}`), content(`{"type":"resource_link","uri":"a://b","name":"n"}`, note(": left out: icons: the src of one is missing or not an absolute URI]"))},
		{"isError that is a string", `{"content":[],"isError":"yes"}`, content(text("[the tool's isError is left out: it is not a boolean]"))},
		{"meta of the result", `{"content":[],"_meta":[1]}`, content(text("[the tool's _meta is left out: it is not an object]"))},
	}
	r := newTestResults(25_000)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got, want any
			if err := json.Unmarshal([]byte(wire(t, r.output(json.RawMessage(tt.output)))), &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
				t.Fatalf("%v in %s", err, tt.want)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("output %s (-want +got)\n%s", clipText(tt.output, 500), diff)
			}
		})
	}
}

func TestParseOutput(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	tests := []struct{ name, text, want string }{
		{"number", `5`, `5`},
		{"quoted", `"5"`, `"5"`},
		{"object", `{"a":1}`, `{"a":1}`},
		{"leading zeros", `007`, `"007"`},
		{"script", `{a:1}`, `"{a:1}"`},
		{"comment", `1 // one`, `"1 // one"`},
		{"words", "hi \"there\"\n", `"hi \"there\"\n"`},
		{"empty", ``, `""`},
		{"undefined", `undefined`, `"undefined"`},
		{"deep", deep(300), deep(300)},
		{"too deep", deep(301), `"` + deep(301) + `"`},
		{"brackets in a string", `"` + strings.Repeat("[", 400) + `\""`, `"` + strings.Repeat("[", 400) + `\""`},
	}
	for _, tt := range tests {
		if got := parseOutput(tt.text); string(got) != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, clipText(string(got), 100), clipText(tt.want, 100))
		}
	}
}

func TestErrorResult(t *testing.T) {
	tests := []struct{ text, want string }{
		{"Error: no\tway", "Error: no\tway"},
		{"two\nlines", "two\nlines"},
		{"\x1b[31mred\x07\u0085", "[31mred"},
		{"", "the tool failed and did not say why"},
		{" \n", "the tool failed and did not say why"},
		{"bad \xff", "bad �"},
		{strings.Repeat("é", maxErrorRunes+1), strings.Repeat("é", maxErrorRunes) + "…"},
	}
	for _, tt := range tests {
		res := errorResult(tt.text)
		if got := res.Content[0].(*mcp.TextContent).Text; got != tt.want || !res.IsError || len(res.Content) != 1 {
			t.Errorf("errorResult(%q) = %q, want %q", clipText(tt.text, 50), clipText(got, 50), clipText(tt.want, 50))
		}
		wire(t, res)
	}
}

// shownText is the text of a result without the mark, and the mark.
func shownText(t *testing.T, res *mcp.CallToolResult) (text, mark string) {
	t.Helper()
	for i, c := range res.Content {
		if c, ok := c.(*mcp.TextContent); ok && i < len(res.Content)-1 {
			text += c.Text
		}
	}
	last, ok := res.Content[len(res.Content)-1].(*mcp.TextContent)
	if !ok {
		t.Fatalf("the last part is %T", res.Content[len(res.Content)-1])
	}
	return text, last.Text
}

// readCall is what a mark asks for.
func readCall(t *testing.T, mark string) (handle string, page int, ok bool) {
	t.Helper()
	_, call, ok := strings.Cut(mark, "read on with webmcp_call ")
	if !ok {
		return "", 0, false
	}
	var args struct {
		Handle string `json:"handle"`
		Page   int    `json:"page"`
	}
	if err := json.NewDecoder(strings.NewReader(call)).Decode(&args); err != nil {
		t.Fatalf("mark %q: %v", mark, err)
	}
	return args.Handle, args.Page, true
}

// readAll reads a cut result to its end, from the second page on.
func readAll(t *testing.T, r *results, mark string) string {
	t.Helper()
	var sb strings.Builder
	for {
		handle, page, more := readCall(t, mark)
		if !more {
			if !strings.Contains(mark, "the end of the result") {
				t.Fatalf("the last mark is %q", mark)
			}
			return sb.String()
		}
		res := r.readOn(handle, page)
		wire(t, res)
		if res.IsError {
			t.Fatalf("readOn: %v", res.Content[0])
		}
		var text string
		text, mark = shownText(t, res)
		sb.WriteString(text)
	}
}

func TestCutAndReadOn(t *testing.T) {
	long := strings.Repeat("Zeile mit Umlauten äöü und 日本語, 😀.\n", 2000)
	quoted, _ := json.Marshal(long)
	tests := []struct{ name, output, whole string }{
		{"string", string(quoted), long},
		{"one line", `"` + strings.Repeat("abc", 30_000) + `"`, strings.Repeat("abc", 30_000)},
		{"object", `{"a":` + string(quoted) + `}`, compactJSON(json.RawMessage(`{"a":` + string(quoted) + `}`))},
		{"list", `[` + strings.Repeat(`1, `, 20_000) + `1]`, `[` + strings.Repeat(`1,`, 20_000) + `1]`},
		{"text part", `{"content":[{"type":"text","text":` + string(quoted) + `}]}`, long},
		{"structured content beside it", `{"content":[{"type":"text","text":"short"}],"structuredContent":{"a":` + string(quoted) + `}}`, "short\n" + compactJSON(json.RawMessage(`{"a":`+string(quoted)+`}`))},
		{"resource", `{"content":[{"type":"resource","resource":{"uri":"a://b","text":` + string(quoted) + `}}]}`, "resource a://b:\n" + long},
		{"unknown part", `{"content":[{"type":"video","x":` + string(quoted) + `}]}`, "[part 1 of the tool's result cannot be shown: unknown content type \"video\"]\n" + compactJSON(json.RawMessage(`{"type":"video","x":`+string(quoted)+`}`))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newTestResults(1000)
			res := r.output(json.RawMessage(tt.output))
			wire(t, res)
			if res.StructuredContent != nil {
				t.Error("structuredContent is still there")
			}
			total := 0
			for _, c := range res.Content {
				total += bridge.EstimateTokens(c.(*mcp.TextContent).Text)
			}
			if total > 1000 || total < 700 {
				t.Errorf("%d tokens are shown of a limit of 1000", total)
			}
			text, mark := shownText(t, res)
			n := len([]rune(tt.whole))
			if !strings.Contains(mark, fmt.Sprintf(" of %d characters shown, page 1 of ", n)) {
				t.Errorf("mark %q does not name %d characters", mark, n)
			}
			handle, page, ok := readCall(t, mark)
			if !ok || page != 2 {
				t.Fatalf("mark %q leads to page %d", mark, page)
			}
			first, _ := shownText(t, r.readOn(handle, 1))
			if !strings.HasPrefix(first, text) && !strings.HasPrefix(strings.ReplaceAll(first, "\n", ""), strings.ReplaceAll(text, "\n", "")) {
				t.Errorf("page 1 is not what was shown: %q", clipText(first, 100))
			}
			if got := first + readAll(t, r, mark); got != tt.whole {
				t.Errorf("read to the end: %d bytes, want %d", len(got), len(tt.whole))
			}
		})
	}
}

func TestCutKeepsPartsInTheirPlace(t *testing.T) {
	r := newTestResults(200)
	words := strings.Repeat("word ", 500)
	res := r.output(json.RawMessage(`{"content":[{"type":"text","text":"first"},{"type":"image","mimeType":"image/png","data":"` + testPNG + `"},{"type":"text","text":"` + words + `"},{"type":"audio","mimeType":"audio/wav","data":"` + testWAV + `"},{"type":"text","text":"last"}],"isError":true,"_meta":{"k":1},"structuredContent":{"k":1}}`))
	wire(t, res)
	var kinds []string
	for _, c := range res.Content {
		kinds = append(kinds, strings.TrimPrefix(fmt.Sprintf("%T", c), "*mcp."))
	}
	if got, want := strings.Join(kinds, " "), "TextContent ImageContent TextContent AudioContent TextContent"; got != want {
		t.Errorf("parts %s, want %s", got, want)
	}
	if !res.IsError || res.Meta["k"] == nil {
		t.Error("isError or _meta is lost")
	}
	text, mark := shownText(t, res)
	if !strings.HasPrefix(text, "firstword word") || !strings.HasSuffix(mark, "structuredContent is left out, it is in the text]") {
		t.Errorf("text %q, mark %q", clipText(text, 50), mark)
	}
	if rest := readAll(t, r, mark); !strings.HasSuffix(rest, "word \nlast\n"+`{"k":1}`) {
		t.Errorf("the rest ends with %q", rest[max(0, len(rest)-40):])
	}
}

func TestResultsThatAreNotCut(t *testing.T) {
	r := newTestResults(1000)
	text := strings.Repeat("a", 5900)
	if n := bridge.EstimateTokens(text); n > 1000 || n < 980 {
		t.Fatalf("the text has %d tokens", n)
	}
	res := r.output(json.RawMessage(`"` + text + `"`))
	if len(res.Content) != 1 || len(r.pager.texts) != 0 {
		t.Errorf("a result of the limit is cut into %d parts", len(res.Content))
	}
}

func TestCutWithoutAWayToReadOn(t *testing.T) {
	r := newTestResults(200)
	r.readTool = ""
	_, mark := shownText(t, r.output(json.RawMessage(`"`+strings.Repeat("a", 10_000)+`"`)))
	if !strings.Contains(mark, "of 10000 characters shown; the rest is not kept") || strings.Contains(mark, "handle") {
		t.Errorf("mark %q", mark)
	}
}

func TestReadOnErrors(t *testing.T) {
	r := newTestResults(200)
	_, mark := shownText(t, r.output(json.RawMessage(`"`+strings.Repeat("a", 10_000)+`"`)))
	handle, _, _ := readCall(t, mark)
	for _, tt := range []struct {
		handle string
		page   int
		want   string
	}{{"none", 1, "no result is kept under this handle"}, {handle, 0, "pages 1 to"}, {handle, 1000, "pages 1 to"}} {
		res := r.readOn(tt.handle, tt.page)
		if got := res.Content[0].(*mcp.TextContent).Text; !res.IsError || !strings.Contains(got, tt.want) {
			t.Errorf("page %d of %q: %q", tt.page, tt.handle, got)
		}
	}
}

func TestOwnResult(t *testing.T) {
	r := newTestResults(200)
	got := wire(t, r.own("two tools", map[string]any{"tools": []string{"a", "b"}}))
	if want := `{"content":[{"type":"text","text":"two tools"}],"structuredContent":{"tools":["a","b"]}}`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	res := r.own(strings.Repeat("tool\n", 1000), map[string]any{"tools": strings.Repeat("x", 10_000)})
	wire(t, res)
	text, mark := shownText(t, res)
	if res.StructuredContent != nil || text+readAll(t, r, mark) != strings.Repeat("tool\n", 1000) {
		t.Errorf("mark %q, structuredContent %v", mark, res.StructuredContent)
	}
}

func TestResultBounds(t *testing.T) {
	r := newTestResults(25_000)
	part := func(n int) string {
		return `{"type":"image","mimeType":"image/webp","data":"` + strings.Repeat("AAAA", n/4) + `"}`
	}
	t.Run("media", func(t *testing.T) {
		got := wire(t, r.output(json.RawMessage(`{"content":[`+part(maxMediaBytes/2)+`,`+part(maxMediaBytes)+`,`+part(maxMediaBytes/2)+`,{"type":"resource","resource":{"uri":"a://b","blob":"AAEC"}}]}`)))
		if strings.Count(got, `"type":"image"`) != 2 || strings.Count(got, "all images, audio and files of a result may have 8388608") != 2 {
			t.Errorf("got %s", clipText(got, 300))
		}
	})
	t.Run("parts", func(t *testing.T) {
		got := wire(t, r.output(json.RawMessage(`{"content":[`+strings.Repeat(`{"type":"text","text":"x"},`, 300)+`{"type":"text","text":"the last"}]}`)))
		if n := strings.Count(got, `"type":"text"`); n != maxParts+1 || !strings.Contains(got, "from number 257 on, as JSON") || !strings.Contains(got, "the last") {
			t.Errorf("%d parts: %s", n, got[max(0, len(got)-200):])
		}
	})
	t.Run("meta", func(t *testing.T) {
		big := `{"type":"text","text":"x","_meta":{"k":"` + strings.Repeat("x", maxExtraBytes/2) + `"}}`
		got := wire(t, r.output(json.RawMessage(`{"content":[`+big+`,`+big+`,`+big+`]}`)))
		if len(got) > maxExtraBytes || strings.Count(got, "_meta: there is too much of it") != 2 {
			t.Errorf("%d bytes: %s", len(got), got[max(0, len(got)-300):])
		}
	})
	t.Run("many small values", func(t *testing.T) {
		wire(t, r.output(json.RawMessage(`{"content":[`+strings.Repeat(`0,`, 2_000_000)+`{"type":"text","text":"x"}]}`)))
	})
	t.Run("32 MiB", func(t *testing.T) {
		start := time.Now()
		text, mark := shownText(t, r.output(json.RawMessage(`{"a":"`+strings.Repeat("abcdefgh", 4<<20)+`"}`)))
		if len(text) > 200_000 || !strings.Contains(mark, "read on with webmcp_call") {
			t.Errorf("%d bytes, mark %q", len(text), mark)
		}
		t.Logf("took %v", time.Since(start))
	})
}

// TestResultsOverTheWire calls a tool that returns results of all kinds, on
// both revisions: a session must survive each.
func TestResultsOverTheWire(t *testing.T) {
	outputs := []string{
		`"x"`, `[1]`, `{"a":{"b":[null]}}`, `{"content":[]}`, `{"content":[null,5,"s",{"type":"image"},{"type":"resource","resource":{"uri":"a://b","text":""}}]}`,
		`{"content":[{"type":"tool_result","content":[]}],"structuredContent":[1],"isError":1,"_meta":{"io.modelcontextprotocol/serverInfo":5,"k":{"deep":[1]}}}`,
		`{"content":[{"type":"resource_link","uri":"a://b","size":1.5,"annotations":{"priority":9}}],"resultType":"input_required"}`,
	}
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			r := newTestResults(25_000)
			server := mcp.NewServer(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ServerOptions{SupportedProtocolVersions: []string{version}})
			server.AddTool(&mcp.Tool{Name: "t", InputSchema: json.RawMessage(anySchema)}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				var in struct {
					Output string `json:"output"`
				}
				if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
					return nil, err
				}
				return r.output(json.RawMessage(in.Output)), nil
			})
			clientEnd, serverEnd := mcp.NewInMemoryTransports()
			if _, err := server.Connect(t.Context(), serverEnd, nil); err != nil {
				t.Fatal(err)
			}
			client, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil).Connect(t.Context(), clientEnd, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			for _, output := range outputs {
				res, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "t", Arguments: map[string]any{"output": output}})
				if err != nil || res.Content == nil || res.NeedsInput() {
					t.Errorf("%s: %v, %v", output, res, err)
				}
			}
		})
	}
}

func FuzzOutput(f *testing.F) {
	f.Add(`{"content":[{"type":"text","text":"a","annotations":{"priority":2}},{"type":"image","data":"AA-_","mimeType":"image/png"}],"isError":true}`)
	f.Add(`{"content":[{"type":"resource","resource":{"uri":"a://b","blob":"!"}},{"type":"resource_link","uri":"x:","icons":[{}]},[],"s"],"structuredContent":[],"_meta":{}}`)
	f.Add(`{"\u0063ontent":[{"type":"text","type":"image","text":"\ud800"}],"a":1e999}`)
	f.Add(`[[[`)
	f.Fuzz(func(t *testing.T, s string) {
		r := newTestResults(100)
		wire(t, r.output(json.RawMessage(s)))
		wire(t, r.output(parseOutput(s)))
	})
}

func BenchmarkOutput(b *testing.B) {
	long, _ := json.Marshal(strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 100_000))
	for name, output := range map[string]string{
		"text part":  `{"content":[{"type":"text","text":"This is a simple text response for testing."}]}`,
		"object":     `{"temperature":21.5,"unit":"C","days":[{"day":"Mon","high":23},{"day":"Tue","high":19}]}`,
		"image":      `{"content":[{"type":"image","mimeType":"image/png","data":"` + testPNG + strings.Repeat("AAAA", 50_000) + `"}]}`,
		"4 MiB text": string(long),
	} {
		b.Run(name, func(b *testing.B) {
			r := newTestResults(25_000)
			b.SetBytes(int64(len(output)))
			b.ReportAllocs()
			for b.Loop() {
				r.output(json.RawMessage(output))
			}
		})
	}
}

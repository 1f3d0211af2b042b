package webmcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addTool adds a tool with schema to a real server and returns the schema as
// clients get it.
func addTool(t testing.TB, schema json.RawMessage) string {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	func() {
		defer func() {
			if p := recover(); p != nil {
				t.Fatalf("AddTool panics on %s: %v", clipText(string(schema), 300), p)
			}
		}()
		server.AddTool(&mcp.Tool{Name: "tool", InputSchema: schema}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, nil
		})
	}()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	clientEnd, serverEnd := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, serverEnd, nil); err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, clientEnd, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	list, err := client.ListTools(ctx, nil)
	if err != nil || len(list.Tools) != 1 {
		t.Fatalf("ListTools with %s: %v", clipText(string(schema), 300), err)
	}
	listed, err := json.Marshal(list.Tools[0].InputSchema)
	if err != nil {
		t.Fatal(err)
	}
	return string(listed)
}

const suiteSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}`

func TestNormalizeSchema(t *testing.T) {
	same := func(schema string) [2]string { return [2]string{schema, schema} }
	left := func(schema string) [2]string { return [2]string{schema, anySchema} }
	tests := []struct {
		name   string
		schema [2]string // the page's, and ours
		note   string    // a part of it
	}{
		{"absent", left(``), ``},
		{"null", left(`null`), ``},
		{"true", left(`true`), ``},
		{"empty", left(`{}`), ``},
		{"false", left(`false`), `it is false, not an object`},
		{"array", left(`[{"type":"object"}]`), `it is an array, not an object`},
		{"string", left(`"object"`), `it is a string, not an object`},
		{"number", left(`-5`), `it is a number, not an object`},
		{"broken", left(`{"type":"object"`), `it is not JSON`},
		{"bad UTF-8", left("{\"a\":\"\xff\"}"), `it is not JSON`},
		{"long", left(`{"type":"object","title":"` + strings.Repeat("x", maxListedSchemaBytes) + `"}`), `more than 262144`},
		{"deep", left(strings.Repeat(`{"not":`, 101) + `{}` + strings.Repeat(`}`, 101)), `nested deeper than 100`},
		{"number beyond a double", left(`{"properties":{"a":{"maximum":1e999}}}`), `1e999, which is beyond`},

		{"plain", same(`{"type":"object","properties":{"b":{"type":"integer"},"a":{"type":"string"}},"required":["b"]}`), ``},
		{"official suite", same(suiteSchema), ``},
		{"hidden characters in words", [2]string{
			`{"type":"object","description":"a\u001b[2J\u0007\u202eb\u200b\udb40\udc41\nc","properties":{"description":{"type":"string","title":"\u202ex","enum":["\u202e"],"$comment":"\u200by"}}}`,
			`{"type":"object","description":"a[2Jb\nc","properties":{"description":{"type":"string","title":"x","enum":["` + "\u202e" + `"],"$comment":"y"}}}`}, ``},
		{"reference circle", same(`{"type":"object","$ref":"#"}`), ``},
		{"order of properties", same(`{"type":"object","properties":{"z":true,"a":{},"10":{},"9":{}}}`), ``},
		{"draft 4", same(`{"$schema":"http://json-schema.org/draft-04/schema#","id":"x","type":"object","properties":{"a":{"minimum":0,"exclusiveMinimum":true,"required":true},"b":{"items":[{},{}]}}}`), ``},
		{"unknown keywords", same(`{"type":"object","x-order":[1,{"y":null}],"nullable":true}`), ``},
		{"markup and big numbers", same(`{"type":"object","title":"<b>&</b>","maxProperties":12345678901234567890,"minimum":1.50e2}`), ``},
		{"spaces", [2]string{" {\n\t\"type\" : \"object\" , \"properties\" : { } }\r\n", `{"type":"object","properties":{}}`}, ``},

		{"no type", [2]string{`{"properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}}}`}, ``},
		{"only a reference", [2]string{`{"$ref":"#/$defs/a","$defs":{"a":{}}}`, `{"type":"object","$ref":"#/$defs/a","$defs":{"a":{}}}`}, ``},
		{"type list with object", [2]string{`{"title":"x","type":["null","object"],"properties":{}}`, `{"title":"x","type":"object","properties":{}}`}, ``},
		{"type list without object", left(`{"type":["string","null"]}`), `its type is ["string","null"], and arguments are an object`},
		{"type string", left(`{"type":"string","minLength":1}`), `its type is "string", and arguments are an object`},
		{"type array", left(`{"type":"array","items":{}}`), `its type is "array"`},
		{"unknown type", [2]string{`{"type":"Object","description":"d"}`, `{"type":"object","description":"d"}`}, `has the type "Object", taken as "object"`},
		{"wrong type with properties", [2]string{`{"type":"string","properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}}}`}, `has the type "string", taken as "object"`},
		{"type that is a number", [2]string{`{"type":5}`, `{"type":"object"}`}, `has the type 5`},
		{"type that is null", [2]string{`{"type":null}`, `{"type":"object"}`}, `has the type null`},
		{"type that is an object", [2]string{`{"type":{"type":"object"}}`, `{"type":"object"}`}, `has the type {"type":"object"}`},
		{"type twice", [2]string{`{"type":"string","properties":{},"type":"object"}`, `{"type":"object","properties":{}}`}, ``},
		{"type in other letters", [2]string{`{"Type":"object"}`, `{"type":"object","Type":"object"}`}, ``},
		{"control characters in a note", [2]string{"{\"type\":\"\\u001b[31m\\u202e\"}", anySchema}, "has the type \"\\u001b[31m \""},

		{"header of a primitive", [2]string{`{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"Authorization"}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`}, ``},
		{"header of an object", [2]string{`{"type":"object","x-mcp-header":"A","properties":{"a":{"type":"object","x-mcp-header":"B","properties":{"b":{"x-mcp-header":5}}}}}`, `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{}}}}}`}, ``},
		{"header with line break", [2]string{`{"properties":{"a":{"type":"string","x-mcp-header":"A\r\nB: c"}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`}, ``},
		{"header everywhere", [2]string{`{"type":"object","allOf":[{"x-mcp-header":1}],"$defs":{"d":{"x-mcp-header":1}},"other":{"x-mcp-header":1}}`, `{"type":"object","allOf":[{}],"$defs":{"d":{}},"other":{}}`}, ``},
		{"a property of that name", same(`{"type":"object","properties":{"x-mcp-header":{"type":"string"}},"default":{"x-mcp-header":"v"}}`), ``},

		{"regular expression as format", [2]string{`{"type":"object","properties":{"t":{"type":"string","format":"^([01][0-9]|2[0-3]):[0-5][0-9]$","description":"d"}},"required":[]}`, `{"type":"object","properties":{"t":{"type":"string","format":"^([01][0-9]|2[0-3]):[0-5][0-9]$","pattern":"^([01][0-9]|2[0-3]):[0-5][0-9]$","description":"d"}},"required":[]}`}, ``},
		{"format and pattern", same(`{"type":"object","properties":{"t":{"pattern":"x","format":"^y$"}}}`), ``},
		{"other formats", same(`{"type":"object","properties":{"t":{"format":"date"},"format":{"const":{"format":"^x"}}}}`), ``},

		{"halves of surrogate pairs", [2]string{`{"type":"object","pattern":"\ud800x","properties":{"\udc00":{},"\ud83d\ude00":{}}}`, "{\"type\":\"object\",\"pattern\":\"\ufffdx\",\"properties\":{\"\ufffd\":{},\"😀\":{}}}"}, ``},
	}
	for _, tt := range tests {
		t.Run("pitfall row 1: "+tt.name, func(t *testing.T) {
			got, note := normalizeSchema(json.RawMessage(tt.schema[0]))
			if string(got) != tt.schema[1] {
				t.Errorf("schema\ngot  %s\nwant %s", clipText(string(got), 2000), clipText(tt.schema[1], 2000))
			}
			if tt.note == "" && note != "" || !strings.Contains(note, tt.note) || len(note) > 500 {
				t.Errorf("note = %q, want %q", note, tt.note)
			}
			addTool(t, got)
			again, note := normalizeSchema(got)
			if string(again) != string(got) || note != "" {
				t.Errorf("a second time it becomes %s (%s)", again, note)
			}
		})
	}
}

// TestSchemaKeepsKeywords sends the official suite's schema through a real
// server and client.
func TestSchemaKeepsKeywords(t *testing.T) {
	schema, _ := normalizeSchema(json.RawMessage(suiteSchema))
	var got, want any
	if err := json.Unmarshal([]byte(addTool(t, schema)), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(suiteSchema), &want); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func FuzzNormalizeSchema(f *testing.F) {
	f.Add(suiteSchema)
	f.Add(`{"type":["object","null"],"properties":{"a":{"x-mcp-header":{},"format":"^a"}}}`)
	f.Add(`{"properties":{"a":{"properties":{"b":{"type":"string","x-mcp-header":"\r\n"}}}},"type":1,"type":"\ud800"}`)
	f.Add(`[1e999]`)
	f.Fuzz(func(t *testing.T, schema string) {
		got, note := normalizeSchema(json.RawMessage(schema))
		var m map[string]any
		if err := json.Unmarshal(got, &m); err != nil || m["type"] != "object" {
			t.Fatalf("normalizeSchema(%q) = %s", schema, got)
		}
		if len(note) > 1000 || strings.ContainsAny(note, "\n\x1b") {
			t.Fatalf("note %q", note)
		}
		if again, _ := normalizeSchema(got); string(again) != string(got) {
			t.Fatalf("normalizeSchema(%q) = %s, and again %s", schema, got, again)
		}
		mcp.NewServer(&mcp.Implementation{Name: "t", Version: "1"}, nil).AddTool(&mcp.Tool{Name: "t", InputSchema: got}, nil)
	})
}

func BenchmarkNormalizeSchema(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(suiteSchema)))
	for b.Loop() {
		normalizeSchema(json.RawMessage(suiteSchema))
	}
}

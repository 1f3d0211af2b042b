package source_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aster-mcp/aster/bridge/source"
)

// inputServer answers tools/call with a result that is written here.
func inputServer(result string) *mcp.Server {
	srv := mcp.NewServer(&mcp.Implementation{Name: "in"}, nil)
	srv.AddTool(&mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var res mcp.CallToolResult
		return &res, json.Unmarshal([]byte(result), &res)
	})
	return srv
}

func TestPassInput(t *testing.T) {
	src, err := source.New(source.Spec{Name: "in", Server: inputServer(`{"content":[],"resultType":"input_required","requestState":"s",
		"inputRequests":{"q":{"method":"elicitation/create","params":{"mode":"form","message":"Why?","requestedSchema":{"type":"object","properties":{}}}}}}`)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, err = src.Call(ctx, "t", nil, &source.CallOptions{PassInput: true})
	var in *source.InputRequired
	if !errors.As(err, &in) || in.State != "s" || len(in.Requests) != 1 {
		t.Fatalf("%v, want what the server asks for", err)
	}
	if p, ok := in.Requests["q"].(*mcp.ElicitParams); !ok || p.Message != "Why?" {
		t.Errorf("asks %+v", in.Requests["q"])
	}
}

// Forms with several titled choices whose items name their type, too, reach the user.
func TestFormOfTitledChoices(t *testing.T) {
	form := json.RawMessage(`{"type":"object","properties":{"many":{"type":"array","items":{"type":"string","anyOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}}}}`)
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			srv := mcp.NewServer(&mcp.Implementation{Name: "in"}, &mcp.ServerOptions{SupportedProtocolVersions: []string{revision}})
			srv.AddTool(&mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				ask := &mcp.ElicitParams{Mode: "form", Message: "Which?", RequestedSchema: form}
				if revision >= "2026" {
					res, _ := req.Params.InputResponses["q"].(*mcp.ElicitResult)
					if res == nil {
						return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": ask}}, nil
					}
					return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(res.Content)}}}, nil
				}
				ask.RequestedSchema = json.RawMessage(strings.Replace(string(form), `"type":"string","anyOf"`, `"anyOf"`, 1))
				res, err := req.Session.Elicit(ctx, ask)
				if err != nil {
					return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}, nil
				}
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(res.Content)}}}, nil
			})
			// The SDK's server would refuse such a form, so it is written on the way.
			srv.AddSendingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
				return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
					if p, ok := req.GetParams().(*mcp.ElicitParams); ok {
						p.RequestedSchema = form
					}
					return next(ctx, method, req)
				}
			})
			asked := 0
			src, err := source.New(source.Spec{Name: "in", Server: srv}, &source.Options{Handlers: source.Handlers{
				Elicit: func(context.Context, string, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
					asked++
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"many": []any{"a", "b"}}}, nil
				}}})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			raw, err := src.Call(ctx, "t", nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if asked != 1 {
				t.Errorf("the user was asked %d times: %s", asked, raw)
			}
		})
	}
}

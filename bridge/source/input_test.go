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

// A server cannot make the client open what is no page of the web, in either form of asking.
func TestPagesToOpen(t *testing.T) {
	for page, want := range map[string]bool{
		"https://login.example/authorize?x=1&y=%20#z": true, "http://127.0.0.1:8080/a": true, "http://localhost/a": true, "http://[::1]/a": true,
		"http://login.example/": false, "javascript:alert(1)": false, "file:///etc/passwd": false, "data:text/html,x": false, "ms-settings:x": false,
		"https:///x": false, "https://u:p@login.example/": false, "http://127.0.0.1.evil.example/": false, "$(touch x)": false, "https://h/`touch x`": false,
		"https://h/a b": false, "https://h/\x1b[31m": false, "https://h/\"&calc": false, "https://h/\u202e": false, "--help": false,
	} {
		t.Run("security row 23: "+page, func(t *testing.T) {
			for _, revision := range []string{"2025-11-25", "2026-07-28"} {
				asked, reason := askedToOpen(t, revision, page)
				if asked != want {
					t.Errorf("%s: the user is asked to open it: %v, want %v; the server hears %q", revision, asked, want, reason)
				}
			}
		})
	}
}

// askedToOpen reports whether a server's wish to open a page reaches the user, and what the
// server or the caller hears.
func askedToOpen(t *testing.T, revision, page string) (asked bool, reason string) {
	t.Helper()
	ask := &mcp.ElicitParams{Mode: "url", Message: "Open this", URL: page, ElicitationID: "1"}
	srv := mcp.NewServer(&mcp.Implementation{Name: "in"}, &mcp.ServerOptions{SupportedProtocolVersions: []string{revision}})
	srv.AddTool(&mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if revision >= "2026" {
			if req.Params.InputResponses["q"] == nil {
				return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": ask}}, nil
			}
			return &mcp.CallToolResult{Content: []mcp.Content{}}, nil
		}
		if _, err := req.Session.Elicit(ctx, ask); err != nil {
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}, nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{}}, nil
	})
	heard := make(chan string, 1)
	src, err := source.New(source.Spec{Name: "in", Server: srv}, &source.Options{Handlers: source.Handlers{ElicitURL: true,
		Elicit: func(_ context.Context, _ string, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			heard <- p.URL
			return &mcp.ElicitResult{Action: "accept"}, nil
		}}})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	raw, err := src.Call(ctx, "t", nil, nil)
	reason = fmt.Sprint(string(raw), err)
	select {
	case got := <-heard:
		return got == page, reason
	default:
		return false, reason
	}
}

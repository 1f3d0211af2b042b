package main

import (
	"context"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// parts is a server on stdio with a tool that answers with a part of every kind.
func parts() {
	server := mcp.NewServer(&mcp.Implementation{Name: "parts", Version: "1"}, nil)
	type out struct {
		Sum int `json:"sum"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "all", Description: "Answers with every kind of part."}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, out, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "a text"},
			&mcp.ImageContent{MIMEType: "image/png", Data: []byte("12345")},
			&mcp.AudioContent{MIMEType: "audio/wav", Data: []byte("1234567")},
			&mcp.ResourceLink{URI: "file:///far", Name: "far", MIMEType: "text/plain"},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///near", MIMEType: "text/plain", Text: "what stands in it\n"}},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///raw", MIMEType: "application/zip", Blob: []byte("1234")}},
		}}, out{7}, nil
	})
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

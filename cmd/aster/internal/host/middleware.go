package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	methodCallTool   = "tools/call"
	methodInitialize = "initialize"
	// methodListen parks until its client leaves, so it is never waited for.
	methodListen = "subscriptions/listen"
)

// Recover returns a receiving middleware that keeps a server alive and its answers clean.
// Put it outermost, so first, in [mcp.Server.AddReceivingMiddleware].
//
// A panic, a nil result (which ends a process of the SDK on 2026-07-28 sessions), structured
// content that is not JSON (which would leave the client without an answer) and a plain Go
// error, whose text may name files and secrets, are logged with their detail and answered
// in general words: a tools/call as a result flagged as error, so that the model can read it, any
// other request as error -32603. A [jsonrpc.Error] is meant for the client and passes. The
// error of a cancelled context passes too. A nil logger discards.
func Recover(logger *slog.Logger) mcp.Middleware {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
			defer func() {
				if v := recover(); v != nil {
					logger.ErrorContext(ctx, "handler panicked", "method", method, "tool", toolName(req), "panic", v, "stack", debug.Stack())
					res, err = failure(method, "the server hit an internal error in this call; its log has the details")
				}
			}()
			res, err = next(ctx, method, req)
			return repair(ctx, logger, method, req, res, err)
		}
	}
}

// repair checks what a handler returned and replaces what must not go out.
func repair(ctx context.Context, logger *slog.Logger, method string, req mcp.Request, res mcp.Result, err error) (mcp.Result, error) {
	if strings.HasPrefix(method, "notifications/") {
		if err != nil {
			logger.WarnContext(ctx, "notification not handled", "method", method, "err", err)
		}
		return nil, nil
	}
	var wire *jsonrpc.Error
	switch {
	case err == nil && isNil(res):
		logger.ErrorContext(ctx, "handler returned nothing", "method", method, "tool", toolName(req))
		return failure(method, "the server has no result for this call")
	case err == nil:
		if bad := badContent(res); bad != nil {
			logger.ErrorContext(ctx, "result cannot be encoded", "method", method, "tool", toolName(req), "err", bad)
			return failure(method, "the result of this call is not valid JSON")
		}
		return res, nil
	case errors.As(err, &wire):
		return nil, err
	case ctx.Err() != nil:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "cancelled"}
	case method == methodInitialize: // the SDK's own words about a second one
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
	}
	logger.ErrorContext(ctx, "handler failed", "method", method, "tool", toolName(req), "err", err)
	return failure(method, "the server could not do this; its log has the details")
}

// failure is the answer to a request that went wrong on our side.
func failure(method, text string) (mcp.Result, error) {
	switch {
	case strings.HasPrefix(method, "notifications/"):
		return nil, nil
	case method == methodCallTool:
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: text}
}

// badContent says why res would fail to encode, nil if it should not. Only raw JSON is
// looked at: it is the one part that a handler passes on from strangers.
func badContent(res mcp.Result) error {
	r, ok := res.(*mcp.CallToolResult)
	if !ok {
		return nil
	}
	if raw, ok := r.StructuredContent.(json.RawMessage); ok && !json.Valid(raw) {
		return fmt.Errorf("structured content of %d bytes is not JSON", len(raw))
	}
	return nil
}

func isNil(res mcp.Result) bool {
	if res == nil {
		return true
	}
	v := reflect.ValueOf(res)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// toolName is the tool that a request calls, for the log.
func toolName(req mcp.Request) string {
	if r, ok := req.(*mcp.CallToolRequest); ok && r.Params != nil {
		return r.Params.Name
	}
	return ""
}

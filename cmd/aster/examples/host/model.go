package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/aster-mcp/aster/bridge"
	"github.com/aster-mcp/aster/bridge/chat"
)

const (
	maxTurns      = 12       // requests to the model for one question
	maxReplyBytes = 10 << 20 // of one of its replies
)

// model is a chat API of the shape of OpenAI's.
type model struct {
	url, key, name string
}

// modelFromEnvironment is the model that the variables name; a local one may want no key.
func modelFromEnvironment() (model, error) {
	m := model{url: os.Getenv("OPENAI_BASE_URL"), key: os.Getenv("OPENAI_API_KEY"), name: os.Getenv("MODEL")}
	if m.url == "" || m.name == "" {
		return m, errors.New("no model: set OPENAI_BASE_URL, such as https://api.openai.com/v1, MODEL and, if it wants one, OPENAI_API_KEY")
	}
	return m, nil
}

// reply is what the model says: text, or calls of tools.
type reply struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// next asks for the next message.
func (m model) next(ctx context.Context, messages []any, tool json.RawMessage) (*reply, error) {
	body, err := json.Marshal(map[string]any{"model": m.name, "messages": messages, "tools": []json.RawMessage{tool}})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+m.key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxReplyBytes))
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the model's API answers %s", res.Status)
	}
	var answer struct {
		Choices []struct {
			Message reply `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || len(answer.Choices) == 0 {
		return nil, errors.New("the model's API answers with no message")
	}
	return &answer.Choices[0].Message, nil
}

// chatLoop lets the model work until it answers.
type chatLoop struct {
	model    model
	injector *bridge.Injector
	guard    bridge.Invoker
	refresh  func() *bridge.Catalog // the catalogue of this moment
}

func (c *chatLoop) ask(ctx context.Context, question string) (string, error) {
	in := c.injector.Inject()
	if in == nil {
		return "", errors.New("no server has a tool")
	}
	messages := []any{
		map[string]string{"role": "system", "content": "You help the user.\n\n" + in.Prompt},
		map[string]string{"role": "user", "content": question},
	}
	for range maxTurns {
		r, err := c.model.next(ctx, messages, in.BridgeTool)
		if err != nil {
			return "", err
		}
		if len(r.ToolCalls) == 0 {
			if r.Content == nil {
				return "", nil
			}
			return *r.Content, nil
		}
		messages = append(messages, r)
		c.injector.SetCatalog(c.refresh()) // servers may have come, gone or changed
		var calls []chat.Call
		for _, t := range r.ToolCalls {
			call := chat.Call{ID: t.ID, Tool: t.Function.Name}
			answer, err := c.injector.Handle(ctx, json.RawMessage(t.Function.Arguments), c.guard)
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			if call.Text, call.Result, call.Note = answer.Text, answer.Result, answer.Note; err != nil && call.Text == "" {
				call.Text = err.Error()
			}
			calls = append(calls, call)
		}
		for _, m := range chat.Messages(calls, nil) {
			messages = append(messages, m)
		}
	}
	return "", fmt.Errorf("no answer after %d turns", maxTurns)
}

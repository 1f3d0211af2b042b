package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// A resultPart is one part of a tool's result, as the protocol has it.
type resultPart struct {
	Type, Text, MIMEType, URI, Name string
	Data                            string // base64
	Resource                        struct {
		URI, MIMEType, Text string
		Blob                string // base64
	}
}

// line is the part for a person: a text, or in brackets what --json would show.
func (p *resultPart) line() string {
	about := func(words ...string) string {
		said := []string{}
		for _, w := range words {
			if w != "" {
				said = append(said, w)
			}
		}
		return "[" + strings.Join(said, " ") + "]"
	}
	size := func(base64 string) string {
		if base64 == "" {
			return ""
		}
		return number((len(base64)-strings.Count(base64, "="))*3/4, "byte")
	}
	switch r := &p.Resource; {
	case p.Type == "text":
		return strings.TrimRight(p.Text, "\n")
	case p.Type == "resource" && (r.Text != "" || r.Blob == ""):
		return about("resource", r.URI, r.MIMEType) + "\n" + strings.TrimRight(r.Text, "\n")
	case p.Type == "resource":
		return about("resource", r.URI, r.MIMEType, size(r.Blob))
	case p.Type == "resource_link":
		return about("link", p.URI, p.MIMEType, p.Name)
	}
	return about(cmp.Or(p.Type, "a part without a type"), p.URI, p.MIMEType, size(p.Data))
}

// printResult prints a tool's result: as it is with --json, else its texts.
func (o *useOptions) printResult(raw json.RawMessage) error {
	var res struct {
		IsError           bool            `json:"isError"`
		StructuredContent json.RawMessage `json:"structuredContent"`
		Content           []resultPart    `json:"content"`
	}
	if err := json.Unmarshal(raw, &res); err != nil {
		return fmt.Errorf("the server's result is not understood: %w", err)
	}
	if o.json {
		if _, err := io.Writer(o.env.Stdout).Write(append(escapeControls(raw), '\n')); err != nil {
			return err
		}
	} else {
		var b strings.Builder
		for i := range res.Content {
			b.WriteString(res.Content[i].line() + "\n")
		}
		if len(res.Content) == 0 && len(res.StructuredContent) > 0 {
			fmt.Fprintf(&b, "%s\n", res.StructuredContent)
		}
		if err := o.env.printLines(b.String()); err != nil {
			return err
		}
	}
	if res.IsError {
		return &codeError{code: ExitFailed}
	}
	return nil
}

package content_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/websrv/internal/content"
)

// markdown converts a body that must be readable.
func markdown(t *testing.T, body []byte, o *content.Limits) *content.Document {
	t.Helper()
	doc, err := content.Markdown(context.Background(), body, content.Sniff(body, ""), o)
	if err != nil {
		t.Fatalf("Markdown: %v", err)
	}
	return doc
}

func packed(t *testing.T, s string) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if _, err := z.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestText(t *testing.T) {
	tests := []struct {
		name string
		body string
		kind content.Kind
		want string
	}{
		{"text", "a\r\nb\rc", content.KindText, "a\nb\nc"},
		{"markdown as it is", "# T\n\n* x\n", content.KindMarkdown, "# T\n\n* x\n"},
		{"json", `{"a":[1,2]}`, content.KindJSON, "```json\n{\n  \"a\": [\n    1,\n    2\n  ]\n}\n```\n"},
		{"json that holds a fence", "[\"```\"]", content.KindJSON, "````json\n[\n  \"```\"\n]\n````\n"},
		{"lines of json", "{}\n{}\n", content.KindJSON, "```json\n{}\n{}\n```\n"},
		{"xml", "<a/>", content.KindXML, "```xml\n<a/>\n```\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := content.Markdown(context.Background(), []byte(tt.body), tt.kind, nil)
			if err != nil {
				t.Fatal(err)
			}
			if doc.Markdown != tt.want {
				t.Errorf("got %q, want %q", doc.Markdown, tt.want)
			}
		})
	}
	doc, err := content.Markdown(context.Background(), []byte("```\n# no\n```\n# Yes #\n"), content.KindMarkdown, nil)
	if err != nil || doc.Title != "Yes" {
		t.Errorf("title of Markdown = %q, %v, want Yes", doc.Title, err)
	}
}

func TestDeepJSONStaysLinear(t *testing.T) {
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	doc, err := content.Markdown(context.Background(), []byte(deep), content.KindJSON, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Markdown) > 3*len(deep) {
		t.Errorf("%d bytes of nested JSON became %d", len(deep), len(doc.Markdown))
	}
}

func TestGzip(t *testing.T) {
	doc := markdown(t, packed(t, `{"a":1}`), nil)
	if doc.Kind != content.KindJSON || !strings.Contains(doc.Markdown, `"a": 1`) {
		t.Errorf("gzip of JSON gave %s %q", doc.Kind, doc.Markdown)
	}
	bomb := packed(t, strings.Repeat("a", 1<<20))
	_, err := content.Markdown(context.Background(), bomb, content.KindGzip, &content.Limits{MaxUnpackedBytes: 1 << 16})
	if !errors.Is(err, content.ErrTooLarge) {
		t.Errorf("bomb: %v, want ErrTooLarge", err)
	}
	_, err = content.Markdown(context.Background(), packed(t, string(packed(t, "x"))), content.KindGzip, nil)
	if !errors.Is(err, content.ErrUnsupported) {
		t.Errorf("gzip in gzip: %v, want ErrUnsupported", err)
	}
	_, err = content.Markdown(context.Background(), bomb[:len(bomb)/2], content.KindGzip, nil)
	if !errors.Is(err, content.ErrMalformed) {
		t.Errorf("half a gzip: %v, want ErrMalformed", err)
	}
}

func TestBounds(t *testing.T) {
	ctx := context.Background()
	if _, err := content.Markdown(ctx, make([]byte, 11), content.KindText, &content.Limits{MaxBytes: 10}); !errors.Is(err, content.ErrTooLarge) {
		t.Errorf("body over the bound: %v, want ErrTooLarge", err)
	}
	doc, err := content.Markdown(ctx, []byte("aéé"), content.KindText, &content.Limits{MaxOutputBytes: 4})
	if err != nil || doc.Markdown != "aé" || len(doc.Notes) != 1 {
		t.Errorf("cut text = %q, notes %q, %v; want %q and a note", doc.Markdown, doc.Notes, err, "aé")
	}
	doc, err = content.Markdown(ctx, []byte(strings.Repeat("[1],", 50)), content.KindJSON, &content.Limits{MaxOutputBytes: 20})
	if err != nil || !strings.HasSuffix(doc.Markdown, "\n```\n") {
		t.Errorf("cut JSON = %q, %v; want a closed block", doc.Markdown, err)
	}
	for _, kind := range []content.Kind{content.KindImage, content.KindBinary, content.KindHTML, "odd"} {
		if _, err := content.Markdown(ctx, []byte("\x00"), kind, nil); !errors.Is(err, content.ErrUnsupported) {
			t.Errorf("%s: %v, want ErrUnsupported", kind, err)
		}
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := content.Markdown(gone, []byte("x"), content.KindText, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

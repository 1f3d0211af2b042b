package shortcuts

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxBlobBytes is the size of other data that is passed on.
const maxBlobBytes = 1 << 20

// result makes a tool's result of what a shortcut gave: texts, numbers and the items of a
// list as lines, images as images, other files as links.
func result(values []Value) (*mcp.CallToolResult, error) {
	res := &mcp.CallToolResult{}
	var lines []string
	flush := func() {
		if len(lines) > 0 {
			res.Content = append(res.Content, &mcp.TextContent{Text: strings.Join(lines, "\n")})
			lines = nil
		}
	}
	for _, v := range values {
		switch v.Kind {
		case "text", "number", "boolean":
			lines = append(lines, v.Text)
		case "file", "data":
			flush()
			c, err := fileContent(v)
			if err != nil {
				return nil, err
			}
			res.Content = append(res.Content, c)
		case "other":
			lines = append(lines, fmt.Sprintf("(a result of the kind %s, which cannot be shown; let the shortcut give text)", quote(v.Text)))
		}
	}
	flush()
	if len(res.Content) == 0 {
		res.Content = []mcp.Content{&mcp.TextContent{Text: "The shortcut ran and gave no result."}}
	}
	return res, nil
}

func fileContent(v Value) (mcp.Content, error) {
	if v.Kind == "data" {
		if kind := imageType(v.Data); kind != "" {
			return &mcp.ImageContent{Data: v.Data, MIMEType: kind}, nil
		}
		if len(v.Data) > maxBlobBytes {
			return nil, fmt.Errorf("the result is %d bytes of data, over %d: %w; let the shortcut save a file", len(v.Data), maxBlobBytes, ErrTooLarge)
		}
		return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "shortcut:result", MIMEType: "application/octet-stream", Blob: v.Data}}, nil
	}
	if kind := imageType(v.Data); kind != "" {
		return &mcp.ImageContent{Data: v.Data, MIMEType: kind}, nil
	}
	info, err := os.Stat(v.Text)
	if errors.Is(err, fs.ErrNotExist) {
		return &mcp.TextContent{Text: "(the file " + quote(v.Text) + ", which is not there any more)"}, nil
	}
	// What macOS does not let this program look at, a client may yet open.
	link := &mcp.ResourceLink{URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(v.Text)}).String(), Name: clean(filepath.Base(v.Text))}
	switch {
	case err == nil && info.IsDir():
		link.MIMEType = "inode/directory"
		return link, nil
	case err == nil && info.Mode().IsRegular():
		if raw, err := readBounded(v.Text); err == nil {
			if kind := imageType(raw); kind != "" {
				return &mcp.ImageContent{Data: raw, MIMEType: kind}, nil
			}
		}
		size := info.Size()
		link.Size = &size
	}
	link.MIMEType = mime.TypeByExtension(filepath.Ext(v.Text))
	return link, nil
}

// imageType tells the kinds of images that models take, by their first bytes.
func imageType(raw []byte) string {
	switch {
	case bytes.HasPrefix(raw, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(raw, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(raw, []byte("GIF87a")), bytes.HasPrefix(raw, []byte("GIF89a")):
		return "image/gif"
	case len(raw) > 12 && string(raw[:4]) == "RIFF" && string(raw[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

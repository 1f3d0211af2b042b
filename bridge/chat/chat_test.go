package chat_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/bridge/chat"
)

// webp is a lossless image of one red pixel.
const webp = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="

func pngOf(t testing.TB, w, h int) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	img.Set(0, 0, color.NRGBA{255, 0, 0, 255})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func imageResult(t testing.TB, mime string, data []byte) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"content": []any{
		map[string]any{"type": "text", "text": "here it is"},
		map[string]any{"type": "image", "mimeType": mime, "data": base64.StdEncoding.EncodeToString(data)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// shown decodes the only image of messages.
func shown(t testing.TB, messages []chat.Message) (image.Image, string) {
	t.Helper()
	last := messages[len(messages)-1]
	if last.Role != "user" || len(last.Parts) != 2 {
		t.Fatalf("no image follows: %+v", messages)
	}
	head, data, _ := strings.Cut(last.Parts[1].ImageURL, ",")
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		t.Fatal(err)
	}
	img, format, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if head != "data:image/"+format+";base64" {
		t.Errorf("a %s is announced as %s", format, head)
	}
	return img, format
}

func TestTextOfResults(t *testing.T) {
	for name, tc := range map[string]struct{ result, want string }{
		"text":               {`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b\nc"}]}`, "a\nb\nc"},
		"structured only":    {`{"content":[],"structuredContent":{"b": 1, "a": [2]}}`, `{"b":1,"a":[2]}`},
		"text wins":          {`{"content":[{"type":"text","text":"a"}],"structuredContent":{"b":1}}`, "a"},
		"structured array":   {`{"structuredContent":[1]}`, "[1]"},
		"error":              {`{"content":[{"type":"text","text":"no such file"}],"isError":true}`, "[the tool reports an error]\nno such file"},
		"audio":              {`{"content":[{"type":"audio","mimeType":"audio/wav","data":"` + strings.Repeat("A", 8000) + `"}]}`, "[audio/wav, 6 kB of sound, left out]"},
		"link":               {`{"content":[{"type":"resource_link","uri":"file:///a.pdf","name":"a.pdf","mimeType":"application/pdf"}]}`, "[link to a.pdf: file:///a.pdf (application/pdf)]"},
		"text resource":      {`{"content":[{"type":"resource","resource":{"uri":"file:///a.txt","mimeType":"text/plain","text":"body"}}]}`, "[embedded resource file:///a.txt (text/plain)]\nbody"},
		"blob":               {`{"content":[{"type":"resource","resource":{"uri":"file:///a.bin","blob":"AAAA"}}]}`, "[embedded resource file:///a.bin, 0 kB, left out]"},
		"unknown":            {`{"content":[{"type":"hologram\u202e\n"}]}`, `[content of type "hologram" left out]`},
		"broken part":        {`{"content":[7,{"type":"text","text":"a"}]}`, "[a part that cannot be read]\na"},
		"plain JSON":         {`{"a": 1}`, `{"a":1}`},
		"plain string":       {`"hello"`, "hello"},
		"nothing":            {`{"content":[]}`, "(no content)"},
		"content of a thing": {`{"content":"not a list"}`, `{"content":"not a list"}`},
		"not JSON":           {`{`, "[a result that is not JSON]"},
		"no base64":          {`{"content":[{"type":"image","mimeType":"image/png","data":"!!!"}]}`, "[image/png left out: its data is not base64]"},
		"twice":              {`{"content":[{"type":"hologram"},{"type":"hologram"},{"type":"text","text":"x"},{"type":"hologram"}]}`, "[content of type \"hologram\" left out] × 2\nx\n[content of type \"hologram\" left out]"},
		"data URL":           {`{"content":[{"type":"image","data":"data:image/png;base64,QUJDRA=="}]}`, "[image of 0 kB left out: it cannot be decoded]"},
		"no image":           {`{"content":[{"type":"image","mimeType":"image/avif","data":"QUJDRA=="}]}`, "[image/avif of 0 kB left out: it cannot be decoded]"},
		"resource missing":   {`{"content":[{"type":"resource"}]}`, "[an embedded resource without content]"},
	} {
		got := chat.Messages([]chat.Call{{ID: "1", Result: json.RawMessage(tc.result)}}, nil)
		if len(got) != 1 || got[0].Text != tc.want || got[0].Role != "tool" || got[0].ToolCallID != "1" {
			t.Errorf("%s: got %+v, want %q", name, got, tc.want)
		}
	}
}

func TestImagesRideBehindAllToolMessages(t *testing.T) {
	calls := []chat.Call{
		{ID: "1", Tool: "web/screenshot", Result: imageResult(t, "image/png", pngOf(t, 3, 2))},
		{ID: "2", Tool: "a/b", Text: "plain", Note: "[a note]"},
		{ID: "3", Tool: "c/d", Result: imageResult(t, "image/png", pngOf(t, 5, 4))},
	}
	got, err := json.Marshal(chat.Messages(calls, nil))
	if err != nil {
		t.Fatal(err)
	}
	var messages []struct {
		Role       string
		ToolCallID string `json:"tool_call_id"`
		Content    json.RawMessage
	}
	if err := json.Unmarshal(got, &messages); err != nil {
		t.Fatal(err)
	}
	if len(messages) != 4 || messages[3].Role != "user" {
		t.Fatalf("got %s, want three tool messages and a user message", got)
	}
	for i, want := range []string{"\"here it is\\n[image 1: 3×2, in the next message]\"", "\"plain\\n[a note]\"", "\"here it is\\n[image 1: 5×4, in the next message]\""} {
		if m := messages[i]; m.Role != "tool" || m.ToolCallID != fmt.Sprint(i+1) || string(m.Content) != want {
			t.Errorf("message %d is %+v %s, want %s", i, m, m.Content, want)
		}
	}
	var parts []struct {
		Type, Text string
		ImageURL   struct{ URL string } `json:"image_url"`
	}
	if err := json.Unmarshal(messages[3].Content, &parts); err != nil {
		t.Fatal(err)
	}
	if len(parts) != 4 || parts[0].Text != "[image from web/screenshot]" || parts[1].Type != "image_url" ||
		!strings.HasPrefix(parts[1].ImageURL.URL, "data:image/png;base64,") || parts[2].Text != "[image from c/d]" {
		t.Errorf("parts are %+v", parts)
	}
}

func TestModelWithoutImages(t *testing.T) {
	got := chat.Messages([]chat.Call{{Result: imageResult(t, "image/png", pngOf(t, 3, 2))}}, &chat.Options{NoImages: true})
	if len(got) != 1 || got[0].Text != "here it is\n"+chat.Omitted || chat.Omitted != "[image content omitted]" {
		t.Errorf("got %+v", got)
	}
}

func TestImagesAreScaled(t *testing.T) {
	img, format := shown(t, chat.Messages([]chat.Call{{Result: imageResult(t, "image/png", pngOf(t, 200, 2500))}}, nil))
	if size := img.Bounds().Size(); size.Y != 2048 || size.X != 163 || format != "png" {
		t.Errorf("a page of 200×2500 became a %s of %v, want 163×2048", format, size)
	}
	img, _ = shown(t, chat.Messages([]chat.Call{{Result: imageResult(t, "image/png", pngOf(t, 4000, 1))}}, nil))
	if size := img.Bounds().Size(); size.X != 2048 || size.Y != 1 {
		t.Errorf("a line of 4000×1 became %v", size)
	}
}

func TestImagesFitTheirBytes(t *testing.T) {
	noise := image.NewNRGBA(image.Rect(0, 0, 160, 120))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise.Pix {
		noise.Pix[i] = byte(random.Uint32())
	}
	var b bytes.Buffer
	if err := png.Encode(&b, noise); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{1 << 20, 20_000, 5_000, 1_500} {
		messages := chat.Messages([]chat.Call{{Result: imageResult(t, "image/png", b.Bytes())}}, &chat.Options{Limits: chat.Limits{ImageBytes: limit}})
		_, data, _ := strings.Cut(messages[len(messages)-1].Parts[1].ImageURL, ",")
		if n := base64.StdEncoding.DecodedLen(len(data)); n > limit+2 {
			t.Errorf("limit of %d bytes: the image takes %d", limit, n)
		}
		shown(t, messages)
	}
	messages := chat.Messages([]chat.Call{{Result: imageResult(t, "image/png", b.Bytes())}}, &chat.Options{Limits: chat.Limits{ImageBytes: 10}})
	if len(messages) != 1 || !strings.Contains(messages[0].Text, "does not fit") {
		t.Errorf("an image that cannot fit gives %+v", messages)
	}
}

func TestImageFormats(t *testing.T) {
	var g bytes.Buffer
	if err := gif.Encode(&g, image.NewPaletted(image.Rect(0, 0, 2, 2), color.Palette{color.White, color.Black}), nil); err != nil {
		t.Fatal(err)
	}
	w, err := base64.StdEncoding.DecodeString(webp)
	if err != nil {
		t.Fatal(err)
	}
	for mime, data := range map[string][]byte{"image/gif": g.Bytes(), "image/webp": w, "lies/png": pngOf(t, 1, 1)} {
		if _, format := shown(t, chat.Messages([]chat.Call{{Result: imageResult(t, mime, data)}}, nil)); format != "png" {
			t.Errorf("%s became %s, want png", mime, format)
		}
	}
}

// A photo held upright by its Exif data only is turned, for encoding anew drops
// that data.
func TestPhotosStandUpright(t *testing.T) {
	for orientation, want := range map[byte]image.Point{1: {40, 20}, 3: {40, 20}, 6: {20, 40}, 8: {20, 40}} {
		img := image.NewRGBA(image.Rect(0, 0, 40, 20))
		for x := range 40 {
			for y := range 20 {
				img.Set(x, y, color.White)
				if x < 10 && y < 10 {
					img.Set(x, y, color.Black)
				}
			}
		}
		var b bytes.Buffer
		if err := jpeg.Encode(&b, img, nil); err != nil {
			t.Fatal(err)
		}
		exif := []byte("\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00")
		exif[29] = orientation
		data := append(append([]byte("\xff\xd8"), exif...), b.Bytes()[2:]...)
		got, _ := shown(t, chat.Messages([]chat.Call{{Result: imageResult(t, "image/jpeg", data)}}, nil))
		if size := got.Bounds().Size(); size != want {
			t.Errorf("orientation %d: size %v, want %v", orientation, size, want)
		}
		corner := map[byte]image.Point{1: {2, 2}, 3: {37, 17}, 6: {17, 2}, 8: {2, 37}}[orientation]
		if r, _, _, _ := got.At(corner.X, corner.Y).RGBA(); r > 0x4000 {
			t.Errorf("orientation %d: the dark corner is not at %v", orientation, corner)
		}
	}
}

func TestBombsAreNotDecoded(t *testing.T) {
	// The header of a PNG of 60,000×60,000 pixels.
	bomb := append([]byte(nil), pngOf(t, 1, 1)...)
	copy(bomb[16:], []byte{0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60})
	got := chat.Messages([]chat.Call{{Result: imageResult(t, "image/png", bomb)}}, nil)
	if len(got) != 1 {
		t.Fatalf("a bomb was passed on: %+v", got)
	}
	many := make([]any, 30)
	for i := range many {
		many[i] = map[string]any{"type": "image", "data": base64.RawURLEncoding.EncodeToString(pngOf(t, 1, 1))}
	}
	raw, _ := json.Marshal(map[string]any{"content": many})
	got = chat.Messages([]chat.Call{{Result: raw}}, nil)
	if n := len(got[1].Parts); n != 21 || !strings.Contains(got[0].Text, "left out: more than 20 images] × 10") {
		t.Errorf("30 images gave %d parts and %q", n, got[0].Text)
	}
}

// TestDecodingIsBounded has a result of many images that are large, short and broken: each
// takes as long as a large one before that shows.
func TestDecodingIsBounded(t *testing.T) {
	broken := append([]byte(nil), pngOf(t, 1, 1)...)
	binary.BigEndian.PutUint32(broken[16:], 7000)
	binary.BigEndian.PutUint32(broken[20:], 7000)
	binary.BigEndian.PutUint32(broken[29:], crc32.ChecksumIEEE(broken[12:29]))
	many := make([]any, 50)
	for i := range many {
		many[i] = map[string]any{"type": "image", "data": base64.StdEncoding.EncodeToString(broken)}
	}
	raw, err := json.Marshal(map[string]any{"content": many})
	if err != nil {
		t.Fatal(err)
	}
	text := chat.Messages([]chat.Call{{Result: raw}}, nil)[0].Text
	if !strings.Contains(text, "cannot be decoded] × 2") || !strings.Contains(text, "pixels would be decoded for one result] × 48") {
		t.Errorf("50 images of 49 million pixels: %q", text)
	}
}

func TestLongTextIsReadPageByPage(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "line %d with ünïcödé 漢字 😀\n", i)
	}
	whole := b.String()
	pages := chat.NewPages(0)
	raw, _ := json.Marshal(map[string]any{"content": []any{map[string]string{"type": "text", "text": whole}}})
	messages := chat.Messages([]chat.Call{{Result: raw}}, &chat.Options{Limits: chat.Limits{MaxTokens: 1000}, Pages: pages})
	page, joined, n := messages[0].Text, "", 0
	for ; n < 1000; n++ {
		text, mark, cut := cutMark(page)
		joined += text
		if !cut {
			break
		}
		var call struct{ Action, Handle string }
		if err := json.Unmarshal([]byte(mark[strings.Index(mark, "{"):len(mark)-1]), &call); err != nil || call.Action != "read" {
			t.Fatalf("mark %q: %v", mark, err)
		}
		var err error
		if page, err = pages.ReadPage(t.Context(), call.Handle); err != nil {
			t.Fatal(err)
		}
	}
	if joined != whole || n < 10 {
		t.Errorf("%d pages of %d bytes together, want all %d bytes", n, len(joined), len(whole))
	}
	for _, handle := range []string{"", "r", "r1", "r1.", "r9.5", "r1.99999999", "r1.-1", "x1.5", "r1.5.6"} {
		if got, err := pages.ReadPage(t.Context(), handle); err == nil {
			t.Errorf("handle %q gives %.40q", handle, got)
		}
	}
}

func cutMark(page string) (text, mark string, cut bool) {
	i := strings.LastIndex(page, "\n[cut: ")
	if i < 0 {
		return page, "", false
	}
	return page[:i], page[i+1:], true
}

// A host that sends what read returned through Messages again, as it does every
// other answer, gets the page as it is, and nothing more is kept.
func TestPagesAreNotCutAgain(t *testing.T) {
	whole := strings.Repeat("a long line without an end ", 2000)
	for _, max := range []int{1, 40, 100, 1000} {
		pages := chat.NewPages(len(whole) + 10) // a second text would drop the first
		opts := &chat.Options{Limits: chat.Limits{MaxTokens: max}, Pages: pages}
		page, joined := chat.Messages([]chat.Call{{Text: whole}}, opts)[0].Text, ""
		for range 1000 {
			if again := chat.Messages([]chat.Call{{Text: page}}, opts)[0].Text; again != page {
				t.Fatalf("%d tokens: a page was cut again: ends %q, was %q", max, again[len(again)-90:], page[len(page)-90:])
			}
			if n := (len(page) + 1) / 2; max > 250 && n > max {
				t.Fatalf("a page and its mark take %d tokens of %d", n, max)
			}
			text, mark, cut := cutMark(page)
			if joined += text; !cut {
				break
			}
			var err error
			_, handle, _ := strings.Cut(mark, `"handle":"`)
			if page, err = pages.ReadPage(t.Context(), strings.TrimSuffix(handle, `"}]`)); err != nil {
				t.Fatalf("%d tokens: %v", max, err)
			}
		}
		if joined != whole {
			t.Errorf("%d tokens: %d bytes together, want %d", max, len(joined), len(whole))
		}
	}
}

// A mark that a server wrote itself does not lift the limit.
func TestForgedMarkIsCut(t *testing.T) {
	opts := &chat.Options{Limits: chat.Limits{MaxTokens: 200}, Pages: chat.NewPages(0)}
	first := chat.Messages([]chat.Call{{Text: strings.Repeat("a", 4000)}}, opts)[0].Text
	_, mark, _ := cutMark(first)
	forged := strings.Repeat("b", 4000) + "\n" + mark
	if got := chat.Messages([]chat.Call{{Text: forged}}, opts)[0].Text; len(got) > 400 {
		t.Errorf("%d bytes got through behind a forged mark", len(got))
	}
}

func TestCutWithoutPages(t *testing.T) {
	got := chat.Messages([]chat.Call{{Text: strings.Repeat("a", 10_000)}}, &chat.Options{Limits: chat.Limits{MaxTokens: 500}})
	if text, mark, cut := cutMark(got[0].Text); !cut || len(got[0].Text) > 1000 || len(text) < 700 || !strings.Contains(mark, fmt.Sprintf("%d of 10000 bytes", len(text))) {
		t.Errorf("%d bytes left with mark %q", len(text), mark)
	}
}

func TestPagesForgetTheOldest(t *testing.T) {
	pages := chat.NewPages(10_000)
	opts := &chat.Options{Limits: chat.Limits{MaxTokens: 200}, Pages: pages}
	for range 3 {
		chat.Messages([]chat.Call{{Text: strings.Repeat("b", 4000)}}, opts)
	}
	if _, err := pages.ReadPage(t.Context(), "r1.400"); err == nil {
		t.Error("the oldest text is still kept")
	}
	if _, err := pages.ReadPage(t.Context(), "r3.400"); err != nil {
		t.Errorf("the newest text is gone: %v", err)
	}
	got := chat.Messages([]chat.Call{{Text: strings.Repeat("c", 20_000)}}, opts)
	if !strings.Contains(got[0].Text, "too long to keep") {
		t.Errorf("a text over the store's limit ends %q", got[0].Text[len(got[0].Text)-80:])
	}
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"a"},{"type":"image","mimeType":"image/webp","data":"`+webp+`"}]}`), 20)
	f.Add([]byte(`{"content":[{"type":"resource","resource":{"blob":"R0lGODlh","mimeType":"image/gif"}}],"structuredContent":[1]}`), 1)
	f.Add([]byte(`"`+strings.Repeat("漢", 500)+`"`), 30)
	f.Fuzz(func(t *testing.T, result []byte, max int) {
		pages := chat.NewPages(1 << 20)
		messages := chat.Messages([]chat.Call{{ID: "x", Result: result}}, &chat.Options{
			Limits: chat.Limits{MaxTokens: max % 1000, LongEdge: 64, ImageBytes: 4096}, Pages: pages})
		if len(messages) < 1 || messages[0].Text == "" {
			t.Fatalf("no text: %+v", messages)
		}
		if _, err := json.Marshal(messages); err != nil {
			t.Fatal(err)
		}
	})
}

func ExampleMessages() {
	calls := []chat.Call{{
		ID:     "call_1",
		Tool:   "files/read",
		Result: json.RawMessage(`{"content":[{"type":"text","text":"hello"},{"type":"resource_link","uri":"file:///b.txt","name":"b.txt"}]}`),
	}}
	out, _ := json.Marshal(chat.Messages(calls, nil))
	fmt.Println(string(out))
	// Output:
	// [{"role":"tool","tool_call_id":"call_1","content":"hello\n[link to b.txt: file:///b.txt]"}]
}

package host

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// FuzzLine feeds lines to the filter and compares its verdict with the SDK's decoder, which
// must read the same message from every line that passes.
func FuzzLine(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"s":"\"}"}}}`,
		` {"id" : "x\u0041", "method":"ping" , "jsonrpc":"2.0"} `, `{"jsonrpc":"2.0","method":"n"}`,
		`{"jsonrpc":"2.0","id":3,"result":{"a":[1,2,{"b":"]"}]}}`, `{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"m"}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},5,[]]`, `[]`, `{}`, `null`, `"\u0069d"`, "\xff", `{"\u0069d":1,"jsonrpc":"2.0","method":""}`,
		`{"jsonrpc":"2.0","id":1e3,"method":"m","params":null}`, `{"jsonrpc":"2.0","id":-0.0,"method":"m"}`, `{"id":1,"id":2,"jsonrpc":"2.0","method":"m"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		raw = bytes.Trim(raw, " \t\r\n")
		if len(raw) == 0 || bytes.IndexByte(raw, '\n') >= 0 {
			return
		}
		elems, batch, bad := split(raw)
		if bad == nil && !json.Valid(raw) {
			t.Fatalf("%q passes and is not JSON", raw)
		}
		if bad != nil {
			checkReply(t, bad)
			return
		}
		if !batch {
			elems = [][]byte{raw}
		} else {
			var want []json.RawMessage
			if err := json.Unmarshal(raw, &want); err != nil || len(want) != len(elems) {
				t.Fatalf("%q: %d elements, want %d (%v)", raw, len(elems), len(want), err)
			}
			for i := range want {
				if !bytes.Equal(want[i], elems[i]) {
					t.Fatalf("%q: element %d is %q, want %q", raw, i, elems[i], want[i])
				}
			}
		}
		for _, e := range elems {
			checkVerdict(t, e)
		}
	})
}

func checkVerdict(t *testing.T, elem []byte) {
	t.Helper()
	in := parse(elem)
	if in.reply != nil {
		checkReply(t, in.reply)
		return
	}
	if in.msg == nil {
		return
	}
	want, err := jsonrpc.DecodeMessage(elem)
	if err != nil {
		if _, ok := in.msg.(*jsonrpc.Response); ok {
			return // a malformed error of a response is replaced, which the SDK does not do
		}
		t.Fatalf("%q passes, but the SDK says: %v", elem, err)
	}
	switch got := in.msg.(type) {
	case *jsonrpc.Request:
		w, ok := want.(*jsonrpc.Request)
		if !ok || got.ID != w.ID || got.Method != w.Method || !bytes.Equal(got.Params, w.Params) {
			t.Fatalf("%q: got %+v, the SDK reads %+v", elem, got, want)
		}
	case *jsonrpc.Response:
		w, ok := want.(*jsonrpc.Response)
		if !ok || got.ID != w.ID {
			t.Fatalf("%q: got %+v, the SDK reads %+v", elem, got, want)
		}
	}
	text, err := encode(in.msg)
	if err != nil || bytes.IndexByte(text, '\n') >= 0 || !json.Valid(text) {
		t.Fatalf("%q encodes as %q (%v)", elem, text, err)
	}
}

func checkReply(t *testing.T, reply []byte) {
	t.Helper()
	var r struct {
		JSONRPC string `json:"jsonrpc"`
		Error   struct{ Code int }
	}
	if err := json.Unmarshal(reply, &r); err != nil || bytes.IndexByte(reply, '\n') >= 0 || r.JSONRPC != "2.0" || r.Error.Code > -32600 {
		t.Fatalf("reply %q is not a JSON-RPC error on one line: %v", reply, err)
	}
}

// FuzzCleanText checks that nothing that steers a terminal survives, and that cleaning
// twice changes nothing.
func FuzzCleanText(f *testing.F) {
	for _, s := range []string{"a\x1b[31mb", "\x1b]0;t\x07", "\u009b1;2H", "\x1b\x1b[[mm", "\u202e", "é\xff", "\x1b]\x1b]0;\x07\x07"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := CleanText(s)
		for _, r := range got {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e {
				t.Fatalf("CleanText(%q) keeps %U", s, r)
			}
		}
		if again := CleanText(got); again != got {
			t.Fatalf("CleanText(%q) = %q, and again %q", s, got, again)
		}
	})
}

func BenchmarkLine(b *testing.B) {
	line := []byte(`{"jsonrpc":"2.0","id":42,"method":"tools/call","params":{"name":"add_to_cart","arguments":{"sku":"abc-123","count":2},"_meta":{"progressToken":7}}}`)
	b.ReportAllocs()
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, _, bad := split(line); bad != nil {
			b.Fatal(bad)
		}
		if parse(line).msg == nil {
			b.Fatal("no message")
		}
	}
}

func BenchmarkEncodeLargeResult(b *testing.B) {
	id, _ := jsonrpc.MakeID(1.0)
	body := append(append([]byte(`{"content":[{"type":"text","text":"`), bytes.Repeat([]byte("x"), 5<<20)...), `"}]}`...)
	msg := &jsonrpc.Response{ID: id, Result: body}
	for _, way := range []struct {
		name string
		enc  func(jsonrpc.Message) ([]byte, error)
	}{{"ours", encode}, {"sdk", jsonrpc.EncodeMessage}} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if _, err := way.enc(msg); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxErrorBytes bounds the message of an error that goes out. The SDK repeats a
// request's parameters in it when it cannot read them.
const maxErrorBytes = 2 << 10

// encode returns the wire form of a message, without a line break. Results and
// parameters come encoded from the SDK; they are copied as they are, where its own
// encoder would check and compact them a second time (15 ms for a result of 5 MB).
func encode(msg jsonrpc.Message) ([]byte, error) {
	var id jsonrpc.ID
	var method, member string
	var body []byte
	switch m := msg.(type) {
	case *jsonrpc.Response:
		if m.Error != nil {
			return encodeError(m)
		}
		id, member, body = m.ID, "result", m.Result
	case *jsonrpc.Request:
		id, method, member, body = m.ID, m.Method, "params", m.Params
	}
	if len(body) == 0 && method == "" || bytes.IndexByte(body, '\n') >= 0 {
		return jsonrpc.EncodeMessage(msg)
	}
	b := make([]byte, 0, len(body)+len(method)+96)
	b = append(b, `{"jsonrpc":"2.0"`...)
	b, ok := appendID(b, id)
	if !ok {
		return jsonrpc.EncodeMessage(msg)
	}
	if method != "" {
		quoted, err := json.Marshal(method)
		if err != nil {
			return nil, err
		}
		b = append(b, `,"method":`...)
		b = append(b, quoted...)
	}
	if len(body) > 0 {
		b = append(append(append(b, `,"`...), member...), `":`...)
		b = append(b, body...)
	}
	return append(b, '}'), nil
}

// appendID appends the id member, nothing for a message without an id, and reports
// whether it knew the id's type.
func appendID(b []byte, id jsonrpc.ID) ([]byte, bool) {
	switch v := id.Raw().(type) {
	case nil:
		return b, true
	case int64:
		return strconv.AppendInt(append(b, `,"id":`...), v, 10), true
	case string:
		quoted, err := json.Marshal(v)
		return append(append(b, `,"id":`...), quoted...), err == nil
	}
	return b, false
}

// encodeError encodes an error response. An error without a code, which JSON-RPC does
// not know, is an invalid request: the ones that reach this point are the SDK's own, about
// requests at the wrong time.
func encodeError(m *jsonrpc.Response) ([]byte, error) {
	wire := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest}
	var known *jsonrpc.Error
	if errors.As(m.Error, &known) {
		wire.Code, wire.Data = known.Code, known.Data
	}
	if wire.Code == 0 {
		wire.Code = jsonrpc.CodeInvalidRequest
	}
	wire.Message = cut(m.Error.Error(), maxErrorBytes)
	return jsonrpc.EncodeMessage(&jsonrpc.Response{ID: m.ID, Error: wire})
}

package host

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxDepth is the deepest nesting of a message. The SDK refuses deeper parameters with
// an error that ends the session, so they are refused here first.
const maxDepth = 1000

// maxSafeInteger is the largest number that a request id may be: the SDK reads ids as
// IEEE doubles, and beyond it two ids could become one.
const maxSafeInteger = 1<<53 - 1

// maxEchoBytes bounds the id that an error reply repeats; a longer one becomes null.
const maxEchoBytes = 1 << 10

// inbound is the verdict on one message of a client: msg goes to the server, or reply
// goes back at once, or neither does and the message is dropped.
type inbound struct {
	msg   jsonrpc.Message
	reply []byte
}

// envelope holds the raw values of the members that JSON-RPC names; nil where absent.
type envelope struct {
	version, id, method, params, result, fault []byte
	doubled                                    string // a member that came twice
}

// split returns the elements of a line that is a JSON array, and whether it is one.
// The error reply is nil unless the line is not JSON at all.
func split(text []byte) (elems [][]byte, batch bool, reply []byte) {
	switch {
	case !utf8.Valid(text):
		return nil, false, errorReply(nil, jsonrpc.CodeParseError, "parse error: the line is not valid UTF-8")
	case !json.Valid(text):
		return nil, false, errorReply(nil, jsonrpc.CodeParseError, "parse error: the line is not one JSON value, or nests too deep")
	case text[0] != '[':
		return nil, false, nil
	}
	for s := (scanner{b: text, i: 1}); s.more(); {
		elems = append(elems, s.value())
	}
	return elems, true, nil
}

// parse judges one JSON value. The caller has made sure that text is valid JSON.
func parse(text []byte) inbound {
	refuse := func(id []byte, why string) inbound {
		return inbound{reply: errorReply(id, jsonrpc.CodeInvalidRequest, "invalid request: "+why)}
	}
	if text[0] != '{' {
		return refuse(nil, "a message is a JSON object")
	}
	env := open(text)
	if env.method == nil && (env.result != nil || env.fault != nil) {
		// A response, good or bad, is never answered: two peers could do so for ever.
		return inbound{msg: env.response()}
	}
	id, echo, idErr := parseID(env.id)
	switch {
	case tooDeep(text):
		return refuse(echo, "nested deeper than "+strconv.Itoa(maxDepth)+" levels")
	case env.doubled != "":
		return refuse(echo, "member "+strconv.Quote(env.doubled)+" comes twice")
	case unquote(env.version) != "2.0":
		return refuse(echo, `"jsonrpc" must be "2.0"`)
	case env.method == nil:
		return refuse(echo, `no "method", "result" or "error"`)
	case env.method[0] != '"':
		return refuse(echo, `"method" must be a string`)
	case idErr != "":
		return refuse(echo, idErr)
	}
	return inbound{msg: &jsonrpc.Request{ID: id, Method: unquote(env.method), Params: env.params}}
}

// response turns the envelope of a response into a message, or nil if it has no id that
// one of our requests could have.
func (e *envelope) response() jsonrpc.Message {
	id, _, idErr := parseID(e.id)
	if idErr != "" || !id.IsValid() || unquote(e.version) != "2.0" {
		return nil
	}
	resp := &jsonrpc.Response{ID: id, Result: e.result}
	if e.fault != nil {
		wire := &jsonrpc.Error{}
		if json.Unmarshal(e.fault, wire) != nil {
			wire = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the peer sent a malformed error"}
		}
		resp.Error = wire
	}
	return resp
}

// parseID reads a request id. An absent one is no id and no error. echo is what an
// error reply may repeat: the raw id where it is a string or a number, else nil.
func parseID(raw []byte) (id jsonrpc.ID, echo []byte, problem string) {
	if raw == nil {
		return id, nil, ""
	}
	switch c := raw[0]; {
	case c == '"':
		id, _ = jsonrpc.MakeID(unquote(raw))
		return id, raw, ""
	case c == '-' || c >= '0' && c <= '9':
		f, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || f != math.Trunc(f) || math.Abs(f) > maxSafeInteger {
			return id, raw, `a number "id" must be an integer within 53 bits`
		}
		id, _ = jsonrpc.MakeID(f)
		return id, raw, ""
	}
	return id, nil, `"id" must be a string or an integer`
}

// open finds the members of a valid JSON object that JSON-RPC names. Names match
// exactly: a server that took "Method" for "method" could be made to see another message than
// a guard in front of it.
func open(obj []byte) envelope {
	var e envelope
	for s := (scanner{b: obj, i: 1}); s.more(); {
		key := s.value()
		s.colon()
		val := s.value()
		var slot *[]byte
		name := unquote(key)
		switch name {
		case "jsonrpc":
			slot = &e.version
		case "id":
			slot = &e.id
		case "method":
			slot = &e.method
		case "params":
			slot = &e.params
		case "result":
			slot = &e.result
		case "error":
			slot = &e.fault
		default:
			continue
		}
		if *slot != nil {
			e.doubled = name
		}
		*slot = val
	}
	return e
}

// unquote returns the string that a JSON string literal stands for, "" for anything else.
func unquote(lit []byte) string {
	if len(lit) < 2 || lit[0] != '"' {
		return ""
	}
	if bytes.IndexByte(lit, '\\') < 0 {
		return string(lit[1 : len(lit)-1])
	}
	var s string
	if json.Unmarshal(lit, &s) != nil {
		return ""
	}
	return s
}

// errorReply encodes a JSON-RPC error response. A nil id becomes null.
func errorReply(id []byte, code int64, text string) []byte {
	if id == nil || len(id) > maxEchoBytes {
		id = []byte("null")
	}
	msg, _ := json.Marshal(text) // a string always encodes
	b := make([]byte, 0, len(id)+len(msg)+64)
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"error":{"code":`...)
	b = strconv.AppendInt(b, code, 10)
	b = append(b, `,"message":`...)
	b = append(b, msg...)
	return append(b, "}}"...)
}

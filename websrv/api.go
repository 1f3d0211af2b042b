package websrv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxAPIBytes bounds the answer of a hosted provider.
const maxAPIBytes = 32 << 20

// api is what the clients of hosted providers share: one origin, its key, and what its
// statuses mean.
type api struct {
	net     *network
	name    string
	base    string            // without a slash at its end
	auth    map[string]string // headers that hold the key
	secrets []string          // never to be in a text
	ipv4    bool
	keyVar  string // how users call the key; "" for a client without one
	// refine replaces the meaning of an answer that is not a success, where the provider
	// has its own; nil means the common one.
	refine func(f *Failure, resp *response, e *apiError) *Failure
}

// apiError is what a provider's error answer says, whichever form it has.
type apiError struct {
	Text   string
	Tag    string // its machine-readable kind
	Reason string
	After  float64 // seconds
}

// call is one request of a provider's API.
type call struct {
	method, path string
	query        url.Values
	header       map[string]string
	body         any           // encoded as JSON unless nil
	form         url.Values    // instead of body
	accept       string        // "" means JSON
	timeout      time.Duration // 0 means the context's
	noRedirect   bool
}

// send makes a request and gives back whatever HTTP answer there is.
func (a *api) send(ctx context.Context, c *call) (*response, error) {
	r := &request{URL: a.base + c.path, Method: c.method, Accept: c.accept, Header: http.Header{}, MaxBytes: maxAPIBytes, Timeout: c.timeout, MaxAge: -1, Trusted: true, IPv4: a.ipv4, NoRedirect: c.noRedirect}
	if r.Timeout == 0 {
		r.Timeout = topRequestTimeout
	}
	if r.Accept == "" {
		r.Accept = "application/json"
	}
	if len(c.query) > 0 {
		r.URL += "?" + c.query.Encode()
	}
	for _, set := range []map[string]string{c.header, a.auth} {
		for k, v := range set {
			r.Header.Set(k, v)
		}
	}
	switch {
	case c.form != nil:
		r.Body = []byte(c.form.Encode())
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	case c.body != nil:
		body, err := json.Marshal(c.body)
		if err != nil {
			return nil, failf(ErrInvalid, "the request cannot be encoded")
		}
		r.Body = body
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := a.net.do(ctx, r)
	if err != nil {
		return nil, a.netFailure(ctx, err)
	}
	return resp, nil
}

// netFailure is the failure of a request without an answer.
func (a *api) netFailure(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return ctx.Err()
	case errors.Is(err, errTimeout), errors.Is(err, context.DeadlineExceeded):
		return failf(ErrTimeout, "no answer in time")
	case errors.Is(err, errBlocked):
		return failf(ErrUnavailable, "%s", a.clean(err.Error()))
	}
	return failf(ErrUnavailable, "%s", a.clean(err.Error()))
}

// json makes a request and decodes its answer into out. An answer that is not a success
// is a failure.
func (a *api) json(ctx context.Context, c *call, out any) error {
	resp, err := a.send(ctx, c)
	if err != nil {
		return err
	}
	if resp.Status < 200 || resp.Status > 299 {
		return a.failure(resp)
	}
	return a.decode(resp, out)
}

// decode decodes a success.
func (a *api) decode(resp *response, out any) error {
	if err := json.Unmarshal(resp.Body, out); err != nil {
		return failf(ErrUnavailable, "its answer is not the JSON that was expected")
	}
	return nil
}

// failure is what an answer that is not a success means.
func (a *api) failure(resp *response) *Failure {
	e := parseAPIError(resp.Body)
	e.Text = a.clean(e.Text)
	f := &Failure{Class: classOf(resp.Status, a.keyVar != ""), Reason: fmt.Sprintf("HTTP %d", resp.Status), RetryAfter: retryAfter(resp.Header.Get("Retry-After"), resp.FetchedAt)}
	if e.Text != "" {
		f.Reason += ": " + e.Text
	}
	if f.RetryAfter == 0 && e.After > 0 && e.After < maxRest.Seconds()*2 {
		f.RetryAfter = time.Duration(e.After * float64(time.Second))
	}
	if a.refine != nil {
		f = a.refine(f, resp, e)
	}
	if f.Next == "" {
		f.Next = a.nextStep(f)
	}
	return f
}

// nextStep is what the user can do about a failure of the client's.
func (a *api) nextStep(f *Failure) string {
	switch {
	case f.SiteOnly || a.keyVar == "":
		return ""
	case f.Class == ErrUnauthorized:
		return "check " + a.keyVar
	case f.Class == ErrNoCredit:
		return "add credit to the account of " + a.keyVar + ", or unset it"
	}
	return ""
}

// classOf is the common meaning of a status.
func classOf(status int, keyed bool) error {
	switch {
	case status == http.StatusTooManyRequests:
		return ErrRateLimited
	case status == http.StatusPaymentRequired:
		return ErrNoCredit
	case status == http.StatusUnauthorized && keyed, status == http.StatusForbidden && keyed:
		return ErrUnauthorized
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusUnavailableForLegalReasons:
		return ErrRefused
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout, status == 524: // 524 is Cloudflare's "a timeout occurred"
		return ErrTimeout
	case status == http.StatusBadRequest, status == http.StatusUnprocessableEntity:
		return ErrInvalid
	}
	return ErrUnavailable
}

// retryAfter reads a Retry-After header: seconds or an HTTP date.
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if value == "" {
		return 0
	}
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		if s <= 0 || s != s {
			return 0
		}
		return time.Duration(min(s, maxRest.Seconds()) * float64(time.Second))
	}
	at, err := http.ParseTime(value)
	if err != nil || !at.After(now) {
		return 0
	}
	return min(at.Sub(now), maxRest)
}

// parseAPIError reads the error forms in use: {error}, {error:{message,type,code}}, {message},
// {detail}, {errors:[{message}]}, else the text's beginning.
func parseAPIError(body []byte) *apiError {
	e := &apiError{}
	var m map[string]json.RawMessage
	if json.Unmarshal(body, &m) != nil {
		if !bytes.Contains(body[:min(len(body), 1024)], []byte("<html")) && !bytes.Contains(body[:min(len(body), 1024)], []byte("<!DOCTYPE")) {
			e.Text = plain(string(body[:min(len(body), 4*maxReason)]), maxReason)
		}
		return e
	}
	var nested map[string]json.RawMessage
	if json.Unmarshal(m["error"], &nested) == nil {
		e.Text = firstString(nested, "message", "detail")
		e.Tag = firstString(nested, "code", "type", "tag")
	}
	if e.Text == "" {
		e.Text = firstString(m, "readableMessage", "error", "message", "detail", "error_message")
	}
	var list []map[string]json.RawMessage
	if e.Text == "" && json.Unmarshal(m["errors"], &list) == nil && len(list) > 0 {
		e.Text = firstString(list[0], "message")
	}
	if e.Tag == "" {
		e.Tag = firstString(m, "tag", "error_code", "code", "name")
	}
	e.Reason = firstString(m, "reason")
	for _, k := range []string{"retry_after_seconds", "retryAfter"} {
		var n float64
		if json.Unmarshal(m[k], &n) == nil && n > 0 {
			e.After = n
		}
	}
	e.Text = plain(e.Text, maxReason)
	return e
}

// firstString is the first of the keys whose value is text, or a number as text.
func firstString(m map[string]json.RawMessage, keys ...string) string {
	for _, k := range keys {
		var s string
		if json.Unmarshal(m[k], &s) == nil && s != "" {
			return s
		}
		var n json.Number
		if json.Unmarshal(m[k], &n) == nil && n != "" {
			return n.String()
		}
	}
	return ""
}

// clean makes a provider's text fit for an error: short, one line, without keys.
func (a *api) clean(s string) string {
	for _, secret := range a.secrets {
		s = strings.ReplaceAll(s, secret, "…")
	}
	return plain(s, maxReason)
}

// text is a JSON value that is a string, a list of strings, or null.
type text string

// UnmarshalJSON takes the first of a list and "" for anything that is no text.
func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = text(s)
		return nil
	}
	var list []string
	if json.Unmarshal(b, &list) == nil && len(list) > 0 {
		*t = text(list[0])
	}
	return nil
}

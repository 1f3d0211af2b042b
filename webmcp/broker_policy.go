package webmcp

import (
	"bytes"
	"strings"

	cdpproto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"

	"github.com/aster-mcp/aster/cdp"
)

// maxPolicies is the number of documents whose headers are remembered; only those with a
// policy count.
const maxPolicies = 10_000

// policyCache has the policies that responses came with, by loader. Documents without
// one are not in it.
type policyCache struct {
	byLoader map[cdpproto.LoaderID]policy
	order    []cdpproto.LoaderID        // the oldest first
	heard    map[cdpproto.LoaderID]bool // documents whose headers were told; maxPolicies at most
}

// hear remembers that a document's headers were told, whatever they say.
func (c *policyCache) hear(id cdpproto.LoaderID) {
	if c.heard == nil || len(c.heard) >= maxPolicies {
		c.heard = map[cdpproto.LoaderID]bool{}
	}
	c.heard[id] = true
}

func (c *policyCache) put(id cdpproto.LoaderID, p policy) {
	if c.byLoader == nil {
		c.byLoader = map[cdpproto.LoaderID]policy{}
	}
	if _, there := c.byLoader[id]; !there {
		c.order = append(c.order, id)
	}
	c.byLoader[id] = p
	if len(c.order) > maxPolicies {
		delete(c.byLoader, c.order[0])
		c.order = c.order[1:]
	}
}

// watchHeaders has a target tell the headers of its documents, where they may get the
// shim. Nothing is kept in the browser for it; but each request of the page pays for it.
func (a *attachment) watchHeaders(s *cdp.Session) {
	if a.broker.allNative.Load() {
		return
	}
	none := int64(0)
	cdp.Post(s, network.Enable, network.EnableParams{MaxTotalBufferSize: &none, MaxResourceBufferSize: &none, MaxPostDataSize: &none}, nil)
}

// foundNative is told of documents that have the browser's own WebMCP. If it was not an
// origin trial that gave it to one, all documents have it, and no headers are needed.
func (a *attachment) foundNative(f *cdp.Frame) {
	b := a.broker
	if b.asking || b.allNative.Load() {
		return
	}
	b.asking = true
	context, loader := f.Context, f.LoaderID
	cdp.Post(f.Session, page.GetOriginTrials, page.GetOriginTrialsParams{FrameID: f.ID}, func(r page.GetOriginTrialsResult, err error) {
		b.asking = false
		if err != nil || f.Context != context || f.LoaderID != loader {
			return // it may be another document that has answered
		}
		for _, trial := range r.OriginTrials {
			if trial != nil && strings.Contains(strings.ToLower(trial.TrialName), "webmcp") && trial.Status == cdpproto.OriginTrialStatusEnabled {
				return
			}
		}
		b.allNative.Store(true)
	})
}

var (
	documentType  = []byte(`"type":"Document"`)
	policyHeaders = [][]byte{[]byte(headerPolicy), []byte(headerOldPolicy), []byte(headerCSP)}
)

// response remembers what the headers of a document say. Most responses are none, and are
// not even decoded. A target that tells them in vain is told to stop.
func (a *attachment) response(s *cdp.Session, params jsonv2.Value) {
	if b := a.broker; b.allNative.Load() {
		if b.hushed != s {
			b.hushed = s
			s.Post(network.CommandDisable, nil, nil)
		}
		return
	}
	if !bytes.Contains(params, documentType) {
		return
	}
	handle(a, params, func(e *struct {
		LoaderID cdpproto.LoaderID `json:"loaderId"`
	}) {
		a.broker.policies.hear(e.LoaderID)
	})
	lower := bytes.ToLower(params)
	for _, h := range policyHeaders {
		if bytes.Contains(lower, h) {
			handle(a, params, a.documentResponse)
			return
		}
	}
}

func (a *attachment) documentResponse(e *network.EventResponseReceived) {
	if e.Type != network.ResourceTypeDocument || e.Response == nil {
		return
	}
	headers := map[string]string{}
	for name, v := range e.Response.Headers {
		if text, ok := v.(string); ok {
			headers[strings.ToLower(name)] = text
		}
	}
	if p := readPolicy(headers); p.declared || p.noScript {
		a.broker.policies.put(e.LoaderID, p)
	}
}

// judge finds out whether the document in a frame may use tools, and tells then, at once
// for a top document. A document that was open before us has the default policy.
func (a *attachment) judge(f *cdp.Frame, then func(allowed bool)) {
	frames := append([]*cdp.Frame{f}, f.Ancestors()...)
	chain := make([]place, len(frames))
	open := len(frames) - 1
	for i, g := range frames {
		at := len(frames) - 1 - i // the top one first
		chain[at] = place{origin: g.Origin, url: g.URL, policy: a.broker.policies.byLoader[g.LoaderID]}
		if at == 0 {
			continue
		}
		a.owner(g, frames[i+1].Session, func(attributes map[string]string) {
			p := &chain[at]
			p.allow, p.src, p.sandbox = attributes["allow"], attributes["src"], attributes["sandbox"]
			_, p.sandboxed = attributes["sandbox"]
			_, p.srcdoc = attributes["srcdoc"]
			if open--; open == 0 {
				then(mayUseTools(chain))
			}
		})
	}
	if len(frames) == 1 {
		then(mayUseTools(chain))
	}
}

// owner reads the attributes of the element that holds a frame; none where it is gone.
func (a *attachment) owner(f *cdp.Frame, holder *cdp.Session, use func(map[string]string)) {
	cdp.Post(holder, dom.GetFrameOwner, dom.GetFrameOwnerParams{FrameID: f.ID}, func(r dom.GetFrameOwnerResult, err error) {
		if err != nil {
			a.log.Debug("frame without an owner", "url", f.URL, "err", err)
			use(nil)
			return
		}
		cdp.Post(holder, dom.DescribeNode, dom.DescribeNodeParams{BackendNodeID: r.BackendNodeID}, func(r dom.DescribeNodeResult, err error) {
			attributes := map[string]string{}
			if err == nil && r.Node != nil {
				for i := 0; i+1 < len(r.Node.Attributes); i += 2 {
					attributes[r.Node.Attributes[i]] = r.Node.Attributes[i+1]
				}
			}
			use(attributes)
		})
	})
}

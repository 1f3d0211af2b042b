package guard

import (
	"context"
	"encoding/json"

	"github.com/aster-mcp/aster/bridge"
)

// A Class says where a tool comes from. It is the host's knowledge, never the tool's.
type Class int

// The classes of tools. The zero value is the least trusted that has no origin.
const (
	ClassServer  Class = iota // a configured server's
	ClassPage                 // registered by a page in the user's browser
	ClassBuiltin              // one of this program's own
)

// String is the class in a word.
func (c Class) String() string {
	switch c {
	case ClassPage:
		return "page"
	case ClassBuiltin:
		return "built-in"
	}
	return "server"
}

// An Effect is the host's own judgement of what a tool does. Hints of a tool are no
// judgement. The zero value counts as the worst.
type Effect int

// The effects.
const (
	EffectUnknown     Effect = iota
	EffectRead               // it changes nothing
	EffectWrite              // it changes something that can be changed back
	EffectDestructive        // it may destroy
)

// A Client is who calls. All of it is the client's own claim.
type Client struct {
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
}

// A Request is one call that is about to be made. The zero values of Class, Effect,
// Trusted and Direct are the careful ones.
type Request struct {
	// Tool is the real tool, resolved, with its whole definition.
	Tool bridge.Tool
	// Arguments are what the caller sent for it; see DecodeArguments.
	Arguments json.RawMessage
	// Class is where the tool comes from.
	Class Class
	// Effect is the host's judgement of a built-in tool.
	Effect Effect
	// Trusted says that the user wrote trust: true for the server.
	Trusted bool
	// Identity tells apart servers of one name in Pins; see Observation.
	Identity string
	// Origin is the web origin of the page that registered the tool, "" for others.
	Origin string
	// Direct says that the client called the tool under its own name, so that the
	// client's own approval has seen it; false is a call through an envelope.
	Direct bool
	// Client and Session say who calls. Answers "for this session" hold for calls with
	// the same Session.
	Client  Client
	Session string
	// Approver asks the user; nil means that of the Options, if there is one.
	Approver Approver
	// Present, if not nil, looks the tool up again after the user was asked: it returns
	// the definition and the origin of that moment. The call is refused with
	// bridge.ErrToolChanged if they are not what the user was asked about.
	Present func(context.Context) (bridge.Tool, string, error)

	digest string // of Tool, once it was needed
}

// ID is the identity that is decided on.
func (r *Request) ID() bridge.ToolID { return r.Tool.ID() }

// definition is the Digest of the tool.
func (r *Request) definition() string {
	if r.digest == "" {
		r.digest = Digest(r.Tool)
	}
	return r.digest
}

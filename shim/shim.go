package shim

import (
	"crypto/hmac"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"strings"
	"sync"
)

//go:embed modelcontext.js
var modelContext string

//go:embed forms.js
var forms string

// source is the whole script: forms.js is a part of the function in modelcontext.js.
var source = sync.OnceValue(func() string {
	return strings.Replace(strings.TrimSpace(modelContext), "  // @include forms.js\n", forms, 1)
})

const (
	// Protocol is the version of the api object and of the messages.
	Protocol = 2
	// Compat156, Compat159 and Compat160 are the Chromium versions whose WebMCP the script
	// can play. Since 159 tools tell the schema of their results, since 160 getTools gives
	// Tool objects, each of which stands for one registration.
	Compat156, Compat159, Compat160 = 156, 159, 160
	// DoorEvent is the type of the event listener that leads to the api object of a
	// shim that was there from its document's start.
	DoorEvent = "aster"
	// DoorField is the private field of a ModelContext that holds the api object.
	DoorField = "#aster"
	// CallMethod is a function declaration for Runtime.callFunctionOn on an api object:
	// its first argument is the method's name, at most four more are the method's own.
	// It spreads no array, which would run the page's Array.prototype[Symbol.iterator].
	CallMethod = "function (method, a, b, c, d) { return this[method](a, b, c, d); }"
	// OpenDoor is a function declaration for Runtime.callFunctionOn on the listener of
	// DoorEvent; its value is the api object, or undefined.
	OpenDoor = "function () { return this(); }"
)

// Reasons that [LateScript] gives instead of an api object.
const (
	ReasonDenied   = "denied"   // Config leaves the document's origin out
	ReasonInsecure = "insecure" // not a secure context
	ReasonNative   = "native"   // the browser has WebMCP here
	ReasonPage     = "page"     // the page brought a modelContext of its own, or a shim with another secret is there
)

// Config says what a script does. The zero value serves every origin.
type Config struct {
	// Allow and Deny are globs on origins (see MatchOrigin). A document is left alone if
	// its origin or that of an ancestor matches Deny, or if Allow has entries and none
	// matches its origin. For an opaque origin that of the nearest ancestor counts which
	// is not opaque.
	Allow, Deny []string
	// Legacy adds what pages written for the drafts of early 2026 expect:
	// navigator.modelContext, unregisterTool, provideContext, clearContext and
	// client.requestUserInteraction.
	Legacy bool
	// Broker says that somebody answers the api object with a ruling, and the messages of
	// [Message.List], [Message.Run] and [Message.Cancel]. Without it every document may use
	// tools, and sees those of its own origin only.
	Broker bool
	// Compat is the version of Chromium that pages see: one of the Compat constants, or any
	// other version for the last of them before it. Zero stands for Compat156.
	Compat int
	// Secret is what the api object shows, so that aster knows a shim of its own. No
	// page can read it.
	Secret string
}

// build names this version of the script.
var build = sync.OnceValue(func() string { return digest("aster shim build", source()) })

// compacted is the script as it goes to the page.
var compacted = sync.OnceValue(func() string { return compact(source()) })

// digest is a short name for what text says, of which the text cannot be found again.
func digest(key, text string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// settings is the config argument of modelcontext.js.
type settings struct {
	Allow    []string `json:"allow"`
	Deny     []string `json:"deny"`
	Legacy   bool     `json:"legacy"`
	Broker   bool     `json:"broker"`
	Secret   string   `json:"secret"`
	Meeting  string   `json:"meeting"`
	Door     string   `json:"door"`
	Protocol int      `json:"protocol"`
	Compat   int      `json:"compat"`
	Build    string   `json:"build"`
	Limits   limits   `json:"limits"`
}

type limits struct {
	Text    int `json:"text"`
	Schema  int `json:"schema"`
	Origins int `json:"origins"`
	Message int `json:"message"`
}

// CompatFor is the Compat constant for a browser of a major version.
func CompatFor(major int) int {
	switch {
	case major >= Compat160:
		return Compat160
	case major >= Compat159:
		return Compat159
	}
	return Compat156
}

// arguments renders the config as a JavaScript literal.
func (c Config) arguments() string {
	s := settings{
		Allow: append([]string{}, c.Allow...), Deny: append([]string{}, c.Deny...), Legacy: c.Legacy, Broker: c.Broker, Secret: c.Secret,
		Meeting: "aster-" + digest("aster shim meeting 3", c.Secret), Door: DoorEvent,
		Protocol: Protocol, Compat: CompatFor(c.Compat), Build: build(),
		Limits: limits{MaxTextBytes, MaxSchemaBytes, MaxExposedTo, MaxMessageBytes},
	}
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings, numbers and booleans always encode
	}
	return string(b)
}

// Script is the source for Page.addScriptToEvaluateOnNewDocument, to be called with
// includeCommandLineAPI and without worldName.
func Script(c Config) string {
	return c.script(compacted())
}

func (c Config) script(source string) string {
	return source + "(" + c.arguments() + ", typeof inspect === 'function' ? inspect : undefined, false);"
}

// LateScript is an expression for Runtime.evaluate in the main world of a document that
// was open already. Its value is the api object, or one of the Reason texts.
func LateScript(c Config) string {
	return "(() => { try { return (" + compacted() + ")(" + c.arguments() + ", undefined, true); } catch { return '" + ReasonPage + "'; } })()"
}

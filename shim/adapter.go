package shim

import (
	_ "embed"
	"encoding/json"
	"strings"
	"time"
)

// AdapterPoll is how often an adapter looks for changes by itself, in a visible page:
// not every generation of the page's API tells of them.
const AdapterPoll = time.Second

//go:embed adapter.js
var adapterSource string

// AdapterScript is an expression for Runtime.evaluate in a document whose modelContext
// is neither the shim's nor reported by DevTools: the page's own, or that of an older
// browser. inDocument says that document.modelContext is the one; else it is what
// navigator has. Its value is an api object as of [LateScript], or null where there is
// nothing to speak for. What it says is the page's word for the page's own document.
func AdapterScript(inDocument bool) string {
	cfg, err := json.Marshal(map[string]any{
		"protocol": Protocol, "inDocument": inDocument, "pollMs": AdapterPoll.Milliseconds(),
		"maxTools": MaxTools, "maxText": MaxTextBytes / 4, "maxSchema": MaxSchemaBytes / 4, // characters of up to four bytes
	})
	if err != nil {
		cfg = []byte("{}") // strings and numbers always marshal
	}
	return "(" + strings.TrimSpace(adapterSource) + ")(" + string(cfg) + ")"
}

// Values of the probes.
const (
	ForeignDocument  = "document"  // document.modelContext is not the shim's
	ForeignNavigator = "navigator" // navigator has another one
	Missing          = "missing"   // there is none, though the document may have one
)

// ForeignProbe is an expression that says which modelContext of a document only
// [AdapterScript] can speak for: one that the page made, or an older name; that there
// is none although the shim should be there; or "".
const ForeignProbe = `Object.hasOwn(document, 'modelContext') ? 'document' :
  navigator.modelContext && navigator.modelContext !== document.modelContext || navigator.modelContextTesting ? 'navigator' :
  isSecureContext && !('modelContext' in Document.prototype) ? 'missing' : ''`

// NativeProbe is an expression for the getter of document.modelContext. It is the
// browser's own when DevTools describes the function as [NativeGetter]: the description
// is made from the source, which no page can forge.
const (
	NativeProbe  = `Object.getOwnPropertyDescriptor(Document.prototype, 'modelContext')?.get`
	NativeGetter = "function get modelContext() { [native code] }"
)

// BareProbe is the same for a browser whose DevTools do not know WebMCP: there the
// browser's own document.modelContext is one of them.
const BareProbe = `/\[native code\]/.test(Function.prototype.toString.call(
  Object.getOwnPropertyDescriptor(Document.prototype, 'modelContext')?.get ?? (() => 0))) ? 'document' : ` + ForeignProbe

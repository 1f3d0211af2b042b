package shim_test

// allowedDifferences names the scenarios that may, and must, differ between native
// WebMCP and the shim, with the reason.
var allowedDifferences = map[string]string{
	"events: toolchange is trusted":                     untrusted,
	"events: toolactivated is trusted":                  untrusted,
	"events: toolcancel is trusted":                     untrusted,
	"events: microtasks between two listeners":          betweenListeners,
	"execute: a string result with a lone surrogate":    "a native defect: the caller gets null; the shim gives the string with U+FFFD",
	"register: a description with a lone surrogate":     "a native defect: the description becomes empty; the shim gives it with U+FFFD",
	"forms-fill: the events are trusted":                untrusted,
	"forms-fill: an optgroup in a select for several":   "a native defect, found by this scenario: it counts an optgroup as an option, and selects another one; the shim selects what was asked for",
	"forms-fill: a listener that removes the form":      "a native defect, found by this scenario, of the kind of two calls of one form: the call never ends; the shim ends it as one whose form was removed",
	"forms-submit: a second call while the first waits": "a native defect: the first call never ends; the shim ends it as one whose form was updated",
	"forms-submit: preventDefault after a microtask":    betweenListeners,
	"forms-register: a closed declarative shadow root that no script ever sees": "only DevTools' DOM domain shows such a root, and asking it means a walk through every document; " +
		"one that its component takes out of its internals is found",
	"stacks: stacks of listeners":                           listenerFrames,
	"stacks: stacks of the listeners of a form that is run": listenerFrames,
	"stacks: stacks of an abort of a tool":                  listenerFrames,
	"forms-pseudo: a linked stylesheet":                     "the browser drops the rules that it does not know while it reads the file; to read it again would be a request that servers see",
}

const untrusted = "only the browser can dispatch trusted events"

const listenerFrames = "what script dispatches has the script below it in a listener's stack"

// Also what native functions alone dispatch (a timer or a microtask that calls a bound
// dispatchEvent) counts as script: TestNoMicrotaskBetweenListeners holds it. What the
// browser dispatches by itself has types of its own choice.
const betweenListeners = "the shim dispatches from script, and the browser runs microtasks between two listeners only when no script is on the stack"

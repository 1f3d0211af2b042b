package shim_test

// allowedDifferences names the scenarios that may, and must, differ between native
// WebMCP and the shim, with the reason.
var allowedDifferences = map[string]string{
	"events: toolchange is trusted":    untrusted,
	"events: toolactivated is trusted": untrusted,
	"events: toolcancel is trusted":    untrusted,
	"events: microtasks between two listeners": "the shim dispatches from script, and the browser runs microtasks between two listeners " +
		"only when no script is on the stack",
	"execute: a string result with a lone surrogate": "a native defect: the caller gets null; the shim gives the string with U+FFFD",
	"register: a description with a lone surrogate":  "a native defect: the description becomes empty; the shim gives it with U+FFFD",
	"lifecycle: the stack of a callback":             "a stack that a callback takes shows the shim's frames, where native has none",
}

const untrusted = "only the browser can dispatch trusted events"

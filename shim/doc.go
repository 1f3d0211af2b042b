// Package shim holds the embedded document.modelContext polyfill and the format of the
// messages it sends.
//
// [Script] is for Page.addScriptToEvaluateOnNewDocument, with includeCommandLineAPI: it
// gives every new document WebMCP as Chromium 156 has it, tools that scripts register and
// forms that are tools, for a document and its same-origin frames. [LateScript] does the
// same in a document that is open already. Neither does anything where the browser has
// WebMCP itself, outside secure contexts, or on an origin that [Config] leaves out.
//
// # The line between page and browser
//
// The session needs the domains Page and Runtime enabled. At document start the script is given the browser's command-line function inspect,
// whose argument arrives as the DevTools event Runtime.inspectRequested. The page never
// sees that function. When a document gets its first tool, the shim sends its api
// object, of which the event carries a handle, and then a message: JSON text that
// [Parse] reads. From then on each change of its tools and each end of a call is a
// message. The api object has these members and no others:
//
//	protocol     number, Protocol
//	build        string, version of the script
//	secret       string, Config.Secret
//	connect(f)   sends to f from now on; at once a message with every tool
//	disconnect() forgets f; the shim stays usable to the page
//	rule(word)   "yes" or "no": whether the document may use tools
//	answer(id, kind, value) ends a List or a Run
//	change(n)    n toolchange events, of tools of other origins
//	invoke(id, name, args)  starts a call; args is the JSON text of an object
//	cancel(id)   aborts it
//
// They are called with [CallMethod], which asks the page's builtins for nothing.
//
// # Policies and other origins
//
// No script can read the Permissions-Policy headers and allow attributes that decide
// whether a document may use tools, nor trust what another origin says of itself. With
// [Config.Broker] the shim shows its api object when the page first reads
// document.modelContext, and waits for rule: no promise settles and no event fires
// before, and a document that may not use tools has its calls rejected as native WebMCP
// rejects them. After three seconds without a ruling the default policy counts. The
// messages List, Run and Cancel of [Message] ask for tools of other origins.
//
// # Forms
//
// A <form toolname tooldescription> is a tool, whose schema, filling, submission and
// outcomes are Chromium's. A form without toolautosubmit waits for the user: a message
// says so, with the button's label. A form that was submitted and navigates has no result
// here: the message says StatusSubmitted, and the next document has it.
//
// What differs from native, because no script can do it: the input and change events are
// not trusted; no microtask runs between two listeners of a submit event of an
// autosubmitted form; forms in closed shadow roots that the parser made are not found;
// :tool-form-active and :tool-submit-active work in selectors once there is a form that
// is a tool, and in <style> elements while a form is being run, not in linked
// stylesheets.
//
// # A document that has a shim already
//
// A shim that an earlier aster left behind is found through the document's ModelContext
// object, without running any code of the page: its private field [DoorField], which
// Runtime.getProperties lists under privateProperties, holds the api object. In
// documents that had the script from their start there is also an event listener of the
// type [DoorEvent] (DOMDebugger.getEventListeners); called without arguments it returns
// the api object. In late documents it is missing, because the page may have replaced
// addEventListener, and would be handed the api. Whatever is found counts only if its
// secret is the right one.
//
// The function for connect must be genuine: a RemoteObject of the type function, without
// a subtype, whose description is that of the native function. Where the page shadows
// inspect, copy and queryObjects serve as well.
//
// Everything that comes from a page is hostile: [Parse] bounds it by the constants of
// this package and never panics. All functions may be called from any goroutine.
package shim

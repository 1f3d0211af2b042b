// WebMCP for a browser that has none: document.modelContext as Chromium 156 gives it
// to a page, or 159, or 160 (forms.js is the declarative part); and the private line over which aster
// hears of the tools and runs them. Frames of one origin meet here; between origins aster
// goes between, which alone knows who is who, and it says whether a document may use
// tools at all: no script can read the policies that decide that.
//
// The page is hostile ground. Three rules follow.
//
//  1. What the page could replace is captured before its first script runs, and only
//     the captured functions are used: apply(dispatchEvent, target, [event]), never
//     target.dispatchEvent(event). No iteration, spreading or destructuring of arrays,
//     no assignment to array elements, no instanceof: they all ask the page.
//  2. What is not the page's own (the api object, the secret, notify, the text of
//     messages) is handled with syntax only: literals, own properties of objects
//     without a prototype, string concatenation, private fields, closures. So the rule
//     holds in a document that was tampered with before we came (late) as well.
//  3. Every function is strict: a page's callback finds no caller, arguments or this.
//
// config: allow, deny (origin globs), legacy, compat (the Chromium version to play),
// secret, protocol, build, limits, door and meeting (event types; by the second, which
// is derived from the secret, the shims of two frames find each other), broker (aster
// rules on documents and goes between origins).
// notify: the browser's inspect(), or undefined. late: the document was
// open before us. The value is the api object of the document, or the reason why there
// is none: "denied", "insecure", "native", "page".
(function (config, notify, late) {
  'use strict';

  // ---- Which documents -------------------------------------------------------------

  // A "*" in glob stands for any characters but "/". The same as MatchOrigin in Go.
  function matches(glob, origin) {
    let g = 0, o = 0, star = -1, from = 0;
    while (o < origin.length) {
      if (g < glob.length && glob[g] === '*') {
        star = g++;
        from = o;
      } else if (g < glob.length && glob[g] === origin[o]) {
        g++;
        o++;
      } else if (star >= 0 && origin[from] !== '/') {
        g = star + 1;
        o = ++from;
      } else {
        return false;
      }
    }
    while (g < glob.length && glob[g] === '*') g++;
    return g === glob.length;
  }

  function matchesAny(globs, origin) {
    for (let i = 0; i < globs.length; i++) if (matches(globs[i], origin)) return true;
    return false;
  }

  const maxAncestors = 100;

  // The origin that speaks for the document: its own, else (opaque) the nearest
  // ancestor's that is not opaque, else its URL's.
  function inScope() {
    if (config.deny.length === 0 && config.allow.length === 0) return true;
    const ancestors = location.ancestorOrigins;
    let effective = self.origin;
    for (let i = 0; i < maxAncestors && typeof ancestors[i] === 'string'; i++) {
      if (matchesAny(config.deny, ancestors[i])) return false;
      if (effective === 'null') effective = ancestors[i];
    }
    if (effective === 'null') effective = location.origin;
    if (matchesAny(config.deny, effective) || matchesAny(config.deny, location.origin)) return false;
    return config.allow.length === 0 || matchesAny(config.allow, effective);
  }

  if (!inScope()) return 'denied';
  if (!isSecureContext) return 'insecure';

  // The text of a function, as the browser tells it in an error of its own: no code of
  // the page takes part. Only for functions that are no constructors.
  function sourceOf(f) {
    try {
      class X extends f {}
    } catch (e) {
      return e.message;
    }
  }
  const isNative = (f, name) =>
    sourceOf(f) === 'Class extends value function ' + name + '() { [native code] } is not a constructor or null';

  {
    const there = Reflect.getOwnPropertyDescriptor(Document.prototype, 'modelContext');
    if (there !== undefined || 'modelContext' in document) {
      return there !== undefined && isNative(there.get, 'get modelContext') ? 'native' : 'page';
    }
  }

  // ---- What the page could replace later ---------------------------------------------

  const {apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf} = Reflect;
  const {Promise, TypeError, WeakMap, EventTarget, Event} = window;
  const {freeze} = Object;
  const FunctionPrototype = Function.prototype, DocumentPrototype = Document.prototype;
  const {bind} = FunctionPrototype, {then} = Promise.prototype;
  const {parse, stringify} = JSON;
  const {slice, toWellFormed} = String.prototype;
  const {sort} = Array.prototype;
  const {get: mapGet, set: mapSet} = WeakMap.prototype;
  const {addEventListener, removeEventListener, dispatchEvent} = EventTarget.prototype;
  const {captureStackTrace} = Error;
  // Chromium has it since version 121.
  const fromAsync = Array.fromAsync ?? (async (list) => ({__proto__: null, 0: await list[0]}));
  const isError = Error.isError ?? ((e) => e instanceof Error);
  const {error: consoleError} = console, theConsole = console;
  const {iterator, species, toPrimitive, toStringTag} = Symbol;

  const getterOf = (object, key) => getOwnPropertyDescriptor(object, key).get;

  // What makes the browser build whole interfaces, which costs as much as all the rest,
  // is taken at the document's first change or at the first use of its modelContext:
  // each comes before a script of the page can put something in its place.
  let DOMException, URL, MessageChannel, AbortController, AbortSignal;
  let postMessage, start, abort, anySignal, getSignal, getAborted, getReason, getPort1, getPort2;
  let getOrigin, getProtocol, getHostname, getLength, getClosed, getPerformance, getDefaultView, preventDefault;
  let ownOrigin, originKeyed;  // the same for every document of this window, also when it is used again

  function takeRest() {
    if (DOMException !== undefined) return;
    ({DOMException, URL, MessageChannel, AbortController, AbortSignal} = window);
    ({postMessage, start} = MessagePort.prototype);
    const C = AbortController.prototype, S = AbortSignal.prototype, M = MessageChannel.prototype, U = URL.prototype;
    ({abort} = C);
    ({any: anySignal} = AbortSignal);
    ({preventDefault} = Event.prototype);
    getSignal = getterOf(C, 'signal');
    getAborted = getterOf(S, 'aborted');
    getReason = getterOf(S, 'reason');
    getPort1 = getterOf(M, 'port1');
    getPort2 = getterOf(M, 'port2');
    getOrigin = getterOf(U, 'origin');
    getProtocol = getterOf(U, 'protocol');
    getHostname = getterOf(U, 'hostname');
    getLength = getterOf(window, 'length');
    getClosed = getterOf(window, 'closed');
    getPerformance = getterOf(window, 'performance');
    getDefaultView = getterOf(DocumentPrototype, 'defaultView');
    ownOrigin = self.origin === 'null' && location.protocol === 'file:' ? 'file://' : self.origin;
    originKeyed = originAgentCluster !== false || ownOrigin === 'file://';
  }

  // Frames meet over genuine events only.
  const canMeet = !late || (isNative(addEventListener, 'addEventListener') && isNative(dispatchEvent, 'dispatchEvent'));

  // What later versions have: since 159 tools tell the schema of their results, since 160
  // getTools gives Tool objects, which stand for one registration each.
  const hasOutput = config.compat >= 159, hasTools = config.compat >= 160;
  // The newest text of the specification has no check of the origin's key, but no version
  // of the browser is known to be without it.
  const lastKeyed = 160;

  // ---- Small things ------------------------------------------------------------------

  const nothing = () => {};

  // What the page calls shows in the stacks of errors as little as native functions do:
  // they begin below boundary, the function of ours that the page is calling.
  let boundary;

  function cleaned(error, below = boundary) {
    captureStackTrace(error, below);
    return error;
  }

  // Chromium puts where it happened before an error's message, and not into its stack.
  function fail(text, where = '', below = boundary) {
    const error = cleaned(new TypeError(text), below);
    if (where !== '') defineProperty(error, 'message', {__proto__: null, value: where + text});
    throw error;
  }

  // What an operation rejects with by itself has no stack in Chromium.
  function bare(error) {
    delete error.stack;
    return error;
  }

  function refuse(text, name = 'InvalidStateError') {
    throw bare(new DOMException(text, name));
  }

  function bounded(below, act) {
    const before = boundary;
    boundary = below;
    try {
      return act();
    } finally {
      boundary = before;
    }
  }

  // Adds to an array of ours without asking setters of Array.prototype.
  function append(list, value) {
    defineProperty(list, list.length, {__proto__: null, value, writable: true, enumerable: true, configurable: true});
  }

  function deferred() {
    const d = {__proto__: null, promise: undefined, resolve: nothing, reject: nothing};
    d.promise = new Promise((resolve, reject) => {
      d.resolve = resolve;
      d.reject = reject;
    });
    return d;
  }

  function rejected(reason) {
    const d = deferred();
    d.reject(reason);
    return d.promise;
  }

  // Reflect.apply, with a name and a length that the page cannot make getters of.
  const applied = apply(bind, apply, [undefined]);

  // Has a microtask call f by native functions alone, so that its stack has no frame of
  // ours, and nothing asks what its value is.
  function callAlone(f, given, returned, threw) {
    const d = deferred();
    d.resolve();
    const constructor = {
      __proto__: null,
      [species]: function (executor) {
        executor(returned, threw);
      },
    };
    defineProperty(d.promise, 'constructor', {__proto__: null, value: constructor});
    apply(then, d.promise, [apply(bind, applied, [undefined, f, undefined, given])]);
  }

  function Bare() {
    return {__proto__: null};
  }

  // Awaits the page's value by a native function alone, so that the stacks of its async
  // functions do not end in one of ours.
  function awaitAlone(value, resolved, failed) {
    const list = apply(fromAsync, Bare, [{__proto__: null, length: 1, 0: value}]);
    defineProperty(list, 'constructor', {__proto__: null, value: undefined});
    apply(then, list, [({0: given}) => resolved(given), failed]);
  }

  // Private fields on objects that the page may hold. A field can be neither seen nor
  // copied by a page; only the browser's debugger lists it, and #aster is where aster
  // finds the api of a shim that an earlier aster left behind.
  let classes;
  const brands = () => classes ??= newBrands();

  function newBrands() {
    class Given {
      constructor(object) {
        return object;
      }
    }
    class Held extends Given {
      #state;
      #aster;
      constructor(context, state) {
        super(context);
        this.#state = state;
        this.#aster = state.api;
      }
      static state(x) {
        return typeof x === 'object' && x !== null && #state in x ? x.#state : undefined;
      }
      static aster(x) {
        return x.#aster;
      }
    }
    class Told extends Given {
      #tag;
      #toolName;
      constructor(event, tag, toolName) {
        super(event);
        this.#tag = tag;
        this.#toolName = toolName;
      }
      static toolName(event, tag) {
        if (typeof event !== 'object' || event === null || !(#tag in event) || event.#tag !== tag) {
          fail('Illegal invocation', '', accessorOf(tag.prototype, 'toolName').get);
        }
        return event.#toolName;
      }
    }

    class Listed extends Given {
      #values;
      constructor(tool, values) {
        super(tool);
        this.#values = values;
      }
      static of(x) {
        return isObject(x) && #values in x ? x.#values : undefined;
      }
    }
    // An event that belongs to a run.
    class Marked extends Given {
      #mark;
      constructor(event, mark) {
        super(event);
        this.#mark = mark;
      }
      static of(event) {
        return typeof event === 'object' && event !== null && #mark in event ? event.#mark : undefined;
      }
    }
    return {__proto__: null, Held, Told, Listed, Marked};
  }

  // ---- Web IDL conversions -----------------------------------------------------------
  // where is the beginning of the error text, as Chromium has it.

  const executing = (method) => "Failed to execute '" + method + "' on 'ModelContext': ";
  const reading = (where, key, dictionary) =>
    where + "Failed to read the '" + key + "' property from '" + dictionary + "': ";
  const isObject = (v) => (typeof v === 'object' && v !== null) || typeof v === 'function';

  // ToPrimitive with the hint "string". What the page's own code throws passes.
  function toPrimitiveText(v, where) {
    const exotic = v[toPrimitive];
    if (exotic !== undefined && exotic !== null) {
      if (typeof exotic !== 'function') fail('Symbol(Symbol.toPrimitive) is not a function', where);
      const p = apply(exotic, v, ['string']);
      if (!isObject(p)) return p;
    } else {
      for (let i = 0; i < 2; i++) {
        const method = i === 0 ? v.toString : v.valueOf;
        if (typeof method !== 'function') continue;
        const p = apply(method, v, []);
        if (!isObject(p)) return p;
      }
    }
    fail('Cannot convert object to primitive value', where);
  }

  function toText(v, where) {
    if (isObject(v)) v = toPrimitiveText(v, where);
    if (typeof v === 'symbol') fail('Cannot convert a Symbol value to a string', where);
    return '' + v;
  }

  const toUSVText = (v, where) => apply(toWellFormed, toText(v, where), []);

  function required(v, where) {
    if (v === undefined) fail('Required member is undefined.', where);
    return v;
  }

  // An optional dictionary: undefined stands for one without members.
  function toDictionary(v, where, type) {
    if (v === undefined || v === null) return undefined;
    if (!isObject(v)) fail("The provided value is not of type '" + type + "'.", where);
    return v;
  }

  function toAnnotations(v, where) {
    if (v === undefined) return undefined;
    v = toDictionary(v, where, 'ToolAnnotations') ?? {__proto__: null};
    return {
      __proto__: null,
      consequentialHint: !!v.consequentialHint,
      debugging: !!v.debugging,
      readOnlyHint: !!v.readOnlyHint,
      untrustedContentHint: !!v.untrustedContentHint,
    };
  }

  function toSchemaObject(v, where) {
    if (v !== undefined && !isObject(v)) fail("Failed to convert value to 'object'.", where);
    return v;
  }

  function toTool(v, where) {
    const type = 'ModelContextTool';
    if (!isObject(v)) fail("The provided value is not of type '" + type + "'.", where);
    const annotations = toAnnotations(v.annotations, reading(where, 'annotations', type));
    let at = reading(where, 'description', type);
    const description = toUSVText(required(v.description, at), at);
    at = reading(where, 'execute', type);
    const execute = required(v.execute, at);
    if (typeof execute !== 'function') fail('The given value is not a function.', at);
    const inputSchema = toSchemaObject(v.inputSchema, reading(where, 'inputSchema', type));
    at = reading(where, 'name', type);
    const name = toText(required(v.name, at), at);
    const outputSchema = hasOutput ? toSchemaObject(v.outputSchema, reading(where, 'outputSchema', type)) : undefined;
    const title = v.title;
    return {
      __proto__: null, annotations, description, execute, inputSchema, outputSchema, name,
      title: title === undefined ? '' : toUSVText(title, reading(where, 'title', type)),
    };
  }

  function isWindow(v) {
    if (typeof v !== 'object' || v === null) return false;
    try {
      apply(getClosed, v, []);
      return true;
    } catch {
      return false;
    }
  }

  function toRegisteredTool(v, where) {
    if (hasTools) {
      const listed = listedOf(v);
      if (listed === undefined) fail("parameter 1 is not of type 'Tool'.", where);
      return {__proto__: null, name: listed.name, origin: listed.origin, view: listed.source, id: listed.id};
    }
    const type = 'RegisteredTool';
    if (!isObject(v)) fail("The provided value is not of type '" + type + "'.", where);
    toAnnotations(v.annotations, reading(where, 'annotations', type));
    let at = reading(where, 'description', type);
    toText(required(v.description, at), at);
    toSchemaObject(v.inputSchema, reading(where, 'inputSchema', type));
    at = reading(where, 'name', type);
    const name = toText(required(v.name, at), at);
    at = reading(where, 'origin', type);
    const origin = toUSVText(required(v.origin, at), at);
    if (hasOutput) toSchemaObject(v.outputSchema, reading(where, 'outputSchema', type));
    const title = v.title;
    if (title !== undefined) toText(title, reading(where, 'title', type));
    at = reading(where, 'window', type);
    const view = required(v.window, at);
    if (!isWindow(view)) fail("Failed to convert value to 'Window'.", at);
    return {__proto__: null, name, origin, view, id: undefined};
  }

  function toSignal(v, where) {
    if (v === undefined) return undefined;
    if (typeof v === 'object' && v !== null) {
      try {
        apply(getAborted, v, []);
        return v;
      } catch {
        // Not a signal.
      }
    }
    fail("Failed to convert value to 'AbortSignal'.", where);
  }

  // Takes each value of an iterable.
  function forEachOf(v, where, take) {
    if (!isObject(v)) fail('The provided value cannot be converted to a sequence.', where);
    const method = v[iterator];
    if (method === undefined || method === null) {
      fail('The object must have a callable @@iterator property.', where);
    }
    if (typeof method !== 'function') fail('@@iterator must be a callable.', where);
    const it = apply(method, v, []);
    if (!isObject(it)) fail('Iterator object must be an object.', where);
    const next = it.next;
    if (typeof next !== 'function') fail('Expected next() function on iterator.', where);
    for (;;) {
      const step = apply(next, it, []);
      if (!isObject(step)) fail('Expected iterator.next() to return an Object.', where);
      if (step.done) return;
      take(step.value);
    }
  }

  // A sequence of strings; undefined stands for none.
  function toTexts(v, where) {
    const list = [];
    if (v !== undefined) forEachOf(v, where, (value) => append(list, toUSVText(value, where)));
    return list;
  }

  function toRegisterOptions(v, where) {
    const type = 'ModelContextRegisterToolOptions';
    const o = toDictionary(v, where, type) ?? {__proto__: null};
    return {
      __proto__: null,
      exposedTo: toTexts(o.exposedTo, reading(where, 'exposedTo', type)),
      signal: toSignal(o.signal, reading(where, 'signal', type)),
    };
  }

  function toGetOptions(v, where) {
    const type = 'ModelContextGetToolOptions';
    const o = toDictionary(v, where, type) ?? {__proto__: null};
    return {__proto__: null, fromOrigins: toTexts(o.fromOrigins, reading(where, 'fromOrigins', type))};
  }

  function toExecuteOptions(v, where) {
    const type = 'ExecuteToolOptions';
    const o = toDictionary(v, where, type) ?? {__proto__: null};
    return {__proto__: null, signal: toSignal(o.signal, reading(where, 'signal', type))};
  }

  // The JSON text of an object, or undefined where toJSON gives undefined. The errors
  // of the browser's own get the method's name; what the page throws passes.
  function toJSONText(v, where) {
    try {
      return stringify(v);
    } catch (e) {
      if (isObject(e) && getPrototypeOf(e) === TypeError.prototype) {
        const message = e.message;
        if (typeof message === 'string' &&
            (begins(message, 'Converting circular structure to JSON') || begins(message, 'Do not know how to serialize a BigInt'))) {
          fail(message, where);
        }
      }
      throw e;
    }
  }

  function begins(text, prefix) {
    for (let i = 0; i < prefix.length; i++) if (text[i] !== prefix[i]) return false;
    return true;
  }

  function ends(text, suffix) {
    const from = text.length - suffix.length;
    if (from < 0) return false;
    for (let i = 0; i < suffix.length; i++) if (text[from + i] !== suffix[i]) return false;
    return true;
  }

  // Whether JSON text is that of an object or array.
  const isObjectText = (json) => json[0] === '{' || json[0] === '[';

  const maxNameLength = 128;

  function isToolName(name) {
    if (name.length === 0 || name.length > maxNameLength) return false;
    for (let i = 0; i < name.length; i++) {
      const c = name[i];
      const ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c === '_' || c === '-' || c === '.';
      if (!ok) return false;
    }
    return true;
  }

  // ---- Origins -----------------------------------------------------------------------

  function toURL(text) {
    try {
      return new URL(text);
    } catch {
      return undefined;
    }
  }

  function isLoopback(host) {
    if (host === 'localhost' || ends(host, '.localhost') || host === '[::1]') return true;
    if (!begins(host, '127.')) return false;
    for (let i = 0; i < host.length; i++) if (host[i] !== '.' && !(host[i] >= '0' && host[i] <= '9')) return false;
    return true;
  }

  // The origin that text names, if it is potentially trustworthy, else undefined.
  function secureOrigin(text) {
    const url = toURL(text);
    if (url === undefined) return undefined;
    const protocol = apply(getProtocol, url, []), origin = apply(getOrigin, url, []);
    if (protocol === 'blob:' || protocol === 'filesystem:') return origin === 'null' ? undefined : secureOrigin(origin);
    if (protocol === 'https:' || protocol === 'wss:' || protocol === 'file:') return origin;
    if (protocol === 'chrome-extension:') return origin;
    return isLoopback(apply(getHostname, url, [])) ? origin : undefined;
  }

  function secureOrigins(list, option) {
    const origins = [];
    for (let i = 0; i < list.length; i++) {
      const origin = secureOrigin(list[i]);
      if (origin === undefined) {
        throw cleaned(new DOMException('Only secure origins are allowed in the ' + option + ' list.', 'SecurityError'));
      }
      append(origins, origin);
    }
    return origins;
  }

  // ---- One document's state ------------------------------------------------------------

  // From a Document to its ModelContext, and from there, by a private field, to the state.
  const contexts = new WeakMap();
  let attending = false;

  function contextOf(doc) {
    let context = apply(mapGet, contexts, [doc]);
    if (context !== undefined) return context;
    takeRest();
    context = construct(EventTarget, [], ModelContext);
    apply(mapSet, contexts, [doc, context]);
    const state = newState(doc, context);
    new (brands().Held)(context, state);
    if (canMeet) {
      attend(context, () => state.peer);
      if (!attending) {
        attending = true;
        attend(apply(getPerformance, window, []), () => currentState()?.peer);
      }
    }
    if (state.held) {
      announce(state);
      apply(setTimeout, window, [() => {
        if (state.held) rule(state, isSameOriginTree());
      }, rulingMs]);
    }
    // The door: as an event listener it does nothing, called without an event it opens.
    const door = (...given) => (given.length === 0 ? state.api : undefined);
    if (!late) apply(addEventListener, context, [config.door, door]);
    if (isActive(state)) {
      attempt(() => {
        // The document of a window that is used again may have forms by now.
        if (apply(mapGet, watches, [doc]) === undefined) changed(watchForms(doc), []);
      });
      const look = () => void nativeOf(state);
      const once = {__proto__: null, once: true};
      apply(addEventListener, doc, ['DOMContentLoaded', look, once]);
      apply(addEventListener, window, ['load', look, once]);
    }
    return context;
  }

  function newState(doc, context) {
    const state = {
      __proto__: null, doc, context, origin: ownOrigin,
      tools: {__proto__: null}, first: undefined, last: undefined,  // by name; in order of registration
      handlers: {__proto__: null},                                  // of ontoolchange and the like
      port: undefined, head: undefined, tail: undefined, job: undefined,  // the queue of tasks
      calls: {__proto__: null},                                     // aster's own runs, by id
      marked: {__proto__: null}, changed: undefined, lastChanged: undefined, flushing: false,
      known: {__proto__: null}, announced: false,                   // what aster has been told
      native: undefined, handed: {__proto__: null},                 // set by the hand-over
      held: config.broker, denied: false, refusals: [],             // until aster's ruling; what it refuses
      requests: {__proto__: null}, lastRequest: 0, lastTool: 0,     // what aster has been asked for, by id
      api: undefined, peer: undefined,
    };
    state.api = newApi(state);
    state.peer = newPeer(state);
    if (!isActive(state)) state.held = false;
    return state;
  }

  // The state of the window's document now, if its modelContext was ever read.
  function currentState() {
    const context = apply(mapGet, contexts, [document]);
    return context === undefined ? undefined : brands().Held.state(context);
  }

  const isActive = (state) => window.document === state.doc && apply(getDefaultView, state.doc, []) === window;

  function check(state) {
    if (!isActive(state)) refuse('The document is not active.');
    if (config.compat <= lastKeyed && !originKeyed) {
      refuse('document.modelContext cannot be used when document.domain is enabled.', 'SecurityError');
    }
    if (state.denied) throw notAllowed();
  }

  // ---- The ruling ------------------------------------------------------------------------
  // Whether the document's policies let it use tools, aster says in answer to the api
  // object. Until then everything happens but that it shows: no task runs, no promise
  // settles. If aster does not answer, the default of the policy counts.

  const rulingMs = 3000;
  const notAllowed = () => bare(new DOMException('Access to the feature "tools" is disallowed by permissions policy.', 'NotAllowedError'));

  function isSameOriginTree() {
    const ancestors = location.ancestorOrigins;
    for (let i = 0; i < maxAncestors && typeof ancestors[i] === 'string'; i++) if (ancestors[i] !== self.origin) return false;
    return true;
  }

  function rule(state, allowed) {
    state.denied = !allowed;
    if (!allowed) {
      leaveForms(state.doc);
      for (let tool = state.first; tool !== undefined; tool = tool.next) remove(state, tool);
      for (let i = 0; i < state.refusals.length; i++) state.refusals[i]();
    }
    state.refusals = [];
    if (!state.held) return;
    state.held = false;
    for (let job = state.head; job !== undefined; job = job.next) apply(postMessage, state.port, [0]);
  }

  // The promise of an operation, which a ruling may refuse.
  function pending(state) {
    const d = deferred();
    if (state.held) {
      const error = notAllowed();
      append(state.refusals, () => d.reject(error));
    }
    return d;
  }

  // ---- Tasks -----------------------------------------------------------------------------

  // Queues a task of two parts; the microtasks that now leaves run before after, as
  // they do between two steps of a native task. hops is how many turns of the event
  // loop the task waits: Chromium's way through the browser process takes about two.
  // Tasks of equal hops keep their order.
  function post(state, hops, now, after = nothing) {
    if (state.port === undefined) openPort(state);
    // No turn to wait and nobody before it: the caller is a task of its own.
    if (hops === 0 && state.head === undefined && !state.held) {
      now();
      now = nothing;
    }
    enqueue(state, {__proto__: null, hops, now, after, next: undefined});
  }

  function enqueue(state, job) {
    job.next = undefined;
    if (state.head === undefined) state.head = job;
    else state.tail.next = job;
    state.tail = job;
    if (!state.held) apply(postMessage, state.port, [0]);
  }

  function openPort(state) {
    const channel = new MessageChannel();
    const port = apply(getPort1, channel, []);
    state.port = apply(getPort2, channel, []);
    apply(addEventListener, port, ['message', () => {
      const job = state.head;
      if (job === undefined) return;
      state.head = job.next;
      if (--job.hops > 0) {
        enqueue(state, job);
        return;
      }
      state.job = job;
      job.now();
    }]);
    apply(addEventListener, port, ['message', () => {
      const job = state.job;
      state.job = undefined;
      if (job !== undefined) job.after();
    }]);
    apply(start, port, []);
  }

  // ---- Abort signals ------------------------------------------------------------------------

  // Calls act when signal aborts, whatever the page's own listeners do. The value ends it.
  function watch(signal, act) {
    const one = {
      __proto__: null,
      [iterator]: () => {
        let done = false;
        return {
          __proto__: null,
          next: () => {
            const step = {__proto__: null, done, value: signal};
            done = true;
            return step;
          },
        };
      },
    };
    const own = anySignal === undefined ? signal : apply(anySignal, AbortSignal, [one]);
    apply(addEventListener, own, ['abort', act]);
    return () => apply(removeEventListener, own, ['abort', act]);
  }

  const isAborted = (signal) => signal !== undefined && apply(getAborted, signal, []);

  // ---- Registration ---------------------------------------------------------------------------

  function register(state, given, options) {
    check(state);
    const tool = prepare(given, options, (name) => liveTool(state, name) !== undefined);
    check(state);  // toJSON is the page's code, and may have removed this very frame
    return commit(state, tool);
  }

  // Checks a tool, in Chromium's order, and makes the record of it.
  function prepare(given, options, isTaken) {
    const {name, title, description, annotations, execute} = given, {signal} = options;
    if (isTaken(name)) refuse('Duplicate tool name');
    if (!isToolName(name)) refuse('Invalid tool name');
    if (description === '') refuse('Description is required');
    const schema = toSchemaText(given.inputSchema, 'input'), output = toSchemaText(given.outputSchema, 'output');
    // toJSON is the page's code, and may have registered this very name.
    if (isTaken(name)) refuse('Duplicate tool name');
    if (isAborted(signal)) throw apply(getReason, signal, []);
    const exposedTo = secureOrigins(options.exposedTo, 'exposedTo');
    return {
      __proto__: null, id: '', name, title, description, schema, output, annotations, exposedTo, execute, signal,
      form: undefined, autosubmit: false, unwatch: nothing, native: undefined, previous: undefined, next: undefined,
    };
  }

  function toSchemaText(v, which) {
    if (v === undefined) return undefined;
    const where = executing('registerTool'), text = toJSONText(v, where);
    if (text === undefined) fail('invalid ' + which + ' schema: toJSON() returns undefined', where);
    return text;
  }

  function commit(state, tool) {
    const d = pending(state), signal = tool.signal;
    add(state, tool);
    if (signal !== undefined) {
      tool.unwatch = watch(signal, () => {
        d.reject(apply(getReason, signal, []));
        remove(state, tool);
      });
    }
    post(state, 2, () => tellChange(state), d.resolve);
    return d.promise;
  }

  function add(state, tool) {
    state.tools[tool.name] = tool;
    tool.id = '' + ++state.lastTool;
    tool.previous = state.last;
    if (state.last === undefined) state.first = tool;
    else state.last.next = tool;
    state.last = tool;
    mark(state, tool.name);
  }

  function remove(state, tool) {
    if (tool.native !== undefined) apply(abort, tool.native, []);
    if (state.tools[tool.name] !== tool) return;
    forget(state, tool);
    mark(state, tool.name);
    post(state, 2, () => tellChange(state));
  }

  function forget(state, tool) {
    delete state.tools[tool.name];
    if (tool.previous === undefined) state.first = tool.next;
    else tool.previous.next = tool.next;
    if (tool.next === undefined) state.last = tool.previous;
    else tool.next.previous = tool.previous;
    tool.unwatch();
  }

  // The tool of that name, and with an id only that registration of it. A signal that has
  // aborted counts at once, also while the page's own listeners, which run before ours, are
  // still being called.
  function liveTool(state, name, id = undefined) {
    flushForms(state);
    const tool = state.tools[name];
    if (tool === undefined || (id !== undefined && tool.id !== id)) return undefined;
    if (!isAborted(tool.signal)) return tool;
    remove(state, tool);
    return undefined;
  }

  // ---- Listing --------------------------------------------------------------------------------

  function getTools(state, options) {
    check(state);
    const wanted = secureOrigins(options.fromOrigins, 'fromOrigins'), views = [];
    forEachPeer(state, (peer, path) => {
      append(views, {__proto__: null, view: peer.view, origin: peer.origin, path, list: peer.list(), ruling: peer.ruling});
    }, (view, path) => append(views, {__proto__: null, view, path, list: undefined, ruling: nothing}));
    let asks = '';
    for (let i = 0; i < wanted.length; i++) if (wanted[i] !== state.origin) asks += (asks && ',') + quote(wanted[i]);
    const d = pending(state);
    const settle = (hops, others) => {
      post(state, hops, nothing, () => {
        for (let i = 0; i < views.length; i++) {
          if (views[i].ruling() === null) {
            settle(1, others);
            return;
          }
        }
        const tools = [], found = findTools(views, others);
        for (let i = 0; i < found.length; i++) {
          if (!apply(getClosed, found[i].view, [])) append(tools, toPageTool(found[i]));
        }
        d.resolve(tools);
      });
    };
    if (asks === '' || !canAsk(state)) settle(2, {__proto__: null});
    else request(state, '"list","origins":[' + asks + ']', (kind, value) => settle(1, parse(value || '{}')));
    return d.promise;
  }

  // The tools of all views, those of other origins as aster lists them by path, sorted.
  function findTools(views, others) {
    const found = [];
    for (let i = 0; i < views.length; i++) {
      const {view, path, list, ruling} = views[i], other = list === undefined ? others[path] : undefined;
      const tools = ruling() === false ? [] : list ?? other?.tools ?? [], origin = other?.origin ?? views[i].origin;
      for (let j = 0; j < tools.length; j++) {
        const tool = tools[j], {schema} = tool;
        if (schema === undefined || isObjectText(schema)) append(found, {__proto__: null, tool, view, origin});
      }
    }
    apply(sort, found, [(a, b) => (a.tool.name < b.tool.name ? -1 : a.tool.name > b.tool.name ? 1 : 0)]);
    return found;
  }

  function toPageTool({tool, view, origin}) {
    const {id, name, title, description, annotations: a, schema, output} = tool;
    const annotations = a && {
      consequentialHint: a.consequentialHint, debugging: a.debugging,
      readOnlyHint: a.readOnlyHint, untrustedContentHint: a.untrustedContentHint,
    };
    const inputSchema = schema && parse(schema);
    // One that is no object counts as none.
    const outputSchema = output && isObjectText(output) ? parse(output) : undefined;
    if (hasTools) {
      return newTool({
        __proto__: null, object: undefined, id, name, title, description, origin, source: view,
        inputSchema: inputSchema ?? null, outputSchema: outputSchema ?? null, annotations: annotations ?? null,
      });
    }
    return {
      ...(a && {annotations}),
      description,
      ...(inputSchema && {inputSchema}),
      name,
      origin,
      ...(outputSchema && {outputSchema}),
      title,
      window: view,
    };
  }

  // Tool objects are event targets inside, so that no page can clone them, and so that the
  // shims of other frames can ask what they stand for.
  function newTool(values) {
    const tool = values.object = construct(EventTarget, [], Tool);
    new (brands().Listed)(tool, values);
    if (canMeet) attend(tool, () => values);
    return tool;
  }

  // What a Tool of this realm or another stands for; undefined for anything else.
  function listedOf(x) {
    const own = brands().Listed.of(x);
    if (own !== undefined || !isObject(x)) return own;
    const values = meet(x);
    return values?.object === x ? values : undefined;
  }

  // ---- Execution: the caller's side --------------------------------------------------------------

  // As an error that comes from another process: with a stack that has no frames.
  const distant = (error) => cleaned(error, nothing);
  const unknownError = (text) => distant(new DOMException(text, 'UnknownError'));
  const transient = 'The operation failed for an unknown transient reason (e.g. out of memory).';
  const invocationFailed = 'Tool was executed but the invocation failed. For example, the script function threw an error';
  const badInput = 'Failed to parse input arguments';
  const notFound = (name) => 'Tool not found: ' + name;

  function toInputText(input, where) {
    if (input === undefined) return '{}';
    if (!isObject(input)) fail('invalid input object: value is not an object', where);
    const json = toJSONText(input, where);
    if (json === undefined) fail('invalid input object: toJSON() returns undefined', where);
    return json;
  }

  function executeTool(state, tool, input, options) {
    check(state);
    const {name, id} = tool;
    let {origin} = tool;
    if (id === undefined) {
      const url = toURL(origin);
      if (url === undefined) refuse('The provided origin is invalid.', 'NotSupportedError');
      origin = apply(getOrigin, url, []);
    }
    if (origin === 'null') {
      refuse('Cannot execute tools that live in a document with an opaque origin.', 'NotSupportedError');
    }
    const json = toInputText(input, executing('executeTool'));
    if (apply(getClosed, tool.view, [])) throw cleaned(new DOMException('Target frame is detached.', 'InvalidStateError'));
    const signal = options.signal;
    if (isAborted(signal)) throw apply(getReason, signal, []);
    const d = pending(state);
    const peer = tool.view === window ? state.peer : peerAt(tool.view);
    const other = peer === undefined && origin !== state.origin && canAsk(state) ? distantPeer(state, tool.view, origin) : undefined;
    if (other !== undefined) call(state, other, name, id, json, signal, d);
    else if (peer === undefined || peer.origin !== origin || !peer.has(name, id) || !inSameTree(tool.view)) {
      post(state, 2, () => d.reject(unknownError(transient)));
    } else call(state, peer, name, id, json, signal, d);
    return d.promise;
  }

  function call(state, peer, name, id, json, signal, d) {
    const foreign = peer !== state.peer;
    let unwatch = nothing, unleave = nothing;
    const cancel = peer.begin(name, id, json, foreign, (kind, value) => {
      unwatch();
      unleave();
      const settle = {
        __proto__: null,
        completed: () => d.resolve(value),
        failed: () => d.reject(unknownError(invocationFailed)),
        bad: () => d.reject(unknownError(badInput)),
        missing: () => d.reject(unknownError(notFound(name))),
        gone: () => d.reject(unknownError(transient)),
        refused: () => d.reject(unknownError(value)),
        dropped: () => d.reject(unknownError(value)),
        navigated: () => d.resolve(null),
        canceled: nothing,
      }[kind];
      post(state, 2, settle);
    });
    if (signal !== undefined) {
      unwatch = watch(signal, () => {
        d.reject(apply(getReason, signal, []));
        cancel();
      });
    }
    if (foreign) unleave = onLeave(cancel);
  }

  // Calls act when this window's document goes away; not when it is put in the
  // back/forward cache. The value ends it.
  function onLeave(act) {
    const left = (e) => {
      if (!e.persisted) act();
    };
    const capture = {__proto__: null, capture: true};
    apply(addEventListener, window, ['pagehide', left, capture]);
    return () => apply(removeEventListener, window, ['pagehide', left, capture]);
  }

  // ---- Execution: the tool's side ----------------------------------------------------------------

  // Queues a run, of the registration with that id if one is given, and returns a function
  // that cancels it. done gets its end: "completed"
  // with the output, "failed" with what was thrown, "bad" input, "missing" tool,
  // "canceled", or "gone" with the document (told to foreign callers only); of a form also
  // "refused" or "dropped", with the reason, and "navigated", with the target. waits is
  // called with a button's label when the user has to press it.
  function begin(state, name, id, json, foreign, done, hops = 1, waits = nothing) {
    const run = {__proto__: null, name, id, done, waits, after: nothing, call: undefined, over: false, canceled: false, unleave: nothing};
    if (foreign) run.unleave = onLeave(() => finish(run, 'gone'));
    post(state, hops, () => startRun(state, run, json), () => {
      if (run.call !== undefined && isActive(state)) fire(state, makeEvent(ToolActivatedEvent, 'toolactivated', run.name));
      run.after();
    });
    return () => post(state, 1, () => abortRun(run), () => {
      if (!run.canceled) return;
      run.canceled = false;
      if (isActive(state)) fire(state, makeEvent(ToolCancelEvent, 'toolcancel', run.name));
      run.unleave();
      run.done('canceled');
    });
  }

  function startRun(state, run, json) {
    const tool = liveTool(state, run.name, run.id);
    if (tool === undefined) {
      finish(run, 'missing');
      return;
    }
    if (tool.form !== undefined) {
      startForm(state, run, tool.form, json);
      return;
    }
    run.call = realmOf(state, tool.execute)(tool.execute, json, (value, threw) => follow(run, value, threw));
    if (run.call.bad) finish(run, 'bad');
  }

  function follow(run, value, threw) {
    const failed = (e) => {
      if (!run.over) apply(consoleError, theConsole, ['WebMCP tool execution failed:', e]);
      finish(run, 'failed', e);
    };
    if (threw) {
      failed(value);
      return;
    }
    awaitAlone(value, (given) => {
      let output;
      try {
        output = toOutput(given);
      } catch (e) {
        failed(e);
        return;
      }
      finish(run, 'completed', output);
    }, failed);
  }

  function finish(run, kind, value) {
    if (run.over) return;
    run.over = true;
    run.unleave();
    run.done(kind, value);
  }

  function abortRun(run) {
    if (run.over) return;
    run.over = true;
    run.canceled = true;
    run.call.abort(distant(new DOMException('signal is aborted without reason', 'AbortError')));
  }

  // Runs a callback of this realm; its input, options and signal are of this realm too.
  // ended gets what it returns or throws.
  function invoke(execute, json, ended) {
    const call = {__proto__: null, bad: false, abort: nothing};
    let input;
    try {
      input = parse(json);
    } catch {
      // Then it is undefined.
    }
    if (!isObject(input)) {
      call.bad = true;
      return call;
    }
    const controller = new AbortController();
    const signal = apply(getSignal, controller, []);
    const options = config.legacy ? {signal, requestUserInteraction} : {signal};
    call.abort = (reason) => apply(abort, controller, [reason]);
    callAlone(execute, [input, options], (value) => ended(value, false), (e) => ended(e, true));
    return call;
  }

  // The invoke of the realm that a callback belongs to.
  function realmOf(state, f) {
    if (owns(f)) return invoke;
    let found = invoke;
    forEachPeer(state, (peer) => {
      if (peer.owns(f)) found = peer.invoke;
    });
    return found;
  }

  const maxPrototypes = 100;

  function owns(f) {
    try {
      let p = getPrototypeOf(f);
      for (let i = 0; i < maxPrototypes && p !== null; i++) {
        if (p === FunctionPrototype) return true;
        p = getPrototypeOf(p);
      }
    } catch {
      // A proxy that does not tell.
    }
    return false;
  }

  // The text that a caller gets for the value of a callback.
  function toOutput(v) {
    if (isObject(v)) {
      const json = stringify(v);
      return json === undefined ? 'undefined' : json;
    }
    if (typeof v === 'symbol') throw distant(new TypeError('Cannot convert a Symbol value to a string'));
    return v === '' ? 'Operation succeeded' : apply(toWellFormed, '' + v, []);
  }

  // ---- Events -------------------------------------------------------------------------------------

  const fire = (state, event) => apply(dispatchEvent, state.context, [event]);

  function makeEvent(Interface, type, toolName) {
    return new (brands().Told)(construct(Event, [type], Interface), Interface, toolName);
  }

  // Tells every document of the page with this origin. Aster tells the others.
  function tellChange(state) {
    if (state.denied || !isActive(state)) return;
    forEachPeer(state, (peer) => peer.change());
  }

  function getHandler(state, type) {
    const handler = state.handlers[type];
    return handler === undefined ? null : handler.value;
  }

  function setHandler(state, type, value) {
    let handler = state.handlers[type];
    if (!isObject(value)) {
      if (handler === undefined) return;
      delete state.handlers[type];
      handler.value = null;
      apply(removeEventListener, state.context, [type, handler.listener]);
      return;
    }
    if (handler !== undefined) {
      handler.value = value;
      return;
    }
    handler = {__proto__: null, value, listener: undefined};
    handler.listener = (e) => {
      if (typeof handler.value !== 'function') return;
      if (apply(handler.value, state.context, [e]) === false) apply(preventDefault, e, []);
    };
    state.handlers[type] = handler;
    apply(addEventListener, state.context, [type, handler.listener]);
  }

  // ---- Other frames ----------------------------------------------------------------------------------
  // Each frame has its own shim. Two of them meet through an event whose type only shims
  // know, dispatched at an object that is genuine wherever it comes from: the window's
  // performance object, or a ModelContext. The listener puts its peer record on the
  // event. The records can do nothing that a same-origin page may not do anyway.

  function attend(target, peer) {
    apply(addEventListener, target, [config.meeting, (e) => {
      defineProperty(e, 'peer', {__proto__: null, value: peer()});
    }]);
  }

  function meet(target) {
    if (!canMeet) return undefined;
    const e = new Event(config.meeting);
    try {
      apply(dispatchEvent, target, [e]);
    } catch {
      return undefined;  // not an event target
    }
    return getOwnPropertyDescriptor(e, 'peer')?.value;
  }

  // The peer of a window's document: undefined for another origin, or when nobody ever
  // read that document's modelContext.
  function peerAt(view) {
    let doc, performance;
    try {
      doc = view.document;
      performance = apply(getPerformance, view, []);
    } catch {
      return undefined;
    }
    const peer = meet(performance);
    return peer !== undefined && peer.doc === doc ? peer : undefined;
  }

  function inSameTree(view) {
    try {
      return view.top === window.top;
    } catch {
      return false;
    }
  }

  // Visits the windows of the page, in the order of the frame tree. The path says where
  // one is: ".0.2" is the third frame in the first of the top window.
  function forEachView(visit) {
    const walk = (view, path) => {
      visit(view, path);
      const n = apply(getLength, view, []);
      for (let i = 0; i < n; i++) {
        const child = view[i];
        if (isWindow(child)) walk(child, path + '.' + i);
      }
    };
    if (window.top !== null) walk(window.top, '');
  }

  // Visits the documents of the page with this origin, and with other the windows that
  // have none. An opaque origin is only itself.
  function forEachPeer(state, visit, other = nothing) {
    if (state.origin === 'null') {
      visit(state.peer, '');
      return;
    }
    let own = false;
    forEachView((view, path) => {
      const peer = view === window ? currentState()?.peer : peerAt(view);
      own ||= peer === state.peer;
      if (peer !== undefined && peer.origin === state.origin) visit(peer, path);
      else other(view, path);
    });
    if (!own) visit(state.peer, '?');  // in a shadow root, where no window leads to
  }

  // ---- Other origins ---------------------------------------------------------------------------------

  const canAsk = (state) => config.broker && notify !== undefined && state.origin !== 'null';

  // Asks aster for something; done gets the kind and the value of its answer.
  function request(state, text, done) {
    const id = '' + ++state.lastRequest;
    state.requests[id] = done;
    announce(state);
    if (fitting(text, config.limits.message - 1024) < text.length) answer(state, id, 'gone', '');
    else tell('{"id":"' + id + '","t":' + text + '}');
    return id;
  }

  function answer(state, id, kind, value) {
    const done = state.requests[id];
    delete state.requests[id];
    if (done !== undefined) done(kind, value);
  }

  // Stands for the document in a window of another origin; undefined if the window is
  // not of this page.
  function distantPeer(state, target, origin) {
    let at;
    forEachView((view, path) => {
      if (view === target) at = path;
    });
    return at === undefined ? undefined : {
      __proto__: null,
      begin: (name, id, json, foreign, done) => {
        const asked = request(state, '"run","path":"' + at + '","origin":' + quote(origin) + ',"name":' + quote(name) +
          (id === undefined ? '' : ',"tool":' + quote(id)) + ',"input":' + quote(json), done);
        return () => tell('{"t":"cancel","id":"' + asked + '"}');
      },
    };
  }

  function newPeer(state) {
    return {
      __proto__: null,
      doc: state.doc,
      view: window,
      origin: state.origin,
      context: state.context,
      has: (name, id) => liveTool(state, name, id) !== undefined,
      list: () => {
        findForms(state);
        const list = [];
        for (let tool = state.first; tool !== undefined; tool = tool.next) {
          if (!isAborted(tool.signal)) append(list, tool);
        }
        return list;
      },
      begin: (name, id, json, foreign, done) => begin(state, name, id, json, foreign, done),
      change: () => fire(state, new Event('toolchange')),
      ruling: () => (state.held ? null : !state.denied),
      owns,
      invoke,
      perform: (method, a, b, c, below) => perform(state, method, a, b, c, below),
      getHandler: (type) => getHandler(state, type),
      setHandler: (type, value) => setHandler(state, type, value),
      native: () => nativeOf(state),
    };
  }

  // The peer of a ModelContext of this realm or another, else undefined.
  function peerOf(context) {
    const state = brands().Held.state(context);
    if (state !== undefined) return state.peer;
    if (typeof context !== 'object' || context === null) return undefined;
    const peer = meet(context);
    return peer !== undefined && peer.context === context ? peer : undefined;
  }

  // ---- The interfaces --------------------------------------------------------------------------------

  function converted(method, a, b, c, where) {
    if (method === 'registerTool') return {__proto__: null, a: toTool(a, where), b: toRegisterOptions(b, where)};
    if (method === 'getTools') return {__proto__: null, a: toGetOptions(a, where)};
    return {__proto__: null, a: toRegisteredTool(a, where), b, c: toExecuteOptions(c, where)};
  }

  function perform(state, method, a, b, c, below) {
    try {
      return bounded(below, () => (method === 'registerTool' ? register : method === 'getTools' ? getTools : executeTool)(state, a, b, c));
    } catch (e) {
      if (!state.held || !isActive(state)) return rejected(e);
      const d = bounded(below, () => pending(state));
      post(state, 0, () => d.reject(e));
      return d.promise;
    }
  }

  // Arguments are converted in the realm of the method; the rest happens in the realm
  // of the object. No operation throws: it returns a rejected promise.
  function operate(context, method, given, least, a, b, c) {
    let peer, args, native;
    const below = methods[method];
    takeRest();
    try {
      bounded(below, () => {
        const where = executing(method);
        peer = peerOf(context);
        if (peer === undefined) fail('Illegal invocation', where);
        native = peer.native();
        if (native !== undefined) return;
        if (given < least) fail(least + ' argument required, but only ' + given + ' present.', where);
        args = converted(method, a, b, c, where);
      });
      if (native !== undefined) return apply(native[method], native, given === 0 ? [] : [a, b, c]);
    } catch (e) {
      return rejected(e);
    }
    return peer.perform(method, args.a, args.b, args.c, below);
  }

  function ModelContext() {
    fail('Illegal constructor', new.target === undefined ? '' : "Failed to construct 'ModelContext': ", ModelContext);
  }

  function Tool() {
    fail('Illegal constructor', new.target === undefined ? '' : "Failed to construct 'Tool': ", Tool);
  }

  function valuesOf(tool, key) {
    const values = listedOf(tool);
    if (values === undefined) fail('Illegal invocation', '', accessorOf(Tool.prototype, key).get);
    return values[key];
  }

  function toolMembers() {
    const members = {}, names = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations', 'origin', 'source'];
    for (let i = 0; i < names.length; i++) {
      const key = names[i], getter = {
        get [key]() {
          return valuesOf(this, key);
        },
      };
      accessor(members, key, getterOf(getter, key));
    }
    return members;
  }

  const accessorOf = (object, key) => getOwnPropertyDescriptor(object, key) ?? {__proto__: null};

  function handlerPeer(context, key, which) {
    const peer = peerOf(context);
    if (peer === undefined) fail('Illegal invocation', '', accessorOf(contextMembers, key)[which]);
    return peer;
  }

  const methods = {
    __proto__: null,
    executeTool(tool, input = undefined, options = undefined) {
      return operate(this, 'executeTool', arguments.length, 1, tool, input, options);
    },
    getTools(options = undefined) {
      return operate(this, 'getTools', arguments.length, 0, options, undefined, undefined);
    },
    registerTool(tool, options = undefined) {
      return operate(this, 'registerTool', arguments.length, 1, tool, options, undefined);
    },
  };

  const contextMembers = {
    __proto__: EventTarget.prototype,
    get ontoolchange() {
      return handlerPeer(this, 'ontoolchange', 'get').getHandler('toolchange');
    },
    set ontoolchange(value) {
      handlerPeer(this, 'ontoolchange', 'set').setHandler('toolchange', value);
    },
    get ontoolactivated() {
      return handlerPeer(this, 'ontoolactivated', 'get').getHandler('toolactivated');
    },
    set ontoolactivated(value) {
      handlerPeer(this, 'ontoolactivated', 'set').setHandler('toolactivated', value);
    },
    get ontoolcancel() {
      return handlerPeer(this, 'ontoolcancel', 'get').getHandler('toolcancel');
    },
    set ontoolcancel(value) {
      handlerPeer(this, 'ontoolcancel', 'set').setHandler('toolcancel', value);
    },
    ...methods,
  };

  function constructEvent(Interface, name, target, given, type, init) {
    const where = "Failed to construct '" + name + "': ";
    if (target === undefined) {
      fail("Please use the 'new' operator, this DOM object constructor cannot be called as a function.", where);
    }
    if (given === 0) fail('1 argument required, but only 0 present.', where);
    type = toText(type, where);
    const dictionary = name + 'Init';
    const o = toDictionary(init, where, dictionary) ?? {__proto__: null};
    const eventInit = {__proto__: null, bubbles: !!o.bubbles, cancelable: !!o.cancelable, composed: !!o.composed};
    const toolName = o.toolName;
    const text = toolName === undefined ? '' : toText(toolName, reading(where, 'toolName', dictionary));
    return new (brands().Told)(construct(Event, [type, eventInit], target), Interface, text);
  }

  function ToolActivatedEvent(type, init = undefined) {
    return bounded(ToolActivatedEvent, () => constructEvent(ToolActivatedEvent, 'ToolActivatedEvent', new.target, arguments.length, type, init));
  }
  const activatedMembers = {
    __proto__: Event.prototype,
    get toolName() {
      return brands().Told.toolName(this, ToolActivatedEvent);
    },
  };

  function ToolCancelEvent(type, init = undefined) {
    return bounded(ToolCancelEvent, () => constructEvent(ToolCancelEvent, 'ToolCancelEvent', new.target, arguments.length, type, init));
  }
  const cancelMembers = {
    __proto__: Event.prototype,
    get toolName() {
      return brands().Told.toolName(this, ToolCancelEvent);
    },
  };

  const documentMembers = {
    __proto__: null,
    get modelContext() {
      let view;
      takeRest();
      try {
        view = apply(getDefaultView, this, []);
      } catch {
        fail('Illegal invocation', '', modelContextGetter);
      }
      return view === null || view === window ? contextOf(this) : foreignContext(this, view);
    },
  };
  const modelContextGetter = getterOf(documentMembers, 'modelContext');

  // Another realm's document: its own ModelContext, as its own getter gives it.
  function foreignContext(doc, view) {
    let peer = peerAt(view);
    if (peer === undefined) {
      try {
        peer = peerOf(doc.modelContext);
      } catch {
        // The page put something of its own there.
      }
    }
    return peer !== undefined && peer.doc === doc ? peer.context : contextOf(doc);
  }

  function hidden(object, key, value, writable) {
    return defineProperty(object, key, {__proto__: null, value, writable, enumerable: false, configurable: true});
  }

  function accessor(object, key, get) {
    return defineProperty(object, key, {__proto__: null, get, set: undefined, enumerable: true, configurable: true});
  }

  function install(Interface, members, Parent) {
    const name = Interface.name;
    hidden(members, 'constructor', Interface, true);
    hidden(members, toStringTag, name, false);
    defineProperty(Interface, 'prototype', {__proto__: null, value: members, writable: false});
    Reflect.setPrototypeOf(Interface, Parent);
    return hidden(window, name, Interface, true);
  }

  // ---- Hand-over to native WebMCP ------------------------------------------------------------------------
  // An origin-trial token that comes after the document's start (a <meta>) gives the page
  // the browser's own WebMCP, which overwrites our property. Then the tools move there.

  function nativeOf(state) {
    if (state.native !== undefined) return state.native;
    const property = getOwnPropertyDescriptor(DocumentPrototype, 'modelContext');
    if (property === undefined || property.get === modelContextGetter) return undefined;
    if (!isNative(property.get, 'get modelContext') || !isActive(state)) return undefined;
    state.native = apply(property.get, state.doc, []);
    apply(addEventListener, state.native, ['toolchange', () => fire(state, new Event('toolchange'))]);
    apply(addEventListener, state.native, ['toolactivated', (e) => fire(state, makeEvent(ToolActivatedEvent, 'toolactivated', e.toolName))]);
    apply(addEventListener, state.native, ['toolcancel', (e) => fire(state, makeEvent(ToolCancelEvent, 'toolcancel', e.toolName))]);
    const first = state.first;
    state.tools = {__proto__: null};
    state.first = state.last = undefined;
    leaveForms(state.doc);
    for (let tool = first; tool !== undefined; tool = tool.next) {
      if (tool.form === undefined && !isAborted(tool.signal)) handOver(state, tool);
    }
    state.marked = {__proto__: null};
    state.known = {__proto__: null};
    state.changed = state.lastChanged = undefined;
    if (state.announced && notify !== undefined) tell('{"t":"tools","reset":true}');
    return state.native;
  }

  function handOver(state, tool) {
    const {name, title, description, execute, annotations, schema, output, exposedTo} = tool;
    tool.native = new AbortController();
    state.handed[name] = tool;
    const again = (text) => text && {__proto__: null, toJSON: () => parse(text)};
    const inputSchema = again(schema), outputSchema = again(output);
    const given = {__proto__: null, name, title: title === '' ? undefined : title, description, execute, annotations, inputSchema, outputSchema};
    const options = {__proto__: null, signal: apply(getSignal, tool.native, []), exposedTo};
    void settled(apply(state.native.registerTool, state.native, [given, options]));
  }

  // Keeps a rejection from being reported.
  async function settled(promise) {
    try {
      await promise;
    } catch {
      // The registration was aborted, or the name is taken.
    }
  }

  // ---- The API of 2026's first drafts, for pages that were written for it -------------------------------------

  async function requestUserInteraction(callback) {
    if (typeof callback !== 'function') fail('The given value is not a function.');
    return apply(callback, undefined, []);
  }

  function ownState(context) {
    const state = brands().Held.state(context);
    if (state === undefined) fail('Illegal invocation');
    nativeOf(state);
    return state;
  }

  function removeAll(state) {
    for (let tool = state.first; tool !== undefined; tool = tool.next) if (tool.form === undefined) remove(state, tool);
    for (const name in state.handed) remove(state, state.handed[name]);
    state.handed = {__proto__: null};
  }

  function installLegacy() {
    const legacyMembers = {
      __proto__: null,
      clearContext() {
        removeAll(ownState(this));
      },
      // Replaces every tool of the document, or none if one of the new ones is bad.
      provideContext(params) {
        const state = ownState(this), where = "Failed to execute 'provideContext' on 'ModelContext': ";
        const tools = toDictionary(params, where, 'ProvideContextParams')?.tools;
        const names = {__proto__: null}, fresh = [], options = {__proto__: null, signal: undefined, exposedTo: []};
        if (tools !== undefined) {
          const at = reading(where, 'tools', 'ProvideContextParams');
          forEachOf(tools, at, (v) => append(fresh, toTool(v, at)));
        }
        check(state);
        for (let i = 0; i < fresh.length; i++) {
          fresh[i] = prepare(fresh[i], options, (name) => name in names);
          names[fresh[i].name] = true;
        }
        removeAll(state);
        for (let i = 0; i < fresh.length; i++) {
          if (state.native === undefined) commit(state, fresh[i]);
          else handOver(state, fresh[i]);
        }
      },
      unregisterTool(name) {
        const state = ownState(this);
        name = toText(name, "Failed to execute 'unregisterTool' on 'ModelContext': ");
        const tool = liveTool(state, name) ?? state.handed[name];
        if (tool === undefined) refuse('Invalid tool name');
        delete state.handed[name];
        remove(state, tool);
      },
    };
    const navigatorMembers = {
      __proto__: null,
      get modelContext() {
        return contextOf(document);
      },
    };
    for (const name in legacyMembers) contextMembers[name] = legacyMembers[name];
    accessor(Navigator.prototype, 'modelContext', getterOf(navigatorMembers, 'modelContext'));
  }

  // ---- The line to aster ---------------------------------------------------------------------------------------

  const maxBatch = 1000, maxBatchLength = 4 << 20;

  function tell(x) {
    try {
      notify(x);
    } catch {
      // Nobody listens any more.
    }
  }

  const controls = '\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f' +
    '\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f';

  // A quote, a backslash or a control character as JSON has it.
  function escape(c) {
    for (let i = 0; i < 32; i++) if (c === controls[i]) return '\\u00' + (i < 16 ? '0' : '1') + '0123456789abcdef'[i % 16];
    return '\\' + c;
  }

  // A string as JSON text. A late document may hold a forged JSON.stringify.
  function quote(text) {
    if (typeof text !== 'string') return '""';
    if (!late) return stringify(text);
    let out = '"';
    for (let i = 0; i < text.length; i++) {
      const c = text[i];
      out += c < ' ' || c === '"' || c === '\\' ? escape(c) : c;
    }
    return out + '"';
  }

  // How much of text fits in max bytes of UTF-8 (a surrogate counted as three).
  function fitting(text, max) {
    if (text.length * 3 <= max) return text.length;
    let bytes = 0;
    for (let i = 0; i < text.length; i++) {
      bytes += text[i] < '\u0080' ? 1 : text[i] < '\u0800' ? 2 : 3;
      if (bytes > max) return i;
    }
    return text.length;
  }

  const ellipsis = '\u2026';

  function cut(text, max) {
    const n = fitting(text, max - 3);
    return n === text.length ? text : apply(slice, text, [0, n]) + ellipsis;
  }

  function schemaText(key, json) {
    return json !== undefined && isObjectText(json) && fitting(json, config.limits.schema) === json.length ? ',"' + key + '":' + quote(json) : '';
  }

  function toolText(tool) {
    const {limits} = config, a = tool.annotations;
    let text = '{"name":' + quote(tool.name) + ',"title":' + quote(cut(tool.title, limits.text)) +
      ',"description":' + quote(cut(tool.description, limits.text));
    if (hasTools) text += ',"id":' + quote(tool.id);
    text += schemaText('inputSchema', tool.schema) + schemaText('outputSchema', tool.output);
    if (a !== undefined) {
      text += ',"annotations":{"readOnlyHint":' + a.readOnlyHint + ',"untrustedContentHint":' + a.untrustedContentHint +
        ',"consequentialHint":' + a.consequentialHint + ',"debugging":' + a.debugging + '}';
    }
    if (tool.form !== undefined) text += ',"form":{"autosubmit":' + tool.autosubmit + '}';
    let origins = '';
    for (let i = 0; i < tool.exposedTo.length && i < limits.origins; i++) {
      origins += (origins && ',') + quote(cut(tool.exposedTo[i], limits.text));
    }
    return text + (origins && ',"exposedTo":[' + origins + ']') + '}';
  }

  // Notes that the tool of that name has come, gone or changed. What happens until the
  // next microtask is told in one message.
  function mark(state, name) {
    if (name in state.marked) return;
    state.marked[name] = true;
    const entry = {__proto__: null, name, next: undefined};
    if (state.changed === undefined) state.changed = entry;
    else state.lastChanged.next = entry;
    state.lastChanged = entry;
    if (state.flushing) return;
    state.flushing = true;
    void flushSoon(state);
  }

  async function flushSoon(state) {
    await undefined;
    state.flushing = false;
    let entry = state.changed;
    state.marked = {__proto__: null};
    state.changed = state.lastChanged = undefined;
    // A window that is used again has a new document, whose tools these would be taken for.
    if (notify === undefined || !isActive(state)) return;
    const batch = newBatch(false);
    for (; entry !== undefined; entry = entry.next) {
      const {name} = entry, tool = state.tools[name];
      if (name in state.known) {
        delete state.known[name];
        batch.remove += (batch.remove && ',') + quote(name);
        batch.count++;
      }
      if (tool !== undefined) addTo(state, batch, tool);
      if (isFull(batch)) send(state, batch);
    }
    send(state, batch);
  }

  // Tells every tool of the document.
  function tellAll(state) {
    state.marked = {__proto__: null};
    state.changed = state.lastChanged = undefined;
    state.known = {__proto__: null};
    const batch = newBatch(true);
    for (let tool = state.first; tool !== undefined; tool = tool.next) {
      addTo(state, batch, tool);
      if (isFull(batch)) send(state, batch);
    }
    send(state, batch);
  }

  const newBatch = (reset) => ({__proto__: null, reset, remove: '', add: '', count: 0});
  const isFull = (batch) => batch.count >= maxBatch || batch.add.length >= maxBatchLength;

  function addTo(state, batch, tool) {
    state.known[tool.name] = true;
    batch.add += (batch.add && ',') + toolText(tool);
    batch.count++;
  }

  function announce(state) {
    if (state.announced || notify === undefined) return;
    state.announced = true;
    tell(state.api);
  }

  function send(state, batch) {
    if (!batch.reset && batch.count === 0) return;
    announce(state);
    tell('{"t":"tools"' + (batch.reset ? ',"reset":true' : '') + (batch.remove && ',"remove":[' + batch.remove + ']') +
      (batch.add && ',"add":[' + batch.add + ']') + '}');
    batch.reset = false;
    batch.remove = batch.add = '';
    batch.count = 0;
  }

  function report(id, kind, value, name) {
    if (notify === undefined) return;
    const head = '{"t":"result","id":' + quote(id) + ',"kind":"' + kind + '","status":';
    const failed = (error, more) => tell(head + '"Error","error":' + quote(cut(error, config.limits.text)) + more + '}');
    if (kind === 'completed') {
      const message = head + '"Completed","output":' + quote(value) + '}';
      if (fitting(message, config.limits.message) === message.length) tell(message);
      else failed('the result is larger than ' + config.limits.message + ' bytes', '');
    } else if (kind === 'canceled' || kind === 'dropped') {
      tell(head + '"Canceled"' + (kind === 'dropped' ? ',"error":' + quote(value) : '') + '}');
    } else if (kind === 'navigated') {
      tell(head + '"Submitted","target":' + quote(cut(value, config.limits.text)) + '}');
    } else if (kind === 'refused') {
      failed(value, '');
    } else if (kind === 'missing') {
      failed(notFound(name), ',"notFound":true');
    } else if (kind === 'bad') {
      failed(badInput, '');
    } else {
      const {error, stack} = explain(value);
      failed(error, stack === undefined ? '' : ',"stack":' + quote(cut(stack, config.limits.text)));
    }
  }

  // What was thrown, in a line, and its stack.
  function explain(e) {
    try {
      if (!isObject(e) || !isError(e)) return {__proto__: null, error: firstLine(typeof e === 'symbol' ? 'a symbol' : toText(e, '')), stack: undefined};
      const name = toText(e.name, ''), message = toText(e.message, ''), {stack} = e;
      const error = firstLine(message === '' ? name : name === '' ? message : name + ': ' + message);
      return {__proto__: null, error, stack: typeof stack === 'string' ? stack : undefined};
    } catch {
      return {__proto__: null, error: 'an error that cannot be read', stack: undefined};
    }
  }

  function firstLine(text) {
    for (let i = 0; i < text.length; i++) if (text[i] === '\n') return apply(slice, text, [0, i]);
    return text;
  }

  function newApi(state) {
    const api = {
      __proto__: null,
      protocol: config.protocol,
      build: config.build,
      secret: config.secret,
      connect: (f) => {
        nativeOf(state);
        notify = f;
        state.announced = true;
        tellAll(state);
      },
      disconnect: () => {
        notify = undefined;
        for (const id in state.requests) answer(state, id, 'gone', '');
      },
      rule: (allowed) => rule(state, allowed === 'yes'),
      answer: (id, kind, value) => answer(state, id, kind, value),
      change: (times) => {
        for (let i = 0; i < +times; i++) post(state, 1, () => fire(state, new Event('toolchange')));
      },
      invoke: (id, name, args, tool) => {
        nativeOf(state);
        let over = false;
        const cancel = begin(state, name, tool, args, false, (kind, value) => {
          over = true;
          delete state.calls[id];
          report(id, kind, value, name);
        }, 0, (label) => {
          if (notify !== undefined) tell('{"t":"waiting","id":' + quote(id) + ',"button":' + quote(cut(label, config.limits.text)) + '}');
        });
        if (!over) state.calls[id] = cancel;
      },
      cancel: (id) => {
        const cancel = state.calls[id];
        if (cancel !== undefined) cancel();
      },
    };
    // A late document may hold a forged Object.freeze, which must not see this object.
    return late ? api : freeze(api);
  }

  // @include forms.js

  // ---- Installation -----------------------------------------------------------------------------------------------

  if (config.legacy) installLegacy();
  const installed = install(ModelContext, contextMembers, EventTarget) &&
    install(ToolActivatedEvent, activatedMembers, Event) &&
    install(ToolCancelEvent, cancelMembers, Event) &&
    (!hasTools || install(Tool, toolMembers(), FunctionPrototype)) &&
    accessor(DocumentPrototype, 'modelContext', modelContextGetter);
  if (!installed) return 'page';
  attempt(() => watchForms(document));
  return late ? brands().Held.aster(contextOf(document)) : undefined;
})

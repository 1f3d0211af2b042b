  // ---- Forms: which of them are tools -----------------------------------------------------------
  // forms.js is the declarative part of modelcontext.js, into whose function Go puts it.
  //
  // A <form toolname tooldescription> is a tool. While a document has none, an observer
  // says only that something changed, and a query, for a small share of the page's time,
  // looks for such a form. Once there is one, each change is looked at.
  //
  // What a form holds is the page's own. So the functions of the DOM need not be there
  // before the page's first script: they are taken at the document's first change, which
  // comes before that script. Later would be too late: recorders of sessions put their own
  // in place of what sets a control's value, and native WebMCP passes those by.

  const toolForms = 'form[toolname][tooldescription]';
  const formAttributes = ['toolname', 'tooldescription'];
  const watchedAttributes = [
    'toolname', 'tooldescription', 'tooltitle', 'toolautosubmit', 'toolparamdescription', 'aria-description', 'name', 'type',
    'required', 'min', 'max', 'step', 'pattern', 'multiple', 'disabled', 'readonly', 'form', 'id', 'value',
  ];
  const restAfterLook = 4, shareOfLooks = 50;  // milliseconds; how many times its duration a look is followed by rest

  const {Proxy, WeakRef, MutationObserver, setTimeout, reportError} = window;
  const {observe, disconnect, takeRecords} = MutationObserver.prototype;
  const {now} = Date;

  const none = [];
  let dom;     // functions of nodes
  let fields;  // functions of forms and their controls
  let wrapped = false;  // whether there was a form that is a tool
  const watches = new WeakMap();  // from a Document to what is known of its forms
  const shadows = new WeakMap();  // from a ShadowRoot to what is known of it
  const entries = new WeakMap();  // from a form to its entry

  const reader = (object, key) => {
    const get = getterOf(object, key);
    return (o) => apply(get, o, []);
  };
  const writer = (object, key) => {
    const {set} = getOwnPropertyDescriptor(object, key);
    return (o, value) => apply(set, o, [value]);
  };
  const method = (object, key) => {
    const f = object[key];
    return (o, ...given) => apply(f, o, given);
  };

  // Does what must not disturb the page.
  function attempt(act) {
    try {
      return act();
    } catch {
      return undefined;
    }
  }

  // Puts a function around a native one, which still looks native.
  function wrap(object, key, call) {
    const d = getOwnPropertyDescriptor(object, key);
    if (d === undefined || typeof d.value !== 'function') return;
    const value = new Proxy(d.value, {__proto__: null, apply: call});
    defineProperty(object, key, {__proto__: null, value, writable: d.writable, enumerable: d.enumerable, configurable: d.configurable});
  }

  function loadDOM() {
    const N = Node.prototype, E = Element.prototype, R = MutationRecord.prototype, F = DocumentFragment.prototype;
    dom = {
      __proto__: null,
      type: reader(N, 'nodeType'), data: reader(N, 'nodeValue'), text: reader(N, 'textContent'), parent: reader(N, 'parentNode'),
      first: reader(N, 'firstChild'), next: reader(N, 'nextSibling'), connected: reader(N, 'isConnected'), owner: reader(N, 'ownerDocument'),
      contains: method(N, 'contains'), root: method(N, 'getRootNode'),
      name: reader(E, 'localName'), shadow: reader(E, 'shadowRoot'), get: method(E, 'getAttribute'), has: method(E, 'hasAttribute'),
      matches: method(E, 'matches'), find: method(DocumentPrototype, 'querySelectorAll'), findIn: method(F, 'querySelectorAll'), findWithin: method(E, 'querySelectorAll'),
      host: reader(ShadowRoot.prototype, 'host'), count: reader(NodeList.prototype, 'length'),
      target: reader(R, 'target'), old: reader(R, 'oldValue'), which: getterOf(R, 'attributeName'),
      create: method(DocumentPrototype, 'createElementNS'), range: method(DocumentPrototype, 'createRange'), set: method(E, 'setAttribute'),
      eventTarget: reader(Event.prototype, 'target'), phase: reader(Event.prototype, 'eventPhase'), prevented: reader(Event.prototype, 'defaultPrevented'),
    };
    wrap(E, 'attachShadow', (f, self, given) => {
      const root = apply(f, self, given);
      attempt(() => watchRoot(root));
      return root;
    });
    const parsing = (f, self, given) => {
      const value = apply(f, self, given);
      attempt(() => findRoots(self));
      return value;
    };
    wrap(E, 'setHTMLUnsafe', parsing);
    wrap(ShadowRoot.prototype, 'setHTMLUnsafe', parsing);
    // A component that the parser gave a closed root finds it in its internals.
    const internal = reader(ElementInternals.prototype, 'shadowRoot');
    wrap(HTMLElement.prototype, 'attachInternals', (f, self, given) => {
      const internals = apply(f, self, given);
      attempt(() => watchRoot(internal(internals)));
      return internals;
    });
    takeFields();
    installSubmit();
    installSheets();
    wrap(CSS, 'supports', (f, self, given) =>
      apply(f, self, given.length === 1 && mentions(given[0]) ? [rewritten(given[0], ':hover')] : given));
  }

  function forEachNode(list, visit) {
    const n = dom.count(list);
    for (let i = 0; i < n; i++) visit(list[i]);
  }

  // Begins to look after the forms of a document of this window.
  function watchForms(doc) {
    let w = apply(mapGet, watches, [doc]);
    if (w !== undefined) return w;
    w = {
      __proto__: null, doc, observer: undefined, rootObserver: undefined, armed: false, awaited: false,
      first: undefined, last: undefined,  // the entries of its forms
      dirty: true, roots: undefined,      // what to look through: the document, shadow roots
      next: 0, took: 0, timed: false, posted: false, over: false,
    };
    apply(mapSet, watches, [doc, w]);
    w.observer = new MutationObserver((records) => attempt(() => changed(w, records)));
    arm(w);
    if (late) {
      changed(w, []);
      findRoots(doc);
    }
    return w;
  }

  const observing = (w) => ({
    __proto__: null, childList: true, subtree: true, attributes: true, attributeOldValue: w.first !== undefined,
    attributeFilter: w.first !== undefined ? watchedAttributes : formAttributes,
  });

  function arm(w) {
    w.armed = true;
    apply(observe, w.observer, [w.doc, observing(w)]);
  }

  function changed(w, records) {
    if (w.over) return;
    if (dom === undefined) {
      takeRest();
      loadDOM();
    }
    if (!w.awaited) {
      w.awaited = true;
      const parsed = () => attempt(() => {
        findRoots(w.doc);
        look(w, true);
      });
      apply(addEventListener, w.doc, ['DOMContentLoaded', parsed, {__proto__: null, once: true}]);
    }
    if (w.first !== undefined) note(w, records);
    w.dirty = true;
    look(w, false);
  }

  // Looks for forms, now or after a rest. As long as there are none, nothing needs to be
  // observed until then.
  function look(w, at) {
    const began = now();
    if (!at && began < w.next) {
      if (w.armed && w.first === undefined) {
        w.armed = false;
        apply(disconnect, w.observer, []);
      }
      if (w.timed) return;
      w.timed = true;
      apply(setTimeout, window, [() => {
        w.timed = false;
        attempt(() => look(w, true));
      }, w.next - began]);
      return;
    }
    if (w.over) return;
    if (!w.armed) arm(w);
    if (w.dirty) {
      w.dirty = false;
      takeForms(w, dom.find(w.doc, toolForms));
    }
    lookInRoots(w);
    // The lesser of two: one look may have lost the processor.
    const ended = now(), took = ended - began;
    w.next = ended + restAfterLook + shareOfLooks * (took < w.took ? took : w.took);
    w.took = took;
  }

  function lookInRoots(w) {
    let info = w.roots;
    w.roots = undefined;
    while (info !== undefined) {
      const {next} = info, root = info.ref.deref();
      info.queued = false;
      if (root !== undefined) {
        const list = dom.findIn(root, toolForms);
        if (dom.connected(root)) takeForms(w, list);
        else if (dom.count(list) > 0) queueRoot(w, info);
      }
      info = next;
    }
  }

  // Roots are looked through when they changed, and as long as they hold forms and are
  // not in the document.
  function queueRoot(w, info) {
    if (info.queued) return;
    info.queued = true;
    info.next = w.roots;
    w.roots = info;
  }

  function watchRoot(root) {
    if (root === null || apply(mapGet, shadows, [root]) !== undefined) return;
    const w = watchForms(document);
    if (w.over) return;
    const info = {__proto__: null, ref: new WeakRef(root), queued: false, next: undefined};
    apply(mapSet, shadows, [root, info]);
    w.rootObserver ??= new MutationObserver((records) => attempt(() => rootsChanged(w, records)));
    apply(observe, w.rootObserver, [root, observing(w)]);
    if (dom.first(root) === null) return;
    queueRoot(w, info);
    findRoots(root);
    look(w, false);
  }

  // Finds the open shadow roots that the parser made, or a script before us.
  function findRoots(within) {
    forEachNode(findFrom(within, '*'), (element) => {
      const root = dom.shadow(element);
      if (root !== null) watchRoot(root);
    });
    if (dom.type(within) === 1) watchRoot(dom.shadow(within));
  }

  function rootsChanged(w, records) {
    if (w.over) return;
    if (w.first !== undefined) note(w, records);
    let last;
    for (let i = 0; i < records.length; i++) {
      const target = dom.target(records[i]);
      if (target === last) continue;
      last = target;
      const info = apply(mapGet, shadows, [dom.root(target)]);
      if (info !== undefined) queueRoot(w, info);
    }
    look(w, false);
  }

  function takeForms(w, list) {
    forEachNode(list, (form) => {
      const known = apply(mapGet, entries, [form]);
      if (known !== undefined && known.listed) return;
      const root = dom.root(form), alone = w.first === undefined;
      const entry = {
        __proto__: null, w, form, root, controls: [], listed: true, touched: true, lost: false,
        tool: undefined, autosubmit: false, name: '', run: undefined, unstyle: undefined, pins: [], previous: w.last, next: undefined,
      };
      apply(mapSet, entries, [form, entry]);
      if (alone) w.first = entry;
      else w.last.next = entry;
      w.last = entry;
      if (!wrapped) wrapFields();
      if (alone) arm(w);
      if (root !== w.doc) apply(observe, w.rootObserver, [root, observing(w)]);
      attempt(() => pin(entry));
      refreshSoon(w);
    });
  }

  const isEligible = (entry) => dom.connected(entry.form) && dom.owner(entry.form) === entry.w.doc && dom.root(entry.form) === entry.root &&
    dom.has(entry.form, 'toolname') && dom.has(entry.form, 'tooldescription');

  function dropForm(entry) {
    const {w} = entry;
    entry.listed = false;
    if (entry.previous === undefined) w.first = entry.next;
    else entry.previous.next = entry.next;
    if (entry.next === undefined) w.last = entry.previous;
    else entry.next.previous = entry.previous;
    withdraw(entry);
    if (w.first === undefined && !w.over) arm(w);
    const info = apply(mapGet, shadows, [entry.root]);
    if (info !== undefined) queueRoot(w, info);
  }

  // Takes a form's tool back.
  function withdraw(entry) {
    const {tool} = entry;
    if (tool === undefined) return;
    entry.tool = undefined;
    // A submission goes on if its own listener withdraws the form.
    if (entry.run !== undefined && (entry.run.mark === undefined || entry.run.mark.over)) endRun(entry, 'dropped', formUpdated);
    remove(brands().Held.state(contextOf(entry.w.doc)), tool);
  }

  // Finds out which forms records concern.
  function note(w, records) {
    let moved = false;
    for (let i = 0; i < records.length; i++) {
      const r = records[i], which = apply(dom.which, r, none);
      if (which === null) moved = true;
      else noteAttribute(w, dom.target(r), which, dom.old(r));
    }
    for (let entry = w.first; entry !== undefined; entry = entry.next) {
      if (!isEligible(entry)) {
        dropForm(entry);
      } else if (entry.lost || (moved && wasRemoved(entry))) {
        entry.lost = false;
        pin(entry);
        withdraw(entry);
        touch(entry);
      } else if (moved && !sameControls(entry)) {
        touch(entry);
      }
    }
  }

  function noteAttribute(w, target, which, old) {
    for (let entry = w.first; entry !== undefined; entry = entry.next) {
      if (target === entry.form) {
        if (old !== dom.get(target, which)) touch(entry);
        if (old === null && (which === 'toolname' || which === 'tooldescription')) entry.lost = true;
      } else if (which === 'form' || which === 'id') {
        if (!sameControls(entry)) touch(entry);
      } else if (includes(entry.controls, target)) {
        touch(entry);
      }
    }
  }

  function includes(list, value) {
    for (let i = 0; i < list.length; i++) if (list[i] === value) return true;
    return false;
  }

  // Puts live ranges into a form and the hosts of the shadow roots above it. A range leaves
  // what is removed, also if that is put back at once; to look at what each record tells
  // of removed nodes would cost more than the rest of a storm of them.
  function pin(entry) {
    entry.pins = [];
    for (let at = entry.form; ;) {
      const range = dom.range(document);
      dom.setStart(range, at, 0);
      append(entry.pins, {__proto__: null, range, at});
      const root = dom.root(at);
      if (apply(mapGet, shadows, [root]) === undefined) return;
      at = dom.host(root);
    }
  }

  function wasRemoved({pins}) {
    for (let i = 0; i < pins.length; i++) if (dom.start(pins[i].range) !== pins[i].at) return true;
    return false;
  }

  function controlsOf(form) {
    const all = fields.elements(form), n = fields.length(all), list = [];
    for (let i = 0; i < n; i++) append(list, all[i]);
    return list;
  }

  // Whether a control belongs to a form. Image buttons are not among its elements.
  const isOf = (form, control) => (dom.name(control) === 'input' ? fields.owner(control) === form : includes(controlsOf(form), control));

  function sameControls(entry) {
    const all = fields.elements(entry.form), n = fields.length(all);
    if (n !== entry.controls.length) return false;
    for (let i = 0; i < n; i++) if (all[i] !== entry.controls[i]) return false;
    return true;
  }

  function touch(entry) {
    entry.touched = true;
    refreshSoon(entry.w);
  }

  function refreshSoon(w) {
    if (w.posted) return;
    w.posted = true;
    const state = brands().Held.state(contextOf(w.doc));
    post(state, 1, () => attempt(() => refreshAll(state, w)));
  }

  function refreshAll(state, w) {
    w.posted = false;
    flushForms(state);
    if (w.over || !isActive(state)) return;
    for (let entry = w.first; entry !== undefined; entry = entry.next) if (entry.touched) refresh(state, entry);
  }

  // Registers a form as what it is now.
  function refresh(state, entry) {
    entry.touched = false;
    entry.controls = controlsOf(entry.form);
    const {form, tool} = entry, autosubmit = dom.has(form, 'toolautosubmit');
    const name = dom.get(form, 'toolname'), description = dom.get(form, 'tooldescription'), title = dom.get(form, 'tooltitle') ?? '';
    const schema = schemaOf(form);
    if (tool !== undefined && tool.name === name && tool.description === description && tool.title === title &&
        tool.schema === schema && entry.autosubmit === autosubmit) return;
    withdraw(entry);
    if (!isToolName(name) || liveTool(state, name) !== undefined || (config.compat <= lastKeyed && !originKeyed)) return;
    entry.autosubmit = autosubmit;
    entry.name = name;
    entry.tool = {
      __proto__: null, id: '', name, title, description, schema, output: undefined, annotations: undefined, exposedTo: [], execute: undefined, signal: undefined,
      form: entry, autosubmit, unwatch: nothing, native: undefined, previous: undefined, next: undefined,
    };
    add(state, entry.tool);
    post(state, 2, () => tellChange(state));
  }

  // Takes note of what the page did until now. Costs nothing where nothing changed.
  function flushForms(state) {
    const w = apply(mapGet, watches, [state.doc]);
    if (w === undefined || w.over) return;
    attempt(() => {
      const records = apply(takeRecords, w.observer, []);
      if (records.length > 0) changed(w, records);
      if (w.rootObserver === undefined) return;
      const more = apply(takeRecords, w.rootObserver, []);
      if (more.length > 0) rootsChanged(w, more);
    });
  }

  // The same, and looks for forms that were not found yet.
  function findForms(state) {
    const w = apply(mapGet, watches, [state.doc]);
    if (w?.posted) attempt(() => refreshAll(state, w));
    flushForms(state);
    if (w !== undefined && (w.timed || w.roots !== undefined) && dom !== undefined) attempt(() => look(w, true));
  }

  // Leaves the forms of a document to native WebMCP.
  function leaveForms(doc) {
    const w = apply(mapGet, watches, [doc]);
    if (w === undefined) return;
    w.over = true;
    attempt(() => {
      apply(disconnect, w.observer, []);
      if (w.rootObserver !== undefined) apply(disconnect, w.rootObserver, []);
      for (let entry = w.first; entry !== undefined; entry = entry.next) {
        if (entry.run !== undefined) endRun(entry, 'dropped', formUpdated);
      }
      w.first = w.last = undefined;
    });
  }

  // ---- Forms: their schema ----------------------------------------------------------------------------

  function takeFields() {
    const I = HTMLInputElement.prototype, S = HTMLSelectElement.prototype, T = HTMLTextAreaElement.prototype, F = HTMLFormElement.prototype;
    const O = HTMLOptionElement.prototype, C = HTMLCollection.prototype;
    fields = {
      __proto__: null, holders: [F, I, S, T],
      elements: reader(F, 'elements'), length: reader(C, 'length'), requestSubmit: method(F, 'requestSubmit'),
      type: reader(I, 'type'), value: reader(I, 'value'), setValue: writer(I, 'value'), checked: reader(I, 'checked'), setChecked: writer(I, 'checked'),
      labels: reader(I, 'labels'), owner: reader(I, 'form'), message: reader(I, 'validationMessage'),
      area: reader(T, 'value'), setArea: writer(T, 'value'), areaLabels: reader(T, 'labels'), areaMessage: reader(T, 'validationMessage'),
      options: reader(S, 'options'), multiple: reader(S, 'multiple'), selectLabels: reader(S, 'labels'), selectMessage: reader(S, 'validationMessage'),
      index: reader(S, 'selectedIndex'), setIndex: writer(S, 'selectedIndex'),
      option: reader(O, 'value'), selected: reader(O, 'selected'), setSelected: writer(O, 'selected'),
      buttonType: reader(HTMLButtonElement.prototype, 'type'), focus: method(HTMLElement.prototype, 'focus'),
      submitter: reader(SubmitEvent.prototype, 'submitter'),
    };
  }

  function wrapFields() {
    wrapped = true;
    attempt(() => {
      dom.setStart = method(window.Range.prototype, 'setStart');
      dom.start = reader(getPrototypeOf(window.Range.prototype), 'startContainer');
    });
    attempt(installPseudoClasses);
    const {holders} = fields;
    for (let i = 0; i < 8; i++) {
      wrap(holders[i >> 1], i % 2 === 0 ? 'checkValidity' : 'reportValidity', (f, self, given) => {
        checking++;
        try {
          return apply(f, self, given);
        } finally {
          checking--;
        }
      });
    }
    wrap(holders[0], 'submit', (f, self, given) => {
      const value = apply(f, self, given);
      attempt(() => submitted(apply(mapGet, entries, [self])));
      return value;
    });
  }

  // What the browser makes of a value for an input of a type: its sanitisation algorithm.
  function sanitised(type, text, control) {
    const probe = dom.create(document, 'http://www.w3.org/1999/xhtml', 'input');
    dom.set(probe, 'type', type);
    if (control !== undefined) {
      dom.set(probe, 'min', dom.get(control, 'min') ?? '');
      dom.set(probe, 'max', dom.get(control, 'max') ?? '');
      dom.set(probe, 'step', dom.get(control, 'step') ?? '');
      if (dom.has(control, 'multiple')) dom.set(probe, 'multiple', '');
    }
    fields.setValue(probe, text);
    return fields.value(probe);
  }

  const textTypes = {__proto__: null, text: 1, search: 1, tel: 1, url: 1, email: 1, password: 1, hidden: 1};
  const readonlyTypes = {
    __proto__: null, text: 1, search: 1, tel: 1, url: 1, email: 1, password: 1, number: 1, date: 1, month: 1, week: 1, time: 1, 'datetime-local': 1,
  };

  // What kind of parameter a control is: its input type, "area", "select", "several"; "" for
  // one that takes no value but a name, undefined for one that is left out.
  function kindOf(control) {
    const name = dom.name(control);
    if (name !== 'fieldset' && dom.matches(control, ':disabled')) return undefined;
    if (name !== 'input' && name !== 'select' && name !== 'textarea') return name === 'object' ? undefined : '';
    if (name === 'select') return fields.multiple(control) ? 'several' : 'select';
    const readonly = dom.has(control, 'readonly');
    if (name === 'textarea') return readonly ? undefined : 'area';
    const type = fields.type(control);
    if (type === 'submit' || type === 'reset' || type === 'button' || type === 'image' || type === 'file') return '';
    if (type === 'hidden' && !dom.get(control, 'toolparamdescription')) return '';
    return readonly && type in readonlyTypes ? undefined : type;
  }

  const findFrom = (root, selector) => (dom.type(root) === 9 ? dom.find : dom.type(root) === 11 ? dom.findIn : dom.findWithin)(root, selector);

  // What a form has names for, in order: {name, kind, controls, form}. Those of the kind ""
  // are no parameters.
  function parametersOf(form) {
    const list = [], byName = {__proto__: null}, all = controlsOf(form);
    for (let i = 0; i < all.length; i++) {
      const control = all[i], kind = kindOf(control);
      if (kind === undefined) continue;
      const name = nameOf(control), known = byName[name];
      if (known === undefined) {
        append(list, byName[name] = {__proto__: null, name, kind, controls: [control], form});
      } else {
        append(known.controls, control);
        if (kind !== known.kind || (kind !== 'checkbox' && kind !== 'radio')) known.kind = '';
      }
    }
    forEachNode(findFrom(dom.root(form), 'input[type="image" i]'), (image) => {
      const known = byName[nameOf(image)];
      if (known !== undefined && fields.owner(image) === form && !dom.matches(image, ':disabled')) known.kind = '';
    });
    return list;
  }

  function schemaOf(form) {
    const list = parametersOf(form);
    let properties = '', required = '';
    for (let i = 0; i < list.length; i++) {
      const {name, kind, controls} = list[i];
      let needed = false;
      if (kind === '') continue;
      for (let j = 0; j < controls.length; j++) needed ||= dom.has(controls[j], 'required');
      properties += (properties && ',') + quote(name) + ':' + parameterText(list[i]);
      if (needed) required += (required && ',') + quote(name);
    }
    return '{"type":"object","properties":{' + properties + '},"required":[' + required + ']}';
  }

  const clock = '([01][0-9]|2[0-3]):[0-5][0-9]', second = ':[0-5][0-9]', month = '^[0-9]{4}-(0[1-9]|1[0-2])';
  const dateNote = "Dates MUST be provided in 'YYYY-MM-DD' format.";

  function parameterText(parameter) {
    const {kind, controls} = parameter, control = controls[0];
    const group = controls.length > 1;
    let about = group ? describeGroup(parameter) : describe(control), text = '{"type":"string"';
    if (kind === 'checkbox' && !group) text = '{"type":"boolean"';
    else if (kind === 'checkbox' || kind === 'several') text = '{"type":"array","items":{"type":"string"' + choicesText(parameter) + '},"uniqueItems":true';
    else if (kind === 'radio' || kind === 'select') text += choicesText(parameter);
    else if (kind === 'number') text = '{"type":"number"' + numberText(control) + patternText(control);
    else if (kind === 'range') text = '{"type":"number"' + rangeText(control);
    else if (kind in textTypes) text += patternText(control);
    else if (kind !== 'area') text += ',"format":' + quote(formatOf(kind, control));
    if (kind === 'date') about = about === '' ? dateNote : about + ' (' + dateNote + ')';
    return text + (about === '' ? '' : ',"description":' + quote(about)) + '}';
  }

  function formatOf(kind, control) {
    if (kind === 'date') return kind;
    if (kind === 'color') return '^#[0-9a-zA-Z]{6}$';
    if (kind === 'month') return month + '$';
    if (kind === 'week') return '^[0-9]{4}-W(0[1-9]|[1-4][0-9]|5[0-3])$';
    const step = stepOf(control, 60);
    const time = clock + (step === undefined || step >= 60 ? '' : step >= 1 ? '(' + second + ')?' : '(' + second + '(\\.[0-9]{1,3})?)?') + '$';
    return (kind === 'time' ? '^' : month + '-[0-9]{2}T') + time;
  }

  function patternText(control) {
    const pattern = dom.get(control, 'pattern');
    if (pattern === null) return '';
    try {
      new RegExp(pattern, 'v');
    } catch {
      return '';
    }
    return ',"pattern":' + quote(pattern);
  }

  // The number that text is, or undefined.
  function toNumber(text) {
    return text === null || text === '' || sanitised('number', text, undefined) === '' ? undefined : +text;
  }

  // The step of a control, or undefined for any.
  function stepOf(control, usual) {
    const text = dom.get(control, 'step');
    if (text !== null && text.length === 3 && dom.matches(control, '[step="any" i]')) return undefined;
    const step = toNumber(text);
    return step === undefined || step <= 0 ? usual : step;
  }

  function stepText(control, step) {
    const base = toNumber(dom.get(control, 'min')) ?? toNumber(dom.get(control, 'value')) ?? 0;
    const ratio = base / step, whole = ratio < 0 ? -(-ratio + 0.5 - (-ratio + 0.5) % 1) : ratio + 0.5 - (ratio + 0.5) % 1;
    const off = ratio - whole;
    return off < 1e-9 && off > -1e-9 ? ',"multipleOf":' + step : '';
  }

  function numberText(control) {
    const min = toNumber(dom.get(control, 'min')), max = toNumber(dom.get(control, 'max')), step = stepOf(control, 1);
    return (min === undefined ? '' : ',"minimum":' + min) + (max === undefined ? '' : ',"maximum":' + max) +
      (step === undefined ? '' : stepText(control, step));
  }

  function rangeText(control) {
    const min = toNumber(dom.get(control, 'min')) ?? 0, max = toNumber(dom.get(control, 'max')) ?? 100;
    return ',"minimum":' + min + ',"maximum":' + (max < min ? min : max) + stepText(control, stepOf(control, 1) ?? 1);
  }

  function choicesText(parameter) {
    let any = '', values = '';
    forEachChoice(parameter, (value, title) => {
      any += (any && ',') + '{"type":"string","const":' + quote(value) + (title === undefined ? '' : ',"title":' + quote(title)) + '}';
      values += (values && ',') + quote(value);
    });
    return ',"anyOf":[' + any + '],"enum":[' + values + ']';
  }

  // Visits the values of a group or a select with their titles and elements.
  function forEachChoice({kind, controls}, visit) {
    if (kind === 'select' || kind === 'several') {
      const options = fields.options(controls[0]), n = fields.length(options);
      for (let i = 0; i < n; i++) visit(fields.option(options[i]), dom.text(options[i]), options[i]);
      return;
    }
    for (let i = 0; i < controls.length; i++) visit(fields.value(controls[i]), labelText(controls[i]) || undefined, controls[i]);
  }

  function describe(control) {
    return dom.get(control, 'toolparamdescription') || labelText(control) || dom.get(control, 'aria-description') || '';
  }

  function describeGroup({controls, form}) {
    for (let at = dom.parent(controls[0]); at !== null && dom.type(at) === 1; at = dom.parent(at)) {
      if (dom.name(at) !== 'fieldset') continue;
      let all = true;
      for (let i = 1; i < controls.length; i++) all &&= dom.contains(at, controls[i]);
      if (all) return (isOf(form, at) && dom.get(at, 'toolparamdescription')) || '';
    }
    return '';
  }

  function labelText(control) {
    const name = dom.name(control);
    const labels = name === 'select' ? fields.selectLabels(control) : name === 'textarea' ? fields.areaLabels(control) : fields.labels(control);
    if (labels === null) return '';
    let text = '', n = 0;
    forEachNode(labels, (label) => {
      text += (n++ > 0 ? '; ' : '') + trimmed(textWithin(label));
    });
    return text;
  }

  // The text of a node but for that inside of controls.
  function textWithin(node) {
    let text = '';
    for (let child = dom.first(node); child !== null; child = dom.next(child)) {
      const type = dom.type(child);
      if (type === 3 || type === 4) text += dom.data(child);
      else if (type === 1 && !dom.matches(child, 'button,input,meter,output,progress,select,textarea')) text += textWithin(child);
    }
    return text;
  }

  const blanks = ' \t\n\f\r', nameBlanks = blanks + '\v\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u205f\u3000';

  function trimmed(text, blank = blanks) {
    let from = 0, to = text.length;
    while (from < to && apply(indexOf, blank, [text[from]]) >= 0) from++;
    while (from < to && apply(indexOf, blank, [text[to - 1]]) >= 0) to--;
    return apply(slice, text, [from, to]);
  }

  const nameOf = (control) => trimmed(dom.get(control, 'name') ?? '', nameBlanks);

  // ---- Forms: filling -----------------------------------------------------------------------------------------

  const {keys} = Object, {isArray} = Array, {toPrecision} = Number.prototype, {toLowerCase, indexOf} = String.prototype;

  // The text of a number: an int32 as it is, else as by C's %.6g, with the zeros that
  // Chromium leaves.
  function numberToText(n) {
    if (n === (n | 0)) return '' + n;
    let text = apply(toPrecision, n, [6]), point = false;
    for (let i = 0; i < text.length; i++) {
      if (text[i] === 'e') return text;
      if (text[i] === '.') point = true;
    }
    let to = text.length;
    while (point && text[to - 1] === '0') to--;
    if (text[to - 1] === '.') to--;
    return apply(slice, text, [0, to]);
  }

  const scalarText = (v) => (typeof v === 'string' ? v : typeof v === 'number' ? numberToText(v) : typeof v === 'boolean' ? '' + v : undefined);

  // Plans what a form gets: a list of functions that fill a control each, or the text
  // that says what is wrong with the input.
  function planOf(form, json) {
    const input = parse(json);
    if (!isObject(input) || isArray(input)) return 'JSON input arguments must be an object';
    const names = keys(input), list = parametersOf(form), byName = {__proto__: null}, plan = [];
    for (let i = 0; i < list.length; i++) byName[list[i].name] = list[i];
    for (let i = 0; i < names.length; i++) {
      const name = names[i], parameter = byName[name];
      if (parameter === undefined) return 'Input contains a parameter "' + name + '" but there is no such parameter for the tool';
      const value = input[name], fill = fillerOf(parameter, value);
      if (fill === undefined) {
        const text = scalarText(value);
        return 'Invalid value ' + (text === undefined ? '' : '"' + text + '" ') + 'for parameter ' + name;
      }
      append(plan, fill);
    }
    return plan;
  }

  // The function that gives a parameter a value, or undefined if it cannot have it.
  function fillerOf(parameter, value) {
    const {kind, controls} = parameter, control = controls[0];
    if (kind === 'several' || (kind === 'checkbox' && controls.length > 1)) return severalFiller(parameter, value);
    if (kind === 'checkbox') {
      const on = toBoolean(value);
      return on === undefined ? undefined : () => tick(control, on);
    }
    const text = scalarText(value);
    if (text === undefined || kind === '') return undefined;
    if (kind === 'select' || kind === 'radio') {
      const found = [];
      let at = -1, index = 0;
      forEachChoice(parameter, (choice, title, element) => {
        if (choice === text) {
          append(found, element);
          if (at < 0) at = index;
        }
        index++;
      });
      if (at < 0) return undefined;
      if (kind === 'radio') {
        return () => {
          for (let i = 0; i < found.length; i++) tick(found[i], true);
        };
      }
      return () => {
        const before = fields.index(control);
        fields.setIndex(control, at);
        if (before !== fields.index(control)) tellFilled(control, true);
      };
    }
    if (kind === 'area') {
      return () => {
        const before = fields.area(control);
        fields.setArea(control, text);
        if (before !== fields.area(control)) tellFilled(control, true);
        else if (before === '' && dom.text(control) === '') tellInput(control);
      };
    }
    const number = kind === 'number' || kind === 'range';
    if (text === '' ? number : sanitised(kind, text, control) === '') return undefined;
    return () => {
      const before = fields.value(control);
      fields.setValue(control, text);
      if (kind === 'hidden') return;
      if (before !== fields.value(control)) tellFilled(control, true);
      else if (before === '' && !dom.has(control, 'value') && kind !== 'datetime-local') tellInput(control);  // as Chromium does where no value was set yet
    };
  }

  function toBoolean(value) {
    if (typeof value === 'boolean') return value;
    if (typeof value === 'number') return value === (value | 0) ? value !== 0 : undefined;
    if (typeof value !== 'string') return undefined;
    const text = apply(toLowerCase, value, []);
    return text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : undefined;
  }

  function severalFiller(parameter, value) {
    if (!isArray(value)) return undefined;
    const chosen = {__proto__: null}, known = {__proto__: null};
    forEachChoice(parameter, (choice) => {
      known[choice] = true;
    });
    for (let i = 0; i < value.length; i++) {
      const text = scalarText(value[i]);
      if (text === undefined || !known[text] || chosen[text]) return undefined;
      chosen[text] = true;
    }
    if (parameter.kind === 'checkbox') {
      return () => forEachChoice(parameter, (choice, title, box) => tick(box, choice in chosen));
    }
    return () => {
      let differs = false;
      forEachChoice(parameter, (choice, title, option) => {
        const on = choice in chosen;
        if (fields.selected(option) === on) return;
        differs = true;
        fields.setSelected(option, on);
      });
      if (differs) tellFilled(parameter.controls[0], true);
    };
  }

  function tick(box, on) {
    const differs = fields.checked(box) !== on;
    fields.setChecked(box, on);
    tellFilled(box, differs);
  }

  function tellFilled(control, input) {
    if (input) tellInput(control);
    apply(dispatchEvent, control, [new Event('change', {__proto__: null, bubbles: true})]);
  }

  function tellInput(control) {
    apply(dispatchEvent, control, [new Event('input', {__proto__: null, bubbles: true, composed: true})]);
  }

  // ---- Forms: running --------------------------------------------------------------------------------------------

  const formUpdated = 'Tool execution cancelled, since tool definition was updated';
  const formReset = 'Tool execution cancelled by a form reset';
  const noButton = 'No submit button was found, but for a form without \x60toolautosubmit\x60, there must be a submit button';
  const noResponse = "The site has a programming error: it called preventDefault() on the 'submit' event, without also calling respondWith() with the tool result";
  const responseRejected = 'respondWith promise was rejected';
  const responseUnserialisable = 'respondWith promise resolved with an object that could not be serialized to JSON';

  let checking = 0;  // calls of checkValidity and reportValidity under way
  const formListeners = ['submit', 'reset', 'invalid'];

  function startForm(state, run, entry, json) {
    run.call = {__proto__: null, abort: () => leaveRun(entry, run)};
    let plan;
    try {
      plan = planOf(entry.form, json);
    } catch {
      plan = badInput;
    }
    const button = typeof plan === 'string' ? undefined : defaultButton(entry);
    if (typeof plan !== 'string' && button === undefined && !entry.autosubmit) plan = noButton;
    if (typeof plan === 'string') {
      finish(run, 'refused', plan);
      return;
    }
    if (entry.run !== undefined) endRun(entry, 'dropped', formUpdated);
    for (let i = 0; i < plan.length; i++) plan[i]();
    if (!isEligible(entry)) {
      finish(run, 'dropped', formUpdated);
      return;
    }
    entry.run = {__proto__: null, run, state, button, mark: undefined, submitted: false, invalid: false, now: false};
    listen(entry, addEventListener);
    showActive(entry, true);
    if (entry.autosubmit) {
      submitNow(entry, button);
      return;
    }
    fields.focus(button, {__proto__: null, focusVisible: true});
    run.waits(labelOf(button));
  }

  function submitNow(entry, button) {
    const own = entry.run;
    own.now = true;
    own.run.after = () => {
      own.now = false;
      if (own.mark !== undefined) judge(entry, own.mark);
      else if (own === entry.run) failValidation(entry);
    };
    attempt(() => fields.requestSubmit(entry.form, button ?? null));
  }

  // The first submit button of a form, in tree order.
  function defaultButton({form, root}) {
    let found;
    forEachNode(findFrom(root, 'button,input'), (element) => {
      if (found === undefined && isSubmitButton(element) && isOf(form, element) && !dom.matches(element, ':disabled')) found = element;
    });
    return found;
  }

  const isButton = (element) => dom.name(element) === 'button';

  function isSubmitButton(element) {
    if (isButton(element)) return fields.buttonType(element) === 'submit';
    const type = fields.type(element);
    return type === 'submit' || type === 'image';
  }

  function labelOf(button) {
    return isButton(button) ? trimmed(dom.text(button)) : fields.value(button) || dom.get(button, 'alt') || '';
  }

  // Listens at the form and its root, where the page's own listeners come later.
  function listen(entry, how) {
    for (let i = 0; i < formListeners.length; i++) {
      apply(how, entry.form, [formListeners[i], formHears, true]);
      apply(how, entry.root, [formListeners[i], formHears, true]);
      apply(how, window, [formListeners[i], formHears, true]);
    }
  }

  // The entry of the form that a control belongs to, if it is being run.
  function runOf(control) {
    let entry = apply(mapGet, watches, [document])?.first;
    while (entry !== undefined && (entry.run === undefined || !isOf(entry.form, control))) entry = entry.next;
    return entry;
  }

  function formHears(e) {
    attempt(() => {
      if (!e.isTrusted) return;
      const target = dom.eventTarget(e);
      if (e.type === 'submit') {
        markOf(e);
        return;
      }
      const entry = e.type === 'invalid' ? runOf(target) : apply(mapGet, entries, [target]);
      if (entry?.run === undefined || brands().Marked.of(e) !== undefined) return;
      new (brands().Marked)(e, {__proto__: null});
      if (e.type === 'invalid') {
        if (checking > 0) return;
        if (!entry.run.invalid && !entry.autosubmit) post(entry.run.state, 1, nothing, () => failValidation(entry));
        entry.run.invalid = true;
      } else {
        const {run} = entry;
        post(run.state, 1, nothing, () => {
          if (run === entry.run && !dom.prevented(e)) endRun(entry, 'dropped', formReset);
        });
      }
    });
  }

  // The mark of a submit event that belongs to a run.
  function markOf(e) {
    const known = brands().Marked.of(e);
    if (known !== undefined) return known;
    if (!e.isTrusted || dom.phase(e) === 0) return undefined;
    const entry = apply(mapGet, entries, [dom.eventTarget(e)]);
    if (entry?.run === undefined) return undefined;
    const mark = {__proto__: null, event: e, run: entry.run, response: undefined, over: false};
    new (brands().Marked)(e, mark);
    entry.run.mark = mark;
    if (!entry.run.now) post(entry.run.state, 1, nothing, () => judge(entry, mark));
    return mark;
  }

  // Decides what became of a submission, once every listener was called.
  function judge(entry, mark) {
    mark.over = true;
    if (entry.run !== mark.run) return;
    if (mark.run.submitted || !dom.prevented(mark.event)) navigated(entry, mark.event);
    else if (mark.response === undefined) endRun(entry, 'refused', noResponse);
    else void followResponse(entry, mark.run, mark.response);
  }

  async function followResponse(entry, own, response) {
    let value;
    try {
      value = await response.value;
    } catch (e) {
      apply(reportError, window, [e]);
      if (entry.run === own) endRun(entry, 'refused', responseRejected);
      return;
    }
    if (entry.run !== own) return;
    try {
      endRun(entry, 'completed', value === '' ? '' : toOutput(value));
    } catch {
      endRun(entry, 'refused', responseUnserialisable);
    }
  }

  function navigated(entry, e) {
    const button = e === undefined ? null : fields.submitter(e);
    endRun(entry, 'navigated', (button !== null && dom.get(button, 'formtarget')) || dom.get(entry.form, 'target') || '');
  }

  // form.submit() was called.
  function submitted(entry) {
    if (entry?.run === undefined) return;
    if (entry.run.mark !== undefined) entry.run.submitted = true;
    else navigated(entry, undefined);
  }

  function failValidation(entry) {
    if (entry.run === undefined) return;
    const list = controlsOf(entry.form);
    let text = 'Form validation failed: ';
    for (let i = 0; i < list.length; i++) {
      const name = dom.name(list[i]);
      if (name === 'fieldset' || !dom.matches(list[i], ':invalid')) continue;
      const message = name === 'select' ? fields.selectMessage : name === 'textarea' ? fields.areaMessage : fields.message;
      text += (dom.get(list[i], 'name') ?? '') + ': ' + attempt(() => message(list[i])) + '. ';
    }
    endRun(entry, 'refused', text);
  }

  function leaveRun(entry, run) {
    if (entry.run?.run !== run) return;
    listen(entry, removeEventListener);
    showActive(entry, false);
    entry.run = undefined;
  }

  function endRun(entry, kind, value) {
    const {run} = entry.run;
    leaveRun(entry, run);
    finish(run, kind, value);
  }

  // ---- Forms: SubmitEvent ------------------------------------------------------------------------------------------

  function installSubmit() {
    const Native = window.SubmitEvent, S = Native.prototype, submitter = getterOf(S, 'submitter');
    const members = {
      __proto__: null,
      get agentInvoked() {
        try {
          apply(submitter, this, []);
        } catch {
          fail('Illegal invocation', '', accessorOf(S, 'agentInvoked').get);
        }
        return markOf(this) !== undefined;
      },
      respondWith(response) {
        bounded(members.respondWith, () => respondWith(this, arguments.length, response, submitter));
      },
    };
    accessor(S, 'agentInvoked', getterOf(members, 'agentInvoked'));
    defineProperty(S, 'respondWith', {__proto__: null, value: members.respondWith, writable: true, enumerable: true, configurable: true});
    const Interface = new Proxy(Native, {
      __proto__: null,
      construct: (f, given, target) => {
        const init = given[1];
        if (!isObject(init)) return construct(f, given, target);
        const {bubbles, cancelable, composed, agentInvoked, submitter: button} = init;
        const event = construct(f, [given[0], {__proto__: null, bubbles, cancelable, composed, submitter: button}], target);
        if (agentInvoked) new (brands().Marked)(event, {__proto__: null, event, run: undefined, response: undefined, over: false});
        return event;
      },
    });
    hidden(window, 'SubmitEvent', Interface, true);
    hidden(S, 'constructor', Interface, true);
  }

  function respondWith(event, given, response, submitter) {
    const where = "Failed to execute 'respondWith' on 'SubmitEvent': ";
    try {
      apply(submitter, event, []);
    } catch {
      fail('Illegal invocation');
    }
    if (given === 0) fail('1 argument required, but only 0 present.', where);
    const mark = markOf(event), invalid = (text) => cleaned(new DOMException(text, 'InvalidStateError'));
    if (mark === undefined) throw invalid(where + 'You can only call respondWith on an submit event that has agentInvoked == true.');
    if (!dom.prevented(event)) throw invalid(where + 'To call respondWith, you must first call preventDefault.');
    if (dom.phase(event) === 0 && !mark.run?.now) throw invalid(where + 'To call respondWith, the event must be currently being dispatched.');
    mark.response = {__proto__: null, value: response};
  }

  // ---- Forms: the pseudo-classes ---------------------------------------------------------------------------------------

  // Their selectors are rewritten to ones that the browser knows, once there is a form that
  // is a tool, in the functions that take selectors; and while a form is being run, in the
  // document's own <style> elements and in what scripts put into stylesheets. Of a linked
  // one only those rules can be read which the browser understood.

  const pseudoClasses = [':tool-form-active', ':tool-submit-active'];
  const endOfName = ' \t\n\f\r.#[:>+~,){';

  const mentions = (text) => typeof text === 'string' && apply(indexOf, text, [':tool-']) >= 0;

  const sheetTexts = new WeakMap();  // from a CSSStyleSheet to its text as scripts gave it, where that mentions one
  const sheetText = (sheet) => apply(mapGet, sheetTexts, [sheet]) ?? '';

  // Takes note of the text that scripts put into stylesheets.
  function installSheets() {
    const S = CSSStyleSheet.prototype;
    const replaced = (f, self, given) => {
      const value = apply(f, self, given);
      attempt(() => apply(mapSet, sheetTexts, [self, mentions(given[0]) ? given[0] : '']));
      return value;
    };
    wrap(S, 'replace', replaced);
    wrap(S, 'replaceSync', replaced);
    wrap(S, 'insertRule', (f, self, given) => {
      const text = given[0];
      if (!mentions(text)) return apply(f, self, given);
      const at = apply(f, self, [rewritten(text, ':not(*)'), given[1]]);
      apply(mapSet, sheetTexts, [self, sheetText(self) + text]);
      return at;
    });
  }

  function installPseudoClasses() {
    const read = (f, self, given) =>
      apply(f, self, given.length > 0 && mentions(given[0]) ? [rewritten(given[0])] : given);
    const holders = [Element.prototype, DocumentPrototype, DocumentFragment.prototype];
    const names = ['querySelector', 'querySelectorAll', 'matches', 'closest', 'webkitMatchesSelector'];
    for (let i = 0; i < holders.length; i++) for (let j = 0; j < names.length; j++) wrap(holders[i], names[j], read);
    const replace = method(CSSStyleSheet.prototype, 'replaceSync'), C = window.CSSStyleSheet;
    const adopted = reader(DocumentPrototype, 'adoptedStyleSheets'), adopt = writer(DocumentPrototype, 'adoptedStyleSheets');
    const adoptedIn = reader(ShadowRoot.prototype, 'adoptedStyleSheets'), adoptIn = writer(ShadowRoot.prototype, 'adoptedStyleSheets');
    const sheets = reader(DocumentPrototype, 'styleSheets'), sheetsIn = reader(ShadowRoot.prototype, 'styleSheets'), count = reader(StyleSheetList.prototype, 'length');
    const adoptedBy = (root) => (root === document ? adopted : adoptedIn)(root);
    dom.sheet = reader(HTMLStyleElement.prototype, 'sheet');
    dom.sheetText = (root) => {
      const own = (root === document ? sheets : sheetsIn)(root), more = adoptedBy(root);
      let text = '';
      for (let i = 0; i < count(own); i++) text += sheetText(own[i]);
      for (let i = 0; i < more.length; i++) text += sheetText(more[i]);
      return rewritten(text);
    };
    dom.style = (root, css) => {
      const sheet = new C();
      replace(sheet, css);
      prune(sheet);
      const list = adoptedBy(root);
      list[list.length] = sheet;
      return () => {
        const now = adoptedBy(root), kept = [];
        for (let i = 0; i < now.length; i++) if (now[i] !== sheet) append(kept, now[i]);
        (root === document ? adopt : adoptIn)(root, kept);
      };
    };
  }

  // What stands for a pseudo-class now.
  function activeSelector(which) {
    const w = apply(mapGet, watches, [document]);
    let text = '';
    for (let entry = w?.first; entry !== undefined; entry = entry.next) {
      if (entry.run === undefined) continue;
      const form = 'form[toolname="' + entry.name + '"]';
      if (text !== '') text += ',';
      if (which === 0) text += form;
      else text += form + ' :default:is(button,[type=submit],[type=image]),:default:is(button,[type=submit],[type=image])[form="' + formID(entry.form) + '"]';
    }
    return ':is(' + text + ')';
  }

  function formID(form) {
    const id = dom.get(form, 'id') ?? '';
    let text = '';
    for (let i = 0; i < id.length; i++) text += id[i] === '"' || id[i] === '\\' ? '\\' + id[i] : id[i] === '\n' ? '\\a ' : id[i];
    return text;
  }

  function rewritten(text, always) {
    for (let which = 0; which < 2; which++) {
      const name = pseudoClasses[which];
      for (let from = 0; ;) {
        const at = apply(indexOf, text, [name, from]);
        if (at < 0) break;
        const after = at + name.length;
        if (text[at - 1] === ':' || (after < text.length && apply(indexOf, endOfName, [text[after]]) < 0)) {
          from = after;
          continue;
        }
        const selector = always ?? activeSelector(which);
        text = apply(slice, text, [0, at]) + selector + apply(slice, text, [after]);
        from = at + selector.length;
      }
    }
    return text;
  }

  // Leaves those rules of a sheet that a pseudo-class is the reason for.
  const mentionsForm = (text) => apply(indexOf, text, ['form[toolname=']) >= 0;

  function prune(sheet) {
    const {cssRules} = sheet;
    for (let i = cssRules.length - 1; i >= 0; i--) {
      const rule = cssRules[i], {selectorText} = rule;
      if (selectorText === undefined && rule.cssRules !== undefined) {
        prune(rule);
        if (rule.cssRules.length > 0) continue;
      } else if (typeof selectorText === 'string' && mentionsForm(selectorText)) {
        continue;
      }
      sheet.deleteRule(i);
    }
  }

  function showActive(entry, on) {
    attempt(() => {
      if (!on) {
        if (entry.unstyle !== undefined) entry.unstyle();
        entry.unstyle = undefined;
        return;
      }
      let css = '';
      forEachNode(findFrom(entry.root, 'style'), (style) => {
        const text = dom.text(style);
        if (mentions(text) && attempt(() => dom.sheet(style)) !== null) css += rewritten(text) + '\n';
      });
      css += dom.sheetText(entry.root);
      if (mentionsForm(css)) entry.unstyle = dom.style(entry.root, css);
    });
  }

// What a call puts into a form, and which events the form gets.

//// a text field
await fills('<input name=a>', {a: 'x'}, {}, {a: ''}, {a: 'two\nlines'}, {a: ' '}, {a: '\n'});

//// text from other types
await fills('<input name=a>', {a: 5}, {a: true}, {a: false}, {a: null}, {a: []}, {a: {}}, {a: [1]}, {a: -0}, {a: 0.1});

//// the text of numbers
await fills('<input name=a>', ...[0, 1, -1, 2147483647, -2147483648, 2147483648, -2147483649, 3e9, 0.1, 1.5, 123456.7, 1234567.8, 0.00001234, 1e-7, 1e21, 1e100, 1e300, 0.5, 100000.5, 1000000.5, 999999.5, 0.0001, 0.00012345678, 1.10, 5e-324, 1234567890123].map((a) => ({a})));

//// text-like types
for (const t of ['search', 'tel', 'url', 'email', 'password', 'nonsense']) await fills(`<input name=a type=${t}>`, {a: 'x'}, {a: ' y '}, {a: 5});

//// text that does not fit
await fills('<input name=a maxlength=2 minlength=5 value=old>', {a: 'longer'}, {a: 'x'});
await fills('<input name=a type=email multiple>', {a: ' a@b.c , d@e.f '});

//// a value that is there already
await fills('<input name=a value=x>', {a: 'x'}, {a: 'y'}, {a: ''});

//// textareas
await fills('<textarea name=a>old</textarea>', {a: 'x\r\ny\rz'}, {a: 5}, {a: 'old'}, {a: ''}, {a: null}, {a: '\n'});

//// hidden
await fills('<input type=hidden name=a toolparamdescription=d value=old>', {a: 'x'}, {a: 5}, {a: 'old'}, {a: ''}, {a: '\n'});

//// numbers
await fills('<input name=a type=number>', {a: 5}, {a: '5'}, {a: '5.5'}, {a: 1.5}, {a: 'abc'}, {a: ' 5'}, {a: ''}, {a: '1e3'}, {a: true}, {a: 3e9}, {a: '0x10'}, {a: null}, {a: '+5'}, {a: '5.'});
await fills('<input name=a type=number min=1 max=3 step=1 value=2>', {a: 2}, {a: 3});

//// ranges
await fills('<input name=a type=range>', {a: 5}, {a: 500}, {a: -5}, {a: 'abc'}, {a: ''}, {a: '7.6'}, {a: 50});
await fills('<input name=a type=range min=10 max=20 step=5>', {a: 12}, {a: 13}, {a: 100});

//// dates and times
await fills('<input name=a type=date>', {a: '2026-12-31'}, {a: '2026-02-30'}, {a: 'today'}, {a: ''}, {a: 2026}, {a: '2026-1-1'});
await fills('<input name=a type=time>', {a: '10:00'}, {a: '10:00:30'}, {a: '10:00:30.5'}, {a: '25:00'}, {a: '9:00'});
await fills('<input name=a type=datetime-local>', {a: '2026-12-31T10:00'}, {a: '2026-12-31 10:00'}, {a: '2026-12-31'});
await fills('<input name=a type=month>', {a: '2026-12'}, {a: '2026-13'});
await fills('<input name=a type=week>', {a: '2026-W01'}, {a: '2026-W60'});

//// colours
await fills('<input name=a type=color>', {a: '#ff0000'}, {a: '#FF0000'}, {a: 'red'}, {a: 'nonsense'}, {a: '#f00'}, {a: ''}, {a: 5}, {a: '#000000'});

//// a checkbox
await fills('<input name=a type=checkbox>', ...[true, false, 1, 0, 2, -1, 1.5, 'true', 'TRUE', 'False', '1', '0', 'on', 'yes', '', null, [], {}, '2', ' true'].map((a) => ({a})));
await fills('<input name=a type=checkbox checked>', {a: true}, {a: false}, {});

//// checkboxes
await fills('<input name=a type=checkbox value=1><input name=a type=checkbox value=2 checked><input name=a type=checkbox value=3>', ...[[], ['1'], ['1', '2'], ['2'], ['3', '1'], ['1', '1'], ['4'], '1', true, null, {}, [1], [true], [null], [['1']], ['1', '2', '3']].map((a) => ({a})));
await fills('<input name=a type=checkbox value=1><input name=a type=checkbox value=1>', {a: ['1']}, {a: ['1', '1']}, {a: []});
await fills('<input name=a type=checkbox value=1><input name=a type=checkbox value=2 disabled checked><input name=a type=checkbox value=3>', {a: ['1', '2']}, {a: ['3']});

//// radios
await fills('<input name=a type=radio value=1><input name=a type=radio value=2 checked><input name=a type=radio value=3>', ...['1', '2', 3, '4', '', null, true, ['1'], {}].map((a) => ({a})));
await fills('<input name=a type=radio>', {a: 'on'}, {a: true}, {a: 'x'});
await fills('<input name=a type=radio value=1><input name=a type=radio value=1><input name=a type=radio value=true>', {a: '1'}, {a: true});
await fills('<input name=a type=radio value=1 disabled><input name=a type=radio value=2>', {a: '1'}, {a: '2'});

//// selects
await fills('<select name=a><option>one<option value=2>two<option disabled>three<option hidden>four<option>two</select>', ...['one', '2', 2, 'two', 'three', 'four', 'five', '', null, true, ['one'], ' one'].map((a) => ({a})));
await fills('<select name=a><option value=x>one<option value=x selected>two</select>', {a: 'x'});
await fills('<select name=a></select>', {a: 'x'}, {a: ''});
await fills('<select name=a><option disabled value="">Choose<option>true</select>', {a: true}, {a: ''}, {});

//// selects for several
await fills('<select name=a multiple><option>1<option selected>2<option disabled>3</select>', ...[[], ['1'], ['2'], ['1', '2'], ['2', '1'], ['3'], ['1', '1'], ['4'], '1', null, [1], [true]].map((a) => ({a})));

//// unknown names
await fills('<input name=a>', {b: 1}, {a: 'x', b: 1}, {'': 1}, {A: 'x'}, {__proto__: null, toString: 1});
await fills('<input name=a disabled><input name=b readonly><input type=hidden name=c><input type=submit name=d>', {a: 1}, {b: 1}, {c: 1}, {d: 1});
await fills('<input name=a><input name=a>', {a: 1});

//// unnamed controls
await fills('<input>', {'': 'x'});

//// input that is no object of names
await fills('<input name=a>', [], ['x'], {a: undefined}, {toJSON: () => ({a: 'via'})}, {toJSON: () => []}, {toJSON: () => 'text'}, new Map());

//// nothing is changed when something is wrong
await fills('<input name=a><input name=b type=number>', {a: 'x', b: 'y'}, {b: 'y', a: 'x'}, {a: 'x', c: 1});

//// controls are filled in the order of the input
await fills('<input name=a><input name=b><input name=c>', {c: 1, a: 2, b: 3}, {b: 1, a: 2});
await fills('<input name=2><input name=b><input name=1>', {b: 'x', 2: 'y', 1: 'z'});

//// shape of the events
const f = form('<input name=a><select name=s><option>1<option>2</select><input name=c type=checkbox>', 'toolautosubmit');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith(1); };
await settle();
for (const type of ['input', 'change']) f.addEventListener(type, (e) => log(e.type, e.constructor.name, e.bubbles, e.cancelable, e.composed, e.target.name, e.eventPhase, Object.keys(e)));
await run('f', {a: 'x', s: '2', c: true});

//// the events are trusted
const f = form('<input name=a>', 'toolautosubmit');
f.onsubmit = (e) => { log(e.isTrusted); e.preventDefault(); e.respondWith(1); };
await settle();
f.oninput = (e) => log(e.isTrusted);
await run('f', {a: 'x'});

//// no other events
const f = form('<input name=a><input name=b type=checkbox><button>x</button>', 'toolautosubmit');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith(1); };
await settle();
const seen = record(f);
await run('f', {a: 'x', b: true});
log(seen, document.activeElement.localName);

//// values set by overridden properties
const f = form('<input name=a value=old><input name=c type=checkbox><select name=s><option>1<option>2</select><textarea name=t></textarea>', 'toolautosubmit');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith(1); };
await settle();
for (const [n, k] of [['a', 'value'], ['c', 'checked'], ['s', 'value'], ['s', 'selectedIndex'], ['t', 'value']]) Object.defineProperty(f.elements[n], k, {get() { log('get', n); return ''; }, set(v) { log('set', n, v); }, configurable: true});
log(await run('f', {a: 'x', c: true, s: '2', t: 'y'}));
for (const [n, k] of [['a', 'value'], ['c', 'checked'], ['s', 'value'], ['s', 'selectedIndex'], ['t', 'value']]) delete f.elements[n][k];
log(held(f));

//// listeners that change other controls
const f = form('<input name=a><input name=b>', 'toolautosubmit');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith(1); };
f.elements.a.oninput = () => { f.elements.b.value = 'by listener'; };
await settle();
log(await rej(() => run('f', {b: 'x', a: 'y'})), held(f));

//// a listener that throws
const errors = [];
window.onerror = (m) => { errors.push(m); return true; };
const f = form('<input name=a><input name=b>', 'toolautosubmit');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith(1); };
f.elements.a.oninput = () => { throw new Error('listener'); };
await settle();
log(await rej(() => run('f', {a: 'x', b: 'y'})), held(f), errors);

//// a listener that removes the form
const f = form('<input name=a><input name=b>', 'toolautosubmit');
f.onsubmit = (e) => { log('submit'); e.preventDefault(); e.respondWith(1); };
f.elements.a.oninput = () => f.remove();
await settle();
log(await Promise.race([rej(() => run('f', {a: 'x', b: 'y'})), sleep(500)]), held(f));

//// a listener that removes the next control
const f = form('<input name=a><input name=b>', 'toolautosubmit');
f.onsubmit = (e) => { log('submit'); e.preventDefault(); e.respondWith(1); };
f.elements.a.oninput = () => f.elements.b.remove();
await settle();
log(await rej(() => run('f', {a: 'x', b: 'y'})), held(f));

//// the schema in force is that of the form now
const f = form('<select name=s><option>1</select>', 'toolautosubmit');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith(1); };
await settle();
f.elements.s.add(new Option('2'));
log(await rej(() => run('f', {s: '2'})));

//// the dirty flags
const f = form('<input name=a value=old><input name=c type=checkbox>', 'toolautosubmit');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith(1); };
await settle();
await run('f', {a: 'new', c: true});
f.elements.a.setAttribute('value', 'attr');
f.elements.c.setAttribute('checked', '');
log(held(f), f.elements.a.matches(':user-valid'), f.elements.a.matches(':user-invalid'), f.elements.a.selectionStart);
f.reset();
log(held(f));

//// controls in a shadow root
const host = put('<p></p>').firstChild, root = host.attachShadow({mode: 'closed'});
root.innerHTML = '<form toolname=f tooldescription=d toolautosubmit><input name=a></form>';
const f = root.firstChild, seen = [];
f.onsubmit = (e) => { e.preventDefault(); e.respondWith(new FormData(f).get('a')); };
for (const t of ['input', 'change', 'submit']) document.addEventListener(t, (e) => seen.push(e.type + e.target.localName));
await settle();
log(await rej(() => run('f', {a: 'x'})), seen);

//// controls elsewhere
put('<input name=a form=fid><form id=fid toolname=f tooldescription=d toolautosubmit></form>');
document.forms[0].onsubmit = (e) => { e.preventDefault(); e.respondWith([...new FormData(e.target)]); };
await settle();
log(await rej(() => run('f', {a: 'x'})));

//// an optgroup in a select for several
await fills('<select name=a multiple><option>one<optgroup label=G><option>two</optgroup><option>three</select>', {a: ['two']}, {a: ['three']});

//// options of the same value in a select for several
await fills('<select name=a multiple><option>x<option>x<option>y</select>', {a: ['x']}, {a: ['y', 'x']}, {a: []});

//// nothing into an empty field
await fills('<input name=a><textarea name=b></textarea><input name=c value=""><input name=d type=search><input name=e type=date>', {a: ''}, {b: ''}, {c: ''}, {d: ''}, {e: ''});

//// nothing into an empty field of each type
for (const type of ['text', 'search', 'tel', 'url', 'email', 'password', 'hidden', 'date', 'time', 'datetime-local', 'month', 'week', 'color', 'nonsense']) {
  for (const more of ['', 'value=""']) await fills(`<input name=a type=${type} ${more}>`, {a: ''});
}

//// formdata listeners
const f = form('<input name=a>', 'toolautosubmit');
f.onformdata = (e) => e.formData.append('more', '1');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith([...new FormData(f)].join('|')); };
await settle();
log(await rej(() => run('f', {a: 'x'})));

//// a listener that changes the same control
const f = form('<input name=a><input name=b>', 'toolautosubmit');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith(1); };
f.elements.a.oninput = (e) => { e.target.value = e.target.value.toUpperCase(); };
await settle();
const seen = record(f, ['input', 'change']);
log(await rej(() => run('f', {a: 'x', b: 'y'})), held(f), seen);

// Running a form: with and without toolautosubmit, SubmitEvent, every outcome.

//// a form that answers
const f = form('<input name=a><button>x</button>', 'toolautosubmit');
f.onsubmit = (e) => { log(e.agentInvoked, e.submitter?.localName, e.target === f, e.isTrusted, e.defaultPrevented); e.preventDefault(); log(e.respondWith({got: new FormData(f).get('a')})); };
await settle();
const seen = told();
log(await rej(() => run('f', {a: 'x'})), seen);

//// answers of every kind
const values = ['text', '', 5, null, undefined, true, {a: 1}, [1], {content: [{type: 'text', text: 'x'}]}, new Error('e'), 12n, () => 1, {toJSON: () => undefined}, {toJSON: () => 'x'}, 'é', Promise.resolve('later'), {then(done) { done('thenable'); }}, new Date(0), new String(''), NaN];
for (const v of values) {
  const f = form('', 'toolautosubmit');
  f.onsubmit = (e) => { e.preventDefault(); e.respondWith(v); };
  await settle();
  log(v, await rej(() => run('f')));
  f.parentNode.remove();
}

//// answers that do not serialise
window.onerror = (m) => { log('error', m); return true; };
window.onunhandledrejection = (e) => { log('unhandled', e.reason); e.preventDefault(); };
const circular = {};
circular.me = circular;
for (const v of [circular, {b: 1n}, {toJSON() { throw new RangeError('mine'); }}]) {
  const f = form('', 'toolautosubmit');
  f.onsubmit = (e) => { e.preventDefault(); e.respondWith(v); };
  await settle();
  log(await rej(() => run('f')));
  f.parentNode.remove();
}
await settle();

//// answers that reject
window.onerror = (m) => { log('error', m); return true; };
window.onunhandledrejection = (e) => { log('unhandled', e.reason); e.preventDefault(); };
for (const v of [Promise.reject(new Error('no')), Promise.reject('text'), {then(a, b) { b(new Error('thenable')); }}, {get then() { throw new Error('getter'); }}]) {
  const f = form('', 'toolautosubmit');
  f.onsubmit = (e) => { e.preventDefault(); log(sync(() => e.respondWith(v))); };
  await settle();
  log(await rej(() => run('f')));
  f.parentNode.remove();
}
await settle();

//// the last answer wins
const f = form('', 'toolautosubmit');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith(sleep(20).then(() => 'one')); e.respondWith('two'); };
await settle();
log(await rej(() => run('f')));

//// an answer from another listener
const f = form('', 'toolautosubmit');
f.addEventListener('submit', (e) => e.preventDefault());
window.addEventListener('submit', (e) => e.respondWith('window'), {once: true});
await settle();
log(await rej(() => run('f')));

//// an answer after a microtask
const f = form('', 'toolautosubmit');
f.onsubmit = async (e) => { e.preventDefault(); await null; log(sync(() => e.respondWith('late'))); };
await settle();
log(await rej(() => run('f')));

//// an answer after a task
const f = form('', 'toolautosubmit');
f.onsubmit = async (e) => { e.preventDefault(); await tick(); log(sync(() => e.respondWith('late'))); };
await settle();
log(await rej(() => run('f')));
await settle();

//// preventDefault after a microtask
const f = form('', 'toolautosubmit action="javascript:void (globalThis.went = true)"');
f.onsubmit = async (e) => { await null; e.preventDefault(); log(sync(() => e.respondWith('late'))); };
await settle();
log(await rej(() => run('f')));
await settle();
log(globalThis.went);

//// preventDefault without an answer
const f = form('', 'toolautosubmit');
f.onsubmit = (e) => e.preventDefault();
await settle();
log(await rej(() => run('f')));

//// an answer without preventDefault
const f = form('', 'toolautosubmit action="javascript:void 0"');
f.onsubmit = (e) => log(sync(() => e.respondWith('x')));
await settle();
log(await rej(() => run('f')));

//// misuse of respondWith
const e = new SubmitEvent('submit', {cancelable: true});
log(e.agentInvoked, sync(() => e.respondWith()), sync(() => e.respondWith(1)), sync(() => SubmitEvent.prototype.respondWith.call(5, 1)), sync(() => SubmitEvent.prototype.respondWith.call(new Event('submit'), 1)));
const a = new SubmitEvent('submit', {cancelable: true, agentInvoked: true});
log(a.agentInvoked, sync(() => a.respondWith(1)));
a.preventDefault();
log(sync(() => a.respondWith(1)));
const f = form('', 'toolautosubmit');
f.onsubmit = (ev) => { log(ev === a, ev.agentInvoked, sync(() => ev.respondWith(1))); ev.preventDefault(); log(sync(() => ev.respondWith(1))); };
f.dispatchEvent(a);
const b = new SubmitEvent('submit', {cancelable: true, agentInvoked: true});
f.dispatchEvent(b);
f.requestSubmit();
let kept;
f.onsubmit = (ev) => { kept = ev; ev.preventDefault(); ev.respondWith('ok'); };
await settle();
log(await rej(() => run('f')), kept.agentInvoked, sync(() => kept.respondWith(2)));

//// shape of SubmitEvent
const d = Object.getOwnPropertyDescriptors(SubmitEvent.prototype);
log(Object.keys(d), d.agentInvoked, d.respondWith, d.constructor.value === SubmitEvent, SubmitEvent.name, SubmitEvent.length, d.agentInvoked.get.name, d.respondWith.value.length);
log(sync(() => SubmitEvent.prototype.agentInvoked), sync(() => new SubmitEvent()), sync(() => SubmitEvent('x')), new SubmitEvent('x') instanceof Event);
class Mine extends SubmitEvent {}
log(new Mine('x', {agentInvoked: 1}).agentInvoked, new Mine('x') instanceof Mine, new SubmitEvent('x', {agentInvoked: 0}).agentInvoked, new SubmitEvent('x', null).agentInvoked);
const order = [];
new SubmitEvent('x', spy({}, order));
log(order, sync(() => new SubmitEvent('x', {submitter: 5})), sync(() => new SubmitEvent('x', 5)));
for (const k in new SubmitEvent('x')) if (k === 'agentInvoked' || k === 'respondWith') log(k);

//// submissions by the page are not the agent's
const f = form('<button>x</button>', 'toolautosubmit');
f.onsubmit = (e) => { log(e.agentInvoked); e.preventDefault(); };
await settle();
f.requestSubmit();
f.firstChild.click();

//// the default button submits
for (const inner of ['<button type=button>b</button><button id=one>1</button><button id=two>2</button>', '<input type=submit id=one><input type=image id=two>', '<input type=image id=one><button id=two>2</button>', '<button disabled id=one>1</button><button id=two>2</button>', '<input type=reset>', '']) {
  const f = form(inner, 'toolautosubmit');
  f.onsubmit = (e) => { e.preventDefault(); e.respondWith(String(e.submitter?.id)); };
  await settle();
  log(inner, await Promise.race([rej(() => run('f')), sleep(400)]));
  f.parentNode.remove();
  await settle();
}

//// a default button elsewhere
put('<button id=one form=fid>1</button><form id=fid toolname=f tooldescription=d toolautosubmit><button id=two>2</button></form>');
document.forms[0].onsubmit = (e) => { e.preventDefault(); e.respondWith(e.submitter.id); };
await settle();
log(await rej(() => run('f')));

//// validation fails
const f = form('<input name=a required><input name=b type=email value=x><select name=s required></select><textarea required></textarea><fieldset name=fs><input name=c type=number min=5></fieldset><button>x</button>', 'toolautosubmit');
f.onsubmit = () => log('submit');
await settle();
const seen = record(f), mcs = told();
log(await rej(() => run('f', {c: 3})), seen, mcs, document.activeElement.name);

//// validation fails and invalid events are cancelled
const f = form('<input name=a required>', 'toolautosubmit');
f.addEventListener('invalid', (e) => e.preventDefault(), true);
await settle();
log(await rej(() => run('f')), document.activeElement.localName);

//// custom validity
const f = form('<input name=a>', 'toolautosubmit');
f.elements.a.setCustomValidity('My message');
await settle();
log(await rej(() => run('f', {a: 'x'})));

//// validation switched off
for (const [inner, attributes] of [['<input name=a required>', 'novalidate'], ['<input name=a required><button formnovalidate>x</button>', ''], ['<input name=a required><input type=submit formnovalidate>', '']]) {
  const f = form(inner, 'toolautosubmit ' + attributes);
  f.onsubmit = (e) => { e.preventDefault(); e.respondWith('ok'); };
  await settle();
  log(inner, await rej(() => run('f')));
  f.parentNode.remove();
  await settle();
}

//// order of events
const f = form('<input name=a><button>x</button>', 'toolautosubmit');
const seen = record(f);
for (const t of ['toolactivated', 'toolcancel', 'toolchange']) mc.addEventListener(t, () => seen.push(t));
f.onsubmit = (e) => { seen.push('handler'); e.preventDefault(); e.respondWith(Promise.resolve().then(() => { seen.push('micro'); return 1; })); };
await settle();
seen.length = 0;
await run('f', {a: 'x'}).then(() => seen.push('resolved'));
log(seen);

//// order of events of a form that waits
const f = form('<input name=a><button>x</button>');
const seen = record(f);
for (const t of ['toolactivated', 'toolcancel']) mc.addEventListener(t, () => seen.push(t));
f.onsubmit = (e) => { seen.push('agent ' + e.agentInvoked); e.preventDefault(); e.respondWith('sent'); };
await settle();
const p = run('f', {a: 'x'}).then((v) => seen.push('resolved ' + v));
await settle();
await settle();
log(seen.splice(0), document.activeElement.localName);
f.elements[1].click();
await p;
log(seen);

//// a form that waits, submitted by requestSubmit
const f = form('<input name=a><button>x</button>');
f.onsubmit = (e) => { log(e.agentInvoked, e.submitter); e.preventDefault(); e.respondWith('sent'); };
await settle();
const p = rej(() => run('f'));
await settle();
await settle();
f.requestSubmit();
log(await p);

//// a form that waits without a button
for (const inner of ['', '<input name=a>', '<button type=button>x</button>', '<button disabled>x</button>', '<input type=image>']) {
  const f = form(inner);
  await settle();
  const seen = told();
  log(inner, await Promise.race([rej(() => run('f', {})), sleep(300).then(() => 'waits')]), seen);
  f.parentNode.remove();
  await settle();
}

//// a form that waits, with invalid input
const f = form('<input name=a required><button>x</button>');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith('sent'); };
await settle();
const p = rej(() => run('f', {}));
await settle();
await settle();
f.elements[1].click();
log(await Promise.race([p, sleep(300).then(() => 'waits')]));

//// a form that waits, with nothing chosen or written
for (const control of ['<select name=a required><option value="">none<option>1</select>', '<textarea name=a required></textarea>']) {
  const f = form(control + '<button>x</button>');
  f.onsubmit = (e) => { e.preventDefault(); e.respondWith('sent'); };
  await settle();
  const p = rej(() => run('f', {}));
  await settle();
  await settle();
  f.elements[1].click();
  log(await Promise.race([p, sleep(300).then(() => 'waits')]));
  f.remove();
  await settle();
}

//// a form that waits, with a page that checks it
const f = form('<input name=a required><button>x</button>');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith('sent'); };
await settle();
const p = rej(() => run('f', {}));
await settle();
await settle();
log(f.checkValidity(), f.reportValidity());
log(await Promise.race([p, sleep(300).then(() => 'waits')]));

//// form.submit() in the handler
const one = await frame('/blank', {name: 'target'}), loaded = new Promise((done) => (one.onload = done));
const f = form('', 'toolautosubmit target=target action=/blank');
f.onsubmit = (e) => { e.preventDefault(); f.submit(); };
await settle();
log(await rej(() => run('f')));
await loaded;
log(one.contentWindow.location.href.split('/').pop(), frames.length);

//// form.submit() while the form waits
const one = await frame('/blank', {name: 'target'}), loaded = new Promise((done) => (one.onload = done));
const f = form('<button>x</button>', 'target=target action=/blank');
await settle();
const p = rej(() => run('f'));
await settle();
await settle();
f.submit();
log(await Promise.race([p, sleep(300).then(() => 'waits')]));
await loaded;
log(one.contentWindow.location.href.split('/').pop(), frames.length);

//// a form that goes to a frame
const one = await frame('/blank', {name: 'target'}), loaded = new Promise((done) => (one.onload = done));
const f = form('<input name=a>', 'toolautosubmit target=target action=/blank');
await settle();
log(await rej(() => run('f', {a: 'x'})));
await loaded;
log(one.contentWindow.location.href.split('/').pop(), frames.length);

//// a form that goes to javascript
globalThis.ran = 0;
const f = form('', 'toolautosubmit action="javascript:void ran++"');
await settle();
log(await rej(() => run('f')));
await settle();
log(ran);

//// a form in a dialog
const d = put('<dialog><form toolname=f tooldescription=d toolautosubmit method=dialog><button value=v>x</button></form></dialog>').firstChild;
d.showModal();
await settle();
log(await rej(() => run('f')), d.open, d.returnValue);

//// a form of a frame that navigates
const one = await frame('/blank');
one.contentDocument.body.innerHTML = '<form toolname=f tooldescription=d toolautosubmit action=/blank><input name=a></form>';
await settle();
await settle();
const loaded = new Promise((done) => (one.onload = done));
log(await rej(() => run('f', {a: 'x'})));
await loaded;
log(one.contentWindow.location.search, await names());

//// reset cancels
const f = form('<input name=a><button>x</button>');
await settle();
const seen = told();
const p = rej(() => run('f', {a: 'x'}));
await settle();
await settle();
f.reset();
log(await p, held(f), seen);
await settle();
log(seen);

//// a reset that is prevented
const f = form('<button>x</button>');
f.onreset = (e) => e.preventDefault();
f.onsubmit = (e) => { e.preventDefault(); e.respondWith('sent'); };
await settle();
const p = rej(() => run('f'));
await settle();
await settle();
f.reset();
log(await Promise.race([p, sleep(400).then(() => 'waits')]));
f.requestSubmit();
log(await p);

//// removal cancels
const f = form('<button>x</button>');
await settle();
const seen = told();
const p = rej(() => run('f'));
await settle();
await settle();
f.remove();
log(await p, seen);
await settle();
log(seen);

//// updates cancel
for (const [what, act] of [['name', (f) => f.setAttribute('toolname', 'g')], ['description', (f) => f.setAttribute('tooldescription', 'e')], ['loss', (f) => f.removeAttribute('toolname')], ['control', (f) => f.append(document.createElement('textarea'))], ['required', (f) => { f.elements.a.required = true; }], ['moved', (f) => document.body.append(f)], ['title', (f) => f.setAttribute('tooltitle', 'T')], ['autosubmit', (f) => f.setAttribute('toolautosubmit', '')], ['nothing', (f) => f.setAttribute('class', 'c')], ['label', (f) => f.prepend('text')]]) {
  const f = form('<input name=a><button>x</button>');
  await settle();
  const p = rej(() => run('f'));
  await settle();
  await settle();
  act(f);
  log(what, await Promise.race([p, sleep(300).then(() => 'waits')]));
  f.remove();
  await settle();
}

//// an update while the answer is pending
const f = form('<input name=a>', 'toolautosubmit');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith(sleep(500).then(() => 'answer')); };
await settle();
const p = rej(() => run('f'));
await settle();
f.setAttribute('tooldescription', 'new');
log(await p);

//// removal while the answer is pending
const f = form('<input name=a>', 'toolautosubmit');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith(sleep(500).then(() => 'answer')); };
await settle();
const p = rej(() => run('f'));
await settle();
f.remove();
log(await p);

//// removal in the submit handler
const f = form('<input name=a>', 'toolautosubmit');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith('answer'); f.remove(); };
await settle();
log(await rej(() => run('f')));
const g = form('<input name=a>', 'toolautosubmit');
g.onsubmit = (e) => { e.preventDefault(); e.respondWith(sleep(30).then(() => 'answer')); g.remove(); };
await settle();
log(await rej(() => run('f')));

//// a schema change in the submit handler
const f = form('<input name=a>', 'toolautosubmit');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith(sleep(500).then(() => 'answer')); f.elements.a.required = true; };
await settle();
log(await rej(() => run('f')));

//// removal in the submit handler without an answer
const f = form('<input name=a>', 'toolautosubmit action="javascript:void 0"');
f.onsubmit = (e) => f.remove();
await settle();
log(await Promise.race([rej(() => run('f')), sleep(300).then(() => 'waits')]));

//// abort while the form waits
const f = form('<input name=a><button>x</button>');
f.onsubmit = (e) => { log('submit', e.agentInvoked); e.preventDefault(); };
await settle();
const c = new AbortController(), seen = told();
const p = rej(() => run('f', {a: 'x'}, {signal: c.signal}));
await settle();
await settle();
c.abort('my reason');
log(await p, held(f));
await settle();
log(seen);
f.requestSubmit();

//// abort while the answer is pending
const f = form('', 'toolautosubmit');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith(sleep(500).then(() => 'answer')); };
await settle();
const c = new AbortController(), seen = told();
const p = rej(() => run('f', {}, {signal: c.signal}));
await settle();
c.abort();
log(await p);
await sleep(600);
log(seen);

//// abort before it starts
const f = form('<input name=a>', 'toolautosubmit');
f.onsubmit = (e) => { log('submit'); e.preventDefault(); e.respondWith('x'); };
await settle();
const c = new AbortController(), seen = told(), t = await get('f');
const p = rej(() => mc.executeTool(t, {a: 'x'}, {signal: c.signal}));
c.abort('r');
log(await p);
await settle();
log(held(f), seen);

//// toolactivated for arguments that are refused
const f = form('<input name=a>', 'toolautosubmit');
await settle();
const seen = told();
log(await rej(() => run('f', {b: 1})), seen);

//// a second call while the first waits
const f = form('<input name=a><button>x</button>');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith(new FormData(f).get('a')); };
await settle();
const t = await get('f');
const p = rej(() => mc.executeTool(t, {a: '1'})), q = rej(() => mc.executeTool(t, {a: '2'}));
await settle();
await settle();
f.requestSubmit();
log(await q);
log(await Promise.race([p, sleep(400).then(() => 'pending')]));

//// one call after the other
const f = form('<input name=a>', 'toolautosubmit');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith(new FormData(f).get('a')); };
await settle();
for (const a of ['1', '2', '3']) log(await rej(() => run('f', {a})));

//// a handler that throws
window.onerror = (m) => { log(m); return true; };
const f = form('', 'toolautosubmit');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith('x'); throw new Error('handler'); };
await settle();
log(await rej(() => run('f')));

//// listeners that stop the event
const f = form('', 'toolautosubmit');
window.addEventListener('submit', (e) => { e.preventDefault(); e.respondWith('window'); e.stopImmediatePropagation(); }, {capture: true, once: true});
await settle();
log(await rej(() => run('f')));

//// the page looks at agentInvoked first
const seen = [];
for (const t of [window, document]) for (const capture of [true, false]) t.addEventListener('submit', (e) => seen.push(e.agentInvoked), {capture});
const f = form('', 'toolautosubmit');
f.onsubmit = (e) => { seen.push(e.agentInvoked); e.preventDefault(); e.respondWith('x'); };
await settle();
log(await rej(() => run('f')), seen);

//// a form that is disconnected when it is called
const f = form('', 'toolautosubmit');
await settle();
const t = await get('f');
f.remove();
log(await rej(() => mc.executeTool(t)));

//// a form called from its own handler
const f = form('<input name=a>', 'toolautosubmit');
await reg('other', {execute: () => 'other'});
f.onsubmit = (e) => { e.preventDefault(); e.respondWith(run('other')); };
await settle();
log(await rej(() => run('f')));

//// document.activeElement and values after an autosubmit
const f = form('<input name=a autofocus><button>x</button>', 'toolautosubmit');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith(1); };
await settle();
await run('f', {a: 'x'});
log(document.activeElement.localName, held(f));

//// provideContext and clearContext do not exist here
log(mc.clearContext, mc.provideContext);

//// the default button is in view and has the focus ring
const f = form('<div style="height:5000px"></div><button>x</button>');
await settle();
const p = rej(() => run('f'));
await settle();
await settle();
log(scrollY > 0, f.lastChild.matches(':focus'), f.lastChild.matches(':focus-visible'));
f.reset();
log(await p);

//// answers with a lone surrogate inside
const f = form('', 'toolautosubmit');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith({s: 'x\ud800y'}); };
await settle();
log(await rej(() => run('f')));

//// a value of the button goes along
const f = form('<input name=a><button name=b value=c>x</button>', 'toolautosubmit');
f.onsubmit = (e) => { e.preventDefault(); e.respondWith([...new FormData(f, e.submitter)].join('|')); };
await settle();
log(await rej(() => run('f', {a: 'x'})));

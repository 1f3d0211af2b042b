// :tool-form-active and :tool-submit-active.

//// on and off
const f = form('<input name=a><button id=b>x</button><button id=c>y</button>');
f.onsubmit = (e) => { log('in submit', f.matches(':tool-form-active')); e.preventDefault(); e.respondWith('x'); };
await settle();
const state = () => log(f.matches(':tool-form-active'), [...document.querySelectorAll(':tool-submit-active')].map((e) => e.id), document.querySelectorAll('form:tool-form-active > input').length, f.elements.a.closest(':tool-form-active') === f, document.querySelector(':not(:tool-form-active)') === document.documentElement);
state();
const p = rej(() => run('f'));
await settle();
await settle();
state();
f.requestSubmit();
log(await p);
await settle();
state();

//// off after an abort
const f = form('<button id=b>x</button>');
await settle();
const c = new AbortController();
const p = rej(() => run('f', {}, {signal: c.signal}));
await settle();
await settle();
log(f.matches(':tool-form-active'), f.firstChild.matches(':tool-submit-active'));
c.abort();
await p;
await settle();
log(f.matches(':tool-form-active'), f.firstChild.matches(':tool-submit-active'));

//// off after a reset and a removal
for (const act of [(f) => f.reset(), (f) => f.remove(), (f) => f.setAttribute('tooldescription', 'e')]) {
  const f = form('<button id=b>x</button>');
  await settle();
  const p = rej(() => run('f'));
  await settle();
  await settle();
  act(f);
  await p;
  await settle();
  log(f.matches(':tool-form-active'));
  f.remove();
  await settle();
}

//// while an autosubmitted form is pending
const f = form('<button id=b>x</button>', 'toolautosubmit');
f.onsubmit = (e) => { log(f.matches(':tool-form-active'), document.querySelectorAll(':tool-submit-active').length); e.preventDefault(); e.respondWith(new Promise((done) => { answer = done; })); };
let answer;
await settle();
const p = rej(() => run('f'));
await settle();
log(f.matches(':tool-form-active'), document.querySelectorAll(':tool-submit-active').length);
answer();
await p;

//// CSS.supports
log(CSS.supports('selector(:tool-form-active)'), CSS.supports('selector(form:tool-submit-active > b)'), CSS.supports('selector(:tool-nonsense)'), CSS.supports('color', 'red'), sync(() => CSS.supports()));

//// a style element
put('<style>form:tool-form-active { color: rgb(1, 2, 3); } button:tool-submit-active, .x { color: rgb(4, 5, 6); } @media screen { form:tool-form-active { outline-color: rgb(7, 8, 9); } } form { top: 1px; }</style>');
const f = form('<button>x</button>');
await settle();
const css = () => log(getComputedStyle(f).color, getComputedStyle(f.firstChild).color, getComputedStyle(f).outlineColor, getComputedStyle(f).top);
css();
const c = new AbortController();
const p = rej(() => run('f', {}, {signal: c.signal}));
await settle();
await settle();
css();
c.abort();
await p;
await settle();
css();
log(document.adoptedStyleSheets.length);

//// in a shadow root
const host = put('<p></p>').firstChild, root = host.attachShadow({mode: 'open'});
root.innerHTML = '<style>form:tool-form-active { color: rgb(1, 2, 3); }</style><form toolname=f tooldescription=d><button>x</button></form>';
const f = root.querySelector('form');
await settle();
const c = new AbortController();
const p = rej(() => run('f', {}, {signal: c.signal}));
await settle();
await settle();
log(getComputedStyle(f).color, root.querySelector(':tool-form-active') === f, document.querySelector(':tool-form-active'), root.querySelectorAll(':tool-submit-active').length);
c.abort();
await p;

//// selectors that are wrong
const f = form('<button>x</button>');
await settle();
for (const s of [':tool-nonsense', ':tool-form-active(', ':tool-form-activex', '::tool-form-active', ':tool-form-active()', '']) log(s, sync(() => f.matches(s)));
log(sync(() => f.matches()), sync(() => Element.prototype.matches.call(5, 'a')), Element.prototype.matches.length, document.querySelector.name);

//// a stylesheet that a script made
const old = new CSSStyleSheet();
old.replaceSync('form:tool-form-active { color: rgb(1, 1, 1); } form { top: 1px; }');
document.adoptedStyleSheets = [old];
const f = form('<button>x</button>');
await settle();
const sheet = new CSSStyleSheet(), later = new CSSStyleSheet();
sheet.replaceSync('form:tool-form-active { outline-color: rgb(1, 2, 3); }');
await later.replace('button:tool-submit-active { color: rgb(4, 5, 6); }');
document.adoptedStyleSheets.push(sheet, later);
const css = () => log(getComputedStyle(f).color, getComputedStyle(f).outlineColor, getComputedStyle(f.firstChild).color, getComputedStyle(f).top);
css();
const c = new AbortController();
const p = rej(() => run('f', {}, {signal: c.signal}));
await settle();
await settle();
css();
c.abort();
await p;
await settle();
css();
log(document.adoptedStyleSheets.length, document.adoptedStyleSheets[0] === old, sync(() => sheet.replaceSync()), sync(() => CSSStyleSheet.prototype.replaceSync.call({}, ':tool-form-active {}')));

//// a rule that a script inserted
const style = put('<style>form { top: 1px; }</style>').firstChild;
const f = form('<button>x</button>');
await settle();
log(style.sheet.insertRule('form:tool-form-active { color: rgb(1, 2, 3); }'), style.sheet.insertRule('form { left: 1px; }', 1), style.sheet.cssRules.length, sync(() => style.sheet.insertRule('form:tool-form-active { }', 9)), sync(() => style.sheet.insertRule(':tool-nonsense {}')));
const c = new AbortController();
const p = rej(() => run('f', {}, {signal: c.signal}));
await settle();
await settle();
log(getComputedStyle(f).color);
c.abort();
await p;
await settle();
log(getComputedStyle(f).color);

//// a stylesheet that was replaced
const sheet = new CSSStyleSheet();
sheet.replaceSync('form:tool-form-active { color: rgb(1, 2, 3); }');
sheet.replaceSync('form { top: 1px; }');
document.adoptedStyleSheets = [sheet];
const f = form('<button>x</button>');
await settle();
const c = new AbortController();
const p = rej(() => run('f', {}, {signal: c.signal}));
await settle();
await settle();
log(getComputedStyle(f).color, getComputedStyle(f).top, document.adoptedStyleSheets.length);
c.abort();
await p;

//// a linked stylesheet
const link = document.createElement('link');
link.rel = 'stylesheet';
link.href = 'data:text/css,form:tool-form-active { color: rgb(1, 2, 3); } form { top: 1px; }';
const linked = new Promise((done) => (link.onload = done));
document.head.append(link);
await linked;
const f = form('<button>x</button>');
await settle();
const c = new AbortController();
const p = rej(() => run('f', {}, {signal: c.signal}));
await settle();
await settle();
log(getComputedStyle(f).color, getComputedStyle(f).top);
c.abort();
await p;

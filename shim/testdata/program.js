// program(seed, steps) does what pages do with tools, at random, and then takes stock. It
// gives {problems, tools}: what went wrong, and the names of the tools that this document
// must have in the end.
globalThis.program = async (seed, steps) => {
  const mc = document.modelContext, problems = [];
  addEventListener('error', (e) => problems.push('error: ' + e.message));
  addEventListener('unhandledrejection', (e) => problems.push('unhandled: ' + e.reason));

  // mulberry32
  const random = (n) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let x = Math.imul(seed ^ (seed >>> 15), seed | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) % n;
  };
  const pick = (list) => list[random(list.length)];
  const tick = () => new Promise((done) => setTimeout(done));
  const until = async (ok) => {
    for (let i = 0; i < 1000 && !(await ok()); i++) await new Promise((done) => setTimeout(done, 5));
  };

  const registrations = [], calls = [], forms = [], frames = [];
  let counter = 0;

  const kinds = {
    returns: (i) => i,
    throws() { throw new RangeError('no'); },
    later: async () => { await tick(); return 'later'; },
    hangs: () => new Promise(() => {}),
    registers: () => { register(); return 'registered'; },
    aborts: () => { abort(); return 'aborted'; },
    changes: () => { changeForm(); return 'changed'; },
    lists: async () => (await mc.getTools()).length,
  };

  function register(context = mc, name = pick(['a', 'b', 'c', 'd', 'e', 'f'])) {
    const kind = pick(Object.keys(kinds)), controller = new AbortController();
    const r = {name, controller, main: context === mc, live: false, aborted: false};
    registrations.push(r);
    const tool = {name, description: kind, execute: kinds[kind]};
    if (random(2)) tool.inputSchema = {type: 'object', properties: {x: {type: 'string'}}};
    context.registerTool(tool, {signal: controller.signal}).then(() => { r.live = true; }, () => {});
  }

  function abort() {
    const r = pick(registrations);
    if (r === undefined) return;
    r.aborted = true;
    r.controller.abort();
  }

  async function call() {
    const tool = pick(await mc.getTools());
    if (tool === undefined) return;
    const c = {name: tool.name, controller: new AbortController(), over: false, mayHang: /hangs|waits/.test(tool.description)};
    calls.push(c);
    mc.executeTool(tool, random(3) ? {} : {x: 'text'}, {signal: c.controller.signal}).then(() => { c.over = true; }, () => { c.over = true; });
    if (random(2)) await tick();
  }

  function addForm(doc = document) {
    const form = doc.createElement('form'), autosubmit = random(2) === 0;
    form.setAttribute('toolname', 'form' + counter++);
    form.setAttribute('tooldescription', autosubmit ? 'submits' : 'waits');
    if (autosubmit) form.setAttribute('toolautosubmit', '');
    form.innerHTML = pick(['', '<input name=x>', '<input name=x required><select name=y><option>1</select>']) + '<button>go</button>';
    form.addEventListener('submit', (e) => {
      e.preventDefault();
      if (e.agentInvoked) e.respondWith(pick(['sent', {sent: 1}, tick().then(() => 'later')]));
    });
    let parent = doc.body;
    if (random(3) === 0) {
      parent = doc.createElement('div');
      if (random(2)) doc.body.append(parent);
      const root = parent.attachShadow({mode: pick(['open', 'closed'])});
      root.append(form);
      if (!parent.isConnected) doc.body.append(parent);
    } else {
      parent.append(form);
    }
    if (doc === document) forms.push(form);
  }

  function changeForm() {
    const form = pick(forms);
    if (form === undefined) return;
    pick([
      () => form.remove(),
      () => document.body.append(form),
      () => form.setAttribute('toolname', 'form' + counter++),
      () => form.setAttribute('tooldescription', 'waits again'),
      () => form.removeAttribute('toolname'),
      () => form.setAttribute('tooltitle', 'T' + counter++),
      () => form.append(document.createElement('textarea')),
      () => form.firstChild?.remove(),
      () => form.reset(),
      () => form.requestSubmit(),
      () => { form.innerHTML = '<button>go</button>'; },
    ])();
  }

  async function addFrame() {
    if (frames.length > 3) return;
    const frame = document.createElement('iframe');
    frame.src = pick(['/blank', 'about:blank', '/blank?other']);
    frames.push(frame);
    document.body.append(frame);
    if (random(2)) await new Promise((done) => { frame.onload = done; setTimeout(done, 1000); });
    if (frame.contentDocument?.body) changeFrame(frame);
  }

  function changeFrame(frame = pick(frames)) {
    if (!frame?.contentDocument?.body) return;
    pick([
      () => register(frame.contentDocument.modelContext, 'frame' + counter++),
      () => register(frame.contentDocument.modelContext),
      () => addForm(frame.contentDocument),
      () => frame.contentWindow.location.reload(),
      () => { frame.src = '/blank?' + counter++; },
      () => { frames.splice(frames.indexOf(frame), 1); frame.remove(); },
    ])();
  }

  function storm() {
    const holder = document.createElement('section');
    for (let i = 0; i < 200; i++) holder.append(document.createElement('p'));
    document.body.append(holder);
    if (random(2)) holder.remove();
  }

  const doings = [
    register, register, abort, call, call, call, () => pick(calls)?.controller.abort(), addForm, changeForm, changeForm,
    addFrame, changeFrame, changeFrame, storm, tick, tick, () => undefined,
  ];

  await mc.registerTool({name: 'beacon', description: 'd', execute: () => 'ok'});
  for (let i = 0; i < steps; i++) {
    try {
      await pick(doings)();
    } catch (e) {
      problems.push('thrown: ' + (e?.stack ?? e));
    }
  }

  const open = () => calls.filter((c) => !c.over && !c.mayHang && !c.controller.signal.aborted);
  await until(() => open().length === 0);
  for (const c of open()) problems.push('the call of ' + c.name + ' does not end');
  for (const c of calls) c.controller.abort();
  await until(() => calls.every((c) => c.over));
  for (const c of calls) if (!c.over) problems.push('the aborted call of ' + c.name + ' does not end');
  for (const f of frames) f.remove();

  const wanted = () => ['beacon', ...registrations.filter((r) => r.main && r.live && !r.aborted).map((r) => r.name),
    ...forms.filter((f) => f.isConnected && f.hasAttribute('toolname')).map((f) => f.getAttribute('toolname'))].sort().join();
  let got;
  await until(async () => {
    got = (await mc.getTools()).map((t) => t.name).sort().join();
    return got === wanted();
  });
  if (got !== wanted()) problems.push('there are the tools ' + got + ', and should be ' + wanted());
  return {problems, tools: wanted()};
};

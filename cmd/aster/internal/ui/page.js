// The page of aster ui. Strangers' text is set as textContent only.
(() => {
  'use strict';
  // The token leaves the address for this tab's own store, which no other port can read.
  const given = /^#token=(.+)$/.exec(location.hash);
  if (given) {
    sessionStorage.setItem('token', given[1]);
    history.replaceState(null, '', location.pathname);
  }
  addEventListener('hashchange', () => location.reload()); // another run's address, opened here
  const token = sessionStorage.getItem('token') || '';
  const at = (id) => document.getElementById(id);
  const make = (tag, text, name) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (name) e.className = name;
    return e;
  };
  const row = (cells, name) => {
    const tr = make('tr');
    cells.forEach((text, i) => tr.append(make('td', text, i === name.at ? name.is : '')));
    return tr;
  };
  const drawn = new Map();
  // draw fills an element where what it shows is new, so that focus and folds stay.
  const draw = (id, value, nodes) => {
    const text = JSON.stringify(value);
    if (drawn.get(id) === text) return;
    drawn.set(id, text);
    const open = new Set([...at(id).querySelectorAll('details[open]')].map((d) => d.dataset.key));
    const held = document.activeElement?.closest?.('#' + id + ' details')?.dataset.key;
    at(id).replaceChildren(...nodes(value));
    for (const d of at(id).querySelectorAll('details')) {
      d.open = open.has(d.dataset.key);
      if (held !== undefined && d.dataset.key === held) d.querySelector('summary').focus();
    }
  };
  const count = (n) => n + (n === 1 ? ' tool' : ' tools');
  const group = (key, title, state, tools) => {
    const d = make('details'), s = make('summary', title + ' ');
    d.dataset.key = key;
    s.append(make('span', state, 'quiet'));
    const list = make('ul');
    for (const t of tools) {
      const li = make('li');
      li.append(make('b', t.name), make('span', (t.title ? ' (' + t.title + ')' : '') + (t.about ? ': ' + t.about : '')));
      list.append(li);
    }
    d.append(s, list);
    return d;
  };
  const tab = (p) => {
    const d = group(p.key, p.title, count(p.tools.length + (p.more || 0)) + (p.state && p.state !== 'ready' ? ', ' + p.state : ''), p.tools);
    const above = [];
    if (p.url) above.push(make('p', p.url, 'quiet'));
    for (const note of p.notes || []) above.push(make('p', note));
    d.querySelector('summary').after(...above);
    return d;
  };

  // Questions are never drawn again: what is about to be pressed must stay what it is. Where
  // one comes or goes, the buttons rest for a moment, so that no click meant for what was
  // there before counts.
  const rest = 500; // milliseconds
  const words = { no: 'Refuse', once: 'Allow this once', session: 'Allow for this session', always: 'Allow always (writes a rule)' };
  const settled = new Set();
  let awake = 0;
  const pause = () => {
    for (const b of at('asks').querySelectorAll('button')) b.setAttribute('aria-disabled', 'true');
    clearTimeout(awake);
    awake = setTimeout(() => {
      for (const b of at('asks').querySelectorAll('button')) if (!settled.has(b.closest('article').dataset.id)) b.removeAttribute('aria-disabled');
    }, rest);
  };
  const answer = async (id, word) => {
    settled.add(id);
    pause();
    let told = 'Your answer: ' + words[word] + '.';
    try {
      const r = await fetch('/answer', { method: 'POST', headers: { 'Content-Type': 'application/json', Authorization: 'Bearer ' + token }, body: JSON.stringify({ id, answer: word }) });
      if (r.status !== 204) told = await r.text();
      if (r.status === 204 || r.status === 410) drop(id);
      else settled.delete(id);
    } catch {
      told = 'The answer did not reach aster ui.';
      settled.delete(id);
    }
    pause();
    at('told').textContent = told;
  };
  const drop = (id) => {
    const box = [...at('asks').children].find((e) => e.dataset.id === id);
    if (!box) return;
    const held = box.contains(document.activeElement);
    box.remove();
    pause();
    if (held) at('asks-title').focus();
  };
  const ask = (q) => {
    const box = make('article');
    box.dataset.id = q.id;
    const text = make('pre', q.lines.join('\n'));
    text.tabIndex = 0;
    box.setAttribute('aria-label', q.lines[0]);
    box.append(text);
    for (const word of ['no', ...q.choices]) {
      const b = make('button', words[word]);
      b.type = 'button';
      b.addEventListener('click', (e) => {
        if (e.isTrusted && b.getAttribute('aria-disabled') !== 'true') answer(q.id, word);
      });
      box.append(b);
    }
    box.append(make('p', 'Asked ' + q.since + ' by process ' + q.pid, 'quiet'));
    return box;
  };
  const asks = (list) => {
    const there = new Set(list.map((q) => q.id));
    for (const e of [...at('asks').children]) if (!there.has(e.dataset.id)) drop(e.dataset.id);
    const shown = new Set([...at('asks').children].map((e) => e.dataset.id));
    for (const q of list) {
      if (shown.has(q.id) || settled.has(q.id)) continue;
      at('asks').append(ask(q));
      at('told').textContent = '';
      pause();
    }
    for (const id of settled) if (!there.has(id)) settled.delete(id);
    const n = at('asks').children.length;
    document.title = n ? '(' + n + ') aster' : 'aster';
    at('no-asks').hidden = n > 0;
  };

  const show = (st) => {
    at('no-asks').textContent = st.asked ? 'No question. What aster has to ask you about a call of one of its processes appears here, beside where your client asks.' : 'Questions about calls are not put to this page.';
    asks(st.asks);
    at('no-calls').textContent = st.recorded ? 'No call since this page was started.' : 'No record of calls is kept (mcp.audit.enabled).';
    at('no-calls').hidden = st.calls.length > 0;
    at('calls').closest('.wide').hidden = st.calls.length === 0;
    at('rules').closest('.wide').hidden = st.rules.length === 0;
    draw('calls', st.calls, (v) => v.map((c) => row([c.time, c.tool, c.client || '', c.decision + (c.by ? ' (' + c.by + ')' : ''),
      c.outcome || 'running', c.outcome ? (c.ms || 0).toFixed(1) + ' ms' : ''], { at: 3, is: c.decision === 'deny' ? 'deny' : '' })));
    draw('pages', st.pages, (v) => v.length ? v.map(tab) : [make('p', 'No page offers tools.', 'quiet')]);
    at('browser').textContent = st.browser ? 'Browser: ' + st.browser : '';
    draw('servers', [st.servers, st.left], ([v, left]) => v.map((s) => group(s.name, s.name, s.state, s.tools)).concat(left ? [make('p', left + ' more tools are not shown.')] : []));
    at('tokens').textContent = st.manifest.tokens + ' of ' + st.manifest.budget + ' tokens; all descriptions would take ' + st.manifest.all + '.';
    if (at('manifest').textContent !== st.manifest.text) at('manifest').textContent = st.manifest.text;
    draw('defaults', st.defaults, (v) => v.map((t) => make('li', t)));
    draw('rules', st.rules, (v) => v.map((r) => row([r.decision, r.tools, r.where || '', r.reason || '', r.place], { at: 0, is: r.decision === 'deny' ? 'deny' : '' })));
  };
  const events = new EventSource('/events?token=' + encodeURIComponent(token));
  events.onopen = () => { at('live').textContent = 'live'; };
  events.onerror = () => { // a stream that was refused is not tried again
    at('live').textContent = events.readyState === EventSource.CLOSED ? 'not served: open the address that aster ui printed, and close other pages of it' : 'aster ui does not answer';
  };
  events.onmessage = (e) => show(JSON.parse(e.data));
})();

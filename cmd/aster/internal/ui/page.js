// The page of aster ui. Strangers' text is set as textContent only.
(() => {
  'use strict';
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
  const group = (key, title, state, tools) => {
    const d = make('details'), s = make('summary', title + ' ');
    d.dataset.key = key;
    s.append(make('span', state || tools.length + (tools.length === 1 ? ' tool' : ' tools'), 'quiet'));
    const list = make('ul');
    for (const t of tools) {
      const li = make('li');
      li.append(make('b', t.name), make('span', (t.title ? ' (' + t.title + ')' : '') + (t.about ? ': ' + t.about : '')));
      list.append(li);
    }
    d.append(s, list);
    return d;
  };
  const show = (st) => {
    at('no-calls').textContent = st.recorded ? 'No call since this page was started.' : 'No record of calls is kept (mcp.audit.enabled).';
    at('no-calls').hidden = st.calls.length > 0;
    at('calls').closest('.wide').hidden = st.calls.length === 0;
    at('rules').closest('.wide').hidden = st.rules.length === 0;
    draw('calls', st.calls, (v) => v.map((c) => row([c.time, c.tool, c.client || '', c.decision + (c.by ? ' (' + c.by + ')' : ''),
      c.outcome || 'running', c.outcome ? (c.ms || 0).toFixed(1) + ' ms' : ''], { at: 3, is: c.decision === 'deny' ? 'deny' : '' })));
    draw('pages', st.pages, (v) => v.length ? v.map((p) => group(p.origin, p.origin, '', p.tools)) : [make('p', 'No page offers tools.', 'quiet')]);
    draw('servers', [st.servers, st.left], ([v, left]) => v.map((s) => group(s.name, s.name, s.state, s.tools)).concat(left ? [make('p', left + ' more tools are not shown.')] : []));
    at('tokens').textContent = st.manifest.tokens + ' of ' + st.manifest.budget + ' tokens; all descriptions would take ' + st.manifest.all + '.';
    if (at('manifest').textContent !== st.manifest.text) at('manifest').textContent = st.manifest.text;
    draw('defaults', st.defaults, (v) => v.map((t) => make('li', t)));
    draw('rules', st.rules, (v) => v.map((r) => row([r.decision, r.tools, r.where || '', r.reason || '', r.place], { at: 0, is: r.decision === 'deny' ? 'deny' : '' })));
  };
  const events = new EventSource('/events');
  events.onopen = () => { at('live').textContent = 'live'; };
  events.onerror = () => { // a stream that was refused is not tried again
    at('live').textContent = events.readyState === EventSource.CLOSED ? 'not served: open the address that aster ui printed, and close other pages of it' : 'aster ui does not answer';
  };
  events.onmessage = (e) => show(JSON.parse(e.data));
})();

package ui_test

import (
	"strings"
	"testing"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/cmd/aster/internal/config"
	"github.com/aster-mcp/aster/cmd/aster/internal/ui"
)

// unreadable lists elements whose text stands out from what is behind it by less than 4.5 to
// 1, which WCAG 2.2 asks for at level AA.
const unreadable = `(() => {
	const parse = (c) => { const m = c.match(/[\d.]+/g).map(Number); return m.length > 3 && m[3] === 0 ? null : m; };
	const light = (c) => c.slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c) return c; } return [255, 255, 255]; };
	const bad = [];
	for (const e of document.querySelectorAll('body *')) {
		if (!e.checkVisibility() || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
		if (e.closest('[aria-disabled="true"]')) continue; // as WCAG does
		const a = light(parse(getComputedStyle(e).color)), b = light(behind(e));
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) bad.push(e.localName + '.' + e.className + ' ' + ratio.toFixed(1));
	}
	return bad.join(', ');
})()`

// The page can be read in both colour schemes, shows the rules, and is walked with Tab alone.
func TestLook(t *testing.T) {
	b := cdptest.Shared(t, false)
	c := config.Default()
	c.Policy.Rules = []config.Rule{
		{Decision: "deny", Tools: []config.Pattern{{Text: "files/write_*"}}, Args: map[string]string{"path": "*.key"}, Reason: "keys " + markup, Place: config.Place{File: "aster.yaml", Line: 3, Column: 5}},
		{Decision: "allow", Tools: []config.Pattern{{Text: "wiki/*"}}},
	}
	base := serveWith(t, &ui.Options{Config: c}, hostile())
	p := b.NewPage(t, base+"/#token=right")
	await(t, p, "the servers", `document.getElementById('live').textContent === 'live' && document.querySelector('#servers summary') !== null && document.querySelector('#pages summary') !== null`)
	if got := p.EvalString(t, `[...document.querySelectorAll('#rules tr')].map((tr) => [...tr.cells].map((c) => c.textContent).join('|')).join('\n')`); got != "deny|files/write_*|path=*.key|keys "+shown+"|aster.yaml:3:5\nallow|wiki/*|||default" {
		t.Errorf("the rules are\n%s", got)
	}
	if got := p.EvalString(t, `document.getElementById('defaults').textContent`); !strings.Contains(got, "deny, then ask, then allow") {
		t.Errorf("the defaults are %s", got)
	}
	walk(t, p)
	p.Eval(t, `for (const d of document.querySelectorAll('details')) d.open = true`)
	backs := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		p.Call(t, "Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}})
		await(t, p, scheme, `matchMedia('(prefers-color-scheme: `+scheme+`)').matches`)
		if bad := p.EvalString(t, unreadable); bad != "" {
			t.Errorf("%s: hard to read: %s", scheme, bad)
		}
		backs[scheme] = p.EvalString(t, `getComputedStyle(document.body).backgroundColor`)
	}
	if backs["light"] == backs["dark"] {
		t.Errorf("both schemes have the background %s", backs["dark"])
	}
}

// walk presses Tab until the focus has been everywhere, and sees each place outlined; Enter
// opens what is folded.
func walk(t *testing.T, p *cdptest.Page) {
	t.Helper()
	want := len(p.EvalString(t, `'x'.repeat([...document.querySelectorAll('summary, pre[tabindex="0"], .wide[tabindex="0"]')].filter((e) => e.checkVisibility()).length)`))
	seen := map[string]bool{}
	for range want {
		key(t, p, "Tab", "", 9)
		at := p.EvalString(t, `(() => { const e = document.activeElement; return e.localName + ' ' + (e.id || e.ariaLabel || e.textContent) + (getComputedStyle(e).outlineStyle === 'solid' ? '' : ' without an outline'); })()`)
		if strings.HasPrefix(at, "body ") || strings.HasSuffix(at, " without an outline") {
			t.Errorf("the focus is at %q", at)
		}
		seen[at] = true
	}
	if len(seen) != want {
		t.Errorf("Tab reaches %d of %d places", len(seen), want)
	}
	p.Eval(t, `document.querySelector('#servers summary').focus()`)
	key(t, p, "Enter", "\r", 13)
	await(t, p, "the folded tools", `document.querySelector('#servers details').open`)
}

// key presses one key.
func key(t *testing.T, p *cdptest.Page, name, text string, code int) {
	t.Helper()
	for _, typ := range []string{"keyDown", "keyUp"} {
		p.Call(t, "Input.dispatchKeyEvent", map[string]any{"type": typ, "key": name, "code": name, "text": text, "windowsVirtualKeyCode": code})
	}
}

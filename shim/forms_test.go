package shim_test

import (
	"testing"

	"github.com/aster-mcp/aster/shim"
)

// A document that was open before us has its forms too, those in open shadow roots
// included, and what comes later; the channel says what a call waits for and how it ended.
func TestFormsOfAnOpenDocument(t *testing.T) {
	t.Parallel()
	tab := openPlain(t, server().Page("/late-forms", `<!doctype html><form toolname="wait" tooldescription="d"><input name="q"><button> Send it </button></form>
	  <div><template shadowrootmode="open"><form toolname="inner" tooldescription="d" toolautosubmit action="javascript:void 0" target="_self"></form></template></div>`))
	p := newPeer(t, plainBrowser(), tab.Target)
	api := p.attachLate(t, shim.Config{})
	eventually(t, "the forms", func() bool { s := p.tools(t); return s == "wait,inner" || s == "inner,wait" })
	for _, m := range p.messages(t) {
		if m.Tools == nil {
			continue
		}
		for _, tool := range m.Tools.Add {
			if tool.Form == nil || tool.Form.Autosubmit != (tool.Name == "inner") {
				t.Errorf("%s has the form %+v", tool.Name, tool.Form)
			}
		}
	}
	if r := p.run(t, api, "inner", "{}"); r.Status != shim.StatusSubmitted || r.Target != "_self" {
		t.Errorf("inner ends with %+v", *r)
	}
	if r := p.run(t, api, "wait", `{"x":1}`); r.Status != shim.StatusError || r.Error != `Input contains a parameter "x" but there is no such parameter for the tool` {
		t.Errorf("a wrong argument ends with %+v", *r)
	}
	p.method(t, api, "invoke", "w", "wait", `{"q":"x"}`)
	eventually(t, "it waits", func() bool {
		for _, m := range p.messages(t) {
			if m.Waiting != nil && m.Waiting.ID == "w" && m.Waiting.Button == "Send it" {
				return true
			}
		}
		return false
	})
	tab.Eval(t, "document.forms[0].reset()")
	if r := p.result(t, "w"); r.Status != shim.StatusCanceled || r.Error != "Tool execution cancelled by a form reset" {
		t.Errorf("a reset ends with %+v", *r)
	}
	p.method(t, api, "invoke", "c", "wait", `{"q":"y"}`)
	p.method(t, api, "cancel", "c")
	if r := p.result(t, "c"); r.Status != shim.StatusCanceled || r.Error != "" {
		t.Errorf("a cancel ends with %+v", *r)
	}
	tab.Eval(t, `document.body.insertAdjacentHTML('beforeend', '<form toolname=more tooldescription=d></form>'); document.forms[0].remove()`)
	eventually(t, "the changes", func() bool { s := p.tools(t); return s == "inner,more" })
}

// A form that comes amid a storm of changes, where the shim looks only now and then, is
// found.
func TestFormAfterAStorm(t *testing.T) {
	t.Parallel()
	pg := openShim(t, server().At("localhost", "/blank"), shim.Config{})
	got := string(pg.Eval(t, `(async () => {
	  const root = document.createElement('main');
	  root.innerHTML = '<p></p>'.repeat(20000);
	  document.body.append(root);
	  for (let i = 0; i < 2000; i++) {
	    root.append(document.createElement('p'));
	    await null;
	  }
	  document.body.insertAdjacentHTML('beforeend', '<form toolname=f tooldescription=d></form>');
	  while ((await document.modelContext.getTools()).length === 0) await new Promise((done) => setTimeout(done));
	  return (await document.modelContext.getTools()).length;
	})()`))
	if got != "1" {
		t.Errorf("after the storm there are %s tools, want 1", got)
	}
}

// The schema that a form gets from its controls.

//// an empty form
form('');
await settle();
log(await get('f'));

//// text-like types
await schemas(...['text', 'search', 'tel', 'url', 'email', 'password', 'nonsense', 'TEXT', ''].map((t) => `<input name=a type="${t}">`), '<input name=a>');

//// text attributes
await schemas('<input name=a minlength=2 maxlength=5>', '<input name=a list=l><datalist id=l><option>x</datalist>', '<input name=a placeholder=p title=t>', '<input name=a type=email multiple>',
  '<input name=a value=v>', '<input name=a autocomplete=off dir=rtl size=3>', '<input name=a spellcheck=false inputmode=numeric>');

//// patterns
await schemas(...['[a-z]+', '', '(', '[(]', 'a{2,1}', '\\d', '^x$', 'é', '[a&&b]', '\\u{1F600}', '(?<n>x)\\k<n>', '[\\-a]', 'a-b', '\\-', '\\', '/'].map((p) => `<input name=a pattern="${p}">`));

//// patterns of other types
await schemas(...['search', 'tel', 'url', 'email', 'password', 'number', 'range', 'date', 'time', 'month', 'week', 'datetime-local', 'color', 'checkbox', 'radio', 'hidden'].map((t) => `<input name=a type=${t} toolparamdescription=d pattern=x+>`), '<textarea name=a pattern=x></textarea>', '<select name=a pattern=x></select>');

//// hidden inputs
await schemas('<input type=hidden name=a>', '<input type=hidden name=a value=v toolparamdescription="say it">', '<input type=hidden name=a toolparamdescription="">', '<input type=hidden name=a aria-description=x>', '<label>L<input type=hidden name=a></label>',
  '<input type=hidden name=a toolparamdescription=d required>', '<input type=hidden name=a toolparamdescription=d readonly>', '<input type=hidden name=a toolparamdescription=d disabled>');

//// textarea
await schemas('<textarea name=a></textarea>', '<textarea name=a required rows=3>text</textarea>', '<textarea name=a minlength=1 maxlength=3 placeholder=p></textarea>', '<textarea name=a disabled></textarea>', '<textarea name=a readonly></textarea>');

//// numbers
await schemas(...['', 'min=1', 'max=5', 'min=1 max=5', 'min=5 max=1', 'min=x', 'max=""', 'min=" 1"', 'min="1 "', 'min=-1.5', 'min=1e3', 'min=.5', 'min=5.', 'min=+5', 'min=0x10', 'min=Infinity', 'min=-0', 'min=1e400', 'min=0.1 max=0.3', 'min=12345678901234567890'].map((a) => `<input name=a type=number ${a}>`));

//// number steps
await schemas(...['step=2', 'step=any', 'step=ANY', 'step=0', 'step=-1', 'step=x', 'step=""', 'step=0.1', 'step=1e-3', 'step=0.01 min=0.05', 'min=1 step=2', 'min=2 step=2', 'min=4 step=2 max=9', 'value=3 step=2', 'value=4 step=2', 'min=0 value=3 step=2', 'min=0.5', 'value=0.5', 'min=0.1 step=0.1', 'min=0.3 step=0.1', 'min=x value=3 step=2', 'value=x step=2', 'step=3 min=-3', 'step=3 min=-2', 'step=.5 min=1', 'step=1e21', 'step=" 2"'].map((a) => `<input name=a type=number ${a}>`));

//// the value property is not the step base
const f = form('<input name=a type=number step=2>');
f.elements.a.value = '3';
await settle();
log((await get('f')).inputSchema);

//// ranges
await schemas(...['', 'min=10', 'max=50', 'min=10 max=5', 'min=200', 'max=-5', 'step=5', 'step=any', 'step=0', 'min=1 step=2', 'min=3 step=3', 'value=7 step=2', 'min=x max=y', 'required', 'min=0.5', 'min=-10 max=10 step=0.5', 'value=50', 'value=51 step=2', 'min=1e2 max=1e3'].map((a) => `<input name=a type=range ${a}>`));

//// dates
await schemas(...['', 'min=2026-01-01 max=2026-12-31', 'step=7', 'toolparamdescription="The day"', 'toolparamdescription=" "', 'required', 'aria-description="a day"'].map((a) => `<input name=a type=date ${a}>`), '<label>Day <input name=a type=date></label>', '<label> <input name=a type=date></label>');

//// times
await schemas(...['', 'step=60', 'step=61', 'step=59', 'step=1', 'step=30', 'step=0.5', 'step=0.001', 'step=any', 'step=0', 'step=-5', 'step=x', 'step=3600', 'min=10:00 max=11:00', 'min=10:00:30', 'value=10:00:30', 'value=10:00:30.5', 'step=90', 'step=120', 'step=1.5', 'step=60.5'].map((a) => `<input name=a type=time ${a}>`));

//// local dates and times
await schemas(...['', 'step=60', 'step=1', 'step=30', 'step=0.5', 'step=any', 'min=2026-01-01T10:00', 'value=2026-01-01T10:00:30'].map((a) => `<input name=a type=datetime-local ${a}>`));

//// months, weeks, colours
await schemas('<input name=a type=month>', '<input name=a type=month min=2026-01 step=2>', '<input name=a type=week>', '<input name=a type=week required>', '<input name=a type=color>', '<input name=a type=color value=#ff0000 alpha>', '<input name=a type=datetime>');

//// one checkbox
await schemas('<input name=a type=checkbox>', '<input name=a type=checkbox value=v checked>', '<input name=a type=checkbox required>', '<label>Yes <input name=a type=checkbox></label>', '<input name=a type=checkbox disabled>', '<input name=a type=checkbox readonly>');

//// several checkboxes
await schemas('<input name=a type=checkbox value=1><input name=a type=checkbox value=2>', '<input name=a type=checkbox><input name=a type=checkbox>', '<input name=a type=checkbox value=1><input name=a type=checkbox value=1>',
  '<label>One<input name=a type=checkbox value=1></label><label>Two <b>b</b><input name=a type=checkbox value=2></label><input name=a type=checkbox value=3>',
  '<input name=a type=checkbox value=1 required><input name=a type=checkbox value=2>', '<input name=a type=checkbox value=1><input name=a type=checkbox value=2 required>', '<input name=a type=checkbox value=1 disabled><input name=a type=checkbox value=2>',
  '<input name=a type=checkbox value=1 disabled><input name=a type=checkbox value=2><input name=a type=checkbox value=3>', '<input name=a type=checkbox value=""><input name=a type=checkbox value=2>',
  '<input name=a type=checkbox value=1 toolparamdescription=x><input name=a type=checkbox value=2 toolparamdescription=y>');

//// radios
await schemas('<input name=a type=radio>', '<input name=a type=radio value=1>', '<input name=a type=radio value=1><input name=a type=radio value=2>', '<label>One<input name=a type=radio value=1></label><label>  Two  x <input name=a type=radio value=2></label>',
  '<input name=a type=radio value=1 disabled><input name=a type=radio value=2>', '<input name=a type=radio value=1 disabled>', '<input name=a type=radio value=1 required><input name=a type=radio value=2>', '<input name=a type=radio value=1><input name=a type=radio value=2 required>',
  '<input name=a type=radio value=1><input name=a type=radio value=1>', '<label> <input name=a type=radio value=1></label>', '<input name=a type=radio value=1 readonly><input name=a type=radio value=2>', '<label>One<input name=a type=radio value=1 toolparamdescription=x></label>',
  '<label>One<input name=a type=radio value=1 toolparamdescription=x></label><label>Two<input name=a type=radio value=2></label>', '<input name=a type=radio value=1 aria-description=x>');

//// selects
await schemas('<select name=a></select>', '<select name=a><option>One<option value=2>Two</select>', '<select name=a><option value="">Choose<option value=x>X</select>', '<select name=a required><option disabled>One<option hidden>Two</select>',
  '<select name=a><optgroup label=G><option>One</optgroup><optgroup disabled label=H><option>Two</optgroup></select>', '<select name=a><option>  One   two  </select>', '<select name=a><option label=L value=v>T</select>', '<select name=a><option value=v></select>',
  '<select name=a><option>x<option>x</select>', '<select name=a size=3><option>x</select>', '<select name=a><option>x<hr><option>y</select>', '<select name=a disabled><option>x</select>', '<select name=a readonly><option>x</select>');

//// select text is not trimmed
put('<form toolname=s tooldescription=d><select name=a><option>\n  One\n  two </option><option value="\n v">&nbsp;x</option></select></form>');
await settle();
log((await get('s')).inputSchema);

//// selects for several
await schemas('<select name=a multiple></select>', '<select name=a multiple><option>One<option value=2>Two</select>', '<select name=a multiple required><option selected>One</select>', '<select name=a multiple><option>x<option>x</select>', '<label>L<select name=a multiple><option>x</select></label>');

//// what is left out
await schemas('<input type=submit name=a>', '<input type=reset name=a>', '<input type=button name=a>', '<input type=image name=a>', '<button name=a>x</button>', '<button type=button name=a>x</button>', '<output name=a></output>', '<object name=a></object>', '<fieldset name=a></fieldset>', '<input type=file name=a>', '<input type=file name=a multiple required>',
  '<input name=a disabled>', '<input name=a readonly>', '<fieldset disabled><input name=a></fieldset>', '<fieldset disabled><legend><input name=a></legend><input name=b></fieldset>', '<x-y name=a></x-y>', '<img name=a>', '<meter name=a></meter><progress name=b></progress>', '<datalist><input name=a></datalist>');

//// what stays although it is not seen
await schemas('<input name=a style="display:none">', '<input name=a hidden>', '<div inert><input name=a></div>', '<div hidden><div><input name=a></div></div>', '<details><input name=a></details>', '<dialog><input name=a></dialog>', '<template><input name=a></template>', '<datalist><option value=x></datalist><input name=b>', '<input name=a aria-hidden=true>');

//// unnamed controls
await schemas('<input>', '<input name="">', '<input><input>', '<input id=x>', '<input required>', '<input type=checkbox><input type=checkbox>', '<input type=checkbox value=1>', '<input type=radio value=1><input type=radio value=2>', '<input type=radio value=1>', '<select><option>x</select>', '<input><input type=checkbox>', '<input name=a><input>');

//// one name for several
await schemas('<input name=a><input name=a>', '<input name=a><input name=a disabled>', '<input name=a type=checkbox><input name=a>', '<input name=a type=checkbox><input name=a type=radio>', '<input name=a><input name=b><input name=a>', '<input name=a><button name=a>x</button>', '<input name=a><input type=submit name=a>', '<input name=a><input type=hidden name=a>',
  '<select name=a><option>x</select><select name=a><option>y</select>', '<input name=a type=radio value=1><input name=a type=checkbox value=2>', '<input name=a required><input name=a>', '<input name=a type=checkbox value=1><input name=a type=checkbox value=2><input type=hidden name=a>', '<input name=a><input name=A>', '<input name=a readonly><input name=a>');

//// names of every kind
await schemas('<input name="a b">', '<input name=__proto__>', '<input name=constructor><input name=toString>', '<input name=2><input name=b><input name=1>', '<input name="é\u{1F600}">', '<input name="a[]">', '<input name=" a ">', '<input name=_charset_>', '<input name=isindex>', '<input name=action><input name=elements><input name=toolname>');

//// required
await schemas('<input name=a required>', '<input name=b required><input name=a required>', '<select name=a required><option>x</select>', '<textarea name=a required></textarea>', '<input name=a type=range required>', '<input name=a type=color required>', '<input name=a type=hidden toolparamdescription=d required>', '<input name=a required disabled>', '<input name=a required><input name=a required>', '<input name=a required=false>', '<input name=a aria-required=true>', '<input name=2 required><input name=1 required>');

//// the order of properties
await schemas('<input name=z><div><input name=a></div><select name=m></select>', '<input name=a type=radio value=1><input name=b><input name=a type=radio value=2>', '<input name=10><input name=9>');

//// descriptions
await schemas('<input name=a toolparamdescription="What it is">', '<input name=a toolparamdescription="  spaces  kept ">', '<input name=a toolparamdescription="">', '<label>Label <input name=a></label>', '<label>Before <input name=a> after</label>', '<label for=i1>Far</label><input id=i1 name=a>', '<label for=i2>One</label><label for=i2>Two</label><input id=i2 name=a>',
  '<label>In <input id=i3 name=a></label><label for=i3>Far</label>', '<label>L <input name=a toolparamdescription=T></label>', '<input name=a aria-description="aria">', '<label>L<input name=a aria-description="aria"></label>', '<label> <input name=a aria-description="aria"></label>', '<input name=a aria-label=l title=t placeholder=p>', '<p id=i4>by</p><input name=a aria-labelledby=i4 aria-describedby=i4>', '<input name=a aria-description="">', '<input name=a aria-description=" x  y ">', '<input name=a toolparamdescription=" ">');

//// label texts
await schemas('<label>  Many   spaces\n and lines  <input name=a></label>', '<label>&nbsp;hard&nbsp;<input name=a></label>', '<label><script>var x</script>s<style>y</style><input name=a></label>', '<label>a<b>b</b><i>c</i><input name=a></label>', '<label>x<select name=a><option>in select</select></label>', '<label>x<textarea name=a>in text</textarea>y</label>', '<label>x<button>in button</button><input name=a>y</label>',
  '<label>a<!-- c -->b<input name=a></label>', '<label>x<span hidden>hidden</span><span style="display:none">none</span><input name=a></label>', '<label>x<meter>m</meter><progress>p</progress><output>o</output><input name=a></label>', '<label>A <label>B <input name=a></label></label>', '<label for=none>L<input name=a></label>', '<label for=i5>L<input name=a></label><input id=i5 name=b>', '<label>x<input name=a><input name=b></label>', '<label><template>t</template>x<input name=a></label>', '<label>x<object>o</object><img alt=alt><input name=a></label>');

//// label texts join
await schemas('<label for=j1></label><label for=j1>Two</label><input id=j1 name=a>', '<label for=j2> </label><label for=j2> </label><input id=j2 name=a aria-description=x>', '<label for=j3>One </label><input id=j3 name=a><label for=j3> Two</label><label for=j3>Three</label>', '<input type=hidden name=a id=j4 toolparamdescription=d><label for=j4>L</label>');

//// labels outside of the form
put('<label for=out>Outside</label><form toolname=f tooldescription=d><input id=out name=a></form><label for=out>After</label>');
await settle();
log((await get('f')).inputSchema);

//// descriptions of groups
await schemas('<fieldset toolparamdescription=F><input name=a type=radio value=1><input name=a type=radio value=2></fieldset>', '<fieldset toolparamdescription=F><input name=a type=radio value=1></fieldset>', '<fieldset toolparamdescription=F><legend>L</legend><input name=a type=checkbox value=1><input name=a type=checkbox value=2></fieldset>',
  '<fieldset><legend>L</legend><input name=a type=radio value=1><input name=a type=radio value=2></fieldset>', '<fieldset toolparamdescription=O><fieldset><input name=a type=radio value=1><input name=a type=radio value=2></fieldset></fieldset>', '<fieldset toolparamdescription=O><fieldset toolparamdescription=I><input name=a type=radio value=1></fieldset><input name=a type=radio value=2></fieldset>',
  '<fieldset toolparamdescription=I><input name=a type=radio value=1></fieldset><input name=a type=radio value=2>', '<fieldset toolparamdescription=O><fieldset toolparamdescription=I><input name=a type=radio value=1></fieldset><fieldset toolparamdescription=J><input name=a type=radio value=2></fieldset></fieldset>', '<fieldset toolparamdescription=F><input name=a></fieldset>', '<fieldset aria-description=F><input name=a type=radio value=1><input name=a type=radio value=2></fieldset>',
  '<fieldset toolparamdescription=F><label>One<input name=a type=radio value=1></label><label>Two<input name=a type=radio value=2></label></fieldset>', '<div toolparamdescription=F><input name=a type=radio value=1><input name=a type=radio value=2></div>', '<fieldset toolparamdescription=""><input name=a type=radio value=1><input name=a type=radio value=2></fieldset>');

//// a fieldset around the form
put('<fieldset toolparamdescription=F><form toolname=f tooldescription=d><input name=a type=radio value=1><input name=a type=radio value=2></form></fieldset>');
put('<fieldset disabled><form toolname=g tooldescription=d><input name=a></form></fieldset>');
await settle();
log((await get('f')).inputSchema, (await get('g')).inputSchema);

//// controls elsewhere that belong to the form
put('<input name=before form=fid><form id=fid toolname=f tooldescription=d><input name=inside><input name=other form=gid></form><input name=after form=fid><form id=gid toolname=g tooldescription=d></form>');
await settle();
log((await get('f')).inputSchema, (await get('g')).inputSchema);

//// a parser's own association
document.body.insertAdjacentHTML('beforeend', '<table><form toolname=f tooldescription=d><tr><td><input name=a></td></tr></form></table>');
await settle();
log((await get('f')).inputSchema);

//// nested forms by script
const f = form('<input name=a>');
const inner = document.createElement('form');
inner.setAttribute('toolname', 'inner');
inner.setAttribute('tooldescription', 'd');
inner.innerHTML = '<input name=b>';
f.append(inner);
await settle();
log(await names(), (await get('f')).inputSchema, (await get('inner')).inputSchema);

//// form-associated custom elements
customElements.define('x-control', class extends HTMLElement { static formAssociated = true; constructor() { super(); this.attachInternals(); } });
await schemas('<x-control name=a></x-control><input name=b>');

//// customised built-ins
customElements.define('x-input', class extends HTMLInputElement {}, {extends: 'input'});
await schemas('<input is=x-input name=a required>');

//// a large form
const f = form(Array.from({length: 300}, (_, i) => `<label>Label ${i}<input name=n${i}></label>`).join(''));
await settle();
const {properties} = (await get('f')).inputSchema;
log(Object.keys(properties).length, properties.n299);

//// controls that shadow the form's properties
await schemas('<input name=elements><input name=getAttribute><input name=parentNode><input name=nodeType><input name=length><input name=isConnected><input name=ownerDocument>');

//// names that others take
await schemas(...['<output name=a></output>', '<fieldset name=a></fieldset>', '<object name=a></object>', '<input type=file name=a>', '<input type=image name=a>', '<button disabled name=a></button>', '<button type=button name=a></button>', '<input type=button name=a>', '<input type=reset name=a>', '<img name=a>', '<meter name=a></meter>', '<input type=hidden name=a disabled>', '<input type=submit name=a readonly>', '<x-none name=a></x-none>', '<textarea name=a readonly></textarea>'].map((h) => '<input name=a>' + h));

//// names that others take, more
await schemas('<button></button><input>', '<input type=hidden><input>', '<input type=checkbox name=a value=1><input type=checkbox name=a value=2><button name=a></button>', '<input type=radio name=a value=1><button name=a></button>', '<input type=hidden name=a required><input name=b>', '<input type=hidden name=a><input type=hidden name=a toolparamdescription=d>');

//// names that others take, three times
const one = {c: '<input type=checkbox name=a value=1>', r: '<input type=radio name=a value=1>', b: '<button name=a></button>', t: '<input name=a>', h: '<input type=hidden name=a>', s: '<select name=a></select>'};
await schemas(...'ccb cbc bcc cct ctc tcc cch chc hcc ccs ccr crc rrb rbr rrt rrc ttt ttb ccbb ccbc ccbbc cccb bbb ccht'.split(' ').map((k) => [...k].map((c) => one[c]).join('')));

//// spaces in names
await schemas('<input name=" a ">', '<input name="\ta\n"><input name="b\u00a0">', '<input name=" "><input name="">', '<input name=" a"><input name=a>', '<input name="a  b">', '<input name="\u3000a\u2003">', '<input name="\v a">');

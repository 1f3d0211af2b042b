package webmcp

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
)

var legalName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,51}$`)

var nameStart = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

func key(target, origin, name string) toolKey {
	return toolKey{Target: target, Origin: origin, Path: "/", Name: name}
}

func TestPlainNames(t *testing.T) {
	long := strings.Repeat("a", 128)
	tests := []struct{ name, want string }{
		{"search", "search"},
		{"Search-2_x", "Search-2_x"},
		{"cart.add", "cart_add"},
		{"web/search", "web_search"},
		{"日本", "__"},
		{"", "tool"},
		{strings.Repeat("b", 51), strings.Repeat("b", 51)},
		{long, strings.Repeat("a", 42) + "_6836cf13"},
		{strings.Repeat("a", 40) + ".." + strings.Repeat("a", 40), strings.Repeat("a", 40) + "_699cd7f1"},
	}
	for _, tt := range tests {
		var n namer
		got := n.assign(key("t1", "https://a.example", tt.name), nameStart)
		if got != tt.want || !legalName.MatchString(got) {
			t.Errorf("name of %q = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestLongerNames(t *testing.T) {
	tests := []struct {
		name string
		key  toolKey
		want string
	}{
		{"host", key("t2", "https://www.example.com", "search"), `^search_example-com_[0-9a-f]{8}$`},
		{"port", key("t2", "http://localhost:3000", "search"), `^search_localhost-3000_[0-9a-f]{8}$`},
		{"long host", key("t2", "https://very-long-label.sub.example.org", "search"), `^search_sub-example-org_[0-9a-f]{8}$`},
		{"one long label", key("t2", "https://averyveryverylonglabel", "search"), `^search_yveryverylonglabel$|^search_[a-z]{16}_[0-9a-f]{8}$`},
		{"address", key("t2", "http://[::1]:8080", "search"), `^search_1--8080_[0-9a-f]{8}$`},
		{"file", key("t2", "file://", "search"), `^search_file_[0-9a-f]{8}$`},
		{"opaque", key("t2", "null", "search"), `^search_page_[0-9a-f]{8}$`},
		{"long name", key("t2", "https://example.com", strings.Repeat("n", 80)), `^n{30}_example-com_[0-9a-f]{8}$`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var n namer
			first := n.assign(key("t1", "https://first.example", tt.key.Name), nameStart)
			got := n.assign(tt.key, nameStart)
			if !regexp.MustCompile(tt.want).MatchString(got) || !legalName.MatchString(got) {
				t.Errorf("beside %q: %q, want it to match %s", first, got, tt.want)
			}
			var again namer
			again.assign(key("t9", "https://other.example", tt.key.Name), nameStart)
			if other := again.assign(tt.key, nameStart.Add(time.Hour)); other != got {
				t.Errorf("name beside another tool = %q, want %q as before", other, got)
			}
		})
	}
}

func TestNamesThatWouldCollide(t *testing.T) {
	var n namer
	keys := []toolKey{
		key("t1", "https://a.example", "a.b"),
		key("t1", "https://a.example", "a_b"),         // equal once replaced
		key("t1", "https://a.example", "a/b"),         // likewise
		key("t2", "https://a.example", "a.b"),         // another tab
		key("t3", "https://a.example", "a.b"),         // a third one with the same page
		key("t4", "https://b.example", "a.b"),         // another site
		key("t1", "https://a.example", "webmcp_tabs"), // reserved
		key("t1", "https://a.example", "webmcp.call"), // reserved once replaced
		{Target: "t1", Origin: "https://a.example", Path: "/", Frame: "0", Name: "a.b"},
		{Target: "t1", Origin: "https://a.example", Path: "/other", Name: "a.b"},
	}
	// A page that registers the name another tool would get.
	var probe namer
	probe.assign(keys[0], nameStart)
	squat := key("t0", "https://evil.example", probe.assign(keys[3], nameStart))
	keys = append([]toolKey{squat}, keys...)

	seen := map[string]toolKey{}
	for _, k := range keys {
		name := n.assign(k, nameStart)
		if other, taken := seen[name]; taken {
			t.Errorf("%v and %v are both %q", other, k, name)
		}
		if reservedNames[name] || !legalName.MatchString(name) {
			t.Errorf("%v is named %q", k, name)
		}
		seen[name] = k
	}
}

func TestNamesComeBack(t *testing.T) {
	var n namer
	a, b, c := key("t1", "https://a.example", "search"), key("t2", "https://a.example", "search"), key("t3", "https://a.example", "search")
	names := map[toolKey]string{}
	for _, k := range []toolKey{a, b, c} {
		names[k] = n.assign(k, nameStart)
	}
	// All three reload at once and come back in another order.
	now := nameStart.Add(time.Minute)
	for _, k := range []toolKey{a, b, c} {
		n.release(k, now)
	}
	now = now.Add(3 * time.Second)
	for _, k := range []toolKey{c, b, a} {
		if got := n.assign(k, now); got != names[k] {
			t.Errorf("after reload %v is %q, want %q", k, got, names[k])
		}
	}
	// One goes and comes back an hour later, when nobody took its name.
	n.release(b, now)
	if got := n.assign(b, now.Add(time.Hour)); got != names[b] {
		t.Errorf("after an hour %v is %q, want %q", b, got, names[b])
	}
}

func TestFreedNames(t *testing.T) {
	let := map[string]func(n *namer, k toolKey, now time.Time){
		"released":   func(n *namer, k toolKey, now time.Time) { n.release(k, now) },
		"tab closed": func(n *namer, k toolKey, _ time.Time) { n.forgetTarget(k.Target) },
		"released, then tab closed": func(n *namer, k toolKey, now time.Time) {
			n.release(k, now)
			n.forgetTarget(k.Target)
		},
	}
	for how, free := range let {
		t.Run(how, func(t *testing.T) {
			var n namer
			a, b := key("t1", "https://a.example", "search"), key("t2", "https://b.example", "search")
			n.assign(a, nameStart)
			now := nameStart.Add(time.Hour) // long after the namer last saw a clock
			free(&n, a, now)
			early := n.assign(b, now)
			if early == "search" {
				t.Error("a freed name went to another tool at once")
			}
			n.release(b, now)
			if got := n.assign(b, now.Add(nameHold*2)); got != early {
				t.Errorf("the newcomer moved from %q to %q", early, got)
			}
			c := key("t3", "https://c.example", "search")
			if got := n.assign(c, now.Add(nameHold*2)); got != "search" {
				t.Errorf("after the hold a newcomer is %q, want the plain name", got)
			}
			if got := n.assign(a, now.Add(nameHold*3)); got == "search" || !strings.HasPrefix(got, "search_a-example_") {
				t.Errorf("the first holder is %q, want a longer name", got)
			}
		})
	}
}

func TestTabThatComesBack(t *testing.T) {
	var n namer
	a, b := key("t1", "https://a.example", "search"), key("t2", "https://b.example", "search")
	first, second := n.assign(a, nameStart), n.assign(b, nameStart)
	n.forgetTarget("t1")
	n.forgetTarget("t2")
	now := nameStart.Add(time.Second)
	if got := n.assign(b, now); got != second {
		t.Errorf("b is %q, want %q", got, second)
	}
	if got := n.assign(a, now); got != first {
		t.Errorf("a is %q, want %q", got, first)
	}
	n.forgetTarget("t1")
	n.assign(key("t9", "https://c.example", "x"), now.Add(time.Second))
	n.assign(key("t9", "https://c.example", "y"), now.Add(time.Hour))
	if len(n.byKey) != 3 || len(n.closed) != 0 || n.kept.Len() != 0 {
		t.Errorf("%d tools, %d closed and %d kept; want 3, 0 and 0", len(n.byKey), len(n.closed), n.kept.Len())
	}
}

// TestNamesOfAFlood has a page that registers new names without end.
func TestNamesOfAFlood(t *testing.T) {
	var n namer
	now := nameStart
	seen := map[string]int{}
	for i := range 50_000 {
		k := key("t1", "https://a.example", fmt.Sprintf("tool%d", i))
		name := n.assign(k, now)
		if j, taken := seen[name]; taken && i-j < 10_000 {
			t.Fatalf("%q given to tool %d and then to %d", name, j, i)
		}
		seen[name] = i
		n.release(k, now)
		now = now.Add(time.Millisecond)
	}
	if len(n.byKey) > maxKeptNamesPerTarget || len(n.byName) > maxKeptNamesPerTarget {
		t.Errorf("%d tools and %d names remembered, want at most %d", len(n.byKey), len(n.byName), maxKeptNamesPerTarget)
	}
	for i := range 60 {
		for j := range 1000 {
			k := key(fmt.Sprintf("u%d", i), "https://a.example", fmt.Sprintf("tool%d", j))
			n.assign(k, now)
			n.release(k, now)
		}
		n.forgetTarget(fmt.Sprintf("u%d", i))
	}
	if len(n.byName) > maxKeptNames+maxKeptNamesPerTarget {
		t.Errorf("%d names remembered, want at most %d", len(n.byName), maxKeptNames)
	}
	n.assign(key("z", "https://z.example", "z"), now.Add(time.Hour))
	n.assign(key("z", "https://z.example", "y"), now.Add(2*time.Hour))
	if len(n.closed) != 0 {
		t.Errorf("%d names of closed tabs remembered, want 0", len(n.closed))
	}
}

// nameModel is what tests know of a namer: who has which name, and who had it.
type nameModel struct {
	n     namer
	live  map[toolKey]string
	owner map[string]toolKey
	freed map[string]time.Time // of names without a live holder
}

func (m *nameModel) check(t *testing.T, k toolKey, name string, now time.Time) {
	t.Helper()
	if !legalName.MatchString(name) || reservedNames[name] {
		t.Fatalf("%v is named %q", k, name)
	}
	if had, live := m.live[k]; live && had != name {
		t.Fatalf("%v moved from %q to %q while it was live", k, had, name)
	}
	if owner, known := m.owner[name]; known && owner != k {
		if m.live[owner] == name {
			t.Fatalf("%v and %v are both %q", owner, k, name)
		}
		if age := now.Sub(m.freed[name]); age < nameHold {
			t.Fatalf("%q went from %v to %v after %v", name, owner, k, age)
		}
	}
	m.live[k], m.owner[name] = name, k
}

func (m *nameModel) free(k toolKey, now time.Time) {
	if name, live := m.live[k]; live {
		m.freed[name] = now
		delete(m.live, k)
	}
}

// run plays a sequence of operations, two bytes each.
func (m *nameModel) run(t *testing.T, ops []byte) {
	m.live, m.owner, m.freed = map[toolKey]string{}, map[string]toolKey{}, map[string]time.Time{}
	now := nameStart
	names := []string{"a", "a.b", "a_b", "webmcp_call", strings.Repeat("x", 60), "", "a_a-example_00000000"}
	for ; len(ops) >= 2; ops = ops[2:] {
		op, sel := ops[0], int(ops[1])
		k := toolKey{
			Target: fmt.Sprintf("t%d", sel%3), Origin: []string{"https://a.example", "https://b.example"}[sel/3%2],
			Path: "/", Frame: []string{"", "0"}[sel/6%2], Name: names[sel/12%len(names)],
		}
		now = now.Add(time.Duration(op>>3) * 100 * time.Millisecond)
		switch op & 7 {
		case 0, 1, 2, 3:
			m.check(t, k, m.n.assign(k, now), now)
		case 4, 5, 6:
			m.n.release(k, now)
			m.free(k, now)
		default:
			m.n.forgetTarget(k.Target)
			for live := range m.live {
				if live.Target == k.Target {
					m.free(live, now)
				}
			}
		}
	}
	for k, name := range m.live {
		m.check(t, k, m.n.assign(k, now), now)
		if m.live[k] != name {
			t.Fatalf("%v moved from %q to %q", k, name, m.live[k])
		}
	}
}

func TestNamesAtRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		ops := make([]byte, 600)
		for i := range ops {
			ops[i] = byte(r.Uint32())
		}
		var m nameModel
		m.run(t, ops)
	}
}

func FuzzNames(f *testing.F) {
	f.Add([]byte{0, 0, 4, 0, 0, 1, 0xff, 0, 0, 2})
	f.Add([]byte{0, 12, 0, 24, 7, 12, 0, 13, 0xf8, 14})
	f.Fuzz(func(t *testing.T, ops []byte) {
		var m nameModel
		m.run(t, ops[:min(len(ops), 4000)])
	})
}

func BenchmarkNamesOfTabs(b *testing.B) {
	b.ReportAllocs()
	keys := make([]toolKey, 2000)
	for i := range keys {
		keys[i] = key(fmt.Sprintf("t%d", i/10), fmt.Sprintf("https://site%d.example", i/20), fmt.Sprintf("tool%d", i%10))
	}
	for b.Loop() {
		var n namer
		for _, k := range keys {
			n.assign(k, nameStart)
		}
	}
}

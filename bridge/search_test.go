package bridge_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/bridge"
)

func find(t testing.TB, c *bridge.Catalog, q bridge.Query) bridge.Result {
	t.Helper()
	r, err := c.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func foundIDs(r bridge.Result) []string {
	var out []string
	for _, m := range r.Matches {
		out = append(out, string(m.ID))
	}
	return out
}

// shop is a catalogue whose words are known to the letter.
func shop(t testing.TB) *bridge.Catalog {
	return mustCatalog(t,
		tool("shop", "add_item_to_cart", "Put an article into the basket.", "article"),
		tool("shop", "checkout", "Pay for the basket."),
		tool("shop", "list_orders", "Show past orders.", "since"),
		tool("shop", "search", "Find articles by text.", "text"),
		tool("mail", "send_email", "Send a message to somebody.", "recipient"),
		tool("mail", "list_folders", "Show the folders of the mailbox."),
		tool("mail2", "send_email", "Send a message to somebody.", "recipient"),
		tool("web", "open_webpage", "Open a page in the browser.", "url"),
		tool("web", "search", "Find pages.", "text"),
		tool("Käse Shop", "bestellen", "Käse bestellen und liefern lassen."),
		tool("calc", "computeAverage", "Compute the mean of numbers.", "numbers"),
	)
}

func TestSearchFindsByEveryPartOfATool(t *testing.T) {
	c := shop(t)
	for query, want := range map[string]string{
		"put article in basket":       "shop/add_item_to_cart",
		"recipient":                   "mail/send_email",
		"compute average":             "calc/computeAverage",
		"computing averages":          "calc/computeAverage",
		"web page open":               "web/open_webpage",
		"mail folders":                "mail/list_folders",
		"e-mail somebody":             "mail/send_email",
		"purchase history orders":     "shop/list_orders",
		"kase bestellen":              "Käse Shop/bestellen",
		"KÄSE":                        "Käse Shop/bestellen",
		"emial folder":                "mail/list_folders",
		"avarege of numbers":          "calc/computeAverage",
		"what is in my mailbox's":     "mail/list_folders",
		"pay":                         "shop/checkout",
		"please help me to open some": "web/open_webpage",
	} {
		if got := foundIDs(find(t, c, bridge.Query{Texts: []string{query}})); len(got) == 0 || got[0] != want {
			t.Errorf("%q finds %q, want %s first", query, got, want)
		}
	}
}

func TestExactNamesComeFirst(t *testing.T) {
	c := shop(t)
	for query, want := range map[string][]string{
		"send_email":                          {"mail/send_email", "mail2/send_email"},
		"mail2/send_email":                    {"mail2/send_email"},
		"mail2__send_email":                   {"mail2/send_email"},
		"mail2:send_email":                    {"mail2/send_email"},
		"mail2.send_email":                    {"mail2/send_email"},
		"mcp__mail2__send_email":              {"mail2/send_email"},
		"sendEmail":                           {"mail/send_email", "mail2/send_email"},
		"Send Email":                          {"mail/send_email", "mail2/send_email"},
		"`computeAverage`, checkout":          {"calc/computeAverage", "shop/checkout"},
		"checkout list_folders open_webpage":  {"shop/checkout", "mail/list_folders", "web/open_webpage"},
		"use list_orders for pages and pages": {"shop/list_orders"},
		"search":                              {"shop/search", "web/search"},
	} {
		r := find(t, c, bridge.Query{Texts: []string{query}, Limit: 10})
		got := foundIDs(r)
		if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("%q finds %q, want %q first", query, got, want)
			continue
		}
		for _, m := range r.Matches[:len(want)] {
			if !m.Exact || m.Weak {
				t.Errorf("%q: %s is not marked as exact: %+v", query, m.ID, m)
			}
		}
	}
	// A name that is a plain word is no name within a sentence.
	r := find(t, c, bridge.Query{Texts: []string{"search my mail for orders"}})
	if r.Matches[0].Exact {
		t.Errorf("a plain word pins %s", r.Matches[0].ID)
	}
}

func TestNothingFits(t *testing.T) {
	c := shop(t)
	r := find(t, c, bridge.Query{Texts: []string{"quantum flurbing please find it"}})
	if len(r.Matches) != 0 || !slices.Equal(r.Unmatched, []string{"quantum", "flurbing"}) {
		t.Errorf("nonsense gives %q, unmatched %q", foundIDs(r), r.Unmatched)
	}
	r = find(t, c, bridge.Query{Texts: []string{"entangle quantum basket flurbing zwieback"}})
	if len(r.Matches) == 0 || !r.Matches[0].Weak || !slices.Contains(r.Unmatched, "quantum") {
		t.Errorf("one word of five gives %+v, unmatched %q; want weak hits", r.Matches, r.Unmatched)
	}
	r = find(t, c, bridge.Query{Texts: []string{"basket article"}})
	if len(r.Matches) == 0 || r.Matches[0].Weak || r.Unmatched != nil {
		t.Errorf("two fitting words give %+v, unmatched %q", r.Matches, r.Unmatched)
	}
	for _, empty := range []bridge.Query{{}, {Texts: []string{""}}, {Texts: []string{" \n!?"}}, {Texts: []string{"basket"}, Limit: -1}} {
		if r := find(t, c, empty); len(r.Matches) != 0 {
			t.Errorf("%+v finds %q", empty, foundIDs(r))
		}
	}
}

func TestSeveralTextsTakeTurns(t *testing.T) {
	r := find(t, shop(t), bridge.Query{Texts: []string{"send email", "compute average", "list orders"}, Limit: 2})
	got := foundIDs(r)
	if len(got) < 4 || got[0] != "mail/send_email" || got[1] != "calc/computeAverage" || got[2] != "shop/list_orders" || got[3] != "mail2/send_email" {
		t.Errorf("three texts give %q, want the best of each first", got)
	}
	if r.Matches[1].Text != 1 || r.Matches[2].Text != 2 {
		t.Errorf("matches do not say whose they are: %+v", r.Matches)
	}
	seen := map[string]bool{}
	for _, id := range got {
		if seen[id] {
			t.Errorf("%s comes twice", id)
		}
		seen[id] = true
	}
}

func TestServerHintIsAWish(t *testing.T) {
	c := shop(t)
	r := find(t, c, bridge.Query{Texts: []string{"find text"}, Server: "web browser"})
	if got := foundIDs(r); got[0] != "web/search" || !slices.Contains(got, "shop/search") {
		t.Errorf("with a wish for a browser: %q", got)
	}
	if got := foundIDs(find(t, c, bridge.Query{Texts: []string{"find text articles"}, Server: "spaceship"})); len(got) == 0 || got[0] != "shop/search" {
		t.Errorf("with a wish that nothing fits: %q", got)
	}
}

func TestLimitOnlyCuts(t *testing.T) {
	c := mustCatalog(t, fleet(200)...)
	for _, text := range []string{"create a report", "list the tickets, then delete the folder of the old meeting and share a recipe with a contact, and export invoices after all of it is done today"} {
		long := foundIDs(find(t, c, bridge.Query{Texts: []string{text}, Limit: 20}))
		for limit := 1; limit < 20; limit++ {
			if got := foundIDs(find(t, c, bridge.Query{Texts: []string{text}, Limit: limit})); !slices.Equal(got, long[:limit]) {
				t.Fatalf("limit %d gives %q, want the start of %q", limit, got, long)
			}
		}
	}
}

func TestExplain(t *testing.T) {
	c := shop(t)
	r := find(t, c, bridge.Query{Texts: []string{"basket pay emial checkout"}, Explain: true, Limit: 10})
	var all []string
	for _, m := range r.Matches {
		sum := 0
		for i, why := range m.Why {
			all = append(all, string(m.ID)+" "+why.String())
			sum += why.Points
			if i > 0 && why.How != "name" && m.Why[i-1].How != "name" && why.Points > m.Why[i-1].Points {
				t.Errorf("%s: reasons are not sorted: %v", m.ID, m.Why)
			}
		}
		if len(m.Why) == 0 || sum == 0 {
			t.Errorf("%s is not explained", m.ID)
		}
	}
	text := strings.Join(all, "\n")
	for _, part := range []string{"shop/checkout basket→basket (word, text)", "emial→email (typo, name)", "(word, name"} {
		if !strings.Contains(text, part) {
			t.Errorf("no reason %q in:\n%s", part, text)
		}
	}
	if r := find(t, c, bridge.Query{Texts: []string{"basket"}}); r.Matches[0].Why != nil {
		t.Error("explained without being asked")
	}
}

func TestAboutIsSearched(t *testing.T) {
	c, err := bridge.NewCatalog([]bridge.Tool{tool("a", "run", "Run it."), tool("b", "run", "Run it.")},
		&bridge.CatalogOptions{About: map[string]string{"b": "Spreadsheets of the company"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := foundIDs(find(t, c, bridge.Query{Texts: []string{"spreadsheets run"}})); got[0] != "b/run" {
		t.Errorf("what a server is for is not searched: %q", got)
	}
}

// crooked is a ranker that returns what it should not.
type crooked struct{ err error }

func (r crooked) Rank(_ context.Context, ask bridge.Ask) (bridge.Ranking, error) {
	hits := []bridge.Hit{{ID: "no/such"}, {ID: "shop/checkout", Score: 7}, {ID: "shop/checkout"}}
	for range ask.Limit {
		hits = append(hits, bridge.Hit{ID: "mail/send_email"}, bridge.Hit{ID: "web/search"}, bridge.Hit{ID: "shop/search"})
	}
	return bridge.Ranking{Hits: hits}, r.err
}

func TestReplacedRankerCannotLeaveTheCatalogue(t *testing.T) {
	var given int
	tools := slices.Collect(shop(t).All())
	make := func(err error) *bridge.Catalog {
		c, cerr := bridge.NewCatalog(tools, &bridge.CatalogOptions{NewRanker: func(tools []bridge.Tool) bridge.Ranker {
			given = len(tools)
			return crooked{err}
		}})
		if cerr != nil {
			t.Fatal(cerr)
		}
		return c
	}
	r := find(t, make(nil), bridge.Query{Texts: []string{"x"}, Limit: 3})
	if got := foundIDs(r); !slices.Equal(got, []string{"shop/checkout", "mail/send_email", "web/search"}) || r.Matches[0].Signature != "checkout()" {
		t.Errorf("a crooked ranker gives %q", got)
	}
	if given != len(tools) {
		t.Errorf("the ranker was given %d tools of %d", given, len(tools))
	}
	down := errors.New("embedding service is down")
	if _, err := make(down).Search(t.Context(), bridge.Query{Texts: []string{"x"}}); !errors.Is(err, down) {
		t.Errorf("Search = %v, want the ranker's error", err)
	}
}

func TestNoRankerMeansTheLexicalOne(t *testing.T) {
	c, err := bridge.NewCatalog(deskTools(), &bridge.CatalogOptions{NewRanker: func([]bridge.Tool) bridge.Ranker { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Search(t.Context(), bridge.Query{Texts: []string{"tell time"}})
	if err != nil || len(r.Matches) == 0 || r.Matches[0].ID != "clock/now" {
		t.Errorf("Search = %+v, %v", r, err)
	}
}

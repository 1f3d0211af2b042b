package readable_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/websrv/internal/readable"
)

func extract(t *testing.T, page string, o *readable.Options) *readable.Document {
	t.Helper()
	d, err := readable.Extract([]byte(page), "https://example.com/t/pumps/12", o)
	if err != nil {
		t.Fatal(err)
	}
	check(t, d)
	return d
}

// Pages that are empty without scripts are read from what they carry elsewhere.
func TestShells(t *testing.T) {
	first := "The pump stops after ten minutes, and I have to switch it off and on again before it runs."
	second := "Mine did that too, until I cleaned the filter behind the front plate; it has run for a year since."
	posts := fmt.Sprintf(`<div class="post"><p>%s</p></div><div class="post"><p>%s</p></div>`, first, second)
	state, err := json.Marshal(map[string]any{"props": map[string]any{"posts": []any{
		map[string]string{"id": "a1b2c3", "body": first}, map[string]string{"body": "<p>" + second + "</p>"}}}, "asset": strings.Repeat("x", 900)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, body string }{
		{"noscript", `<div id="app"></div><noscript>` + posts + strings.Repeat(" ", 200) + `</noscript>`},
		{"next data", `<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">` + string(state) + `</script>`},
		{"data attribute", `<div id="app" data-state="` + html.EscapeString(string(state)) + `"></div>`},
		{"little next data", `<div id="__next"></div><script id="__NEXT_DATA__">{"props":{"a":"` + first + `","b":"` + second + `"}}</script>`},
		{"product", `<div id="root"></div><script type="application/ld+json">{"@type":"Product","name":"Pump","description":"` + first + ` ` + second + `"}</script>`},
		{"structured data", `<div id="root"></div><script type="application/ld+json">{"@context":"https://schema.org","@type":"Article","articleBody":"` + first + `\n` + second + `"}</script>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := extract(t, "<title>Pump stops</title><body>"+c.body, nil)
			for _, want := range []string{first, second} {
				if !strings.Contains(d.Text, want) || !strings.Contains(d.Markdown, want) {
					t.Errorf("lacks %q: text %q, Markdown %q", want, d.Text, d.Markdown)
				}
			}
		})
	}
}

// A noscript element that is only a note beside a page's text is left out.
func TestNoscriptNote(t *testing.T) {
	page := strings.Replace(article, "<article>", "<noscript>"+strings.Repeat("<p>Please turn scripts on in your browser.</p>", 9)+"</noscript><article>", 1)
	if d := extract(t, page, nil); strings.Contains(d.Text, "turn scripts on") {
		t.Errorf("text has the note: %q", d.Text)
	}
}

func TestSelectors(t *testing.T) {
	for _, c := range []struct {
		name      string
		o         readable.Options
		want, not string
	}{
		{"include", readable.Options{Include: []string{"aside"}}, "second story", "Rivers carry"},
		{"include a link's element", readable.Options{Include: []string{"footer p"}}, "rights reserved", "Home"},
		{"include nothing", readable.Options{Include: []string{"video"}}, "", "Rivers"},
		{"exclude", readable.Options{Exclude: []string{"pre, table"}}, "Rivers carry", "Rhine"},
		{"whole", readable.Options{Whole: true}, "rights reserved", "<p>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := extract(t, article, &c.o)
			if !strings.Contains(d.Markdown, c.want) || !strings.Contains(d.Text, c.want) {
				t.Errorf("lacks %q: %q", c.want, d.Markdown)
			}
			if strings.Contains(d.Markdown, c.not) {
				t.Errorf("has %q: %q", c.not, d.Markdown)
			}
		})
	}
	for _, o := range []readable.Options{{Include: []string{"p["}}, {Exclude: []string{""}}} {
		if _, err := readable.Extract([]byte(article), "", &o); !errors.Is(err, readable.ErrSelector) {
			t.Errorf("%+v: error is %v, want ErrSelector", o, err)
		}
	}
}

func TestProductData(t *testing.T) {
	d := extract(t, `<title>Kettle | Shop</title><meta property="og:site_name" content="Shop">
<script type="application/ld+json">{"@graph":[{"@type":"WebSite","name":"Shop"},{"@type":["Product"],"name":"Kettle","sku":"K-1",
"brand":{"@type":"Brand","name":"Acme"},"aggregateRating":{"@type":"AggregateRating","ratingValue":4.5,"reviewCount":"31"},
"offers":[{"@type":"Offer","price":39.9,"priceCurrency":"EUR","availability":"https://schema.org/InStock"}]}]}</script>
<body><main><h1>Kettle</h1><p>A kettle of steel that holds one and a half litres and boils them in four minutes.</p></main>`, nil)
	want := map[string]string{"product:name": "Kettle", "product:price": "39.9", "product:currency": "EUR", "product:brand": "Acme",
		"product:availability": "InStock", "rating:value": "4.5", "rating:count": "31", "product:sku": "K-1"}
	for k, v := range want {
		if d.Metadata[k] != v {
			t.Errorf("metadata %s is %q, want %q", k, d.Metadata[k], v)
		}
	}
	if d.Kind != readable.KindProduct || d.Title != "Kettle" {
		t.Errorf("kind %q, title %q", d.Kind, d.Title)
	}
}

func TestLinksAndOutline(t *testing.T) {
	d := extract(t, article, nil)
	content := map[string]bool{}
	for _, l := range d.Links {
		content[l.URL] = l.Content
	}
	if in, ok := content["https://example.com/t/pumps/maps.html"]; !ok || !in {
		t.Errorf("the article's link is missing or not of the content: %v", d.Links)
	}
	if in, ok := content["https://example.com/sport"]; !ok || in {
		t.Errorf("the menu's link is missing or of the content: %v", d.Links)
	}
	found := false
	for _, h := range d.Outline {
		found = found || h.Level == 2 && h.Text == "Why they bend"
	}
	if !found {
		t.Errorf("outline %v lacks the second heading", d.Outline)
	}
}

func TestRobotsMeta(t *testing.T) {
	d := extract(t, `<meta name="ROBOTS" content="NoIndex, nofollow"><p>x`, nil)
	if !d.NoIndex || !d.NoFollow {
		t.Errorf("noindex %v, nofollow %v", d.NoIndex, d.NoFollow)
	}
}

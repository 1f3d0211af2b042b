package bridge

import (
	"context"
	"fmt"
	"testing"
)

// benchTools makes n tools like those of real servers: the shared catalogue
// where it is here, else a made one.
func benchTools(b *testing.B, n int) []Tool {
	b.Helper()
	if d, ok := readSet(b, sharedSets, "toucan-catalogue"); ok && len(d.tools) > 0 {
		tools := d.tools
		for i := 0; len(tools) < n; i++ {
			t := d.tools[i]
			t.Server = fmt.Sprintf("%s-%d", t.Server, len(tools)/len(d.tools))
			tools = append(tools, t)
		}
		return tools[:n]
	}
	var tools []Tool
	for i := range n {
		tools = append(tools, Tool{
			Server: fmt.Sprintf("server%d", i/12), Name: fmt.Sprintf("do_thing_%d", i),
			Description: fmt.Sprintf("Do thing number %d with the widget of kind %d, and return what came of it.", i, i%37),
			InputSchema: []byte(fmt.Sprintf(`{"type":"object","properties":{"widget_%d":{"type":"string","description":"the widget"},"count":{"type":"integer"}},"required":["count"]}`, i%91)),
		})
	}
	return tools
}

var benchQueries = []string{
	"create an issue in a repository", "get weather forecast for a city", "convert word document to pdf",
	"search flights from london to tokyo next week", "stock price history", "send email", "read file content",
	"I would like to find a good restaurant near my hotel and book a table for four people on friday evening, then send the address to my friends by mail",
}

func BenchmarkNewCatalog(b *testing.B) {
	for _, n := range []int{100, 1000, 2800, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			tools := benchTools(b, n)
			b.ReportAllocs()
			for b.Loop() {
				NewLenientCatalog(tools, nil)
			}
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{100, 1000, 2800, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, _ := NewLenientCatalog(benchTools(b, n), nil)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				c.Search(context.Background(), Query{Texts: benchQueries[i%len(benchQueries) : i%len(benchQueries)+1]})
				i++
			}
		})
	}
}

func BenchmarkSearchUnknownWord(b *testing.B) {
	c, _ := NewLenientCatalog(benchTools(b, 2800), nil)
	b.ReportAllocs()
	for b.Loop() {
		c.Search(context.Background(), Query{Texts: []string{"calcualte the averge"}})
	}
}

func BenchmarkInject(b *testing.B) {
	for _, n := range []int{100, 1000, 2800, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, _ := NewLenientCatalog(benchTools(b, n), nil)
			b.ReportAllocs()
			for b.Loop() {
				in, err := NewInjector(c, DefaultConfig())
				if err != nil {
					b.Fatal(err)
				}
				in.Inject()
			}
		})
	}
}

func BenchmarkRoute(b *testing.B) {
	c, _ := NewLenientCatalog(benchTools(b, 2800), nil)
	in, err := NewInjector(c, DefaultConfig())
	if err != nil {
		b.Fatal(err)
	}
	request := call{Action: "execute", Name: string(c.entries[1000].id), Arguments: []byte(`{"a":1}`)}.json()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := in.Route(request); err != nil {
			b.Fatal(err)
		}
	}
}

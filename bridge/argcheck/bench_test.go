package argcheck_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/bridge/argcheck"
)

const smallSchema = `{"type":"object","properties":{"count":{"type":"integer","minimum":1},"title":{"type":"string","maxLength":100},"tags":{"type":"array","items":{"enum":["a","b","c"]}}},"required":["title"],"additionalProperties":false}`

// largeSchema has 60 definitions of 8 properties and one alternative for each.
func largeSchema() string {
	var defs, alts strings.Builder
	for i := range 60 {
		fmt.Fprintf(&defs, `,"d%d":{"type":"object","properties":{"kind":{"const":"k%d"}`, i, i)
		for j := range 8 {
			fmt.Fprintf(&defs, `,"p%d":{"type":"string","description":"property number %d","pattern":"^[a-z]{1,%d}$"}`, j, j, j+1)
		}
		defs.WriteString(`},"required":["kind"]}`)
		fmt.Fprintf(&alts, `,{"$ref":"#/$defs/d%d"}`, i)
	}
	return `{"type":"object","properties":{"list":{"type":"array","items":{"anyOf":[` + alts.String()[1:] + `]}}},"$defs":{` + defs.String()[1:] + `}}`
}

func BenchmarkNew(b *testing.B) {
	for name, schema := range map[string]string{"small": smallSchema, "large": largeSchema()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(schema)))
			for b.Loop() {
				if _, err := argcheck.New(json.RawMessage(schema)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	item := `{"kind":"k59","p0":"a","p7":"abcd"}`
	tests := []struct{ name, schema, args string }{
		{"small", smallSchema, `{"title":"hello","count":3,"tags":["a","b"]}`},
		{"mismatch", smallSchema, `{"count":"x","tags":["z"]}`},
		{"last of 60 alternatives, 100 times", largeSchema(), `{"list":[` + strings.Repeat(item+",", 99) + item + `]}`},
		{"1 MiB of text", `{"type":"object"}`, `{"text":"` + strings.Repeat("x", 1<<20) + `"}`},
		{"100,000 numbers", `{"properties":{"n":{"items":{"type":"number","minimum":0}}}}`, `{"n":[` + strings.Repeat("12.5,", 99_999) + `1]}`},
	}
	for _, tt := range tests {
		b.Run(tt.name, func(b *testing.B) {
			c := mustNew(b, tt.schema)
			b.ReportAllocs()
			b.SetBytes(int64(len(tt.args)))
			for b.Loop() {
				if _, err := c.Check(json.RawMessage(tt.args)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

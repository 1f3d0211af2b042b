package bridge

import (
	"strings"
)

// Bounds on a signature.
const (
	maxSignatureParams = 8  // optional ones beyond are not named
	maxSignatureName   = 64 // characters of one parameter's name
	maxSignatureEnum   = 32 // characters of an enumeration that is spelled out
)

// signature renders an entry's name and parameters in one line: those that are
// required first and with a star, lists with [], objects with {}, numbers and
// switches with their type, short enumerations with their values.
func signature(e *entry) string {
	var b strings.Builder
	b.WriteString(oneLine(e.tool.Name, MaxNameBytes))
	b.WriteByte('(')
	n, left := 0, false
	for _, required := range []bool{true, false} {
		for i := range e.schema.params {
			p := &e.schema.params[i]
			if p.required != required {
				continue
			}
			if n++; n > maxSignatureParams && !required || n > maxSchemaParams {
				left = true
				continue
			}
			if n > 1 {
				b.WriteString(", ")
			}
			p.write(&b)
		}
	}
	if left {
		b.WriteString(", " + cutMark)
	}
	b.WriteByte(')')
	return b.String()
}

func (p *param) write(b *strings.Builder) {
	b.WriteString(oneLine(p.name, maxSignatureName))
	switch {
	case p.kind == "array":
		b.WriteString("[]")
	case p.kind == "object":
		b.WriteString("{}")
	}
	if p.required {
		b.WriteByte('*')
	}
	switch p.kind {
	case "integer":
		b.WriteString(":int")
	case "number":
		b.WriteString(":num")
	case "boolean":
		b.WriteString(":bool")
	case "string":
		if s := oneLine(strings.Join(p.enum, "|"), maxSignatureEnum+1); len(p.enum) > 0 && len(s) <= maxSignatureEnum {
			b.WriteString(":" + s)
		}
	}
}

package websrv

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// argSchema is what is read of a tool's input schema to say what an argument should have been.
type argSchema struct {
	Properties map[string]argProperty `json:"properties"`
}

type argProperty struct {
	Type    string       `json:"type"`
	Items   *argProperty `json:"items"`
	Enum    []string     `json:"enum"`
	Minimum *float64     `json:"minimum"`
	Maximum *float64     `json:"maximum"`
}

// argSchemas are the tools' input schemas, by tool.
var argSchemas = sync.OnceValue(func() map[string]argSchema {
	out := map[string]argSchema{}
	for tool, text := range map[string]string{toolSearch: searchSchema, toolExtract: extractSchema, toolCrawl: crawlSchema, toolSitemap: sitemapSchema, toolScreenshot: screenshotSchema} {
		var s argSchema
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			panic(fmt.Sprintf("schema of %s: %v", tool, err)) // a constant of ours
		}
		out[tool] = s
	}
	return out
})

// checkTypes holds arguments to their tool's schema: names and types, in the order of the
// names. It takes out nulls, which say nothing, and gives whole numbers their plain form.
func checkTypes(tool string, args map[string]json.RawMessage) error {
	known := argSchemas()[tool].Properties
	for _, name := range slices.Sorted(maps.Keys(args)) {
		p, ok := known[name]
		if !ok {
			return invalidf("%s has no argument %q: leave it out; it takes %s", tool, plain(name, 40), strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		value := strings.TrimSpace(string(args[name]))
		if value == "null" {
			delete(args, name)
			continue
		}
		fixed, err := p.check(name, value)
		if err != nil {
			return err
		}
		args[name] = json.RawMessage(fixed)
	}
	return nil
}

// check holds a JSON value to a type.
func (p *argProperty) check(name, value string) (fixed string, err error) {
	given := jsonType(value)
	switch {
	case p.Type == "array" && given == "array":
		return p.checkList(name, value)
	case p.Type == given, p.Type == "number" && given == "integer":
		if given == "integer" {
			n, _ := strconv.ParseFloat(value, 64)
			if n == 0 && p.Minimum != nil && *p.Minimum > 0 { // 0 stands for what was not given from here on
				return "", invalidf("%s must be %s, not 0: leave it out for the default", name, p.wanted())
			}
			return strconv.FormatFloat(n, 'f', -1, 64), nil // 2e3 and 20.0 are whole, too
		}
		return value, nil
	}
	return "", invalidf("%s must be %s, not %s: %s", name, p.wanted(), describeJSON(value, given), p.advice(name, value, given))
}

func (p *argProperty) checkList(name, value string) (string, error) {
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(value), &list); err != nil {
		return "", invalidf("%s is not valid JSON", name)
	}
	for i, item := range list {
		if _, err := p.Items.check(fmt.Sprintf("%s[%d]", name, i), strings.TrimSpace(string(item))); err != nil {
			return "", err
		}
	}
	return value, nil
}

// wanted is a type in words.
func (p *argProperty) wanted() string {
	switch p.Type {
	case "integer", "number":
		text := "a number"
		if p.Type == "integer" {
			text = "a whole number"
		}
		if p.Minimum != nil && p.Maximum != nil {
			text += fmt.Sprintf(" from %v to %v", *p.Minimum, *p.Maximum)
		}
		return text
	case "boolean":
		return "true or false"
	case "array":
		return "a list of strings"
	}
	if len(p.Enum) > 0 {
		return "one of the strings " + strings.Join(p.Enum, ", ")
	}
	return "a string"
}

// advice is what to write instead.
func (p *argProperty) advice(name, value, given string) string {
	var text string
	if given == "string" {
		json.Unmarshal([]byte(value), &text) // it is one
		if bare := strings.TrimSpace(text); p.Type != "array" && jsonType(bare) == p.Type || p.Type == "number" && jsonType(bare) == "integer" {
			return "write " + plain(bare, 40) + " without quotes"
		}
	}
	switch p.Type {
	case "integer", "number":
		if given == "number" {
			return "write it without a fraction"
		}
		if p.Minimum != nil {
			return fmt.Sprintf("write a number without quotes, such as %v, or leave it out", max(*p.Minimum, 1))
		}
		return "write a number without quotes, or leave it out"
	case "boolean":
		return "write true or false without quotes, or leave it out"
	case "array":
		if given == "string" {
			return "write [" + plain(value, 60) + "]"
		}
		return `write a list such as ["a", "b"]`
	}
	switch {
	case len(p.Enum) > 0:
		return fmt.Sprintf("write %q, or leave it out", p.Enum[0])
	case given == "array" && name == "url":
		return "give one address; several go into urls"
	case given == "array" || given == "object":
		return "write one string in quotes"
	}
	return fmt.Sprintf("write it in quotes, %q", plain(value, 40))
}

// jsonType is the schema's name of a JSON value's type, "" if it is none.
func jsonType(value string) string {
	if value == "" {
		return ""
	}
	switch value[0] {
	case '"':
		return "string"
	case '[':
		return "array"
	case '{':
		return "object"
	case 't', 'f':
		if value == "true" || value == "false" {
			return "boolean"
		}
		return ""
	case 'n':
		return "null"
	}
	const exact = 1 << 53 // beyond it a float64 is no whole number for sure
	n, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil || math.IsNaN(n):
		return ""
	case n == math.Trunc(n) && math.Abs(n) <= exact:
		return "integer"
	}
	return "number"
}

// describeJSON is a value in an error: what it is, and itself if it is short.
func describeJSON(value, given string) string {
	switch given {
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "null":
		return "null"
	case "boolean":
		return value
	case "string":
		return "the string " + plain(value, 40)
	}
	return "the number " + plain(value, 40)
}

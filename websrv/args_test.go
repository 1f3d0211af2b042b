package websrv

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestWrongTypes checks that an argument of the wrong type is named, with what was given, what
// is expected and what to do.
func TestWrongTypes(t *testing.T) {
	f := newFakes(t)
	s := f.server(t, f.options(Keys{}))
	for _, tt := range []struct{ tool, args, want string }{
		{toolSearch, `{"query":7}`, `query must be a string, not the number 7: write it in quotes, "7"`},
		{toolSearch, `{"query":["a","b"]}`, `query must be a string, not a list: write one string in quotes`},
		{toolSearch, `{"query":"x","limit":"5"}`, `limit must be a whole number from 1 to 20, not the string "5": write 5 without quotes`},
		{toolSearch, `{"query":"x","limit":"many"}`, `limit must be a whole number from 1 to 20, not the string "many": write a number without quotes, such as 1, or leave it out`},
		{toolSearch, `{"query":"x","limit":2.5}`, `limit must be a whole number from 1 to 20, not the number 2.5: write it without a fraction`},
		{toolSearch, `{"query":"x","domains":"a.net"}`, `domains must be a list of strings, not the string "a.net": write ["a.net"]`},
		{toolSearch, `{"query":"x","domains":["a.net",3]}`, `domains[1] must be a string, not the number 3: write it in quotes, "3"`},
		{toolSearch, `{"query":"x","safe":true}`, `safe must be one of the strings strict, moderate, off, not true: write "strict", or leave it out`},
		{toolExtract, `{"url":["http://a.net/"]}`, `url must be a string, not a list: give one address; several go into urls`},
		{toolExtract, `{"url":{"href":"x"}}`, `url must be a string, not an object: write one string in quotes`},
		{toolExtract, `{"url":"http://a.net/","outline":"true"}`, `outline must be true or false, not the string "true": write true without quotes`},
		{toolExtract, `{"url":"http://a.net/","fresh":1}`, `fresh must be true or false, not the number 1: write true or false without quotes, or leave it out`},
		{toolExtract, `{"url":"http://a.net/","maxTokens":1e40}`, `maxTokens must be a whole number from 500 to 25000, not the number 1e40`},
		{toolCrawl, `{"url":"http://a.net/","maxPages":0}`, `maxPages must be a whole number from 1 to 1000, not 0: leave it out for the default`},
		{toolExtract, `{"url":"http://a.net/","maxTokens":0}`, `maxTokens must be a whole number from 500 to 25000, not 0`},
		{toolScreenshot, `{"url":"http://a.net/","deviceScale":0}`, `deviceScale must be a number from 0.5 to 3, not 0`},
		{toolCrawl, `{"url":"http://a.net/","maxDepth":"deep"}`, `maxDepth must be a whole number from 0 to 10, not the string "deep"`},
		{toolSitemap, `{"url":"http://a.net/","colour":1}`, `sitemap has no argument "colour": leave it out; it takes cursor, limit, search, subdomains, url`},
		{toolScreenshot, `{"url":"http://a.net/","deviceScale":"2"}`, `deviceScale must be a number from 0.5 to 3, not the string "2": write 2 without quotes`},
		{toolExtract, `["http://a.net/"]`, `arguments of extract: they are a list; give an object such as {"url": "https://example.com"}`},
		{toolExtract, `"http://a.net/"`, `arguments of extract: they are the string "http://a.net/"; give an object`},
		{toolExtract, `{"url":`, `arguments of extract: they are not valid JSON; give an object`},
	} {
		_, err := s.Call(testContext(t, time.Minute), tt.tool, json.RawMessage(tt.args), nil)
		if err == nil || !errors.Is(err, ErrInvalid) {
			t.Errorf("%s %s: got %v, want %v", tt.tool, tt.args, err, ErrInvalid)
			continue
		}
		if text := ErrorText(err); !strings.HasPrefix(text, tt.want) {
			t.Errorf("%s %s:\ngot  %s\nwant %s", tt.tool, tt.args, text, tt.want)
		}
	}
	// What a model writes loosely, and means.
	for _, args := range []string{`{"url":"http://page.net/","maxTokens":8000.0,"section":null}`, `{"url":"http://page.net/","maxTokens":8e3}`, ` {"url":"http://page.net/"} `} {
		if _, err := s.Call(testContext(t, time.Minute), toolExtract, json.RawMessage(args), nil); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// TestNoTypeNames gives every argument of every tool every wrong type: no error names a type of
// the code.
func TestNoTypeNames(t *testing.T) {
	internal := regexp.MustCompile(`(?i)\bgo (struct|value)|Args\b|unmarshal|int64|\[\]string|\bbool\b|interface|websrv\.`)
	values := []string{`"x"`, `1`, `1.5`, `-1e400`, `true`, `[]`, `[1]`, `[[]]`, `{}`, `{"a":1}`, `null`}
	structs := map[string]func() any{toolSearch: func() any { return &searchArgs{} }, toolExtract: func() any { return &extractArgs{} }, toolCrawl: func() any { return &crawlArgs{} },
		toolSitemap: func() any { return &sitemapArgs{} }, toolScreenshot: func() any { return &screenshotArgs{} }}
	for tool, schema := range argSchemas() {
		typ := reflect.TypeOf(structs[tool]()).Elem()
		inCode := map[string]bool{}
		for i := range typ.NumField() {
			if name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
				inCode[name] = true
			}
		}
		for name := range schema.Properties {
			if !inCode[name] {
				t.Errorf("%s: the schema's %s is not in the code", tool, name)
			}
			delete(inCode, name)
			for _, v := range values {
				err := decodeArgs(tool, json.RawMessage(fmt.Sprintf(`{%q:%s}`, name, v)), structs[tool]())
				if err != nil && (internal.MatchString(ErrorText(err)) || !strings.Contains(ErrorText(err), name)) {
					t.Errorf("%s %s: %s: %s", tool, name, v, ErrorText(err))
				}
			}
		}
		for name := range inCode {
			t.Errorf("%s: the schema does not have %s", tool, name)
		}
	}
}

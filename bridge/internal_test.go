package bridge

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

// The scanner must accept exactly what encoding/json does, within its depth.
func FuzzJSONScanner(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,true,null,"\u00e9\ud83d\ude00\n"]}`, `[`, `{"a":1,}`, `01`, `"\x"`, ` {} `, `1.`, `-`, "\"\xff\"", `"\ud800x"`, `{"a" :1 ,"b":{}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Count(s, "[")+strings.Count(s, "{") > maxJSONDepth {
			return
		}
		j := jsonScanner{s: s}
		j.skip()
		if got, want := j.end() == nil, json.Valid([]byte(s)); got != want {
			t.Fatalf("%q: valid is %v, want %v", s, got, want)
		}
		var text string
		if json.Unmarshal([]byte(s), &text) == nil && strings.Contains(s, `"`) {
			j := jsonScanner{s: s}
			if got := j.str(); got != text {
				t.Fatalf("%q is %q, want %q", s, got, text)
			}
		}
		parseSchema(s)
	})
}

func TestParseSchema(t *testing.T) {
	info, err := parseSchema(`{"type":"object","required":["a","d"],"properties":{
		"a":{"type":"string","description":"first"},
		"b":{"anyOf":[{"type":"null"},{"type":"integer"}]},
		"c":{"type":"array","items":{"type":"object","properties":{"inner":{"description":"deep"}}}},
		"d":{"$ref":"#/$defs/D"}},"$defs":{"D":{"properties":{"in_def":{"enum":["x","y"]}}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range info.params {
		kind := p.kind
		if p.required {
			kind += "*"
		}
		got = append(got, p.name+":"+kind)
	}
	if want := []string{"a:string*", "b:integer", "c:array", "d:*"}; !reflect.DeepEqual(got, want) {
		t.Errorf("parameters are %q, want %q", got, want)
	}
	if want := []string{"a", "b", "inner", "c", "d", "in_def"}; !reflect.DeepEqual(info.names, want) {
		t.Errorf("names are %q, want %q", info.names, want)
	}
	if want := []string{"first", "deep", "x", "y"}; !reflect.DeepEqual(info.texts, want) {
		t.Errorf("texts are %q, want %q", info.texts, want)
	}
}

func TestStem(t *testing.T) {
	for word, want := range map[string]string{
		"caresses": "caress", "ponies": "poni", "cats": "cat", "agreed": "agre", "plastered": "plaster", "motoring": "motor",
		"conflated": "conflat", "hopping": "hop", "filing": "file", "happy": "happi", "relational": "relat", "digitizer": "digit",
		"triplicate": "triplic", "hopeful": "hope", "revival": "reviv", "adjustment": "adjust", "adoption": "adopt", "controlling": "control",
		"is": "is", "été": "été", "a1b": "a1b",
	} {
		if got := string(stem([]byte(word))); got != want {
			t.Errorf("stem(%q) = %q, want %q", word, got, want)
		}
	}
	for _, same := range [][2]string{{"analysis", "analyze"}, {"conversion", "converting"}, {"children", "child"}, {"deletion", "deletes"}} {
		a, b := string(familyStem([]byte(same[0]))), string(familyStem([]byte(same[1])))
		if a != b {
			t.Errorf("%s is %q and %s is %q, want the same", same[0], a, same[1], b)
		}
	}
	for _, other := range [][2]string{{"news", "new"}, {"general", "generate"}, {"community", "communication"}, {"conversation", "conversion"}} {
		if a, b := string(familyStem([]byte(other[0]))), string(familyStem([]byte(other[1]))); a == b {
			t.Errorf("%s and %s are both %q", other[0], other[1], a)
		}
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"createIssue":             "create issue",
		"HTTPServer2Go":           "http server2 go",
		"parse_URLs-fast":         "parse urls fast",
		"user's don't":            "user dont",
		"Crème brûlée Straße":     "creme brulee strasse",
		"e\u0301te\u0301":         "ete",
		"搜索文件x":                   "搜索 索文 文件 x",
		"天":                       "天",
		"база данных":             "база данных",
		"mp3 base64 3DModel":      "mp3 base64 3d model",
		"":                        "",
		strings.Repeat("x", 1000): strings.Repeat("x", maxWordBytes),
	} {
		var got []string
		new(wordSplitter).each(text, func(b []byte) { got = append(got, string(b)) })
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%.40q splits into %.80q, want %.80q", text, s, want)
		}
	}
}

func TestLogarithm(t *testing.T) {
	for _, a := range []uint64{1, 2, 3, 7, 100, 2801, 100_000, 1 << 40, math.MaxUint64} {
		got, want := float64(log2(a))/unit, math.Log2(float64(a))
		if math.Abs(got-want) > 2.0/unit {
			t.Errorf("log2(%d) = %f, want %f", a, got, want)
		}
	}
}

func TestSlipDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{{"weather", "weather", 0}, {"weahter", "weather", 1}, {"wether", "weather", 1}, {"weatherr", "weather", 1}, {"wexther", "weather", 1}, {"wehtaer", "weather", 2}, {"abc", "xyz", 3}, {"", "ab", 2}} {
		if got := slipDistance(tc.a, tc.b, 2); got != tc.want {
			t.Errorf("slipDistance(%q, %q) = %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestSummary(t *testing.T) {
	for text, want := range map[string]string{
		"Create an issue. Needs a token.":                    "Create an issue.",
		"Use e.g. a name. Then more.":                        "Use e.g. a name.",
		"Get prices\nof many stocks.\n\nArgs:\n  x: y":       "Get prices of many stocks.",
		"Get prices of stocks\nArgs:\n    symbols: the list": "Get prices of stocks",
		"查询天气。返回结果":                                          "查询天气。",
		"# Title\n\nThe tool does it.":                       "# Title The tool does it.",
		"Version 1.5 of the tool is here! Hurray":            "Version 1.5 of the tool is here!",
		"No end":                 "No end",
		strings.Repeat("a ", 99): strings.TrimSpace(strings.Repeat("a ", 40)) + "…",
	} {
		if got := summary(text, 80); got != want {
			t.Errorf("summary(%.50q) = %q, want %q", text, got, want)
		}
	}
}

func TestTablesAreSound(t *testing.T) {
	s := synonyms()
	if len(s.group) < 1000 || len(s.family) < 500 {
		t.Errorf("%d groups, %d families: the tables are not read", len(s.group), len(s.family))
	}
	for from, to := range s.group {
		for _, stem := range to {
			if stem == from || stem == "" {
				t.Errorf("%q leads to %q", from, stem)
			}
		}
	}
	for word := range stops() {
		if isPlain(word) {
			t.Errorf("%q is a stop word and a plain one", word)
		}
	}
}

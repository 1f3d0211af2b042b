package guard

import (
	"fmt"
	"strings"
	"unicode"
)

// confusables are letters that look like Latin ones, from the tables of Unicode Technical
// Standard 39, as far as names of tools are likely to be forged with them.
var confusables = func() map[rune]rune {
	m := map[rune]rune{}
	for from, to := range map[string]string{
		"аеорсухіјѕһԁԛԝѵӏьүгпк": "aeopcyxijshdqwvlbyrnk", // Cyrillic
		"АВЕЅЗКМНОРСТУХІЈԌԚԜ":   "abes3kmhopctyxijgqw",
		"αβγεηικνορτυχϲϳ":       "abyeniknoptuxcj", // Greek
		"ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ":        "abezhikmnoptyx",
		"օսոցհյք":               "ounghjp", // Armenian
		"ıȷɑɡɩʋʏℓⅼⅰⅴⅹⅽⅾⅿ∕⁄":     "ijagivylliivxcdm//",
		"‐‑‒–—−﹘﹣－":             "---------",
		"ꞌʼ’‘＇′":                "''''''",
	} {
		targets := []rune(to)
		for i, r := range []rune(from) {
			if i < len(targets) {
				m[r] = targets[i]
			}
		}
	}
	return m
}()

// skeleton is what a name looks like: case, width, accents of confusable letters and what
// cannot be seen taken away, and 0 and o, 1, l and i, rn and m made one.
func skeleton(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case 0xff01 <= r && r <= 0xff5e: // full width
			r -= 0xfee0
		case 0x1d400 <= r && r <= 0x1d6a3: // mathematical letters
			n := (r - 0x1d400) % 52
			r = 'A' + n
			if n >= 26 {
				r = 'a' + n - 26
			}
		}
		if unseen(r) || unicode.Is(unicode.Mn, r) {
			continue
		}
		if c, ok := confusables[r]; ok {
			r = c
		}
		switch r = unicode.ToLower(r); r {
		case '0':
			r = 'o'
		case '1', 'i', '|', '!':
			r = 'l'
		case '5':
			r = 's'
		}
		b.WriteRune(r)
	}
	return skeletonPairs.Replace(b.String())
}

var skeletonPairs = strings.NewReplacer("rn", "m", "vv", "w", "cl", "d")

// nameScripts are scripts whose letters are taken for each other's.
var nameScripts = []struct {
	name  string
	table *unicode.RangeTable
}{{"Latin", unicode.Latin}, {"Cyrillic", unicode.Cyrillic}, {"Greek", unicode.Greek}, {"Armenian", unicode.Armenian}, {"Cherokee", unicode.Cherokee}}

// mixedScripts warns of a word that mixes letters of such scripts.
func mixedScripts(name string) []Warning {
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }) {
		var found []string
		for _, s := range nameScripts {
			if strings.IndexFunc(word, func(r rune) bool { return unicode.Is(s.table, r) }) >= 0 {
				found = append(found, s.name)
			}
		}
		if len(found) > 1 {
			return []Warning{{Check: "lookalike", Field: "name", Hard: true,
				Text: fmt.Sprintf("the name mixes %s letters in one word: %s", strings.Join(found, " and "), spelled(word))}}
		}
	}
	return nil
}

// spelled shows a word with its letters beyond ASCII, and what cannot be seen, by their
// numbers.
func spelled(word string) string {
	var b strings.Builder
	for i, r := range word {
		switch {
		case i > maxShownName:
			return b.String() + cutMark
		case r < 0x80 && !unseen(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "[U+%04X]", r)
		}
	}
	return b.String()
}

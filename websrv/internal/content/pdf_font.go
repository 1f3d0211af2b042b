package content

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
)

const maxCMap = 100_000 // characters that a font maps

// pdfFont turns the bytes of a shown string into text and widths.
type pdfFont struct {
	wide    bool // two bytes for a character
	unicode map[int]string
	simple  *[256]string // of fonts with one byte, where unicode has nothing
	widths  map[int]float64
	absent  bool    // the file names it and does not hold it
	missing float64 // width of what widths has not, in thousandths of the size
}

// font reads a font's dictionary.
func (f *pdfFile) font(d pdfDict) *pdfFont {
	t := &pdfFont{widths: map[int]float64{}, missing: 500}
	if s, ok := f.resolve(d["ToUnicode"]).(*pdfStream); ok {
		if data, err := f.decode(s); err == nil {
			t.unicode = f.cmap(data)
		}
	}
	if f.name(d["Subtype"]) == "Type0" {
		t.wide, t.missing = true, 1000
		if down := f.array(d["DescendantFonts"]); len(down) > 0 {
			f.cidWidths(t, f.dict(down[0]))
		}
		return t
	}
	t.simple = f.encoding(d)
	first := f.integer(d["FirstChar"])
	for i, w := range f.array(d["Widths"]) {
		if i > 255 {
			break
		}
		t.widths[first+i] = f.number(w)
	}
	if w := f.number(f.dict(d["FontDescriptor"])["MissingWidth"]); w > 0 {
		t.missing = w
	}
	return t
}

// cidWidths reads the W array: "first [w w w]" and "first last w".
func (f *pdfFile) cidWidths(t *pdfFont, d pdfDict) {
	if w := f.number(d["DW"]); w > 0 {
		t.missing = w
	}
	w, left := f.array(d["W"]), maxCMap
	for i := 0; i+1 < len(w) && left > 0; {
		first := f.integer(w[i])
		if list, ok := f.resolve(w[i+1]).(pdfArray); ok {
			for j, x := range list {
				t.widths[first+j] = f.number(x)
				left--
			}
			i += 2
			continue
		}
		if i+2 >= len(w) {
			return
		}
		for code, last := first, min(f.integer(w[i+1]), first+1<<16); code <= last && left > 0; code++ {
			t.widths[code] = f.number(w[i+2])
			left--
		}
		i += 3
	}
}

// encoding is the table of a font with one byte for a character.
func (f *pdfFile) encoding(d pdfDict) *[256]string {
	var table [256]string
	base := f.name(d["Encoding"])
	enc := f.dict(d["Encoding"])
	if enc != nil {
		base = f.name(enc["BaseEncoding"])
	}
	cm := charmap.Windows1252
	if base == "MacRomanEncoding" {
		cm = charmap.Macintosh
	}
	for i := range 256 {
		table[i] = string(cm.DecodeByte(byte(i)))
	}
	if base == "" { // StandardEncoding differs in the quotes
		table['\''], table['`'] = "’", "‘"
	}
	code := 0
	for _, x := range f.array(enc["Differences"]) {
		switch x := f.resolve(x).(type) {
		case int:
			code = x
		case pdfName:
			if code >= 0 && code < 256 {
				if s, ok := glyphText(string(x)); ok {
					table[code] = s
				}
			}
			code++
		}
	}
	return &table
}

// cmap reads the bfchar and bfrange parts of a ToUnicode map.
func (f *pdfFile) cmap(data []byte) map[int]string {
	m, left := map[int]string{}, maxCMap
	l := &pdfLexer{b: data}
	var args []any
	for n := 0; left > 0; n++ {
		if n&0xfff == 0 && f.c.stop() {
			return m
		}
		o := l.object()
		w, ok := o.(pdfWord)
		if !ok {
			if len(args) < 4*maxCMap {
				args = append(args, o)
			}
			continue
		}
		switch w {
		case "":
			return m
		case "endbfchar":
			for i := 0; i+1 < len(args); i += 2 {
				if to, ok := args[i+1].(pdfString); ok {
					m[codeOf(args[i])] = utf16Text(to)
					left--
				}
			}
		case "endbfrange":
			for i := 0; i+2 < len(args); i += 3 {
				left -= bfRange(m, codeOf(args[i]), min(codeOf(args[i+1]), codeOf(args[i])+left), args[i+2])
			}
		}
		args = args[:0]
	}
	return m
}

// bfRange maps a range of codes; it returns how many.
func bfRange(m map[int]string, from, to int, dst any) (n int) {
	to = min(to, from+1<<16)
	switch dst := dst.(type) {
	case pdfArray:
		for i, x := range dst {
			if s, ok := x.(pdfString); ok && from+i <= to {
				m[from+i] = utf16Text(s)
				n++
			}
		}
	case pdfString:
		r := []rune(utf16Text(dst))
		if len(r) == 0 {
			return 1
		}
		for code := from; code <= to; code++ {
			m[code] = string(r)
			r[len(r)-1]++
			n++
		}
	}
	return n
}

func codeOf(o any) int {
	s, _ := o.(pdfString)
	n := 0
	for i := 0; i < len(s) && i < 4; i++ {
		n = n<<8 | int(s[i])
	}
	return n
}

func utf16Text(s pdfString) string {
	if len(s) == 1 {
		return string(rune(s[0]))
	}
	u := make([]uint16, 0, len(s)/2)
	for i := 0; i+1 < len(s) && i < 64; i += 2 {
		u = append(u, uint16(s[i])<<8|uint16(s[i+1]))
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' {
			return -1
		}
		return r
	}, string(utf16.Decode(u)))
}

// show gives each character of a string with its width and whether it is a space of one byte. The
// text of one that the file does not tell is "": the numbers of its shapes are no letters.
func (t *pdfFont) show(s pdfString, each func(text string, width float64, space bool)) {
	step := 1
	if t.wide || t.absent && strings.IndexByte(string(s), 0) >= 0 { // fonts of one byte have no use for a zero
		step = 2
	}
	for i := 0; i+step <= len(s); i += step {
		code := int(s[i])
		if step == 2 {
			code = code<<8 | int(s[i+1])
		}
		w, ok := t.widths[code]
		if !ok {
			w = t.missing
		}
		text, ok := t.unicode[code]
		if !ok && step == 1 && t.simple != nil {
			text = t.simple[code&0xff]
		}
		each(text, w, !t.wide && code == ' ')
	}
}

func winAnsi(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(charmap.Windows1252.DecodeByte(s[i]))
	}
	return b.String()
}

// glyphText is the text of a glyph's name by the Adobe Glyph List's rules, for the names in use in Latin fonts.
func glyphText(name string) (string, bool) {
	name, _, _ = strings.Cut(name, ".")
	if s, ok := glyphs()[name]; ok {
		return s, true
	}
	for _, prefix := range []string{"uni", "u"} {
		if hex, ok := strings.CutPrefix(name, prefix); ok && len(hex) >= 4 && len(hex) <= 6 {
			if n, err := strconv.ParseUint(hex, 16, 32); err == nil && n > 0x1f && n < 0x110000 {
				return string(rune(n)), true
			}
		}
	}
	if len(name) == 1 {
		return name, true
	}
	return "", false
}

// glyphs is built on first use.
var glyphs = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	fields := strings.Fields(glyphNames)
	for i := 0; i+1 < len(fields); i += 2 {
		m[fields[i]] = fields[i+1]
	}
	m["space"], m["nbspace"] = " ", " "
	// Accented letters are named for their parts.
	for accent, letters := range map[string]string{
		"acute": "aá AÁ eé EÉ ií IÍ oó OÓ uú UÚ yý YÝ cć CĆ nń NŃ sś SŚ zź ZŹ lĺ LĹ rŕ RŔ", "grave": "aà AÀ eè EÈ iì IÌ oò OÒ uù UÙ",
		"circumflex": "aâ AÂ eê EÊ iî IÎ oô OÔ uû UÛ", "dieresis": "aä AÄ eë EË iï IÏ oö OÖ uü UÜ yÿ YŸ", "tilde": "aã AÃ nñ NÑ oõ OÕ",
		"caron": "cč CČ dď DĎ eě EĚ nň NŇ rř RŘ sš SŠ tť TŤ zž ZŽ", "cedilla": "cç CÇ sş SŞ", "ring": "aå AÅ uů UŮ", "ogonek": "aą AĄ eę EĘ", "slash": "oø OØ lł LŁ", "macron": "aā AĀ eē EĒ iī IĪ oō OŌ uū UŪ",
		"breve": "aă AĂ gğ GĞ", "dotaccent": "zż ZŻ IİeėEĖ", "hungarumlaut": "oő OŐ uű UŰ", "commaaccent": "sș SȘ tț TȚ",
	} {
		for _, pair := range strings.Fields(letters) {
			r := []rune(pair)
			m[string(r[0])+accent] = string(r[1])
		}
	}
	return m
})

const glyphNames = `exclam ! quotedbl " numbersign # dollar $ percent % ampersand & quotesingle ' parenleft ( parenright ) asterisk * plus + comma , hyphen - minus − period . slash /
zero 0 one 1 two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 colon : semicolon ; less < equal = greater > question ? at @ bracketleft [ backslash \ bracketright ]
asciicircum ^ underscore _ grave ` + "`" + ` braceleft { bar | braceright } asciitilde ~ quoteleft ‘ quoteright ’ quotedblleft “ quotedblright ” quotesinglbase ‚ quotedblbase „
endash – emdash — bullet • ellipsis … dagger † daggerdbl ‡ perthousand ‰ guilsinglleft ‹ guilsinglright › guillemotleft « guillemotright » fraction ⁄ Euro € florin ƒ
fi fi fl fl ff ff ffi ffi ffl ffl ae æ AE Æ oe œ OE Œ germandbls ß dotlessi ı dotlessj ȷ eth ð Eth Ð thorn þ Thorn Þ lslash ł Lslash Ł oslash ø Oslash Ø
exclamdown ¡ questiondown ¿ cent ¢ sterling £ yen ¥ currency ¤ brokenbar ¦ section § copyright © registered ® trademark ™ ordfeminine ª ordmasculine º logicalnot ¬ degree ° plusminus ±
onesuperior ¹ twosuperior ² threesuperior ³ onequarter ¼ onehalf ½ threequarters ¾ acute ´ dieresis ¨ macron ¯ cedilla ¸ circumflex ˆ tilde ˜ caron ˇ breve ˘ dotaccent ˙ ring ˚ ogonek ˛ hungarumlaut ˝
mu µ paragraph ¶ periodcentered · multiply × divide ÷ infinity ∞ notequal ≠ lessequal ≤ greaterequal ≥ approxequal ≈ summation ∑ product ∏ integral ∫ radical √ partialdiff ∂ lozenge ◊ arrowright → arrowleft ← arrowup ↑ arrowdown ↓
Alpha Α Beta Β Gamma Γ Delta Δ Epsilon Ε Zeta Ζ Eta Η Theta Θ Iota Ι Kappa Κ Lambda Λ Mu Μ Nu Ν Xi Ξ Omicron Ο Pi Π Rho Ρ Sigma Σ Tau Τ Upsilon Υ Phi Φ Chi Χ Psi Ψ Omega Ω
alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ nu ν xi ξ omicron ο pi π rho ρ sigma σ sigma1 ς tau τ upsilon υ phi φ chi χ psi ψ omega ω`

package bridge

// Porter's algorithm for suffix stripping (M. F. Porter, 1980), on lower-case
// ASCII words. Other words are left as they are.

const minStemBytes = 3

// stem reduces b, a lower-case word, to its stem in place and returns it.
func stem(b []byte) []byte {
	if len(b) < minStemBytes {
		return b
	}
	for _, c := range b {
		if c < 'a' || c > 'z' {
			return b
		}
	}
	p := porter{b: b}
	p.plurals()
	p.pastAndGerund()
	p.finalY()
	p.replaceLongest(doubleSuffixes, 0)
	p.replaceLongest(shortSuffixes, 0)
	p.dropLongest()
	p.finalEAndLL()
	return p.b
}

// porter holds the word and, after a match, the length of its stem.
type porter struct {
	b []byte
	k int
}

func (p *porter) consonant(i int) bool {
	switch p.b[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !p.consonant(i-1)
	}
	return true
}

// measure counts the vowel-consonant sequences of the first k letters.
func (p *porter) measure() int {
	n, i := 0, 0
	for i < p.k && p.consonant(i) {
		i++
	}
	for i < p.k {
		for i < p.k && !p.consonant(i) {
			i++
		}
		if i == p.k {
			break
		}
		n++
		for i < p.k && p.consonant(i) {
			i++
		}
	}
	return n
}

func (p *porter) vowelInStem() bool {
	for i := range p.k {
		if !p.consonant(i) {
			return true
		}
	}
	return false
}

// ends reports whether the word ends in s, and sets k to the stem's length.
func (p *porter) ends(s string) bool {
	n := len(p.b) - len(s)
	if n < 0 || string(p.b[n:]) != s {
		return false
	}
	p.k = n
	return true
}

func (p *porter) setTo(s string) { p.b = append(p.b[:p.k], s...) }

func (p *porter) doubleConsonant() bool {
	n := len(p.b)
	return n >= 2 && p.b[n-1] == p.b[n-2] && p.consonant(n-1)
}

// cvc reports whether the first n letters end consonant, vowel, consonant, the
// last not w, x or y: then a short word gets its e back.
func (p *porter) cvc(n int) bool {
	if n < 3 || !p.consonant(n-1) || p.consonant(n-2) || !p.consonant(n-3) {
		return false
	}
	c := p.b[n-1]
	return c != 'w' && c != 'x' && c != 'y'
}

func (p *porter) plurals() {
	switch {
	case p.b[len(p.b)-1] != 's':
	case p.ends("sses"):
		p.setTo("ss")
	case p.ends("ies"):
		p.setTo("i")
	case p.ends("ss"):
	case p.ends("s"):
		p.setTo("")
	}
}

func (p *porter) pastAndGerund() {
	if p.ends("eed") {
		if p.measure() > 0 {
			p.setTo("ee")
		}
		return
	}
	if !(p.ends("ed") && p.vowelInStem()) && !(p.ends("ing") && p.vowelInStem()) {
		return
	}
	p.setTo("")
	switch {
	case p.ends("at"), p.ends("bl"), p.ends("iz"):
		p.b = append(p.b, 'e')
	case p.doubleConsonant():
		if c := p.b[len(p.b)-1]; c != 'l' && c != 's' && c != 'z' {
			p.b = p.b[:len(p.b)-1]
		}
	default:
		if p.k = len(p.b); p.measure() == 1 && p.cvc(p.k) {
			p.b = append(p.b, 'e')
		}
	}
}

func (p *porter) finalY() {
	if p.ends("y") && p.vowelInStem() {
		p.b[len(p.b)-1] = 'i'
	}
}

// A suffix rule replaces from by to.
type suffixRule struct{ from, to string }

var doubleSuffixes = []suffixRule{
	{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"},
	{"izer", "ize"}, {"abli", "able"}, {"alli", "al"}, {"entli", "ent"},
	{"eli", "e"}, {"ousli", "ous"}, {"ization", "ize"}, {"ation", "ate"},
	{"ator", "ate"}, {"alism", "al"}, {"iveness", "ive"}, {"fulness", "ful"},
	{"ousness", "ous"}, {"aliti", "al"}, {"iviti", "ive"}, {"biliti", "ble"},
}

var shortSuffixes = []suffixRule{
	{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"},
	{"ical", "ic"}, {"ful", ""}, {"ness", ""},
}

// replaceLongest applies the first rule that fits, if what is left of the word
// measures more than least. No suffix of a table ends in a shorter one that
// stands before it.
func (p *porter) replaceLongest(rules []suffixRule, least int) {
	for _, r := range rules {
		if p.ends(r.from) {
			if p.measure() > least {
				p.setTo(r.to)
			}
			return
		}
	}
}

var droppedSuffixes = []string{
	"al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment",
	"ent", "ou", "ism", "ate", "iti", "ous", "ive", "ize",
}

func (p *porter) dropLongest() {
	if p.ends("ion") {
		if p.k > 0 && (p.b[p.k-1] == 's' || p.b[p.k-1] == 't') && p.measure() > 1 {
			p.setTo("")
		}
		return
	}
	for _, s := range droppedSuffixes {
		if p.ends(s) {
			if p.measure() > 1 {
				p.setTo("")
			}
			return
		}
	}
}

func (p *porter) finalEAndLL() {
	if p.ends("e") {
		m := p.measure()
		if m > 1 || m == 1 && !p.cvc(p.k) {
			p.setTo("")
		}
	}
	if n := len(p.b); n > 1 && p.b[n-1] == 'l' && p.doubleConsonant() {
		if p.k = n - 1; p.measure() > 1 {
			p.b = p.b[:n-1]
		}
	}
}

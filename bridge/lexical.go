package bridge

import (
	"math/bits"
	"slices"
	"sync"
)

// Fields of a tool that are searched.
const (
	fieldName = iota
	fieldServer
	fieldText      // description and title
	fieldParams    // names of parameters
	fieldParamText // their descriptions
	numFields
)

var fieldNames = [numFields]string{"name", "server", "text", "params", "param text"}

// unit is 1.0 in the fixed-point numbers of the ranking. Everything is counted
// in integers: floating point would be fused differently on arm64 and amd64,
// and equal queries must give equal bytes everywhere.
const unit = 1024

// weights are the ranking's parameters, in thousand-and-twenty-fourths. They
// were chosen once for all data sets; the decision of 2026-12-01 says how.
type weights struct {
	field [numFields]int // how much a word in each field counts
	norm  [numFields]int // how much a long field counts less (BM25's b)
	k1    int            // how soon repeated words stop counting

	synonym, lost        int // a synonym of the word, of a word that the catalogue lacks
	typo1, typo2         int // a word one or two slips away
	prefix               int // a longer word that begins with the word
	compound             int // "web page" for "webpage" and back
	chatter              int // "please find information"
	plain                int // common words that tell little
	nameCover            int // share of the tool's name that the query covers
	clause               int // the best clause of a long query
	spread               int // what is left of that once another tool serves the clause
	server               int // words of Ask.Server
	clauseWords          int // shortest query that is cut into clauses, in words
	minTypo, minTypo2    int // shortest word corrected by one and two slips
	maxExpand, minPrefix int
}

var defaultWeights = weights{
	field: [numFields]int{1407, 1474, 1024, 671, 487},
	norm:  [numFields]int{205, 269, 614, 1024, 268},
	k1:    1007,

	synonym: 307, lost: 614,
	typo1: 614, typo2: 410, prefix: 410, compound: 831,
	chatter: 506, plain: 600, nameCover: 638,
	clause: 1358, spread: 819, clauseWords: 30,
	server:  1024,
	minTypo: 5, minTypo2: 8, maxExpand: 3, minPrefix: 4,
}

// A posting says that a tool has a term. Tool and a flag for "in its name" share
// a word.
type posting struct {
	toolName uint32
	weight   int32
}

func (p posting) tool() int    { return int(p.toolName >> 1) }
func (p posting) inName() bool { return p.toolName&1 != 0 }

// A Lexical ranks by words: BM25F over names, servers, descriptions and
// parameters, with stems, synonyms, compounds, corrected typing errors, clauses
// and exact names. Its answers depend on the tools and the ask alone.
type Lexical struct {
	w       *weights
	entries []entry
	vocab   vocabulary
	start   []int32 // of each term's postings, one more at the end
	post    []posting
	idf     []int32
	nameIDF []int32 // of all terms of a tool's name, per tool
	names   nameTable
	scratch sync.Pool
}

// NewLexical builds the ranking that catalogues use where they are given no
// other, so that a replacement can build on it. Tools without usable schemas
// are ranked by what else they have.
func NewLexical(tools []Tool) *Lexical {
	entries := make([]entry, len(tools))
	for i, t := range tools {
		entries[i] = entry{id: t.ID(), tool: t}
		entries[i].schema, _ = parseSchema(string(t.InputSchema))
	}
	return newLexical(sorted(entries), nil, &defaultWeights)
}

// A rawPosting counts a term in one tool, by field.
type rawPosting struct {
	term, tool int32
	tf         [numFields]uint8
}

// An indexer gathers what newLexical needs in one pass over the tools.
type indexer struct {
	vocab  vocabulary
	split  wordSplitter
	raw    []rawPosting
	last   []int32 // per term: its newest raw posting plus one
	length [][numFields]int32
	from   int // first raw posting of the current tool
}

func newLexical(entries []entry, servers []Server, w *weights) *Lexical {
	x := indexer{vocab: newVocabulary(), length: make([][numFields]int32, len(entries))}
	about := make(map[string]string, len(servers))
	for _, s := range servers {
		about[s.Name] = s.About
	}
	for i := range entries {
		e := &entries[i]
		x.from = len(x.raw)
		x.add(i, fieldName, e.tool.Name)
		x.add(i, fieldServer, e.tool.Server)
		x.add(i, fieldText, e.tool.Description)
		x.add(i, fieldText, e.tool.Title)
		for _, s := range e.schema.names {
			x.add(i, fieldParams, s)
		}
		for _, s := range e.schema.texts {
			x.add(i, fieldParamText, s)
		}
		x.add(i, fieldParamText, about[e.tool.Server])
	}
	l := &Lexical{w: w, entries: entries, vocab: x.vocab}
	l.weigh(&x)
	l.names.build(entries)
	l.vocab.finish()
	l.scratch.New = func() any { return newScratch(len(entries)) }
	return l
}

// add counts the words of s in a field of a tool. Stop words count in names
// only, for queries that hold nothing else.
func (x *indexer) add(tool, field int, s string) {
	if s == "" {
		return
	}
	x.split.each(s, func(b []byte) {
		word := x.vocab.intern(b)
		if word.stop && field > fieldServer {
			return
		}
		x.length[tool][field]++
		x.count(tool, field, word.term)
	})
}

func (x *indexer) count(tool, field int, term int32) {
	for int(term) >= len(x.last) {
		x.last = append(x.last, 0)
	}
	at := int(x.last[term]) - 1
	if at < x.from {
		at = len(x.raw)
		x.raw = append(x.raw, rawPosting{term: term, tool: int32(tool)})
		x.last[term] = int32(at + 1)
	}
	if tf := &x.raw[at].tf[field]; *tf < 255 {
		*tf++
	}
}

// weigh turns counts into the weights that a query adds up, sorted by term.
func (l *Lexical) weigh(x *indexer) {
	terms, n := len(x.last), len(l.entries)
	l.start = make([]int32, terms+1)
	for i := range x.raw {
		l.start[x.raw[i].term+1]++
	}
	l.idf = make([]int32, terms)
	for t := range terms {
		l.idf[t] = int32(idf(n, int(l.start[t+1])))
		l.start[t+1] += l.start[t]
	}
	l.post = make([]posting, len(x.raw))
	l.nameIDF = make([]int32, n)
	next := slices.Clone(l.start)
	norms := l.norms(x)
	for i := range x.raw {
		r := &x.raw[i]
		tf := 0
		for f, c := range r.tf {
			tf += int(c) * int(norms[r.tool][f])
		}
		p := posting{uint32(r.tool) << 1, int32(int(l.idf[r.term]) * tf / (l.w.k1 + tf))}
		if r.tf[fieldName] > 0 {
			if !x.vocab.light[r.term] {
				p.toolName |= 1
				l.nameIDF[r.tool] += l.idf[r.term]
			}
		}
		l.post[next[r.term]] = p
		next[r.term]++
	}
}

// norms says, per tool, what one occurrence of a word in each field is worth.
func (l *Lexical) norms(x *indexer) [][numFields]int32 {
	var sum [numFields]int
	for i := range x.length {
		for f, n := range x.length[i] {
			sum[f] += int(n)
		}
	}
	out := make([][numFields]int32, len(x.length))
	for i := range out {
		for f := range numFields {
			b := l.w.norm[f]
			d := unit
			if sum[f] > 0 {
				d = unit - b + b*int(x.length[i][f])*len(out)/sum[f]
			}
			out[i][f] = int32(l.w.field[f] * unit / max(d, 1))
		}
	}
	return out
}

// idf is ln(1 + (n-df+½)/(df+½)) in units.
func idf(n, df int) int {
	return logRatio(uint64(2*n+2), uint64(2*df+1))
}

// logRatio is ln(a/b) in units, for a >= b > 0, by integers alone.
func logRatio(a, b uint64) int {
	return max(0, log2(a)-log2(b)) * 710 / unit // ln 2 = 710/1024
}

// log2 is the binary logarithm of a positive number in units.
func log2(a uint64) int {
	whole := bits.Len64(a) - 1
	x := a << (63 - whole) >> 32 // 1.31 fixed point, in [1, 2)
	frac := 0
	for range 10 {
		frac <<= 1
		if x = x * x >> 31; x >= 1<<32 {
			x >>= 1
			frac |= 1
		}
	}
	return whole<<10 | frac
}

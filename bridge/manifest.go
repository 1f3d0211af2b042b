package bridge

import (
	"fmt"
	"slices"
	"strings"
)

// sectionTag opens and closes the data part of the prompt section.
const sectionTag = "aster_mcp"

// Bounds on the lines of a manifest.
const (
	maxWhole      = 600 // characters of a whole description
	maxSentence   = 120 // characters of a first sentence
	maxShownName  = 128 // characters of a name
	maxSampleName = 4   // tool names that show what a server is for
)

// A Level is how much of the catalogue a prompt section shows.
type Level int

// The levels, poorest first.
const (
	LevelNone      Level = iota // not even the servers fit
	LevelCounts                 // servers with their number of tools
	LevelInventory              // servers, what they are for, their most telling tool names
	LevelNames                  // every tool's name
	LevelSentences              // every tool with the first sentence of its description
	LevelFull                   // every tool with its description
)

var levelNames = [...]string{"none", "counts", "inventory", "names", "sentences", "full"}

// String is the level in a word.
func (l Level) String() string {
	if l < 0 || int(l) >= len(levelNames) {
		return fmt.Sprintf("Level(%d)", int(l))
	}
	return levelNames[l]
}

// A Manifest is what a prompt section shows, as data.
type Manifest struct {
	Level   Level
	Servers []ManifestServer // in the order shown
	Omitted int              // servers left out because even their counts do not fit
}

// A ManifestServer is one server of a manifest.
type ManifestServer struct {
	Name    string
	About   string          // what it is for; from LevelInventory on
	Tools   int             // how many tools it has in this session
	Entries []ManifestEntry // from LevelNames on: all of its tools
	Sample  []ManifestEntry // at LevelInventory: its most telling tools
}

// A ManifestEntry is one tool of a manifest.
type ManifestEntry struct {
	ID   ToolID
	Text string // one clean line; "" at LevelNames and LevelInventory
}

// manifest makes the manifest of a level, with at most sample tool names a
// server at LevelInventory. It gives up once its lines cannot fit budget.
func (c *Catalog) manifest(level Level, sample, budget int) (m Manifest, ok bool) {
	m = Manifest{Level: level, Servers: make([]ManifestServer, len(c.servers))}
	at, size := 0, 0
	for i, s := range c.servers {
		if cannotFit(size, budget) {
			return m, false
		}
		m.Servers[i] = ManifestServer{Name: s.Name, Tools: s.Tools}
		entries := c.entries[at : at+s.Tools]
		at += s.Tools
		if level > LevelCounts {
			m.Servers[i].About = s.About
		}
		if level == LevelInventory {
			m.Servers[i].Sample = telling(entries, sample)
		}
		if level < LevelNames {
			continue
		}
		list := make([]ManifestEntry, len(entries))
		for j := range entries {
			list[j] = ManifestEntry{ID: entries[j].id, Text: entryText(&entries[j], level)}
			size += len(entries[j].tool.Name) + len(list[j].Text)
		}
		m.Servers[i].Entries = list
	}
	return m, true
}

func entryText(e *entry, level Level) string {
	switch level {
	case LevelFull:
		return oneLine(e.tool.Description, maxWhole)
	case LevelSentences:
		return summary(e.tool.Description, maxSentence)
	}
	return ""
}

// telling picks the n tools whose names say most about a server: each one adds
// the words that most of its other tools share and that no picked name has.
// Names of few words win, then the order of IDs decides.
func telling(entries []entry, n int) []ManifestEntry {
	words := make([][]string, len(entries))
	shared := make(map[string]int)
	var split wordSplitter
	for i := range entries {
		split.each(entries[i].tool.Name, func(b []byte) {
			w := string(familyStem(slices.Clone(b)))
			if !slices.Contains(words[i], w) && !isStop(w) {
				words[i] = append(words[i], w)
				shared[w]++
			}
		})
	}
	picked := make([]bool, len(entries))
	covered := make(map[string]bool)
	var out []ManifestEntry
	for len(out) < min(n, len(entries)) {
		best, bestGain := -1, -1
		for i := range entries {
			if picked[i] {
				continue
			}
			gain := 0
			for _, w := range words[i] {
				if !covered[w] {
					gain += shared[w]
				}
			}
			if gain = gain * 100 / (len(words[i]) + 1); gain > bestGain {
				best, bestGain = i, gain
			}
		}
		picked[best] = true
		for _, w := range words[best] {
			covered[w] = true
		}
		out = append(out, ManifestEntry{ID: entries[best].id})
	}
	slices.SortFunc(out, func(a, b ManifestEntry) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return out
}

// lines renders the manifest, one line for each entry.
func (m *Manifest) lines() string {
	var b strings.Builder
	for i := range m.Servers {
		m.Servers[i].write(&b, m.Level)
	}
	if m.Omitted > 0 {
		fmt.Fprintf(&b, "and %d more servers: search\n", m.Omitted)
	}
	return b.String()
}

func (s *ManifestServer) write(b *strings.Builder, level Level) {
	if level == LevelCounts {
		fmt.Fprintf(b, "%s (%d)\n", shownName(s.Name), s.Tools)
		return
	}
	if s.Tools == 1 {
		b.WriteString(shownName(s.Name) + " (1 tool)")
	} else {
		fmt.Fprintf(b, "%s (%d tools)", shownName(s.Name), s.Tools)
	}
	if s.About != "" {
		b.WriteString(": " + s.About)
	}
	switch {
	case level == LevelInventory && len(s.Sample) == s.Tools:
		b.WriteString(" [" + joinNames(s.Sample) + "]")
	case level == LevelInventory && len(s.Sample) > 0:
		b.WriteString(" [" + joinNames(s.Sample) + ", " + cutMark + "]")
	case level == LevelNames:
		b.WriteString("\n- " + joinNames(s.Entries))
	}
	b.WriteByte('\n')
	if level < LevelSentences {
		return
	}
	for _, e := range s.Entries {
		b.WriteString("- " + shownName(e.ID.Name()) + ": " + e.Text + "\n")
	}
}

func joinNames(entries []ManifestEntry) string {
	var b strings.Builder
	for i, e := range entries {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(shownName(e.ID.Name()))
	}
	return b.String()
}

// shownName is a name on one line, quoted where it could be mistaken for
// several.
func shownName(name string) string {
	s := oneLine(name, maxShownName)
	if strings.ContainsAny(s, ",:()[]\"") {
		return fmt.Sprintf("%q", s)
	}
	return s
}

// cap drops servers from a manifest of counts, largest ones first kept, until
// n are left.
func (m *Manifest) cap(n int) {
	bySize := slices.Clone(m.Servers)
	slices.SortStableFunc(bySize, func(a, b ManifestServer) int { return b.Tools - a.Tools })
	m.Omitted += len(bySize) - n
	m.Servers = bySize[:n]
}

// maxBytesPerToken is more than any tokenizer makes of a whole list.
const maxBytesPerToken = 12

// cannotFit reports whether n bytes of lines are too many for budget by any
// tokenizer, so that they need not be made and counted.
func cannotFit(n, budget int) bool { return n/maxBytesPerToken > budget }

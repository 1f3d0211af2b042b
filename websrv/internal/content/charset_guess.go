package content

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/gogs/chardet"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

const (
	// guessBytes is the least body that is worth a guess, guessAtMost what the guess reads.
	guessBytes  = 512
	guessAtMost = 64 << 10
	// sureEnough is the confidence, of 100, from which a guess is taken: the detector's figure is
	// low where much of a text is names and numbers, and right from there on in our samples.
	sureEnough = 5
	// enoughHigh is how many bytes beyond ASCII the scripts that the detector lacks must have.
	enoughHigh = 100
)

// guess is the encoding of bytes that say nothing of it, windows-1252 if nothing speaks for another.
func guess(body []byte) (string, encoding.Encoding) {
	if len(body) >= guessBytes {
		body = head(body, guessAtMost)
		for _, label := range guessLabels(body) {
			enc, name := charset.Lookup(label)
			if enc != nil && name != "utf-8" && name != "replacement" && !strings.HasPrefix(name, "utf-16") && whole(body, enc) {
				return name, enc
			}
		}
	}
	return "windows-1252", charmap.Windows1252
}

// whole reports whether bytes are letters in an encoding, but for one in a hundred.
func whole(body []byte, enc encoding.Encoding) bool {
	text, err := enc.NewDecoder().Bytes(body)
	return err == nil && bytes.Count(text, []byte("\uFFFD"))*100 <= highBytes(body).all
}

// guessLabels are the encodings that body may be in, the likeliest first.
func guessLabels(body []byte) []string {
	switch h := highBytes(body); {
	case h.all < enoughHigh:
	case h.gaps == 0 && h.consonants*4 >= h.all && h.vowels*10 >= h.all && h.tones*12 >= h.all:
		return []string{"windows-874"}
	case h.dos*100 >= h.all*98:
		return []string{"ibm866"}
	}
	all, err := chardet.NewHtmlDetector().DetectAll(body)
	if err != nil {
		return nil
	}
	slices.SortFunc(all, func(a, b chardet.Result) int { // equals come in any order
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(a.Charset, b.Charset))
	})
	var labels []string
	for _, r := range all {
		if r.Confidence >= sureEnough {
			labels = append(labels, r.Charset)
		}
	}
	return labels
}

// highCounts are the bytes beyond ASCII that tell two scripts apart from all others.
type highCounts struct {
	all                       int
	gaps                      int // that windows-874 has no letter for
	consonants, vowels, tones int // of Thai: no other script has all three often
	dos                       int // Russian letters of IBM 866, whose box drawings lie where others have letters
}

func highBytes(body []byte) (h highCounts) {
	for _, c := range body {
		if c < 0x80 {
			continue
		}
		h.all++
		switch {
		case c == 0x85 || c >= 0x91 && c <= 0x97: // quotes and dashes
		case c <= 0xA0 || c >= 0xDB && c <= 0xDE || c >= 0xFC:
			h.gaps++
		case c <= 0xC6:
			h.consonants++
		case c >= 0xD0 && c <= 0xD9:
			h.vowels++
		case c >= 0xE0 && c <= 0xE9:
			h.tones++
		}
		if c <= 0xAF || c >= 0xE0 && c <= 0xF1 {
			h.dos++
		}
	}
	return h
}

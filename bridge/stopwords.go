package bridge

import (
	_ "embed"
	"strings"
	"sync"
)

var (
	//go:embed words/stop.txt
	stopText string
	//go:embed words/chatter.txt
	chatterText string
	//go:embed words/plain.txt
	plainText string
)

type wordSet map[string]bool

func readWordSet(text string) wordSet {
	set := make(wordSet, 512)
	for line := range tableLines(text) {
		for _, w := range strings.Fields(line) {
			set[w] = true
		}
	}
	return set
}

var (
	stops   = sync.OnceValue(func() wordSet { return readWordSet(stopText) })
	chatter = sync.OnceValue(func() wordSet { return readWordSet(chatterText) })
	plain   = sync.OnceValue(func() wordSet { return readWordSet(plainText) })
)

func isStop(word string) bool    { return stops()[word] }
func isChatter(word string) bool { return chatter()[word] }
func isPlain(word string) bool   { return plain()[word] }

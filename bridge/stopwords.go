package bridge

import (
	"strings"
	"sync"
)

// stopWords say how a sentence is built, not what it is about.
const stopWords = `
a about above after again against all am an and any are aren as at be because been
before being below between both but by can cannot could couldn d did didn do does
doesn doing don down during each few for from further had hadn has hasn have haven
having he her here hers herself him himself his how i if in into is isn it its itself
just ll m may me might more most must my myself no nor not now of off on once only or other
ought our ours ourselves out over own per re s same shall shan she should shouldn so some
such t than that the their theirs them themselves then there these they this those
through to too under until up upon us ve very via was wasn we were weren what when
where which while who whom whose why will with within without won would wouldn yet you
your yours yourself also already always another anyone anything around back else
ever every everything etc eg ie let lets like maybe much many im ive id youre dont cant
el la los las un una unos unas de del y o que en por para con su sus es se al lo le les des
du et ou une dans sur pour avec est sont der die das den dem ein eine einen und oder mit von
zu im ist für auf e il i di da della per che uma os na no em um и в на с по не что для
的 了 和 是 在 我 你
`

// chatterWords are what people and models wrap a task in. They count a little.
const chatterWords = `
please help need want wanted wish hope looking look tell know give provide show find
finding get getting got use using used user able interested interesting curious wonder
wondering try trying thing things stuff something someone kindly thanks thank hi hello
hey dear could would possible sure good great nice best better really actually currently
recently specific specifically particular certain various different several related
based regarding concerning detail details detailed information info well way ways make
sure want lot kind sort type assist assistance support tool tools function functionality
capability service api access request requested task purpose case example including
include contain one two three first second next new today right okay ok
`

type wordSet map[string]bool

func newWordSet(text string) wordSet {
	set := make(wordSet, 256)
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

var (
	stops   = sync.OnceValue(func() wordSet { return newWordSet(stopWords) })
	chatter = sync.OnceValue(func() wordSet { return newWordSet(chatterWords) })
)

func isStop(word string) bool    { return stops()[word] }
func isChatter(word string) bool { return chatter()[word] }

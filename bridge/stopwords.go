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
finding get getting got use using used user able interested interesting curious look guidance considering stuck believe feel imagine wonder
wondering try trying thing things stuff something someone kindly thanks thank hi hello
hey dear could would possible sure good great nice best better really actually currently
recently specific specifically particular certain various different several related
based regarding concerning detail details detailed information info well way ways make
sure want lot kind sort type assist assistance support tool tools function functionality
capability service api access request requested task purpose case example including
include contain one two three first second next new today right okay ok
`

// plainWords are the commonest words of English that name no task and no thing
// that tools are about. They count less than their rarity in a catalogue says.
const plainWords = `
able above accurate across actual additional afternoon ago ahead along among amount angle
appropriate area aspect attractive available average avoid aware beautiful become big bit body
bottom brief bright bring broad brought busy came careful case cause central chance change
character clear clearly close come common comparable complete completely complex
comprehensive concern condition consider considering constant contain continue correct
couple crucial current dark day deal deep definite degree depend desired detailed difference
difficult direct discover double dynamic each early easily easy effect effective effectively
efficient eight either element end enjoy enough ensure entire entirely equal especially
essential even event exact exactly example excellent exciting exist expect experience expert extra
extremely face fact fair familiar famous far fast feel few fifth figure final finally fine five follow
following force form former four fourth free fresh friendly full fully fun further future
gain general give given giving goal going gone happen happening hard head heard hear high highest highly
hour hundred idea ideal ideally immediate impact important impressive include increase indeed
individual initial inside instead intend interest involve item itself join keep key kind
large largest last late latest latter lead least leave left less level like likely limit line
little live local long longer look lot low lower lowest main major majority manner many mark matter
mean meaningful mention method mid middle minimum minute modern moment month morning most move
multiple name named national natural nature near nearly necessary never next nice night nine
none normal north notable number numerous occur offer old ongoing open opinion opportunity option order
original outside overall own pair part particular past people perfect perform period person
personal piece place plan please plenty plus point popular possible potential powerful practical
precise prefer preferably preferred present pretty previous primary prior problem process produce progress
proper properly provide purpose put quality quick quickly quite range rather reach ready real
realize reason recent reduce regular relevant reliable remain remaining require required
requirement respective responsible rest right role round same scene second section seek seem
selection separate serious set setting seven short show side significant similar simple simply
since single situation six size skill slightly slow small smooth soon sort sound south source
special specified spend stage stand standard start state stay step still stop strategy strong
style subject successful successfully such suggest suitable suited super support sure surrounding take
taking talk technique ten tend term third thought thousand three thus tip title today together tomorrow
tonight top topic total toward trouble true turn twice two type typical unique upcoming upon usage used
useful usual usually valuable value variety various vary vast version view vital want week
weekend well west whatever whole wide widely wonderful word work world worth yes yesterday
young
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
	plain   = sync.OnceValue(func() wordSet { return newWordSet(plainWords) })
)

func isStop(word string) bool    { return stops()[word] }
func isChatter(word string) bool { return chatter()[word] }
func isPlain(word string) bool   { return plain()[word] }

package content_test

import (
	"strings"
	"testing"

	"golang.org/x/net/html/charset"

	"github.com/aster-mcp/aster/websrv/internal/content"
)

// guesses are texts in many languages, most of them of the Universal Declaration of Human Rights,
// and the encodings that they are written in.
var guesses = []struct{ name, text, encodings string }{
	{"russian", "Съешь же ещё этих мягких французских булок, да выпей чаю. Широкая электрификация южных губерний даст мощный толчок подъёму сельского хозяйства.", "windows-1251 koi8-r iso-8859-5 ibm866"},
	{"ukrainian", "Жебракують філософи при ґанку церкви в Гадячі, ще й шатро їхнє п'яне знаємо. Усі люди народжуються вільними і рівними у своїй гідності та правах.", "windows-1251"},
	{"bulgarian", "Всички хора се раждат свободни и равни по достойнство и права. Те са надарени с разум и съвест и следва да се отнасят помежду си в дух на братство.", "windows-1251 iso-8859-5"},
	{"japanese", "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所でニャーニャー泣いていた事だけは記憶している。", "shift_jis euc-jp"},
	{"simplified chinese", "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。我们今天在这里讨论网络的发展问题。", "gb18030 gbk"},
	{"traditional chinese", "人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心，並應以兄弟關係的精神相對待。我們今天在這裡討論網路的發展問題。", "big5"},
	{"korean", "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다.", "euc-kr"},
	{"greek", "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με λογική και συνείδηση.", "windows-1253 iso-8859-7"},
	{"hebrew", "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם לנהוג איש ברעהו ברוח של אחווה.", "windows-1255 iso-8859-8"},
	{"arabic", "يولد جميع الناس أحراراً متساوين في الكرامة والحقوق. وقد وهبوا عقلاً وضميراً وعليهم أن يعامل بعضهم بعضاً بروح الإخاء.", "windows-1256 iso-8859-6"},
	{"turkish", "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler. Şu çöğür ağacı.", "windows-1254"},
	{"polish", "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa. Zażółć gęślą jaźń.", "windows-1250 iso-8859-2"},
	{"czech", "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a svědomím a mají spolu jednat v duchu bratrství. Příliš žluťoučký kůň úpěl.", "windows-1250 iso-8859-2"},
	{"hungarian", "Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel és lelkiismerettel bírván, egymással szemben testvéri szellemben kell hogy viseltessenek. Árvíztűrő tükörfúrógép.", "windows-1250 iso-8859-2"},
	{"german", "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen. Größe, Übung, Äpfel.", "windows-1252"},
	{"french", "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de conscience et doivent agir les uns envers les autres dans un esprit de fraternité. Où ça, là-bas.", "windows-1252"},
	{"spanish", "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y conciencia, deben comportarse fraternalmente los unos con los otros. El niño soñó.", "windows-1252"},
	{"swedish", "Alla människor är födda fria och lika i värde och rättigheter. De är utrustade med förnuft och samvete och bör handla gentemot varandra i en anda av broderskap.", "windows-1252"},
	{"thai", "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ", "windows-874"},
}

// TestGuess reads texts that do not say how they are encoded, short and long, as plain text and as
// pages whose markup is in another language.
func TestGuess(t *testing.T) {
	for _, g := range guesses {
		for _, label := range strings.Fields(g.encodings) {
			for _, repeat := range []int{6, 20} {
				enc, name := charset.Lookup(label)
				if enc == nil {
					t.Fatalf("no encoding %s", label)
				}
				var text strings.Builder
				for _, r := range strings.Repeat(g.text+"\n", repeat) { // what the encoding cannot say is left out
					if _, err := enc.NewEncoder().String(string(r)); err == nil {
						text.WriteRune(r)
					}
				}
				for kind, s := range map[string]string{"text": text.String(), "page": `<html><head><link rel="stylesheet" href="/style/main.css"></head><body class="home"><div id="nav"><a href="/index.html">Home</a> <a href="/about.html">About</a></div><div><p>` + text.String() + `</p></div></body></html>`} {
					raw, err := enc.NewEncoder().String(s)
					if err != nil {
						t.Fatal(err)
					}
					got, as, err := content.Decode([]byte(raw), "")
					if err != nil || string(got) != s {
						t.Errorf("%s in %s, %s of %d bytes, read as %s: %v %.60q", g.name, name, kind, len(raw), as, err, got)
					}
				}
			}
		}
	}
}

package bridge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aster-mcp/aster/bridge"
)

// The counts are those of OpenAI's o200k_base vocabulary.
var tokenSamples = []struct {
	name, text string
	o200k      int
}{
	{"russian", "Создаёт новую задачу в репозитории и возвращает её номер вместе со ссылкой на страницу.", 22},
	{"greek", "Δημιουργεί ένα νέο ζήτημα στο αποθετήριο και επιστρέφει τον αριθμό του.", 24},
	{"japanese", "リポジトリに新しいイシューを作成し、その番号とページへのリンクを返します。", 25},
	{"korean", "저장소에 새 이슈를 만들고 해당 번호와 페이지 링크를 반환합니다.", 19},
	{"arabic", "ينشئ مشكلة جديدة في المستودع ويعيد رقمها مع رابط الصفحة.", 17},
	{"hebrew", "יוצר בעיה חדשה במאגר ומחזיר את המספר שלה יחד עם קישור לדף.", 22},
	{"thai", "สร้างปัญหาใหม่ในที่เก็บและส่งคืนหมายเลขพร้อมลิงก์ไปยังหน้า", 22},
	{"hindi", "रिपॉजिटरी में एक नया मुद्दा बनाता है और पृष्ठ के लिंक के साथ उसकी संख्या लौटाता है।", 27},
	{"georgian", "ქმნის ახალ საკითხს საცავში და აბრუნებს მის ნომერს გვერდის ბმულთან ერთად.", 23},
	{"emoji", "🚀✨🔧📄🧪👩‍💻🇩🇪", 19},
	{"french", "Crée un nouveau ticket dans le dépôt et renvoie son numéro avec un lien vers la page. Été déjà reçu, où ça?", 28},
	{"digits", "2026-12-01T22:34:10.123Z 4111111111111111 3.14159 1e-10 0xdeadbeef 550e8400-e29b-41d4-a716-446655440000", 57},
}

func TestEstimateTokensNearATokenizer(t *testing.T) {
	for _, s := range tokenSamples {
		got := bridge.EstimateTokens(s.text)
		if low, high := s.o200k*4/5, s.o200k*27/20; got < low || got > high {
			t.Errorf("%s: EstimateTokens = %d, want within %d..%d of a real %d", s.name, got, low, high, s.o200k)
		}
	}
}

func TestEstimateTokensBounds(t *testing.T) {
	if got := bridge.EstimateTokens(""); got != 0 {
		t.Errorf("EstimateTokens of nothing = %d, want 0", got)
	}
	for _, s := range []string{"a", " ", "\xff", "\x00", "語", strings.Repeat("\xff", 100)} {
		if got := bridge.EstimateTokens(s); got < 1 || got > 2*len(s) {
			t.Errorf("EstimateTokens(%q) = %d, want 1..%d", s, got, 2*len(s))
		}
	}
	one := bridge.EstimateTokens("list every open issue of a repository\n")
	many := bridge.EstimateTokens(strings.Repeat("list every open issue of a repository\n", 100))
	if many < 90*one || many > 100*one {
		t.Errorf("a hundred lines cost %d, one costs %d: want about a hundred times", many, one)
	}
}

func TestEstimateTokensSimple(t *testing.T) {
	for s, want := range map[string]int{"": 0, "a": 1, "abcd": 1, "abcde": 2, "四個漢字": 1} {
		if got := bridge.EstimateTokensSimple(s); got != want {
			t.Errorf("EstimateTokensSimple(%q) = %d, want %d", s, got, want)
		}
	}
}

func ExampleEstimateTokens() {
	for _, s := range []string{"Create a GitHub issue in a repository.", "在仓库中创建一个问题"} {
		fmt.Println(bridge.EstimateTokensSimple(s), bridge.EstimateTokens(s))
	}
	// Output:
	// 10 9
	// 3 8
}

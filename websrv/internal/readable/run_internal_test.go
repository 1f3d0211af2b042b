package readable

import "testing"

// Rows that go down the trees side by side must get, to the bit, what they get alone: the train
// command fits to the latter.
func TestOddsTogether(t *testing.T) {
	for _, trees := range []*Trees{model().First, model().Second} {
		const rows, spare = 2*lanes + 3, 5
		stride := trees.Width + spare
		cells := make([]float32, rows*stride)
		for i := range cells {
			cells[i] = float32(i*7919%1013)/10 - 40
		}
		got := make([]float32, rows)
		trees.odds(got, cells, stride)
		seen := map[float32]bool{}
		for i := range got {
			want := trees.Odds(cells[i*stride:][:trees.Width])
			if got[i] != want {
				t.Errorf("row %d: %v together, %v alone", i, got[i], want)
			}
			seen[want] = true
		}
		if len(seen) < 2 {
			t.Error("all rows got the same: nothing was tested")
		}
	}
}

package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checkGolden compares what others see with a file, or rewrites it with
// -update.
func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs; rerun with -update and look at the diff\ngot:\n%s", path, got)
	}
}

func TestGoldenBridgeTool(t *testing.T) {
	var b strings.Builder
	for _, raw := range []json.RawMessage{openAITool(false), mcpTool(false), mcpTool(true)} {
		var indented bytes.Buffer
		if err := json.Indent(&indented, raw, "", "  "); err != nil {
			t.Fatal(err)
		}
		b.WriteString(indented.String() + "\n")
	}
	checkGolden(t, "bridgetool.golden", b.String())
}

// TestGoldenSection shows the section of the desk catalogue at every level.
func TestGoldenSection(t *testing.T) {
	d, ok := readSet(t, "../testdata/catalogs", "desk")
	if !ok {
		t.Fatal("testdata/catalogs/desk is missing")
	}
	c, _ := NewLenientCatalog(d.tools, &CatalogOptions{About: map[string]string{"forge": "Repositories, issues and change requests of the team", "sky": "Weather"}})
	var b strings.Builder
	last := LevelFull + 1
	for available := 60_000; available > 0; available -= 50 {
		config := DefaultConfig()
		config.AvailableContextTokens = available
		config.Tokenizer = TokenizerFunc(EstimateTokens)
		in, err := NewInjector(c, config)
		if err != nil {
			t.Fatal(err)
		}
		got := in.Inject()
		if got.Level == last {
			continue
		}
		last = got.Level
		fmt.Fprintf(&b, "==== %v: %d of %d tokens, the whole manifest takes %d\n%s", got.Level, got.PromptTokens, got.BudgetTokens, got.ManifestTokens, got.Prompt)
	}
	checkGolden(t, "section.golden", b.String())
}

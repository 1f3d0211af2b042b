package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aster-mcp/aster/cdp/cdptest"
	"github.com/aster-mcp/aster/cmd/aster/internal/cli"
	"github.com/google/go-cmp/cmp"
)

// The picture of a terminal in the README, in pixels.
const (
	pictureFile   = ".github/demo.svg"
	pictureEm     = 8.4 // of one character
	pictureLine   = 20
	pictureMargin = 20
)

// TestPicture keeps the README's picture what "aster demo --headless" says today. With
// -update it draws it anew.
func TestPicture(t *testing.T) {
	cdptest.Require(t)
	var out, errs bytes.Buffer
	env := cli.OSEnv()
	env.Args, env.Stdin, env.Stdout, env.Stderr, env.Color, env.Docs = []string{"demo", "--headless"}, nil, &out, &errs, true, pages()
	env.Executable = "/usr/local/bin/aster"
	if code := cli.Run(t.Context(), env); code != cli.ExitOK {
		t.Fatalf("exit code %d\n%s", code, errs.String())
	}
	want := picture("aster demo --headless", ofAnyMachine(out.String()))
	file := filepath.Join("..", "..", filepath.FromSlash(pictureFile))
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(fileText(t, pictureFile), want); diff != "" {
		t.Errorf("%s is stale (-file +demo); run go test ./cmd/aster -run TestPicture -update\n%s", pictureFile, diff)
	}
	if !strings.Contains(fileText(t, "README.md"), "]("+pictureFile+")") {
		t.Errorf("the README does not show %s", pictureFile)
	}
}

// ofAnyMachine replaces what is another on each machine: the browser, the page's port and
// where aster is.
func ofAnyMachine(text string) string {
	text = regexp.MustCompile(`(?m)^   .* \(.*\), without a window`).ReplaceAllString(text, "   Chromium (/usr/bin/chromium), without a window")
	text = regexp.MustCompile(`(?m)^     \S.* mcp connect claude$`).ReplaceAllString(text, "     aster mcp connect claude")
	return regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(text, "127.0.0.1:40093")
}

// picture is an SVG of a terminal in which a command was run. Bold stays, other colour goes.
func picture(command, text string) string {
	lines := append([]string{"$ \x1b[1m" + command + "\x1b[0m"}, strings.Split(strings.TrimRight(text, "\n"), "\n")...)
	width := 0
	escape := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, l := range lines {
		width = max(width, utf8.RuneCountInString(escape.ReplaceAllString(l, "")))
	}
	w, h := int(float64(width)*pictureEm)+2*pictureMargin, len(lines)*pictureLine+2*pictureMargin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="A terminal in which %s ran">
<rect width="100%%" height="100%%" rx="8" fill="#161616"/>
<g fill="#e8e8e8" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">
`, w, h, w, h, command)
	for i, l := range lines {
		if l == "" {
			continue
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d">`, pictureMargin, pictureMargin+pictureLine*i+15)
		bold := false
		for l != "" {
			at := escape.FindStringIndex(l)
			if at == nil {
				at = []int{len(l), len(l)}
			}
			span(&b, l[:at[0]], bold)
			bold = l[at[0]:at[1]] == "\x1b[1m"
			l = l[at[1]:]
		}
		b.WriteString("</text>\n")
	}
	return b.String() + "</g>\n</svg>\n"
}

// span writes a part of a line.
func span(b *strings.Builder, text string, bold bool) {
	var escaped strings.Builder
	// SVG takes runs of spaces together. Writes into memory do not fail.
	xml.EscapeText(&escaped, []byte(strings.ReplaceAll(text, " ", "\u00a0")))
	switch {
	case text == "":
	case bold:
		fmt.Fprintf(b, `<tspan font-weight="bold">%s</tspan>`, escaped.String())
	default:
		b.WriteString(escaped.String())
	}
}

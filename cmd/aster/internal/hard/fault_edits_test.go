//go:build unix

package hard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// faultEdits edits the configuration from many processes at once.
func faultEdits(a *arena) {
	a.config(nil)
	const edits = 8
	var wg sync.WaitGroup
	results := make([]string, edits)
	programs := make([]*program, edits)
	for i := range edits {
		programs[i] = a.start(nil, "mcp", "add", fmt.Sprintf("new%d", i), "--global", "--", "sh", "-c", fmt.Sprint(i))
		programs[i].stdin.Close()
	}
	for i, p := range programs {
		wg.Go(func() {
			if p.ended(callTimeout); p.err != nil {
				results[i] = p.stderr.String()
			}
		})
	}
	wg.Wait()
	if out, errs, code := a.run(nil, "config", "check"); code != 0 {
		a.Fatalf("the configuration is broken: %s%s", out, errs)
	}
	text, err := os.ReadFile(filepath.Join(a.home, "aster.yaml"))
	if err != nil {
		a.Fatal(err)
	}
	lost, failed := 0, 0
	for i, r := range results {
		there := strings.Contains(string(text), fmt.Sprintf("new%d:", i))
		switch {
		case r != "":
			failed++
		case !there:
			lost++
		}
	}
	if lost > 0 {
		a.Errorf("%d of %d edits said that they were done, and are not in the file", lost, edits)
	}
	a.holds("every edit that said it was done is in the file")
	a.figure("%d done, %d refused", edits-failed, failed)
}

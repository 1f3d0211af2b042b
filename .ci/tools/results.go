// Command results reads the output of go test -json and prints what a person wants to
// know: a line for each package, the output of what failed, and every skipped test with
// its reason, so that nothing is skipped in silence. It exits with 1 when something failed.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// event is one line of go test -json; see go doc test2json.
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
	Elapsed                                                float64
}

type key struct{ pkg, test string }

func main() {
	if !report(bufio.NewReader(os.Stdin)) {
		os.Exit(1)
	}
}

// report prints results as they come and reports whether all was well.
func report(in *bufio.Reader) bool {
	output := map[key][]string{} // of tests that have not ended, and of builds
	passed, ended, ok := 0, 0, true
	var skips []string
	for {
		line, err := in.ReadBytes('\n')
		var e event
		if len(line) > 0 {
			if json.Unmarshal(line, &e) != nil {
				fmt.Print(string(line)) // what the go command says beside the results
				ok = ok && !strings.HasPrefix(string(line), "FAIL")
				continue
			}
		}
		if err != nil {
			break
		}
		k := key{e.Package + e.ImportPath, e.Test}
		switch e.Action {
		case "output", "build-output":
			output[k] = append(output[k], e.Output)
		case "build-fail":
			fmt.Print(strings.Join(output[k], ""))
			ok = false
		case "pass":
			if e.Test != "" {
				passed++
			} else {
				ended++
				fmt.Printf("ok    %s %.1f s\n", e.Package, e.Elapsed)
			}
			delete(output, k)
		case "skip":
			if e.Test != "" {
				skips = append(skips, fmt.Sprintf("%s %s: %s", e.Package, e.Test, reason(output[k])))
			}
			delete(output, k)
		case "fail":
			ok = false
			fmt.Print(strings.Join(output[k], ""))
			if e.Test == "" {
				ended++
				fmt.Printf("FAIL  %s %.1f s\n", e.Package, e.Elapsed)
			}
			delete(output, k)
		}
	}
	slices.Sort(skips)
	for _, s := range skips {
		fmt.Println("skip ", s)
	}
	fmt.Printf("%d tests passed, %d skipped, %d packages\n", passed, len(skips), ended)
	return ok && ended > 0
}

// reason is what a skipped test said.
func reason(output []string) string {
	var said []string
	for _, o := range output {
		if o = strings.TrimSpace(o); o != "" && !strings.HasPrefix(o, "===") && !strings.HasPrefix(o, "---") {
			said = append(said, o)
		}
	}
	return strings.Join(said, " ")
}

// Command benchmarks makes a page of what go test -bench printed, read from stdin: of each
// benchmark and measure the median and the spread over all runs, with the raw floor beside
// it where the same run measured one. It is deterministic: what it says of the machine comes
// from the output and its flags, and holds neither a host name nor a path.
package main

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/aster-mcp/aster/"

// A run holds all that was printed.
type run struct {
	goos, goarch, cpu string
	procs             string
	benches           []*bench // in the order in which they came
}

// A bench is one benchmark: its values by unit, in the order of the units.
type bench struct {
	pkg, name string
	units     []string
	values    map[string][]float64
}

func main() {
	goVersion := flag.String("go", "", "the `version` of Go")
	browser := flag.String("browser", "", "the browser's `version`")
	commit := flag.String("commit", "", "the `commit` that was measured")
	day := flag.String("date", "", "the `day`, as YYYY-MM-DD")
	flag.Parse()
	r, err := read(os.Stdin)
	if err == nil && len(r.benches) == 0 {
		err = fmt.Errorf("no benchmark in the input")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmarks:", err)
		os.Exit(1)
	}
	write(os.Stdout, r, *day, *commit, *goVersion, *browser)
}

var resultLine = regexp.MustCompile(`^Benchmark(\S+?)(?:-(\d+))?\s+\d+\s+(\S.*)$`)

// read takes the results out of the output of any number of packages and runs.
func read(in io.Reader) (*run, error) {
	r, pkg := &run{}, ""
	seen := map[string]*bench{}
	s := bufio.NewScanner(in)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		line := strings.TrimRight(s.Text(), " ")
		for key, field := range map[string]*string{"goos: ": &r.goos, "goarch: ": &r.goarch, "cpu: ": &r.cpu, "pkg: ": &pkg} {
			if v, ok := strings.CutPrefix(line, key); ok {
				*field = strings.TrimSpace(v)
			}
		}
		m := resultLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		fields := strings.Fields(m[3])
		if len(fields)%2 != 0 {
			return nil, fmt.Errorf("a line that cannot be read: %s", line)
		}
		r.procs = cmp.Or(m[2], r.procs, "1")
		b := seen[pkg+" "+m[1]]
		if b == nil {
			b = &bench{pkg: strings.TrimPrefix(pkg, module), name: m[1], values: map[string][]float64{}}
			seen[pkg+" "+m[1]] = b
			r.benches = append(r.benches, b)
		}
		for i := 0; i < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("a line that cannot be read: %s", line)
			}
			if b.values[fields[i+1]] == nil {
				b.units = append(b.units, fields[i+1])
			}
			b.values[fields[i+1]] = append(b.values[fields[i+1]], v)
		}
	}
	return r, s.Err()
}

func write(w io.Writer, r *run, day, commit, goVersion, browser string) {
	fmt.Fprintf(w, "# Benchmarks\n\nWritten by `.ci/bench` on %s at %s: %s/%s, %s, %s cores, %s", day, commit, r.goos, r.goarch, r.cpu, r.procs, goVersion)
	if browser != "" {
		fmt.Fprintf(w, ", %s", browser)
	}
	runs := 0
	for _, b := range r.benches {
		for _, v := range b.values {
			runs = max(runs, len(v))
		}
	}
	fmt.Fprintf(w, `.

Each line has the median over all runs (%d), and the least and the greatest value. The raw
floor is what the same thing costs without aster, measured in the same run.
`, runs)
	slices.SortStableFunc(r.benches, func(a, b *bench) int { return cmp.Compare(a.pkg, b.pkg) })
	pkg := "\x00"
	for _, b := range r.benches {
		if b.pkg != pkg {
			pkg = b.pkg
			fmt.Fprintf(w, "\n## %s\n\n| benchmark | measure | median | spread | raw floor | memory |\n| --- | --- | --: | --- | --: | --- |\n", pkg)
		}
		for _, unit := range b.units {
			if unit == "B/op" || unit == "allocs/op" || strings.HasPrefix(unit, "floor-") {
				continue
			}
			v := b.values[unit]
			memory := ""
			if n := b.values["B/op"]; unit == "ns/op" && n != nil {
				memory = fmt.Sprintf("%s, %s allocations", amount(median(n), "B/op"), amount(median(b.values["allocs/op"]), "allocs/op"))
			}
			fmt.Fprintf(w, "| %s | %s | %s | %s – %s | %s | %s |\n", b.name, measure(unit), amount(median(v), unit),
				amount(slices.Min(v), unit), amount(slices.Max(v), unit), floorOf(r, b, unit), memory)
		}
	}
}

// floorOf is the floor of a measure: the benchmark's own, or that of its sibling "direct",
// "raw", "floor" or "sdk".
func floorOf(r *run, b *bench, unit string) string {
	if v := b.values["floor-"+strings.TrimPrefix(unit, "aster-")]; v != nil {
		return amount(median(v), unit)
	}
	i := strings.LastIndexByte(b.name, '/')
	if i < 0 {
		return ""
	}
	for _, s := range r.benches {
		for _, word := range []string{"direct", "raw", "floor", "sdk"} {
			if s != b && s.pkg == b.pkg && s.name == b.name[:i+1]+word && s.values[unit] != nil {
				return amount(median(s.values[unit]), unit)
			}
		}
	}
	return ""
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	if len(s) == 0 {
		return 0
	}
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// measure is a unit's name in the page.
func measure(unit string) string {
	if unit == "ns/op" {
		return "time"
	}
	return strings.ReplaceAll(unit, "|", "/")
}

// amount is a number of a unit for people: three digits, times and sizes scaled.
func amount(v float64, unit string) string {
	scale := func(steps float64, names ...string) string {
		i := 0
		for v >= steps && i < len(names)-1 {
			v, i = v/steps, i+1
		}
		return digits(v) + " " + names[i]
	}
	switch unit {
	case "ns/op":
		return scale(1000, "ns", "µs", "ms", "s")
	case "B/op":
		return scale(1024, "B", "KiB", "MiB", "GiB")
	}
	return digits(v)
}

func digits(v float64) string {
	switch {
	case v == float64(int64(v)) || v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

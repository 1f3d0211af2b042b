//go:build unix

package hard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// securityRows are the checks on servers, pages and what they say, each with the measure
// that an attack must take. They are numbered as in TestRows of package main, whose tests
// look at the same from inside; 26, the content of strangers that a forge knows, has no
// place here.
var securityRows = map[int]string{
	1:  "each field of a definition, and the server's instructions, changes by a byte between two connections: refused, and the change is shown",
	2:  "a tool comes after the first list: neither found nor called",
	3:  "a tool that is held back is absent from search, describe and execute alike",
	4:  "a cloned project's server: no process before consent, which shows the command uncut and ends with a change",
	5:  "hidden characters: found in a corpus, and none in emoji, CJK and text from right to left",
	6:  "a description that speaks for another server's tool, and a name that imitates one",
	7:  "encoded commands, phrases, keys: found in a corpus; hard ones wait, soft ones only warn",
	8:  "detection reaches no network and no program, and what breaks one check stops no other",
	9:  "a page that knows the marks of answers stays inside them",
	10: "bytes on a terminal, as servers and pages name their tools",
	11: "a tool that claims to read only is asked about all the same",
	12: "a call through the bridge is judged and recorded under the real name",
	13: "the record: id, time, client, tool, outcome, time taken, size; of mode 0600; refused calls too",
	14: "secrets in everything that is written",
	15: "what a server's process is given: an allow-list, and a secret only where it is named",
	16: "spellings of addresses that are not public, redirects, a name that resolves to another address the second time",
	17: "bombs, bodies without end, slow bodies, redirects in a circle",
	18: "Host, Origin and token of the HTTP endpoint",
	19: "a debugging port that leads elsewhere",
	20: "a page changes between the question about a call and its answer, and between list and call",
	21: "schemas that are broken, circular, deep, huge, far-reaching",
	22: "a redirect to another origin keeps no configured header",
	23: "a sign-in that leads to other schemes and to commands",
	24: "names that are reserved or doubled, at the start and while the program runs",
	25: "read-only wins over every allow",
	27: "neither sampling nor roots are offered to a server",
}

// lastRow is the number of the last row; some have no place here.
const lastRow = 27

var rowsElsewhere = []int{26}

// allAttacks are those of the suite whose rows count.
func allAttacks() map[string][]attack {
	return map[string][]attack{
		"servers": slices.Concat(serverAttacks(), moreServerAttacks(), definitionAttacks()), "web": webAttacks(), "endpoint": endpointAttacks(),
		"pages": pageAttacks(), "secrets": secretAttacks(), "overlay": overlayAttacks(),
	}
}

// TestSecurityRows fails for a row that no attack takes, in each form, and writes for the
// table which do.
func TestSecurityRows(t *testing.T) {
	takers := map[int][]string{}
	for heading, cases := range allAttacks() {
		for _, c := range cases {
			for _, n := range c.rows {
				if securityRows[n] == "" {
					t.Errorf("%s/%s takes row %d, which is none", heading, c.name, n)
				}
				if !c.long {
					takers[n] = append(takers[n], heading+"/"+c.name)
				}
			}
		}
	}
	var parts []string
	for n := 1; n <= lastRow; n++ {
		if slices.Contains(rowsElsewhere, n) {
			continue
		}
		if securityRows[n] == "" || len(takers[n]) == 0 {
			t.Errorf("row %d, %q, has no attack in the short form", n, securityRows[n])
			continue
		}
		slices.Sort(takers[n])
		parts = append(parts, fmt.Sprintf("%d: %s", n, strings.Join(takers[n], " ")))
	}
	play(t, "rows", []attack{{name: "security", did: strings.Join(parts, "; "), run: func(a *arena) {
		a.holds("each row of the checks on servers and pages has its attacks")
		a.figure("%d rows", len(parts))
	}}})
}

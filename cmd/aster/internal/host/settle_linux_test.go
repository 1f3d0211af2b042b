package host

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The program goes on, with fewer of its own pages in memory.
func TestReleaseProgram(t *testing.T) {
	before := programPages(t)
	if err := releaseProgram(); err != nil {
		t.Fatal(err)
	}
	if after := programPages(t); after >= before {
		t.Errorf("%d kB of files are in memory after it, %d before", after, before)
	}
}

func programPages(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "RssFile:")
	line, _, _ := strings.Cut(rest, "kB")
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Skip("LEFT OUT: this system does not say how much of files is in memory")
	}
	return n
}

// What is written to, was changed, is locked or belongs to another file stays.
func TestProgramMappings(t *testing.T) {
	const smaps = `00400000-00da4000 r-xp 00000000 fe:01 12 /opt/my aster
Size:               9872 kB
Anonymous:             0 kB
Locked:                0 kB
VmFlags: rd ex mr mw me
00da4000-01820000 r--p 009a4000 fe:01 12 /opt/my aster
Anonymous:             4 kB
01820000-01982000 rw-p 01420000 fe:01 12 /opt/my aster
Anonymous:             0 kB
01982000-01a00000 r--p 01500000 fe:01 12 /opt/my aster
Locked:                8 kB
7f0000000000-7f0000001000 r-xp 00000000 fe:01 13 /usr/lib/libc.so.6
Anonymous:             0 kB
7f1000000000-7f1000001000 rw-p 00000000 00:00 0
`
	maps, err := programMappings(bufio.NewScanner(strings.NewReader(smaps)), "/opt/my aster")
	if err != nil {
		t.Fatal(err)
	}
	var clean []uint64
	for _, m := range maps {
		if m.clean {
			clean = append(clean, m.start, m.end)
		}
	}
	if len(maps) != 4 || len(clean) != 2 || clean[0] != 0x400000 || clean[1] != 0xda4000 {
		t.Errorf("of %d mappings %x may go, want the first of 4", len(maps), clean)
	}
}

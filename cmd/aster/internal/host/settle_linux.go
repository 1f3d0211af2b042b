package host

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// A mapping is a part of the process's memory that comes from a file.
type mapping struct {
	start, end uint64
	clean      bool // as it is in the file, and not to be written
}

// releaseProgram takes the program's own pages out of the process: four fifths of what an
// idle server has, most of it used by nothing but its start. The system keeps them in its
// cache of files, from which a page that is needed again comes back in under a microsecond.
// What can be written, or differs from the file as where a debugger has put its marks, stays.
func releaseProgram() error {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return err
	}
	defer f.Close()
	maps, err := programMappings(bufio.NewScanner(f), exe)
	if err != nil {
		return err
	}
	for _, m := range maps {
		if !m.clean {
			continue
		}
		if _, _, errno := syscall.Syscall(syscall.SYS_MADVISE, uintptr(m.start), uintptr(m.end-m.start), syscall.MADV_DONTNEED); errno != 0 {
			return errno
		}
	}
	return nil
}

// programMappings reads the mappings of the file exe from what /proc/PID/smaps holds.
func programMappings(lines *bufio.Scanner, exe string) ([]mapping, error) {
	var maps []mapping
	var here *mapping // nil in a mapping of something else
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 {
			continue
		}
		if name, isField := strings.CutSuffix(fields[0], ":"); isField {
			if here != nil && (name == "Anonymous" || name == "Locked") && fields[1] != "0" {
				here.clean = false
			}
			continue
		}
		here = nil
		from, to, _ := strings.Cut(fields[0], "-")
		start, err1 := strconv.ParseUint(from, 16, 64)
		end, err2 := strconv.ParseUint(to, 16, 64)
		if err1 != nil || err2 != nil || len(fields) < 6 || strings.Join(fields[5:], " ") != exe {
			continue
		}
		maps = append(maps, mapping{start, end, fields[1] == "r--p" || fields[1] == "r-xp"})
		here = &maps[len(maps)-1]
	}
	return maps, lines.Err()
}

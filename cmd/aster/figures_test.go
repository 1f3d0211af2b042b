package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// released builds the program as a release does.
func released(b *testing.B) string {
	b.Helper()
	exe := filepath.Join(b.TempDir(), "aster.exe")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", exe, ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return exe
}

// BenchmarkHelp is a whole run of "aster --help", with the size of the program as a
// release has it. The user-ms are what the processor worked for it.
func BenchmarkHelp(b *testing.B) {
	exe := released(b)
	fi, err := os.Stat(exe)
	if err != nil {
		b.Fatal(err)
	}
	var worked time.Duration
	least := time.Hour
	for b.Loop() {
		cmd := exec.Command(exe, "--help")
		begun := time.Now()
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		least = min(least, time.Since(begun))
		worked += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	b.ReportMetric(float64(worked.Microseconds())/1000/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(least.Microseconds())/1000, "least-ms")
	b.ReportMetric(float64(fi.Size())/1e6, "binary-MB")
}

// BenchmarkServeStart is the time from the start of the gateway to the answer to
// initialize with no server, with one and with ten of which each starts as long: ten must
// not take longer than the slowest one. slowest-ms is what one takes by itself, idle-MB
// the memory of a gateway that waits.
func BenchmarkServeStart(b *testing.B) {
	exe := released(b)
	for _, n := range []int{0, 1, 10} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			home := b.TempDir()
			var text strings.Builder
			fmt.Fprintf(&text, "mcp:\n  servers:\n    web: {disabled: true}\n")
			for i := range n {
				fmt.Fprintf(&text, "    s%d:\n      command: %s\n      args: [mcp, serve, web]\n      env: {ASTER_HOME: %s}\n", i, strconv.Quote(exe), strconv.Quote(b.TempDir()))
			}
			if err := os.WriteFile(filepath.Join(home, "aster.yaml"), []byte(text.String()), 0o600); err != nil {
				b.Fatal(err)
			}
			var rss, least float64
			for b.Loop() {
				begun := time.Now()
				rss = answerOnce(b, exe, home)
				if d := float64(time.Since(begun).Microseconds()) / 1000; least == 0 || d < least {
					least = d
				}
			}
			b.ReportMetric(least, "least-ms")
			if rss > 0 {
				b.ReportMetric(rss, "idle-MB")
			}
		})
	}
}

// answerOnce starts a gateway, waits for its first answer, ends it and returns the memory
// that it had, in megabytes; 0 where the system does not say.
func answerOnce(b *testing.B, exe, home string) (rss float64) {
	b.Helper()
	cmd := exec.Command(exe, "mcp", "serve")
	cmd.Env = append(os.Environ(), "ASTER_HOME="+home, "ASTER_LOG=error")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"0"}}}`)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, `"result"`) {
		b.Fatal(line, err)
	}
	if runtime.GOOS == "linux" {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		for line := range strings.Lines(string(status)) {
			if kb, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(kb), " kB"))
				rss = float64(n) / 1000
			}
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return rss
}

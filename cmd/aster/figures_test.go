package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
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
// not take longer than the slowest one. idle-MB is the memory of a gateway that waits.
//
// The servers are aster's own server web. Ten of them need more processor time than one, so
// the floor starts the same ten processes without aster, and is the slowest one's start. With
// "waiting" each server first sleeps for as long as its name says, as one that asks its
// network.
func BenchmarkServeStart(b *testing.B) {
	exe := released(b)
	web := []string{exe, "mcp", "serve", "web"}
	waiting := append([]string{"sh", "-c", `sleep 0.2; exec "$@"`, "sh"}, web...)
	for _, c := range []struct {
		name    string
		n       int
		command []string
	}{{"0", 0, nil}, {"1", 1, web}, {"10", 10, web}, {"1-waiting-200ms", 1, waiting}, {"10-waiting-200ms", 10, waiting}} {
		b.Run(c.name, func(b *testing.B) {
			if _, err := exec.LookPath("sh"); err != nil && strings.Contains(c.name, "waiting") {
				b.Skip("LEFT OUT: there is no sh")
			}
			home := b.TempDir()
			serverHome := b.TempDir()
			var text strings.Builder
			text.WriteString("mcp:\n  servers:\n    web: {disabled: true}\n")
			for i := range c.n {
				args, err := json.Marshal(c.command[1:])
				if err != nil {
					b.Fatal(err)
				}
				fmt.Fprintf(&text, "    s%d:\n      command: %s\n      args: %s\n      env: {ASTER_HOME: %s}\n", i, strconv.Quote(c.command[0]), args, strconv.Quote(serverHome))
			}
			if err := os.WriteFile(filepath.Join(home, "aster.yaml"), []byte(text.String()), 0o600); err != nil {
				b.Fatal(err)
			}
			gateway := []string{exe, "mcp", "serve"}
			if _, err := answerOnce(home, gateway); err != nil { // the servers' tools are kept from here on
				b.Fatal(err)
			}
			timeStarts(b, func() (float64, error) { return answerOnce(home, gateway) })
		})
	}
	for name, command := range map[string][]string{"10-floor": web, "10-waiting-200ms-floor": waiting} {
		b.Run(name, func(b *testing.B) {
			home := b.TempDir()
			timeStarts(b, func() (float64, error) {
				var wg sync.WaitGroup
				var failed [10]error
				for i := range failed {
					wg.Go(func() { _, failed[i] = answerOnce(home, command) })
				}
				wg.Wait()
				return 0, errors.Join(failed[:]...)
			})
		})
	}
}

// timeStarts reports the least time of a start, and the memory that it returns.
func timeStarts(b *testing.B, start func() (rss float64, err error)) {
	var rss, least float64
	for b.Loop() {
		begun := time.Now()
		var err error
		if rss, err = start(); err != nil {
			b.Fatal(err)
		}
		if d := float64(time.Since(begun).Microseconds()) / 1000; least == 0 || d < least {
			least = d
		}
	}
	b.ReportMetric(least, "least-ms")
	if rss > 0 {
		b.ReportMetric(rss, "idle-MB")
	}
}

// answerOnce starts a server, waits for its first answer, ends it and returns the memory
// that it had, in megabytes; 0 where the system does not say.
func answerOnce(home string, command []string) (rss float64, err error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "ASTER_HOME="+home, "ASTER_LOG=error")
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"0"}}}`)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, `"result"`) {
		return 0, fmt.Errorf("it answers %q: %w", line, errors.Join(err, cmd.Process.Kill(), cmd.Wait()))
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
	return rss, cmd.Wait()
}

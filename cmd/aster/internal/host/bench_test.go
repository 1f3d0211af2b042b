package host_test

import (
	"bufio"
	"io"
	"os"
	"testing"

	"github.com/aster-mcp/aster/cmd/aster/internal/host"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// BenchmarkRoundTrip is a tools/call over operating system pipes, through ServeStdio and
// through the SDK's own transport.
func BenchmarkRoundTrip(b *testing.B) {
	for _, way := range []struct {
		name  string
		serve func(b *testing.B, in, out *os.File)
	}{
		{"ours", func(b *testing.B, in, out *os.File) {
			host.ServeStdio(b.Context(), newServer(nil), in, out, nil)
		}},
		{"sdk", func(b *testing.B, in, out *os.File) {
			newServer(nil).Run(b.Context(), &mcp.IOTransport{Reader: in, Writer: out})
		}},
	} {
		b.Run(way.name, func(b *testing.B) {
			inR, inW, err := os.Pipe()
			if err != nil {
				b.Fatal(err)
			}
			outR, outW, err := os.Pipe()
			if err != nil {
				b.Fatal(err)
			}
			done := make(chan struct{})
			go func() { defer close(done); way.serve(b, inR, outW) }()
			r := bufio.NewReaderSize(outR, 1<<20)
			ask := func(line string) {
				if _, err := io.WriteString(inW, line+"\n"); err != nil {
					b.Fatal(err)
				}
				if _, err := r.ReadSlice('\n'); err != nil {
					b.Fatal(err)
				}
			}
			ask(initialize(1, "2025-11-25"))
			line := call(2, "echo", "")
			b.ReportAllocs()
			for b.Loop() {
				ask(line)
			}
			inW.Close()
			<-done
			outR.Close()
		})
	}
}

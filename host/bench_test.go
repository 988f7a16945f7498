//go:build unix

package host

import (
	"io"
	"strconv"
	"testing"

	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/internal/supervise"
	"github.com/seed7221b0f9/parley/spawn"
)

// BenchmarkStream reads lines of 300 bytes from a program that writes only these, through a host and directly.
func BenchmarkStream(b *testing.B) {
	stream := func(b *testing.B, s spawn.Spawner) {
		cmd := shell(`yes "$(printf '%0299d' 0)" | dd bs=300 iflag=fullblock count="$0" 2>/dev/null`)
		cmd.Args = append(cmd.Args, strconv.Itoa(b.N))
		b.SetBytes(300)
		b.ReportAllocs()
		p, err := proc.Start(b.Context(), cmd, proc.Options{Spawner: s})
		must(b, err)
		defer p.Close()
		n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{p.Stdout()}, make([]byte, 256<<10))
		if err != nil || n != int64(300*b.N) {
			b.Errorf("%d bytes, %v", n, err)
		}
	}
	b.Run("direct", func(b *testing.B) { stream(b, proc.LocalOptions{Supervisor: supervise.Self()}.Spawner()) })
	b.Run("host", func(b *testing.B) { stream(b, connect(b, runHost(b, Options{}))) })
}

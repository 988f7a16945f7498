//go:build unix

package host

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/spawn"
)

// CaughtUp tells an owner when it has read all earlier output, even if the agent has ended.
func TestCaughtUp(t *testing.T) {
	for _, ends := range []bool{false, true} {
		const lines = 2000
		h := newFakeHost(t, Options{}, func(stdin *bufio.Reader, stdout, _ io.Writer) int {
			for n := range lines {
				fmt.Fprintf(stdout, "%d %s\n", n, strings.Repeat("x", 300))
			}
			if !ends {
				_, _ = stdin.ReadString(0)
			}
			return 0
		})
		l := h.connect()
		first := spawnAgent(t, l, spawn.Command{Path: "x"}, AgentOptions{})
		for range lines {
			_, err := first.Next(within(t))
			must(t, err)
		}
		if ends {
			_, err := first.Exit(within(t))
			must(t, err)
		}
		p, err := h.connect().Attach(within(t), first.Agent().Number, 0)
		must(t, err)
		stopped, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.CaughtUp(stopped); err == nil {
			t.Error("it has caught up before it reads")
		}
		var mu sync.Mutex
		read := 0
		for b := make([]byte, 1000); read < lines; {
			n, err := p.Stdout().Read(b)
			must(t, err)
			read += strings.Count(string(b[:n]), "\n")
		}
		if err := p.CaughtUp(stopped); err == nil {
			t.Errorf("ends %v: it has caught up while its reader handles the last part", ends)
		}
		var reading sync.WaitGroup
		reading.Go(func() {
			b := make([]byte, 1000)
			for {
				n, err := p.Stdout().Read(b)
				mu.Lock()
				read += strings.Count(string(b[:n]), "\n")
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
		must(t, p.CaughtUp(within(t)))
		mu.Lock()
		if read != lines || p.Taken() < lines {
			t.Errorf("ends %v: %d lines were read, and the number is %d, want %d", ends, read, p.Taken(), lines)
		}
		mu.Unlock()
		must(t, p.Kill())
		reading.Wait()
	}
}

package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/spawn"
)

var hostRows = []string{"host_line_ms", "host_throughput", "host_bytes_per_session"}

const (
	hostLines    = 2000    // round trips
	hostStream   = 500_000 // lines of a stream, of 300 bytes
	hostSessions = 50
)

// hostRound measures the latency that a host adds to a line, the remaining share of a direct pipe's throughput, and the
// resident memory of the host per agent.
func (b *bench) hostRound(ctx context.Context) (err error) {
	if runtime.GOOS != "linux" {
		b.notef("without %s: the host is measured on Linux alone", hostRows[0])
		return nil
	}
	dir, err := os.MkdirTemp(b.tmp, "host-")
	if err != nil {
		return err
	}
	if err := host.Start(ctx, dir, b.path("parley"), host.Options{Supervisor: b.path("parley")}); err != nil {
		return err
	}
	link, err := host.Dial(ctx, dir, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, link.Stop(ctx), link.Close()) }()
	direct := proc.LocalOptions{Supervisor: b.path("parley")}.Spawner()
	bare, err := echoLine(ctx, direct)
	if err != nil {
		return err
	}
	hosted, err := echoLine(ctx, link)
	if err != nil {
		return err
	}
	b.add(hostRows[0], "parley", (hosted-bare)/2) // a round trip is two lines
	bare, err = streamRate(ctx, direct)
	if err != nil {
		return err
	}
	if hosted, err = streamRate(ctx, link); err != nil {
		return err
	}
	b.add(hostRows[1], "parley", hosted/bare)
	perSession, err := hostMemory(ctx, link)
	b.add(hostRows[2], "parley", perSession)
	return err
}

// echoLine returns the median time in milliseconds for a line to a program that echoes it.
func echoLine(ctx context.Context, s spawn.Spawner) (float64, error) {
	p, err := proc.Start(ctx, spawn.Command{Path: "/bin/cat"}, proc.Options{Spawner: s})
	if err != nil {
		return 0, err
	}
	defer p.Close()
	lines := bufio.NewReader(p.Stdout())
	times := make([]float64, 0, hostLines)
	line := make([]byte, 300)
	for i := range line {
		line[i] = 'x'
	}
	line[len(line)-1] = '\n'
	for range hostLines {
		began := time.Now()
		if _, err := p.Stdin().Write(line); err != nil {
			return 0, err
		}
		if _, err := lines.ReadSlice('\n'); err != nil {
			return 0, err
		}
		times = append(times, float64(time.Since(began))/float64(time.Millisecond))
	}
	return median(times), nil
}

// streamRate returns the throughput in bytes per second of a program that writes lines of 300 bytes, one at a time like agents, as fast as
// it can.
func streamRate(ctx context.Context, s spawn.Spawner) (float64, error) {
	cmd := spawn.Command{Path: "/bin/sh", Args: []string{"-c", `yes "$(printf '%0299d' 0)" | dd bs=300 iflag=fullblock count="$0" 2>/dev/null`, strconv.Itoa(hostStream)}, Env: []string{"PATH=" + os.Getenv("PATH")}}
	began := time.Now()
	p, err := proc.Start(ctx, cmd, proc.Options{Spawner: s})
	if err != nil {
		return 0, err
	}
	defer p.Close()
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{p.Stdout()}, make([]byte, 256<<10))
	if err == nil && n != 300*hostStream {
		err = io.ErrUnexpectedEOF
	}
	return float64(n) / time.Since(began).Seconds(), err
}

// hostMemory returns the resident bytes that one agent adds to the host, after its first line.
func hostMemory(ctx context.Context, link *host.Link) (float64, error) {
	one := func() (*proc.Supervisor, error) {
		p, err := proc.Start(ctx, spawn.Command{Path: "/bin/cat"}, proc.Options{Spawner: link})
		if err != nil {
			return nil, err
		}
		_, err = p.Stdin().Write([]byte("hello\n"))
		if err == nil {
			_, err = bufio.NewReader(p.Stdout()).ReadString('\n')
		}
		return p, err
	}
	first, err := one()
	if err != nil {
		return 0, err
	}
	defer first.Close()
	before, err := residentBytes(link.Host().PID)
	if err != nil {
		return 0, err
	}
	for range hostSessions {
		p, err := one()
		if err != nil {
			return 0, err
		}
		defer p.Close()
	}
	after, err := residentBytes(link.Host().PID)
	return (after - before) / hostSessions, err
}

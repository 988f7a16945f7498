package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/spawn"
)

var joinedRows = []string{"joined_line_ms", "joined_throughput", "joined_lines_per_s", "joined_bytes_per_agent"}

// joinedStream is the number of lines of a stream, of 300 bytes. Every joinedCheckpoint lines the host may forget them, as sessions let it.
const (
	joinedStream     = 200_000
	joinedCheckpoint = 1000
	joinedAgents     = 200
)

// programs lists the programs that the machine of joinedRound offers.
var programs = map[string]spawn.Command{
	"echo":   {Path: "/bin/cat", Dir: "/"},
	"stream": {Path: "/bin/sh", Args: []string{"-c", `yes "$(printf '%0299d' 0)" | dd bs=300 iflag=fullblock count="$0" 2>/dev/null`, strconv.Itoa(joinedStream)}, Dir: "/", Env: []string{"PATH=" + os.Getenv("PATH")}},
}

// offer is the policy of that machine.
type offer struct{}

func (offer) Start(_ context.Context, l host.Launch, start func(spawn.Command) error) error {
	return start(programs[l.Agent])
}

func (offer) Line(_ string, line []byte) ([]byte, error) { return line, nil }

// joinedRound measures what the link of a machine adds to a line in both directions, and its share of the throughput of a local host. The
// link is a connection on loopback without TLS and WebSocket.
func (b *bench) joinedRound(ctx context.Context) (err error) {
	if runtime.GOOS != "linux" {
		b.notef("without %s: the host is measured on Linux alone", joinedRows[0])
		return nil
	}
	dir, err := os.MkdirTemp(b.tmp, "local-")
	if err != nil {
		return err
	}
	opts := host.Options{Supervisor: b.path("parley")}
	if err := host.Start(ctx, dir, b.path("parley"), opts); err != nil {
		return err
	}
	local, err := host.Dial(ctx, dir, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, local.Stop(ctx), local.Close()) }()
	far, end, err := b.relayed(ctx, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	near := func(name string) (*host.Process, error) {
		return local.SpawnAgent(ctx, programs[name], host.AgentOptions{})
	}
	over := func(name string) (*host.Process, error) {
		return far.Launch(ctx, host.Launch{Agent: name, Dir: "/"}, host.AgentOptions{})
	}
	bare, err := lineTime(ctx, near)
	if err != nil {
		return err
	}
	linked, err := lineTime(ctx, over)
	if err != nil {
		return err
	}
	b.add(joinedRows[0], "parley", (linked-bare)/2)
	if bare, err = lineRate(ctx, near); err != nil {
		return err
	}
	linked, err = lineRate(ctx, over)
	b.add(joinedRows[1], "parley", linked/bare)
	b.add(joinedRows[2], "parley", linked)
	if err != nil {
		return err
	}
	memory, err := linkMemory(ctx, over)
	b.add(joinedRows[3], "parley", memory)
	return err
}

// linkMemory returns the heap that one agent adds to both ends of a link, which are in this process, after its first line.
func linkMemory(ctx context.Context, start func(name string) (*host.Process, error)) (float64, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range joinedAgents {
		p, err := start("echo")
		if err != nil {
			return 0, err
		}
		defer func() { _ = p.Kill() }() // the host ends it otherwise
		if err := p.WriteLine(ctx, "1", []byte("hello")); err != nil {
			return 0, err
		}
		for line := (spawn.Line{Input: true}); line.Input; {
			if line, err = p.NextLine(ctx); err != nil {
				return 0, err
			}
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	return float64(after.HeapAlloc-before.HeapAlloc) / joinedAgents, nil
}

// relayed starts another host behind a relay, and returns the link to it.
func (b *bench) relayed(ctx context.Context, opts host.Options) (*host.Link, func() error, error) {
	dir, err := os.MkdirTemp(b.tmp, "relayed-")
	if err == nil {
		err = host.Start(ctx, dir, b.path("parley"), opts)
	}
	if err != nil {
		return nil, nil, err
	}
	stop := func() error { // a relay does not stop its host
		guest, err := host.Dial(context.WithoutCancel(ctx), dir, 0)
		if err == nil {
			err = errors.Join(guest.Stop(context.WithoutCancel(ctx)), guest.Close())
		}
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	defer l.Close()
	machine, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	conn, err := l.Accept()
	if err != nil {
		return nil, nil, errors.Join(err, machine.Close(), stop())
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = host.Relay(ctx, dir, machine, offer{}, slog.New(slog.DiscardHandler)) // until the link is closed
	}()
	link, err := host.NewLink(ctx, conn, 1)
	end := func() error {
		conn.Close()
		<-over
		return stop()
	}
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return link, end, nil
}

// lineTime returns the median time in milliseconds for a line to a program that echoes it.
func lineTime(ctx context.Context, start func(name string) (*host.Process, error)) (float64, error) {
	p, err := start("echo")
	if err != nil {
		return 0, err
	}
	defer func() { _ = p.Kill() }()        // the host ends it otherwise
	line := bytes.Repeat([]byte("x"), 299) // and a line feed
	times := make([]float64, 0, hostLines)
	for i := range hostLines {
		began := time.Now()
		if err := p.WriteLine(ctx, strconv.Itoa(i), line); err != nil {
			return 0, err
		}
		got := spawn.Line{Input: true}
		for got.Input {
			if got, err = p.NextLine(ctx); err != nil {
				return 0, err
			}
		}
		times = append(times, float64(time.Since(began))/float64(time.Millisecond))
		if i%100 == 0 {
			if err := p.Checkpoint(ctx, got.Number, nil); err != nil {
				return 0, err
			}
		}
	}
	return median(times), nil
}

// lineRate returns the lines per second of a program that writes as fast as it can.
func lineRate(ctx context.Context, start func(name string) (*host.Process, error)) (float64, error) {
	began := time.Now()
	p, err := start("stream")
	if err != nil {
		return 0, err
	}
	defer func() { _ = p.Kill() }() // it has ended
	for i := range joinedStream {
		line, err := p.NextLine(ctx)
		if err == nil && i%joinedCheckpoint == joinedCheckpoint-1 {
			err = p.Checkpoint(ctx, line.Number, nil)
		}
		if err != nil {
			return 0, err
		}
	}
	return joinedStream / time.Since(began).Seconds(), nil
}

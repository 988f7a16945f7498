//go:build unix

package host

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/spawn"
)

// flood writes numbered lines of 1000 bytes, and reports how many it has written.
func flood(lines int, wrote chan<- int) program {
	return func(_ *bufio.Reader, stdout, _ io.Writer) int {
		for i := range lines {
			if _, err := io.WriteString(stdout, floodLine(i)); err != nil {
				return 1
			}
			select {
			case wrote <- i + 1:
			default:
			}
		}
		return 0
	}
}

func floodLine(i int) string { return fmt.Sprintf("%-999d\n", i) }

// At the limit of the spool the agent waits. It goes on when a checkpoint makes room, and nothing is lost.
func TestSpool_full(t *testing.T) {
	const lines = 500
	const limit = 100_000
	h := newFakeHost(t, Options{Spool: limit}, flood(lines, nil))
	l := h.connect()
	p := spawnAgent(t, l, spawn.Command{Path: "x"}, AgentOptions{})
	agent, err := h.agent(p.Agent().Number)
	must(t, err)
	waits := func() Agent {
		for ctx := within(t); ; {
			agent.mu.Lock()
			d := agent.describe()
			agent.mu.Unlock()
			if d.Waits || ctx.Err() != nil {
				return d
			}
		}
	}
	if d := waits(); !d.Waits || d.Spooled < limit || d.Spooled > limit+10_000 {
		t.Fatalf("the agent does not wait: %+v", d)
	}
	for i := range lines {
		r := wantNext(t, p, "output "+floodLine(i))
		if i%50 == 49 {
			must(t, p.Checkpoint(within(t), r.Number, nil))
		}
	}
	wantNext(t, p, "output end")
	if files := spoolFiles(t, h.dir+"/.."); len(files) > 2 {
		t.Errorf("files that are covered are left: %q", files)
	}
}

// An owner that does not read one agent gets the lines of the others, and later all lines of that one. The host holds
// no more than the limit of them in memory.
func TestSlowReader(t *testing.T) {
	const lines = 3000
	done := make(chan int, 1)
	h := newFakeHost(t, Options{Memory: 64 << 10}, func(stdin *bufio.Reader, stdout, stderr io.Writer) int {
		line, _ := stdin.ReadString('\n')
		if line == "flood\n" {
			return flood(lines, nil)(stdin, stdout, stderr)
		}
		done <- 1
		return talker(stdin, stdout, stderr)
	})
	l := h.connect()
	slow := spawnAgent(t, l, spawn.Command{Path: "x"}, AgentOptions{})
	_, err := slow.Write(within(t), "a", []byte("flood\n"))
	must(t, err)
	if exit, err := slow.Exit(within(t)); err != nil || exit.Code != 0 { // the spool takes all of it
		t.Fatalf("%+v, %v", exit, err)
	}
	a, err := h.agent(slow.Agent().Number)
	must(t, err)
	a.mu.Lock()
	held := len(a.tail)
	a.mu.Unlock()
	if held > 64<<10 {
		t.Errorf("the host holds %d bytes", held)
	}
	other := spawnAgent(t, l, spawn.Command{Path: "x"}, AgentOptions{})
	_, err = other.Write(within(t), "b", []byte("talk\n"))
	must(t, err)
	<-done
	wantNext(t, other, "input b talk\n")
	wantNext(t, other, "output hello\n")
	wantNext(t, slow, "input a flood\n")
	for i := range lines {
		wantNext(t, slow, "output "+floodLine(i))
	}
}

// A line of any length passes, in both directions.
func TestLongLine(t *testing.T) {
	size := short.Count(1_000_000, 3_000_000, 100_000_000)
	want := append(bytes.Repeat([]byte("0123456789"), size/10), '\n')
	h := newFakeHost(t, Options{}, func(stdin *bufio.Reader, stdout, _ io.Writer) int {
		_, _ = io.Copy(stdout, stdin)
		return 0
	})
	p := spawnAgent(t, h.connect(), spawn.Command{Path: "x"}, AgentOptions{})
	_, err := p.Write(within(t), "a", want)
	must(t, err)
	for _, kind := range []Kind{Input, Output} {
		r, err := p.Next(within(t))
		if err != nil || r.Kind != kind || !bytes.Equal(r.Data, want) {
			t.Fatalf("%s of %d bytes, %v", r.Kind, len(r.Data), err)
		}
	}
}

// An agent without an owner is sent the bytes that the owner left, is ended half a minute later, and the next owner learns why.
func TestOrphan(t *testing.T) {
	h := newFakeHost(t, Options{}, talker)
	clock := newFakeClock()
	h.clock = clock
	l := h.connect()
	p := spawnAgent(t, l, spawn.Command{Path: "x"}, AgentOptions{})
	wantNext(t, p, "output hello\n")
	must(t, p.SetOrphan(within(t), AgentOptions{OrphanTimeout: 10 * time.Minute, OrphanInput: []byte("interrupt\n")}))
	l.Close()
	clock.awaitTimer(t, 10*time.Minute)
	clock.advance(9 * time.Minute)
	l = h.connect() // in time
	clock.advance(time.Hour)
	l.Close()
	clock.awaitTimer(t, 10*time.Minute)
	clock.advance(10 * time.Minute)
	clock.awaitTimer(t, orphanGrace)
	agent, err := h.agent(p.Agent().Number)
	must(t, err)
	for got := (InputInfo{}); got.State != InputWritten; {
		got = agent.inputInfo("orphan")
	}
	clock.advance(orphanGrace)
	select {
	case <-agent.done:
	case <-within(t).Done():
		t.Fatal("the agent was not ended")
	}
	p, err = h.connect().Attach(within(t), p.Agent().Number, 0)
	must(t, err)
	for _, want := range []string{"output hello\n", "input orphan interrupt\n", "output got interrupt\n", "output bye", "output end", "exited"} {
		wantNext(t, p, want)
	}
	if exit, err := p.Exit(within(t)); err != nil || !exit.Orphaned {
		t.Errorf("the exit is %+v, %v", exit, err)
	}
}

// A host without an owner and agents ends after a while, and not before.
func TestIdle(t *testing.T) {
	h := newFakeHost(t, Options{}, talker)
	clock := newFakeClock()
	ended := make(chan struct{})
	h.clock, h.close = clock, func() { close(ended) }
	l := h.connect()
	p := spawnAgent(t, l, spawn.Command{Path: "x"}, AgentOptions{})
	must(t, p.CloseInput())
	_, err := p.Exit(within(t))
	must(t, err)
	clock.advance(time.Hour) // there is an owner
	select {
	case <-ended:
		t.Fatal("the host ended under its owner")
	default:
	}
	l.Close()
	clock.awaitTimer(t, time.Minute)
	clock.advance(time.Minute)
	<-ended
}

// A line that waits because the agent does not read holds up nothing, and is lost with the agent, which the sequence has.
func TestInput_lost(t *testing.T) {
	release := make(chan struct{})
	h := newFakeHost(t, Options{}, func(*bufio.Reader, io.Writer, io.Writer) int {
		<-release
		return 0
	})
	l := h.connect()
	p := spawnAgent(t, l, spawn.Command{Path: "x"}, AgentOptions{})
	for _, id := range []string{"a", "b"} {
		_, err := p.Write(within(t), id, []byte("x\n"))
		must(t, err)
		if info, err := p.Input(within(t), id); err != nil || info.State != InputQueued {
			t.Errorf("the line is %+v, %v", info, err)
		}
	}
	must(t, p.Checkpoint(within(t), 2, nil)) // lines that wait are kept all the same
	close(release)
	for _, want := range []string{"input a x\n", "input b x\n"} {
		wantNext(t, p, want)
	}
	var rest []string
	for range 4 {
		r, err := p.Next(within(t))
		must(t, err)
		rest = append(rest, strings.TrimSpace(r.Kind.String()+" "+r.ID))
	}
	if got := strings.Join(rest, ", "); got != "input lost a, input lost b, output end, exited" && got != "output end, input lost a, input lost b, exited" {
		t.Errorf("the end is %s", got)
	}
}

// A call ends with its context, and an agent that starts after that is ended.
func TestSpawn_cancelled(t *testing.T) {
	begun, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	h := newFakeHost(t, Options{}, func(stdin *bufio.Reader, stdout, stderr io.Writer) int {
		defer close(ended)
		return talker(stdin, stdout, stderr)
	})
	spawner := h.spawner(false)
	h.spawner = func(bool) spawn.Spawner {
		close(begun)
		<-release
		return spawner
	}
	l := h.connect()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	if _, err := l.SpawnAgent(ctx, spawn.Command{Path: "x"}, AgentOptions{}); err != context.Canceled {
		t.Errorf("the start ended with %v", err)
	}
	close(release)
	<-ended
	for {
		if agents, err := l.Agents(within(t)); err != nil || len(agents) == 0 {
			must(t, err)
			return
		}
	}
}

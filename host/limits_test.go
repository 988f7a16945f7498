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

// flood writes numbered lines of 1000 bytes, and reports their number.
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

// At the limit of the spool the agent blocks. It continues when a checkpoint frees space, and no line is lost.
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

// An owner that does not read one agent gets the lines of the others, and later all lines of that one. The host sends at most
// the window.
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
	if exit, err := slow.Exit(within(t)); err != nil || exit.Code != 0 { // the spool has space for all of it
		t.Fatalf("%+v, %v; want err == nil and exit.Code == 0", exit, err)
	}
	slow.mu.Lock()
	sent := 0
	for _, run := range slow.runs {
		sent += len(run)
	}
	slow.mu.Unlock()
	if sent > window+2*bufferSize {
		t.Errorf("the host has sent %d bytes that nobody reads", sent)
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

// An agent without an owner gets the orphan input, is ended half a minute later, and the next owner gets the reason.
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
	written, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for agent.inputInfo("orphan").State != InputWritten {
		select {
		case <-written.Done():
			t.Fatalf("the orphan input is %+v, want it written", agent.inputInfo("orphan"))
		case <-time.After(time.Millisecond):
		}
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
	for ctx := within(t); ; { // the end of the agent may set the timer again
		clock.awaitTimer(t, time.Minute)
		clock.advance(time.Minute)
		select {
		case <-ended:
			return
		case <-ctx.Done():
			t.Fatal("the host has not ended")
		default:
		}
	}
}

// A queued line does not block others while the agent does not read. It is lost with the agent, and the sequence records that.
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
	must(t, p.Checkpoint(within(t), 2, nil)) // queued lines are kept anyway
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

// A call ends with its context, and an agent that starts later is ended.
func TestSpawn_cancelled(t *testing.T) {
	h, begun, release, ended := newSlowHost(t)
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

// A queued line is written even if a checkpoint covers it meanwhile: its file is kept.
func TestInput_covered(t *testing.T) {
	release := make(chan struct{})
	h := newFakeHost(t, Options{Spool: 40_000}, func(stdin *bufio.Reader, stdout, stderr io.Writer) int {
		<-release
		return talker(stdin, stdout, stderr)
	})
	p := spawnAgent(t, h.connect(), spawn.Command{Path: "x"}, AgentOptions{})
	for i := range 20 {
		_, err := p.Write(within(t), fmt.Sprint(i), []byte(floodLine(i)))
		must(t, err)
	}
	must(t, p.Checkpoint(within(t), 20, nil))
	if number, err := p.Write(within(t), "3", []byte(floodLine(3))); err != nil || number != 4 {
		t.Errorf("a queued line that is written again has the number %d, %v; want that of the first time, 4", number, err)
	}
	close(release)
	wantNextOf(t, p, "hello\n")
	for i := range 20 {
		wantNextOf(t, p, "got "+floodLine(i))
	}
}

// The files of an incomplete line are kept regardless of checkpoints, and removed when it is complete and covered.
func TestSpool_openLine(t *testing.T) {
	s := newSpool(systemDisk{}, t.TempDir(), 4000)
	defer s.close()
	frames := make([]byte, 600)
	for _, step := range []struct {
		last     uint64
		open     bool
		covered  uint64
		segments int
	}{
		{1, false, 0, 1}, {1, true, 1, 1}, {1, true, 1, 2}, {2, true, 2, 2}, {3, false, 2, 3}, {3, false, 3, 0},
	} {
		must(t, s.append(frames, step.last, step.open, false))
		s.trim(step.covered)
		if len(s.segments) != step.segments {
			t.Fatalf("%+v: %d files", step, len(s.segments))
		}
	}
}

// An owner that connects during the agent's last half minute keeps it.
func TestOrphan_returns(t *testing.T) {
	h := newFakeHost(t, Options{OrphanTimeout: time.Hour}, talker)
	clock := newFakeClock()
	h.clock = clock
	l := h.connect()
	p := spawnAgent(t, l, spawn.Command{Path: "x"}, AgentOptions{})
	l.Close()
	clock.awaitTimer(t, time.Hour)
	clock.advance(time.Hour)
	clock.awaitTimer(t, orphanGrace)
	l = h.connect()
	clock.mu.Lock()
	armed := 0
	for _, x := range clock.timers {
		if !x.dead {
			armed++
		}
	}
	clock.mu.Unlock()
	if armed > 0 {
		t.Errorf("%d timers are set although the agent has an owner", armed)
	}
	clock.advance(time.Hour)
	p, err := l.Attach(within(t), p.Agent().Number, 0)
	must(t, err)
	wantNext(t, p, "output hello\n")
	_, err = p.Write(within(t), "a", []byte("x\n"))
	must(t, err)
	wantNextOf(t, p, "got x\n")
}

// Frames have at most a fragment of a line.
func TestAppendLines(t *testing.T) {
	output := []byte(strings.Repeat("x", 2*fragment+1) + "\n" + "short\n" + strings.Repeat("y", fragment))
	number, open := uint64(4), false
	frames := appendLines(nil, 7, time.Now(), output, &number, &open)
	if number != 6 || !open {
		t.Errorf("number %d, open %v", number, open)
	}
	var all []byte
	for len(frames) > 0 {
		size, whole := frameSize(frames)
		agent, p, err := parsePart(frames[headSize:size])
		if err != nil || !whole || agent != 7 || len(p.Data) > fragment {
			t.Fatalf("a frame of %d bytes, %v", size, err)
		}
		all = append(all, p.Data...)
		frames = frames[size:]
	}
	if !bytes.Equal(all, output) {
		t.Error("the bytes differ")
	}
}

// The data that waits for the owner in memory is limited.
func TestTail(t *testing.T) {
	c := &conn{known: map[*agent]bool{}}
	c.news.L = &c.mu
	a := &agent{h: &server{o: Options{Memory: 1000}}, to: attachment{conn: c}}
	frames := make([]byte, 300)
	for i, want := range []int{300, 600, 900, 0, 0} {
		a.spool.end += int64(len(frames))
		a.show(frames)
		if len(a.tail) != want {
			t.Errorf("after %d times %d bytes %d wait in memory, want %d", i+1, len(frames), len(a.tail), want)
		}
	}
	a.to.at = a.spool.end // from the files
	a.spool.end += int64(len(frames))
	if a.show(frames); len(a.tail) != 300 {
		t.Errorf("of an owner that has caught up %d bytes wait in memory", len(a.tail))
	}
}

//go:build unix

package host

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/spawn"
)

// talker writes a line, answers each line that it reads, and writes a last line at the end of its input.
func talker(stdin *bufio.Reader, stdout, stderr io.Writer) int {
	fmt.Fprintln(stdout, "hello")
	fmt.Fprintln(stderr, "a note")
	for {
		line, err := stdin.ReadString('\n')
		if err != nil {
			fmt.Fprint(stdout, "bye")
			return 3
		}
		fmt.Fprint(stdout, "got ", line)
	}
}

// The sequence has both directions in order, the end of input and output, and the exit. The next owner gets it from the number
// that it requests, and the state of the checkpoint; covered records are removed.
func TestAttach(t *testing.T) {
	h := newFakeHost(t, Options{}, talker)
	l := h.connect()
	p := spawnAgent(t, l, spawn.Command{Path: "/bin/agent"}, AgentOptions{Key: "session 7"})
	wantNext(t, p, "output hello\n")
	number, err := p.Write(within(t), "a", []byte("one\n"))
	must(t, err)
	if r := wantNext(t, p, "input a one\n"); r.Number != 2 || number != 2 {
		t.Errorf("the line has number %d, and %d in the answer", r.Number, number)
	}
	wantNext(t, p, "output got one\n")
	must(t, p.Checkpoint(within(t), 2, []byte("state")))
	l.Close()
	if _, err := p.Next(within(t)); !errors.Is(err, ErrLinkLost) {
		t.Errorf("after the end of the link: %v", err)
	}
	if _, err := p.Write(within(t), "b", []byte("two\n")); !errors.Is(err, ErrLinkLost) {
		t.Errorf("after the end of the link: %v", err)
	}

	l = h.connect()
	agents, err := l.Agents(within(t))
	if err != nil || len(agents) != 1 || agents[0].Key != "session 7" || agents[0].Kept != 3 || agents[0].Last != 3 {
		t.Fatalf("the agents are %+v, %v", agents, err)
	}
	if _, err := l.Attach(within(t), agents[0].Number, 2); !errors.Is(err, ErrGone) {
		t.Errorf("a line that is covered: %v", err)
	}
	if _, err := l.Attach(within(t), 99, 0); !errors.Is(err, ErrNoAgent) {
		t.Errorf("an agent that does not exist: %v", err)
	}
	p, err = l.Attach(within(t), agents[0].Number, 3)
	must(t, err)
	if p.Agent().Checkpoint != 2 || string(p.State()) != "state" {
		t.Errorf("the checkpoint is %d with %q", p.Agent().Checkpoint, p.State())
	}
	wantNext(t, p, "output got one\n")
	must(t, p.CloseInput())
	wantNext(t, p, "input closed")
	wantNext(t, p, "output bye")
	wantNext(t, p, "output end")
	exit, err := p.Exit(within(t))
	if err != nil || exit.Code != 3 || exit.Stderr != "a note\n" {
		t.Errorf("the exit is %+v, %v", exit, err)
	}
	if r := wantNext(t, p, "exited"); r.Number != 7 || !bytes.Contains(r.Data, []byte(`"Code":3`)) {
		t.Errorf("the last record is %d: %s", r.Number, r.Data)
	}
	if _, err := p.Next(within(t)); err != io.EOF {
		t.Errorf("after the last record: %v", err)
	}
	l.Close()

	l = h.connect() // the exit is kept until it is acknowledged
	p, err = l.Attach(within(t), agents[0].Number, 7)
	must(t, err)
	wantNext(t, p, "exited")
	if status, err := p.Wait(); err != nil || status.Code != 3 {
		t.Errorf("Wait returned %+v, %v", status, err)
	}
	if _, err := p.Write(within(t), "c", []byte("x\n")); !errors.Is(err, ErrInputClosed) {
		t.Errorf("a line to an agent that has ended: %v", err)
	}
	must(t, p.Forget(within(t)))
	if agents, err := l.Agents(within(t)); err != nil || len(agents) > 0 {
		t.Errorf("after the end was acknowledged: %+v, %v", agents, err)
	}
}

// A line with a known id is not written again, not even for the next owner, and the host reports its state.
func TestWrite_once(t *testing.T) {
	h := newFakeHost(t, Options{}, talker)
	p := spawnAgent(t, h.connect(), spawn.Command{Path: "x"}, AgentOptions{})
	wantNext(t, p, "output hello\n")
	for range 2 {
		if n, err := p.Write(within(t), "a", []byte("one\n")); err != nil || n != 2 {
			t.Fatalf("the line has number %d, %v", n, err)
		}
	}
	wantNext(t, p, "input a one\n")
	wantNext(t, p, "output got one\n")
	p, err := h.connect().Attach(within(t), p.Agent().Number, 4)
	must(t, err)
	if n, err := p.Write(within(t), "a", []byte("one\n")); err != nil || n != 2 {
		t.Errorf("the line has number %d, %v", n, err)
	}
	ctx := within(t)
	info, err := p.Input(ctx, "a")
	for err == nil && info.State == InputQueued { // the agent may answer a line before the host has recorded that it is written
		info, err = p.Input(ctx, "a")
	}
	if err != nil || info != (InputInfo{ID: "a", Number: 2, State: InputWritten}) {
		t.Errorf("the line is %+v, %v", info, err)
	}
	if info, err := p.Input(within(t), "b"); err != nil || info.State != InputUnknown {
		t.Errorf("a line that was never written is %+v, %v", info, err)
	}
	_, err = p.Write(within(t), "b", []byte("two\n"))
	must(t, err)
	wantNext(t, p, "input b two\n")
	wantNext(t, p, "output got two\n")
}

// An owner with a higher epoch ends the connection of the previous one, whose late frames have no effect. An epoch that is not
// higher is refused.
func TestFencing(t *testing.T) {
	h := newFakeHost(t, Options{}, talker)
	first := h.connect()
	p := spawnAgent(t, first, spawn.Command{Path: "x"}, AgentOptions{})
	wantNext(t, p, "output hello\n")
	old := h.owner
	second := h.connect()
	<-first.Done()
	for _, epoch := range []uint64{1, 2} {
		if _, err := h.dialAs(epoch, nil); !errors.Is(err, ErrFenced) {
			t.Errorf("epoch %d: %v", epoch, err)
		}
	}
	// Frames that the first owner has sent and the host has not read yet.
	frames := writeFrames(nil, p.Agent().Number, "late", []byte("late\n"))
	if err := old.follow(frames[4], frames[headSize:]); !errors.Is(err, ErrFenced) {
		t.Errorf("a late line: %v", err)
	}
	for _, q := range []request{{Op: opSignal, Signal: signalKill}, {Op: opCheckpoint, Number: 1}, {Op: opCloseInput}} {
		q.Agent = p.Agent().Number
		frame, err := jsonFrame(frameRequest, q)
		must(t, err)
		if err := old.follow(frame[4], frame[headSize:]); !errors.Is(err, ErrFenced) {
			t.Errorf("a late %s: %v", q.Op, err)
		}
	}
	p, err := second.Attach(within(t), p.Agent().Number, 1)
	must(t, err)
	wantNext(t, p, "output hello\n")
	_, err = p.Write(within(t), "on time", []byte("x\n"))
	must(t, err)
	wantNext(t, p, "input on time x\n")
	wantNext(t, p, "output got x\n")
}

// An agent that starts after its owner has disconnected is ended, because no owner would know it.
func TestFencing_start(t *testing.T) {
	h, begun, release, ended := newSlowHost(t)
	first := h.connect()
	failed := make(chan error)
	go func() {
		_, err := first.SpawnAgent(within(t), spawn.Command{Path: "x"}, AgentOptions{})
		failed <- err
	}()
	<-begun
	second := h.connect()
	if err := <-failed; !errors.Is(err, ErrLinkLost) {
		t.Errorf("the start ended with %v", err)
	}
	close(release)
	ctx := within(t)
	select {
	case <-ended:
	case <-ctx.Done():
		t.Fatal("the agent was not ended")
	}
	for {
		agents, err := second.Agents(ctx)
		must(t, err)
		if len(agents) == 0 {
			return
		}
	}
}

// An agent whose attachment ended with its context, before or after the answer of the host, is attached by the next attempt.
func TestAttach_cancelled(t *testing.T) {
	h := newFakeHost(t, Options{}, talker)
	l := h.connect()
	number := spawnAgent(t, l, spawn.Command{Path: "x"}, AgentOptions{}).Agent().Number
	for i := range 30 {
		l.Close()
		l = h.connect()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		p, err := l.Attach(ctx, number, 0)
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("attempt %d with an ended context: %v", i, err)
			}
			if i%2 == 0 {
				_, err = l.Agents(within(t)) // the answer has come
				must(t, err)
			}
			p, err = l.Attach(within(t), number, 0)
			must(t, err)
		}
		wantNext(t, p, "output hello\n")
	}
}

// If lines are written to the agent while its own line is incomplete, that line is completed later and gets a higher number.
func TestAttach_openLine(t *testing.T) {
	long := strings.Repeat("x", fragment+10)
	h := newFakeHost(t, Options{}, func(stdin *bufio.Reader, stdout, _ io.Writer) int {
		fmt.Fprint(stdout, "first\n", "na", "me? ")
		line, _ := stdin.ReadString('\n')
		fmt.Fprint(stdout, "is ", line, "last\n")
		_, _ = stdin.ReadString('\n')
		return 0
	})
	l := h.connect()
	p := spawnAgent(t, l, spawn.Command{Path: "x"}, AgentOptions{})
	out := p.Stdout()
	want := make([]byte, len("first\nname? "))
	if _, err := io.ReadFull(out, want); err != nil || string(want) != "first\nname? " {
		t.Fatalf("%q, %v; want err == nil and string(want) == \"first\\nname? \"", want, err)
	}
	_, err := p.Write(within(t), "a", []byte(long+"\n"))
	must(t, err)
	wantNext(t, p, "input a "+long+"\n")
	if r, err := p.Next(within(t)); err != nil || r.Number != 3 { // Stdout has read its beginning
		t.Fatalf("%+v, %v; want err == nil and r.Number == 3", r, err)
	}
	all := []string{"output first\n", "input a " + long + "\n", "output name? is " + long + "\n", "output last\n"}
	for from := range all {
		l.Close()
		l = h.connect()
		p, err := l.Attach(within(t), p.Agent().Number, uint64(from+1))
		must(t, err)
		for _, want := range all[from:] {
			wantNext(t, p, want)
		}
	}
}

// recorder is an agent that records its input and output, and writes by itself and in answer.
type recorder struct {
	mu          sync.Mutex
	wrote, read bytes.Buffer
}

func (r *recorder) write(w io.Writer, text string) {
	r.mu.Lock()
	r.wrote.WriteString(text)
	r.mu.Unlock()
	_, _ = io.WriteString(w, text)
}

func (r *recorder) play(lines int, seed uint64) program {
	return func(stdin *bufio.Reader, stdout, _ io.Writer) int {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var answers sync.WaitGroup
		answers.Go(func() {
			for {
				line, err := stdin.ReadString('\n')
				if err != nil {
					return
				}
				r.mu.Lock()
				r.read.WriteString(line)
				r.mu.Unlock()
			}
		})
		for i := range lines {
			size := rnd.IntN(200)
			if rnd.IntN(60) == 0 {
				size = rnd.IntN(fragment + fragment/4)
			}
			r.write(stdout, fmt.Sprintf("%d %s\n", i, strings.Repeat("x", size)))
		}
		answers.Wait()
		r.write(stdout, "done") // without a line feed
		return 0
	}
}

// ledger holds the records that an owner has made durable: it survives its connections.
type ledger struct {
	last    uint64
	output  bytes.Buffer
	inputs  []string // ids in their order
	covered uint64   // the last requested checkpoint
	over    bool
}

// follow attaches and reads records until the link breaks or the agent has ended. Meanwhile it writes the lines that it has
// not seen in the sequence: the host ignores those that it already has.
func (b *ledger) follow(t *testing.T, l *Link, agent uint32, lines int, rnd *rand.Rand) error {
	p, err := l.Attach(within(t), agent, b.last+1)
	if err != nil {
		return err
	}
	if got := p.Agent().Checkpoint; got > b.covered || got > 0 && string(p.State()) != fmt.Sprint(got) {
		t.Errorf("the checkpoint is %d with %q, and %d was asked for", got, p.State(), b.covered)
	}
	seen := len(b.inputs)
	written := make(chan error, 1)
	var wrote atomic.Bool // no checkpoint before that: the host forgets covered ids
	go func() {
		for i := seen; i < lines; i++ {
			if _, err := p.Write(within(t), fmt.Sprint("in-", i), fmt.Appendf(nil, "line %d\n", i)); err != nil {
				written <- err
				return
			}
		}
		wrote.Store(true)
		written <- p.CloseInput()
	}()
	err = b.take(t, p, rnd, &wrote)
	if err != nil {
		l.Close()
	}
	return errors.Join(err, <-written)
}

func (b *ledger) take(t *testing.T, p *Process, rnd *rand.Rand, wrote *atomic.Bool) error {
	for !b.over {
		r, err := p.Next(within(t))
		if err != nil {
			return err
		}
		if r.Number != b.last+1 {
			t.Errorf("record %d comes after %d", r.Number, b.last)
		}
		b.last = r.Number
		switch r.Kind {
		case Output:
			b.output.Write(r.Data)
		case Input:
			b.inputs = append(b.inputs, r.ID)
		case Exited:
			b.over = true
		}
		if wrote.Load() && rnd.IntN(10) == 0 {
			b.covered = r.Number
			if err := p.Checkpoint(within(t), r.Number, fmt.Append(nil, r.Number)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Connections that break at any byte lose no data: together the owners get exactly the lines of the agent, and each line to
// the agent arrives once.
func TestCut(t *testing.T) {
	for seed := range uint64(short.Count(3, 10, 300)) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		lines := 30
		var agent recorder
		h := newFakeHost(t, Options{Memory: rnd.IntN(100_000) + 1}, agent.play(150, seed))
		l := h.connect()
		p := spawnAgent(t, l, spawn.Command{Path: "x"}, AgentOptions{})
		l.Close()
		var b ledger
		links := 0
		for ; !b.over; links++ {
			l, err := h.dial(func(c net.Conn) net.Conn { return &cutConn{Conn: c, left: rnd.IntN(1 + 3000*links)} })
			if err == nil {
				err = b.follow(t, l, p.Agent().Number, lines, rnd)
				l.Close()
			}
			if err != nil && !errors.Is(err, ErrLinkLost) {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		if !bytes.Equal(b.output.Bytes(), agent.wrote.Bytes()) {
			t.Errorf("seed %d: the owners got %d bytes over %d links, and the agent wrote %d", seed, b.output.Len(), links, agent.wrote.Len())
		}
		var want strings.Builder
		for i := range lines {
			fmt.Fprintf(&want, "line %d\n", i)
		}
		if got := agent.read.String(); got != want.String() || len(b.inputs) != lines {
			t.Errorf("seed %d: the agent read %d bytes, want %d; the sequence has %d lines to it", seed, len(got), want.Len(), len(b.inputs))
		}
		if t.Failed() {
			return
		}
	}
}

// newSlowHost returns a host in which the start of an agent closes begun and waits for release. The agent closes ended.
func newSlowHost(t *testing.T) (h *fakeHost, begun, release, ended chan struct{}) {
	t.Helper()
	begun, release, ended = make(chan struct{}), make(chan struct{}), make(chan struct{})
	h = newFakeHost(t, Options{}, func(stdin *bufio.Reader, stdout, stderr io.Writer) int {
		defer close(ended)
		return talker(stdin, stdout, stderr)
	})
	spawner := h.spawner(false)
	h.spawner = func(bool) spawn.Spawner {
		close(begun)
		<-release
		return spawner
	}
	return h, begun, release, ended
}

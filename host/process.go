package host

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync"

	"github.com/seed7221b0f9/parley/spawn"
)

// Process is an agent of the host, seen by its owner. It is a [spawn.Process]: Stdout has only the lines of the agent, not
// the other records of the sequence. An owner that needs the numbers calls [Process.Next] instead; both consume the same
// records. All other methods are safe for concurrent use.
type Process struct {
	l      *Link
	agent  Agent
	state  []byte
	plain  bool // is forgotten without a call of Forget
	stderr *errorStream
	exited chan struct{} // exit is set, or the link is lost
	inEnd  chan struct{} // the input was closed

	mu       sync.Mutex
	news     sync.Cond
	runs     [][]byte // received frames
	first    part     // the first of them, if it was taken from runs
	peeked   bool     // first is set
	whole    assembler
	last     uint64 // the number of the last taken record
	taken    int    // bytes taken but not granted again
	ended    bool   // the end of the output was taken
	resting  bool   // the reader of Stdout waits, or has read the end
	over     bool   // the last record was taken
	closed   bool   // the owner has stopped reading
	waited   bool
	forgot   bool
	exit     *Exit
	err      error
	inputs   map[string]*sent
	nextID   int
	inClosed bool
}

// sent is a line that was sent to the host and may not have reached the agent.
type sent struct {
	info  InputInfo
	kept  chan struct{} // it is in the sequence, or never will be
	final chan struct{} // it was written, or lost
}

func newProcess(l *Link, r answer, plain bool) *Process {
	p := &Process{l: l, agent: *r.Agent, state: r.State, plain: plain, stderr: newErrorStream(), exited: make(chan struct{}), inEnd: make(chan struct{}), inputs: map[string]*sent{}}
	p.news.L = &p.mu
	return p
}

// Agent returns the description of the agent when it was started or attached.
func (p *Process) Agent() Agent { return p.agent }

// State returns the bytes of the last checkpoint before the agent was attached. Its number is Agent().Checkpoint.
func (p *Process) State() []byte { return p.state }

// Err returns the reason why the link of the process has ended, or nil while it is open.
func (p *Process) Err() error { return p.l.Err() }

// PID returns the id of the agent's process.
func (p *Process) PID() int { return p.agent.PID }

// Stdin returns the input of the agent. A Write is one line of the sequence, with a generated id, and returns when it was
// written to the agent's input.
func (p *Process) Stdin() io.WriteCloser { return stdin{p} }

// Stdout returns the output of the agent.
func (p *Process) Stdout() io.ReadCloser { return stdout{p} }

// Stderr returns the agent's stderr from now on. If it is not read in time, the oldest data is dropped; at least the last 32
// KiB are kept.
func (p *Process) Stderr() io.ReadCloser { return p.stderr }

// Terminate asks the agent to end: SIGTERM to its group.
func (p *Process) Terminate() error { return p.signal(signalTerminate) }

// Kill ends the agent and all its descendants.
func (p *Process) Kill() error { return p.signal(signalKill) }

func (p *Process) signal(name string) error {
	p.mu.Lock()
	gone := p.exit != nil
	p.mu.Unlock()
	if gone {
		return nil
	}
	_, err := p.l.call(context.Background(), request{Op: opSignal, Agent: p.agent.Number, Signal: name})
	if errors.Is(err, ErrNoAgent) {
		return nil
	}
	return err
}

// Wait waits until the agent has ended. It returns an error if the link is lost.
func (p *Process) Wait() (spawn.ExitStatus, error) {
	exit, err := p.Exit(context.Background())
	p.mu.Lock()
	p.waited = true
	p.mu.Unlock()
	p.forgetPlain()
	if err == nil && exit.Error != "" {
		err = errors.New(exit.Error)
	}
	if err != nil {
		return spawn.ExitStatus{Code: -1}, err
	}
	return exit.ExitStatus, nil
}

// Exit waits for the end of the agent and returns its details. It may be called several times.
func (p *Process) Exit(ctx context.Context) (Exit, error) {
	select {
	case <-p.exited:
	case <-ctx.Done():
		return Exit{}, ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.exit == nil {
		return Exit{}, p.err
	}
	return *p.exit, nil
}

// Next returns the next record of the agent: whole lines of both directions in their order. After [Exited] it returns io.EOF.
// It is not safe for concurrent use.
func (p *Process) Next(ctx context.Context) (Record, error) {
	defer context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.news.Broadcast()
	})()
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if err := p.await(ctx); err != nil {
			return Record{}, err
		}
		if r, ok := p.whole.add(p.pop()); ok {
			return r, nil
		}
	}
}

// await waits for a part. The caller holds mu.
func (p *Process) await(ctx context.Context) error {
	for !p.peek() {
		switch {
		case p.closed:
			return errClosed
		case p.over:
			return io.EOF
		case p.err != nil:
			return p.err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		p.news.Wait()
	}
	return nil
}

// peek moves the first received part to first, and reports whether there is one. The caller holds mu.
func (p *Process) peek() bool {
	if p.peeked {
		return true
	}
	if len(p.runs) == 0 {
		return false
	}
	run := p.runs[0]
	size, _ := frameSize(run)
	_, x, err := parsePart(run[headSize:size])
	if err != nil {
		p.runs, p.err = nil, err
		return false
	}
	p.first, p.peeked = x, true
	if p.runs[0] = run[size:]; len(run) == size {
		p.runs = p.runs[1:]
	}
	return true
}

// pop takes the first part, which must exist, and grants the host as much again. The caller holds mu, which is released
// meanwhile, because a broken link fails all processes.
func (p *Process) pop() part {
	first := p.first
	p.first, p.peeked = part{}, false
	if grant := p.took(first); grant != nil {
		p.mu.Unlock()
		_ = p.l.send(grant)
		p.mu.Lock()
	}
	return first
}

// took accounts for a taken part and returns the grant to send.
func (p *Process) took(x part) (grant []byte) {
	p.taken += x.size
	if !x.more {
		p.last = x.Number
		p.ended = p.ended || x.Kind == OutputEnd
		p.over = p.over || x.Kind == Exited
	}
	if p.taken < window/4 {
		return nil
	}
	covered := uint64(0)
	if p.plain {
		covered = p.last
	}
	grant = grantFrame(p.agent.Number, uint32(p.taken), covered)
	p.taken = 0
	return grant
}

// add adds frames from the link.
func (p *Process) add(run []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs = append(p.runs, run)
	if !p.closed {
		p.news.Broadcast()
		return
	}
	if grants := p.discard(); grants != nil {
		go func() { _ = p.l.send(grants) }() // so that the link continues to read
	}
}

// discard takes all received parts and returns the grants to send. The caller holds mu.
func (p *Process) discard() (grants []byte) {
	for p.peek() {
		grants = append(grants, p.took(p.first)...)
		p.peeked = false
	}
	return grants
}

// note handles a notice from the link.
func (p *Process) note(n notice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n.Exit != nil && p.exit == nil {
		p.exit = n.Exit
		p.stderr.end(io.EOF)
		close(p.exited)
		p.news.Broadcast()
	}
	if n.Input != nil {
		p.settle(*n.Input)
	}
}

// fail ends the process for the owner when the link is lost.
func (p *Process) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
	p.stderr.end(err)
	if p.exit == nil {
		close(p.exited)
	}
	for id, s := range p.inputs {
		delete(p.inputs, id)
		s.settle(InputInfo{ID: id, State: InputUnknown})
	}
	p.news.Broadcast()
}

// Taken returns the number of the last record that was read completely.
func (p *Process) Taken() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// Checkpoint tells the host that the owner has durably processed the records up to number and no longer needs them. The host
// keeps state, at most 1 MiB, for the next owner. number must not decrease.
func (p *Process) Checkpoint(ctx context.Context, number uint64, state []byte) error {
	_, err := p.l.call(ctx, request{Op: opCheckpoint, Agent: p.agent.Number, Number: number, State: state})
	return err
}

// SetOrphan changes the options for an agent without an owner: OrphanTimeout and OrphanInput of the options.
func (p *Process) SetOrphan(ctx context.Context, o AgentOptions) error {
	_, err := p.l.call(ctx, request{Op: opOrphan, Agent: p.agent.Number, Options: &o})
	return err
}

// Forget acknowledges the end of the agent: the host drops it with its records. It fails while the agent runs.
func (p *Process) Forget(ctx context.Context) error {
	_, err := p.l.call(ctx, request{Op: opForget, Agent: p.agent.Number})
	if err == nil {
		p.l.drop(p.agent.Number)
	}
	return err
}

// forgetPlain forgets a plain process that has no more information for its caller.
func (p *Process) forgetPlain() {
	p.mu.Lock()
	forget := p.plain && p.waited && (p.ended || p.closed) && !p.forgot && p.exit != nil && p.err == nil
	p.forgot = p.forgot || forget
	p.mu.Unlock()
	if forget {
		go func() { _ = p.Forget(context.Background()) }() // errors are ignored
	}
}

func (p *Process) newID() string {
	p.nextID++
	return p.l.prefix + "-" + strconv.FormatUint(uint64(p.agent.Number), 10) + "-" + strconv.Itoa(p.nextID)
}

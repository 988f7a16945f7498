package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/internal/usersocket"
	"github.com/seed7221b0f9/parley/spawn"
)

// window is the number of bytes of an agent's records that the host may send before they are read.
const window = 256 << 10

// Link is a connection to a host. It is a [spawn.Spawner] whose processes outlive it. All methods are safe for concurrent use. When the
// connection ends, every call on it and on its processes returns [ErrLinkLost]; if another owner is the reason, [Dial] with the same epoch
// returns [ErrFenced].
type Link struct {
	conn   net.Conn
	dir    string // the host's folder; "" for a link that NewLink has made
	remote bool   // the host may run on another machine
	info   Info
	prefix string // prefix of ids for lines without one
	done   chan struct{}

	calls   chan struct{} // has a value for each call under way
	tunnels *tunnels
	writing sync.Mutex // serializes frames

	mu        sync.Mutex
	pending   map[uint64]func(answer) // called with mu held
	next      uint64
	parts     map[uint64][]byte // of results that are incomplete
	processes map[uint32]*Process
	unclaimed map[uint32]unclaimed
	err       error
}

// Dial connects to the host of a data directory as its owner, with an epoch that is higher than those of all earlier owners; see [NextEpoch].
// With epoch 0 it connects as a guest, who may list the agents and stop the host. ctx applies only to connecting. If there is no host it returns
// [ErrNotRunning].
func Dial(ctx context.Context, dataDir string, epoch uint64) (*Link, error) {
	return dial(ctx, filepath.Join(dataDir, folder), epoch)
}

// dial is Dial with the host's folder.
func dial(ctx context.Context, dir string, epoch uint64) (*Link, error) {
	conn, err := usersocket.Dial(ctx, filepath.Join(dir, socketName))
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED):
		return nil, fmt.Errorf("%w: %w", ErrNotRunning, err)
	case err != nil:
		return nil, err
	}
	l, err := newLink(ctx, conn, epoch)
	if err != nil {
		return nil, err
	}
	l.dir = dir
	return l, nil
}

// newLink performs the handshake with the host on a connection.
func newLink(ctx context.Context, conn net.Conn, epoch uint64) (*Link, error) {
	l := &Link{
		conn: conn, prefix: random.Hex(6), done: make(chan struct{}), calls: make(chan struct{}, maxCalls),
		pending: map[uint64]func(answer){}, parts: map[uint64][]byte{}, processes: map[uint32]*Process{}, unclaimed: map[uint32]unclaimed{},
	}
	l.tunnels = newTunnels(l.send)
	go l.receive()
	r, err := l.call(ctx, request{Op: opHello, Version: Version, Epoch: epoch})
	if err == nil && (r.Version != Version || r.Info == nil) {
		err = fmt.Errorf("%w: %d", ErrVersion, r.Version)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	l.info = *r.Info
	return l, nil
}

// Local reports whether the host runs its processes on this machine: it is a [spawn.Locality].
func (l *Link) Local() bool { return !l.remote }

// Host returns the description of the host when the link was made.
func (l *Link) Host() Info { return l.info }

// Done returns a channel that is closed when the connection has ended.
func (l *Link) Done() <-chan struct{} { return l.done }

// Err returns the reason why the connection has ended, or nil while it is open.
func (l *Link) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Close ends the connection and leaves the agents running.
func (l *Link) Close() error {
	l.conn.Close()
	<-l.done
	return nil
}

// Agents lists the running agents and those with an unacknowledged end, in the order of their numbers.
func (l *Link) Agents(ctx context.Context) ([]Agent, error) {
	r, err := l.call(ctx, request{Op: opList})
	return r.Agents, err
}

// Stop ends the agents and the host. When it returns, both have ended and another host may use the
// data directory.
func (l *Link) Stop(ctx context.Context) error {
	if _, err := l.call(ctx, request{Op: opStop}); err != nil {
		return err
	}
	select {
	case <-l.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if l.dir == "" {
		return nil
	}
	return awaitEnd(ctx, l.dir, l.info.ID)
}

// Spawn starts an agent as a plain process, a *[Process]. Its records are discarded when stdout is
// read. It is forgotten after Wait, when its output was read to the end or closed. The error for a
// program that cannot be started is the same as without a host.
func (l *Link) Spawn(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
	p, err := l.spawn(ctx, cmd, AgentOptions{}, true)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// SpawnAgent starts an agent. Its records are kept until [Process.Checkpoint] covers them, the agent until [Process.Forget]. Path and Dir of the
// command are relative to the working directory of the caller.
func (l *Link) SpawnAgent(ctx context.Context, cmd spawn.Command, o AgentOptions) (*Process, error) {
	return l.spawn(ctx, cmd, o, false)
}

func (l *Link) spawn(ctx context.Context, cmd spawn.Command, o AgentOptions, plain bool) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	cmd, err := absolute(cmd)
	if err != nil {
		return nil, err
	}
	return l.openNew(ctx, request{Op: opSpawn, Command: &cmd, Options: &o, Window: window}, plain)
}

// openNew is like open for an agent that the request starts. If the agent starts after ctx has ended,
// it is ended.
func (l *Link) openNew(ctx context.Context, q request, plain bool) (*Process, error) {
	return l.open(ctx, q, plain, func(p *Process) {
		go func() {
			_ = p.Kill() // no caller waits for it any more
			p.plain = true
			_ = p.Stdout().Close()
			_, _ = p.Wait()
		}()
	})
}

// open sends a request and returns the process of its answer. It calls unwanted, with mu held, with a process that arrives after ctx has ended.
func (l *Link) open(ctx context.Context, q request, plain bool, unwanted func(*Process)) (*Process, error) {
	var p *Process
	var gaveUp bool
	// The process is registered before the frames after the answer are read.
	_, err := l.callWith(ctx, q, func(r answer) {
		if r.Agent == nil {
			return
		}
		p = newProcess(l, r, plain)
		l.processes[p.agent.Number] = p
		if gaveUp {
			unwanted(p)
		}
	}, func(uint64) { gaveUp = true })
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, fmt.Errorf("%w: the answer has no agent", ErrRefused)
	}
	return p, nil
}

// absolute makes the paths of a command independent of the working directory, which the host does not share.
func absolute(cmd spawn.Command) (spawn.Command, error) {
	dir, err := filepath.Abs(cmd.Dir) // "" becomes the directory of this process
	if err != nil {
		return cmd, err
	}
	cmd.Dir = dir
	if cmd.Path != "" {
		cmd.Path, err = filepath.Abs(cmd.Path)
	}
	return cmd, err
}

// Attach takes over an agent that this or an earlier owner has started. Records begin with the number from; 0 means the first that is kept. If a
// checkpoint covers from, the error is [ErrGone]. An agent can be attached once per link; an attempt that ended with its context does not count.
// [Process.State] returns the state of the last checkpoint.
func (l *Link) Attach(ctx context.Context, agent uint32, from uint64) (*Process, error) {
	if p := l.takeUnclaimed(agent, from); p != nil {
		return p, nil
	}
	p, err := l.open(ctx, request{Op: opAttach, Agent: agent, From: from, Window: window}, false, func(p *Process) {
		l.unclaimed[agent] = unclaimed{p, from}
	})
	if errors.Is(err, ErrRefused) { // the answer to the earlier request came first
		if p := l.takeUnclaimed(agent, from); p != nil {
			return p, nil
		}
	}
	return p, err
}

// unclaimed is a process that was attached after the context of its caller had ended. It is kept
// because the host refuses to attach an agent twice over one link.
type unclaimed struct {
	process *Process
	from    uint64
}

// takeUnclaimed returns an unclaimed process that was attached from this number, or nil.
func (l *Link) takeUnclaimed(agent uint32, from uint64) *Process {
	l.mu.Lock()
	defer l.mu.Unlock()
	u, ok := l.unclaimed[agent]
	if !ok || u.from != from {
		return nil
	}
	delete(l.unclaimed, agent)
	return u.process
}

// call sends a request and waits for its answer.
func (l *Link) call(ctx context.Context, q request) (answer, error) {
	return l.callWith(ctx, q, func(answer) {}, func(uint64) {})
}

// callWith is like call with a function for the answer, which is called by the goroutine that reads answers, even after ctx has ended. In that
// case gaveUp is called first. Both are called with mu held.
func (l *Link) callWith(ctx context.Context, q request, on func(answer), gaveUp func(id uint64)) (answer, error) {
	answered := make(chan answer, 1)
	id, err := l.request(q, func(r answer) {
		on(r)
		answered <- r
	})
	if err != nil {
		return answer{}, err
	}
	select {
	case r := <-answered:
		return r, r.Failure.error()
	case <-ctx.Done():
	case <-l.done:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case r := <-answered: // at the same time
		return r, r.Failure.error()
	default:
	}
	if l.err != nil {
		return answer{}, l.err
	}
	gaveUp(id)
	return answer{}, ctx.Err()
}

// request sends a request and calls on with its answer. It returns the id of the request.
func (l *Link) request(q request, on func(answer)) (uint64, error) {
	l.mu.Lock()
	if l.err != nil {
		defer l.mu.Unlock()
		return 0, l.err
	}
	l.next++
	q.ID = l.next
	l.pending[q.ID] = on
	l.mu.Unlock()
	frame, err := jsonFrame(frameRequest, q)
	if err == nil {
		err = l.send(frame)
	}
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.pending, q.ID)
	}
	return q.ID, err
}

// send writes frames. The host always reads them, regardless of its agents.
func (l *Link) send(frames []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if _, err := l.conn.Write(frames); err != nil {
		// A host that has ended may have answered before: receive reads the rest first.
		if l.conn.SetReadDeadline(time.Now().Add(lastTime)) != nil {
			l.conn.Close()
		}
		<-l.done
		return l.Err()
	}
	return nil
}

// receive handles the frames of the host. It never blocks on a consumer, because the window limits records.
func (l *Link) receive() {
	frames := &frameReader{r: l.conn, keep: true}
	for {
		kind, payload, err := frames.next()
		if err == nil {
			err = l.handle(frames, kind, payload)
		}
		if err != nil {
			l.fail(err)
			return
		}
	}
}

func (l *Link) handle(frames *frameReader, kind byte, payload []byte) error {
	switch kind {
	case frameAnswer:
		var r answer
		if err := json.Unmarshal(payload, &r); err != nil {
			return err
		}
		l.mu.Lock()
		f := l.pending[r.ID]
		delete(l.pending, r.ID)
		delete(l.parts, r.ID)
		if f != nil {
			f(r)
		}
		l.mu.Unlock()
	case frameData:
		agent, _, err := parsePart(payload)
		if err != nil {
			return err
		}
		run := frames.run(payload)
		l.with(agent, func(x *Process) { x.add(run) })
	case frameResult:
		return l.part(payload)
	case frameTunnel:
		return l.tunnels.part(payload)
	case frameRoom:
		return l.tunnels.grant(payload)
	case frameStderr:
		c := cursor{b: payload}
		l.with(c.u32(), func(x *Process) { x.stderr.add(c.b) })
	case frameNotice:
		var n notice
		if err := json.Unmarshal(payload, &n); err != nil {
			return err
		}
		l.with(n.Agent, func(x *Process) { x.note(n) })
	default:
		return fmt.Errorf("unexpected frame of type %q", kind)
	}
	return nil
}

// with calls f with a process, unless it was forgotten.
func (l *Link) with(agent uint32, f func(*Process)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.processes[agent]; p != nil {
		f(p)
	}
}

// drop removes a process that the host has forgotten.
func (l *Link) drop(agent uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.processes, agent)
	delete(l.unclaimed, agent)
}

// fail ends the link.
func (l *Link) fail(cause error) {
	l.conn.Close()
	lost := fmt.Errorf("%w: %w", ErrLinkLost, cause)
	l.tunnels.close(lost)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = lost
	for _, p := range l.processes {
		p.fail(l.err)
	}
	close(l.done)
}

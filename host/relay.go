package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/internal/usersocket"
	"github.com/seed7221b0f9/parley/spawn"
)

const (
	// maxRelayed limits the bytes of incomplete lines from an owner on another machine.
	maxRelayed = 64 << 20
	// maxStarts limits the concurrent starts of such an owner.
	maxStarts = 16
)

// Relay serves an owner on another machine: it connects conn with the host of a data directory until either end closes,
// or ctx ends. The owner can start only agents for which the policy returns a command, and write only lines that it
// accepts. Its calls are answered by the policy if it is a [Service]. It cannot stop the host, and its agents keep no
// children. Relay closes conn.
func Relay(ctx context.Context, dataDir string, conn net.Conn, p Policy, log *slog.Logger) error {
	host, err := usersocket.Dial(ctx, filepath.Join(dataDir, folder, socketName))
	if err != nil {
		conn.Close()
		return fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	return relayTo(ctx, host, conn, p, maxRelayed, log)
}

// relayTo connects an owner with a host, and closes both connections. limit is maxRelayed.
func relayTo(ctx context.Context, host, conn net.Conn, p Policy, limit int, log *slog.Logger) error {
	ctx, cancel := context.WithCancel(ctx)
	r := &relay{ctx: ctx, policy: p, limit: limit, log: log, owner: port{conn: conn}, host: port{conn: host}, names: map[uint32]string{}, starts: map[uint64]chan answer{}, calls: map[uint64]context.CancelFunc{}, dials: map[uint64]context.CancelFunc{}, parts: map[uint32][]byte{}}
	r.tunnels = newTunnels(r.owner.send)
	closed := make(chan struct{})
	context.AfterFunc(ctx, func() { conn.Close(); host.Close(); r.tunnels.close(ErrLinkLost); close(closed) })
	var wg sync.WaitGroup
	var fromHost error
	wg.Go(func() {
		fromHost = r.fromHost()
		cancel()
	})
	fromOwner := r.fromOwner()
	cancel()
	wg.Wait()
	r.starting.Wait()
	<-closed
	return errors.Join(fromOwner, fromHost)
}

// relay is the connection of an owner on another machine.
type relay struct {
	ctx         context.Context
	policy      Policy
	limit       int // of the bytes of incomplete lines
	log         *slog.Logger
	owner, host port
	starting    sync.WaitGroup
	tunnels     *tunnels

	// Only fromOwner uses the incomplete lines to agents and the number of their bytes.
	parts map[uint32][]byte
	held  int

	mu     sync.Mutex
	names  map[uint32]string      // the agents by their numbers
	starts map[uint64]chan answer // the starts that wait for an answer of the host
	calls  map[uint64]context.CancelFunc
	dials  map[uint64]context.CancelFunc
}

// port is one end of a relay, with a lock for writing frames.
type port struct {
	mu   sync.Mutex
	conn net.Conn
}

func (p *port) send(frames []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.conn.Write(frames)
	return err
}

func (p *port) sendJSON(kind byte, v any) error {
	frame, err := jsonFrame(kind, v)
	if err != nil {
		return err
	}
	return p.send(frame)
}

// fromOwner passes on the frames of the owner. The first must be a hello that takes the host over.
func (r *relay) fromOwner() error {
	frames := &frameReader{r: r.owner.conn}
	for first := true; ; first = false {
		kind, payload, err := frames.next()
		if err != nil {
			return err
		}
		switch kind {
		case frameRequest:
			err = r.request(payload, first)
		case frameWrite:
			err = r.write(payload)
		case frameGrant:
			err = r.host.send(endFrame(append(beginFrame(nil, frameGrant), payload...), 0))
		case frameTunnel:
			err = r.tunnels.part(payload)
		case frameRoom:
			err = r.tunnels.grant(payload)
		default:
			err = fmt.Errorf("unexpected frame of type %q", kind)
		}
		if err != nil {
			return err
		}
	}
}

// relayed are the operations that an owner on another machine may use besides hello, spawn and orphan.
var relayed = []string{opAttach, opList, opCheckpoint, opInput, opSignal, opCloseInput, opForget}

// request passes on a request, encoded again.
func (r *relay) request(payload []byte, first bool) error {
	var q request
	if err := json.Unmarshal(payload, &q); err != nil {
		return err
	}
	if first != (q.Op == opHello) || first && q.Epoch == 0 {
		return errors.New("the connection does not begin with the hello of an owner")
	}
	q.Command = nil
	switch {
	case q.Op == opCancel && !first:
		r.abandon(q.Call)
		return nil
	case r.isStarting(q.ID):
		return r.refuse(q.ID, fmt.Errorf("request %d is under way", q.ID))
	case q.Op == opSpawn:
		return r.spawn(q)
	case q.Op == opCall:
		return r.call(q)
	case q.Op == opDial:
		return r.dial(q)
	case q.Op == opOrphan:
		if err := r.orphan(q.Options, r.name(q.Agent)); err != nil {
			return r.refuse(q.ID, err)
		}
	case !first && !slices.Contains(relayed, q.Op):
		return r.refuse(q.ID, fmt.Errorf("operation %q is not available on another machine", q.Op))
	}
	return r.host.sendJSON(frameRequest, q)
}

// refuse answers a request with an error.
func (r *relay) refuse(id uint64, err error) error {
	r.log.Warn("a request of the server was refused", "err", err)
	return r.owner.sendJSON(frameAnswer, answer{ID: id, Failure: failureOf(err)})
}

// orphan checks the options of an agent without an owner, and replaces its input by that of the policy.
func (r *relay) orphan(o *AgentOptions, agent string) error {
	if o == nil || len(o.OrphanInput) == 0 {
		return nil
	}
	text, err := r.lines(agent, o.OrphanInput)
	o.OrphanInput = text
	return err
}

// spawn starts an agent in the background, because the policy may take a while.
func (r *relay) spawn(q request) error {
	launch := q.Launch
	q.Launch = nil
	if launch == nil || launch.Agent == "" || strings.Contains(launch.Agent, "/") {
		return r.refuse(q.ID, errors.New("the request does not name an agent"))
	}
	if q.Options == nil {
		q.Options = &AgentOptions{}
	}
	q.Options.KeepChildren = false
	r.mu.Lock()
	busy := len(r.starts) >= maxStarts
	answered := make(chan answer, 1)
	if !busy {
		r.starts[q.ID] = answered
	}
	r.mu.Unlock()
	if busy {
		return r.refuse(q.ID, fmt.Errorf("%d agents are being started", maxStarts))
	}
	r.starting.Go(func() {
		defer r.endStart(q.ID)
		if err := r.start(q, *launch, answered); err != nil {
			_ = r.refuse(q.ID, err) // a failed connection ends fromOwner too
		}
	})
	return nil
}

// isStarting reports whether a pending start or call, or a tunnel, already uses this id.
func (r *relay) isStarting(id uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.starts[id] != nil || r.calls[id] != nil || r.dials[id] != nil || r.tunnels.known(id)
}

func (r *relay) endStart(id uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.starts, id)
}

// start starts an agent. If it returns nil, the host has answered the owner, or the connection has
// ended.
func (r *relay) start(q request, l Launch, answered <-chan answer) error {
	if err := r.orphan(q.Options, l.Agent); err != nil {
		return err
	}
	l.Key = q.Options.Key
	q.Options.Key = l.Agent + "/" + q.Options.Key
	started := false
	err := r.policy.Start(r.ctx, l, func(cmd spawn.Command) error {
		if started {
			return errors.New("host: the policy has started the agent before")
		}
		started = true
		if err := r.ctx.Err(); err != nil {
			return err // the owner has gone
		}
		cmd, err := absolute(cmd)
		if err != nil {
			return err
		}
		q.Command = &cmd
		if err := r.host.sendJSON(frameRequest, q); err != nil {
			return err
		}
		select {
		case a := <-answered:
			return a.Failure.error()
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	})
	if started {
		return nil // the host has answered, or the connection has ended
	}
	if err == nil {
		err = errors.New("host: the policy has started no agent")
	}
	return err
}

// write collects the parts of a line to an agent and passes it on if the policy accepts it.
func (r *relay) write(payload []byte) error {
	f := cursor{b: payload}
	number, flags, id := f.u32(), f.u8(), f.text()
	if f.bad || id == "" {
		return errors.New("invalid frame of a line to an agent")
	}
	if r.held += len(f.b); r.held > r.limit {
		return fmt.Errorf("lines to agents exceed %d bytes", r.limit)
	}
	if flags&flagMore != 0 && len(f.b) == 0 {
		return errors.New("invalid frame of a line to an agent: empty part") // it would cost memory without a limit
	}
	r.parts[number] = append(r.parts[number], f.b...)
	if flags&flagMore != 0 {
		return nil
	}
	line := r.parts[number]
	delete(r.parts, number)
	r.held -= len(line)
	text, err := r.lines(r.name(number), line)
	if err != nil {
		r.log.Warn("a line of the server was refused", "agent", number, "err", err)
		return r.owner.sendJSON(frameNotice, notice{Agent: number, Input: &InputInfo{ID: id, State: InputDropped, Refused: err.Error()}})
	}
	return r.host.send(writeFrames(nil, number, id, text))
}

// lines returns the lines to write for a text, as the policy returns them. It refuses a text without a line feed at its end: joined
// with the next text it could form a line that the policy has not seen.
func (r *relay) lines(agent string, text []byte) (out []byte, err error) {
	if agent == "" {
		return nil, ErrNoAgent
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		return nil, errors.New("the line has no line feed")
	}
	for line := range bytes.Lines(text) {
		line, err := r.policy.Line(agent, bytes.TrimRight(line, "\r\n"))
		if err != nil {
			return nil, err
		}
		if bytes.ContainsAny(line, "\r\n") {
			return nil, errors.New("host: the policy has returned more than a line")
		}
		out = append(append(out, line...), '\n')
	}
	return out, nil
}

// fromHost passes on the frames of the host.
func (r *relay) fromHost() error {
	frames := &frameReader{r: r.host.conn}
	for {
		kind, payload, err := frames.next()
		if err == nil && kind == frameAnswer {
			err = r.answer(payload)
		} else if err == nil {
			err = r.owner.send(endFrame(append(beginFrame(nil, kind), payload...), 0))
		}
		if err != nil {
			return err
		}
	}
}

// answer passes on an answer of the host, with the owner's keys in it.
func (r *relay) answer(payload []byte) error {
	var a answer
	if err := json.Unmarshal(payload, &a); err != nil {
		return err
	}
	if a.Agent != nil {
		r.learn(a.Agent)
	}
	for i := range a.Agents {
		r.learn(&a.Agents[i])
	}
	if err := r.owner.sendJSON(frameAnswer, a); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if started := r.starts[a.ID]; started != nil {
		started <- a
		delete(r.starts, a.ID)
	}
	return nil
}

// learn records the name of an agent, and restores the key of its owner.
func (r *relay) learn(a *Agent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names[a.Number], a.Key, _ = strings.Cut(a.Key, "/")
}

// name returns the name of an agent that the owner has listed, attached or started.
func (r *relay) name(agent uint32) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.names[agent]
}

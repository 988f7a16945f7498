package host

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Limits of tunnels.
const (
	// maxTunnels limits the open tunnels of a link. A relay serves a few more, because it notices an end later.
	maxTunnels = 64
	maxDialed  = maxTunnels + 16
	// tunnelWindow is the number of bytes that an end may send before the other end has forwarded
	// them. tunnelPart is the maximum in one frame, so that lines of agents can be sent in between.
	tunnelWindow = 256 << 10
	tunnelPart   = 32 << 10
	// dialTime is the timeout of a connection on the other machine.
	dialTime = 15 * time.Second
)

// Flags of a part of a tunnel: the end of the data, and an end after lost data.
const (
	flagEnd    = 1
	flagBroken = 2
)

// Dialer connects an owner on another machine with something on this machine. A [Policy] may implement it.
type Dialer interface {
	// Dial returns a connection, which the caller closes. It may be called from several goroutines.
	Dial(ctx context.Context, method string, params json.RawMessage) (net.Conn, error)
}

// Tunnel returns a connection that the [Dialer] behind [Relay] makes. A link has at most 64 of them. Reading returns [ErrLinkLost] if the
// link ends first. Closing it closes both directions. It returns [ErrRefused] if the other machine does not connect.
func (l *Link) Tunnel(ctx context.Context, method string, params json.RawMessage) (net.Conn, error) {
	if len(params) > maxParams {
		return nil, fmt.Errorf("%w: parameters of %d bytes are longer than %d", ErrRefused, len(params), maxParams)
	}
	if !l.tunnels.reserve(maxTunnels) {
		return nil, fmt.Errorf("%w: %d tunnels are open", ErrRefused, maxTunnels)
	}
	ours, theirs := net.Pipe()
	free := sync.OnceFunc(l.tunnels.free)
	var t *tunnel
	var abandoned uint64
	_, err := l.callWith(ctx, request{Op: opDial, Method: method, Params: params}, func(a answer) {
		if a.Failure != nil {
			free()
			return
		}
		t = l.tunnels.add(a.ID, theirs) // the parts of the tunnel arrive after the answer
		t.start(func(f func()) { go f() })
	}, func(id uint64) { abandoned = id })
	if err == nil {
		return &tunnelConn{ours, t}, nil
	}
	ours.Close() // ends a tunnel that is answered later
	if abandoned == 0 {
		free()
	} else if frame, frameErr := jsonFrame(frameRequest, request{Op: opCancel, Call: abandoned}); frameErr == nil {
		_ = l.send(frame) // the caller gets the error of its context
	}
	return nil, err
}

// tunnelConn is the owner's end of a tunnel.
type tunnelConn struct {
	net.Conn
	t *tunnel
}

// Read returns an error in place of the end if bytes are missing.
func (c *tunnelConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == io.EOF {
		if why := c.t.lossError(); why != nil {
			return n, why
		}
	}
	return n, err
}

// tunnels are the tunnels of one end of a link.
type tunnels struct {
	send func(frames []byte) error

	mu     sync.Mutex
	count  int // reserved and open
	all    map[uint64]*tunnel
	closed error
}

func newTunnels(send func([]byte) error) *tunnels {
	return &tunnels{send: send, all: map[uint64]*tunnel{}}
}

// reserve reserves one of the places for a tunnel. It returns false if all are in use.
func (ts *tunnels) reserve(most int) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.count >= most {
		return false
	}
	ts.count++
	return true
}

// free releases a reserved place.
func (ts *tunnels) free() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.count--
}

// known reports whether a tunnel with an id is open.
func (ts *tunnels) known(id uint64) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.all[id] != nil
}

// add creates a tunnel from a connection and a reserved place. It closes conn at the end.
func (ts *tunnels) add(id uint64, conn net.Conn) *tunnel {
	t := &tunnel{id: id, conn: conn, all: ts, credit: tunnelWindow}
	t.changed.L = &t.mu
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.closed != nil {
		t.broken, t.over = ts.closed, true
		conn.Close()
	}
	ts.all[id] = t
	return t
}

// drop removes a tunnel that has ended, and frees its slot.
func (ts *tunnels) drop(t *tunnel) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.all, t.id)
	ts.count--
}

// close breaks all tunnels.
func (ts *tunnels) close(why error) {
	ts.mu.Lock()
	ts.closed = why
	var all []*tunnel
	for _, t := range ts.all {
		all = append(all, t)
	}
	ts.mu.Unlock()
	for _, t := range all {
		t.end(why)
	}
}

// part queues a part of a tunnel. It ignores a part for a tunnel that has ended, and never blocks.
func (ts *tunnels) part(payload []byte) error {
	f := cursor{b: payload}
	id, flags := f.u64(), f.u8()
	if f.bad {
		return errors.New("invalid frame of a tunnel")
	}
	ts.mu.Lock()
	t := ts.all[id]
	ts.mu.Unlock()
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(f.b) > 0 && !t.over {
		if t.queued += len(f.b); t.queued > tunnelWindow {
			return fmt.Errorf("a tunnel has sent more than %d bytes without a grant", tunnelWindow)
		}
		t.queue = append(t.queue, append([]byte(nil), f.b...))
	}
	if flags&flagBroken != 0 && t.broken == nil {
		t.broken = errBroken
	}
	t.theirEnd = t.theirEnd || flags&(flagEnd|flagBroken) != 0
	t.changed.Broadcast()
	return nil
}

// grant allows a tunnel to send more bytes.
func (ts *tunnels) grant(payload []byte) error {
	f := cursor{b: payload}
	id, n := f.u64(), f.u32()
	if f.bad || n > tunnelWindow {
		return errors.New("invalid frame of a tunnel's grant")
	}
	ts.mu.Lock()
	t := ts.all[id]
	ts.mu.Unlock()
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.credit += int(n); t.credit > tunnelWindow {
		return fmt.Errorf("a tunnel was granted more than %d bytes", tunnelWindow)
	}
	t.changed.Broadcast()
	return nil
}

// errBroken is the error of a tunnel whose connection on the other machine has failed.
var errBroken = errors.New("host: the connection on the other machine has failed")

// tunnel is one end of a tunnel.
type tunnel struct {
	id   uint64
	conn net.Conn
	all  *tunnels

	mu       sync.Mutex
	changed  sync.Cond
	queue    [][]byte // received, not written to conn
	queued   int      // bytes in queue and in the write under way
	credit   int      // bytes that this end may send
	theirEnd bool     // the other end has sent all its data
	over     bool     // conn is closed
	broken   error    // the reason of lost data
}

// start copies both directions until the end. run starts a goroutine.
func (t *tunnel) start(run func(func())) {
	var copying sync.WaitGroup
	copying.Add(2)
	run(func() {
		defer copying.Done()
		t.read()
	})
	run(func() {
		defer copying.Done()
		t.write()
	})
	run(func() {
		copying.Wait()
		t.all.drop(t)
	})
}

// lossError returns the error of a tunnel that has lost bytes.
func (t *tunnel) lossError() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.broken
}

// end closes the connection; why is nil if no bytes are missing.
func (t *tunnel) end(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	if t.broken == nil {
		t.broken = why
	}
	t.over, t.queue = true, nil
	t.changed.Broadcast()
	t.conn.Close()
}

// room waits until this end may send and returns how many bytes, or 0 at the end.
func (t *tunnel) room() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.credit == 0 && !t.over {
		t.changed.Wait()
	}
	if t.over {
		return 0
	}
	return min(t.credit, tunnelPart)
}

// read sends the data that the connection reads.
func (t *tunnel) read() {
	buf := make([]byte, tunnelPart)
	flags := byte(flagEnd)
	for {
		room := t.room()
		if room == 0 {
			break
		}
		n, err := t.conn.Read(buf[:room])
		if n > 0 {
			t.mu.Lock()
			t.credit -= n
			t.mu.Unlock()
			if t.all.send(partFrame(t.id, 0, buf[:n])) != nil {
				break
			}
		}
		if err != nil {
			if err != io.EOF && !errors.Is(err, io.ErrClosedPipe) && !errors.Is(err, net.ErrClosed) {
				flags = flagBroken
			}
			break
		}
	}
	_ = t.all.send(partFrame(t.id, flags, nil)) // on a link that has ended, all tunnels have ended
	t.end(nil)
}

// write writes the data of the other end.
func (t *tunnel) write() {
	for {
		part := t.next()
		if part == nil {
			break
		}
		if _, err := t.conn.Write(part); err != nil {
			break
		}
		t.mu.Lock()
		t.queued -= len(part)
		t.mu.Unlock()
		if t.all.send(tunnelGrant(t.id, uint32(len(part)))) != nil {
			break
		}
	}
	t.end(nil)
}

// next waits for the next part; nil means the end.
func (t *tunnel) next() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.queue) == 0 && !t.theirEnd && !t.over {
		t.changed.Wait()
	}
	if len(t.queue) == 0 {
		return nil
	}
	part := t.queue[0]
	t.queue = t.queue[1:]
	return part
}

// partFrame returns a frame with a part of a tunnel.
func partFrame(id uint64, flags byte, part []byte) []byte {
	b := beginFrame(make([]byte, 0, headSize+9+len(part)), frameTunnel)
	return endFrame(append(append(binary.BigEndian.AppendUint64(b, id), flags), part...), 0)
}

func tunnelGrant(id uint64, bytes uint32) []byte {
	b := binary.BigEndian.AppendUint64(beginFrame(make([]byte, 0, headSize+12), frameRoom), id)
	return endFrame(binary.BigEndian.AppendUint32(b, bytes), 0)
}

// dial connects an owner in a new goroutine.
func (r *relay) dial(q request) error {
	dialer, ok := r.policy.(Dialer)
	if !ok {
		return r.refuse(q.ID, errors.New("this machine opens no tunnels"))
	}
	if len(q.Params) > maxParams {
		return r.refuse(q.ID, fmt.Errorf("parameters of %d bytes are longer than %d", len(q.Params), maxParams))
	}
	if !r.tunnels.reserve(maxDialed) {
		return r.refuse(q.ID, fmt.Errorf("%d tunnels are open", maxDialed))
	}
	ctx, cancel := context.WithTimeout(r.ctx, dialTime)
	r.mu.Lock()
	r.dials[q.ID] = cancel
	r.mu.Unlock()
	r.starting.Go(func() {
		defer cancel()
		conn, err := dialer.Dial(ctx, q.Method, q.Params)
		if err == nil && ctx.Err() != nil {
			err = errors.Join(ctx.Err(), conn.Close()) // the owner has cancelled
		}
		if err != nil {
			r.endDial(q.ID)
			r.tunnels.free()
			_ = r.refuse(q.ID, err) // a failed connection ends fromOwner too
			return
		}
		t := r.tunnels.add(q.ID, conn)
		r.endDial(q.ID)
		if r.owner.sendJSON(frameAnswer, answer{ID: q.ID}) != nil {
			t.end(errBroken)
		}
		t.start(func(f func()) { r.starting.Go(f) })
	})
	return nil
}

func (r *relay) endDial(id uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.dials, id)
}

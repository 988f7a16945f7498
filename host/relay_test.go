//go:build unix

package host

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/spawn"
)

// testPolicy starts the agent "echo" below /srv, and refuses lines with "evil".
type testPolicy struct {
	mu       sync.Mutex
	commands []spawn.Command
	keys     []string
}

func (p *testPolicy) Start(ctx context.Context, l Launch, start func(spawn.Command) error) error {
	if l.Dir == "/srv/slow" {
		<-ctx.Done()
	}
	if l.Agent != "echo" || !strings.HasPrefix(l.Dir, "/srv/") {
		return fmt.Errorf("agent %q in %q is not offered", l.Agent, l.Dir)
	}
	cmd := spawn.Command{Path: "/bin/echo-agent", Args: []string{string(l.Options)}, Dir: l.Dir}
	p.mu.Lock()
	p.commands, p.keys = append(p.commands, cmd), append(p.keys, l.Key)
	p.mu.Unlock()
	return start(cmd)
}

func (p *testPolicy) Line(agent string, line []byte) ([]byte, error) {
	if agent != "echo" || bytes.Contains(line, []byte("evil")) {
		return nil, fmt.Errorf("%q to %q", line, agent)
	}
	return append([]byte("checked "), line...), nil
}

// echoAgent writes each line that it reads.
func echoAgent(stdin *bufio.Reader, stdout, _ io.Writer) int {
	for {
		line, err := stdin.ReadString('\n')
		if err != nil {
			return 0
		}
		io.WriteString(stdout, line)
	}
}

// relayed returns the owner's end of a relay to a host.
func (h *fakeHost) relayed(p Policy) net.Conn {
	hostEnd, relayHost := net.Pipe()
	owner, relayOwner := net.Pipe()
	h.wg.Go(func() { h.serve(hostEnd) })
	h.wg.Go(func() {
		_ = relayTo(context.Background(), relayHost, relayOwner, p, 10*fragment, slog.New(slog.DiscardHandler))
	})
	h.t.Cleanup(func() { owner.Close() })
	return owner
}

// An owner behind a relay starts agents by their names, reads and writes, and the next one takes them over.
func TestRelay(t *testing.T) {
	policy := &testPolicy{}
	h := newFakeHost(t, Options{}, echoAgent)
	l, err := NewLink(within(t), h.relayed(policy), 1)
	must(t, err)
	if l.Local() {
		t.Error("the link is local")
	}
	p, err := l.Launch(within(t), Launch{Agent: "echo", Dir: "/srv/a", Options: json.RawMessage(`{"x":1}`)}, AgentOptions{Key: "s-1", KeepChildren: true})
	must(t, err)
	if got := p.Agent().Key; got != "s-1" {
		t.Errorf("the key is %q, want s-1", got)
	}
	if len(policy.commands) != 1 || policy.commands[0].Args[0] != `{"x":1}` || policy.keys[0] != "s-1" {
		t.Errorf("the policy made %v for the keys %q", policy.commands, policy.keys)
	}
	long := strings.Repeat("x", 3*fragment)
	for i, line := range []string{"one", long} {
		_, err = p.Write(within(t), fmt.Sprint("id", i), []byte(line+"\n"))
		must(t, err)
		wantLine(t, p, "checked "+line+"\n")
	}
	_, err = p.Write(within(t), "bad", []byte("evil\n"))
	if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), `"evil" to "echo"`) {
		t.Errorf("a line that the policy refuses: %v, want its reason", err)
	}
	must(t, l.Close())

	l, err = NewLink(within(t), h.relayed(policy), 2)
	must(t, err)
	defer l.Close()
	agents, err := l.Agents(within(t))
	must(t, err)
	if len(agents) != 1 || agents[0].Key != "s-1" {
		t.Fatalf("the next owner finds %+v, want the agent of s-1", agents)
	}
	p, err = l.Attach(within(t), agents[0].Number, 0)
	must(t, err)
	_, err = p.Write(within(t), "id0", []byte("one\n")) // not again
	must(t, err)
	_, err = p.Write(within(t), "two", []byte("two\n"))
	must(t, err)
	for _, want := range []string{"one", long, "two"} {
		wantLine(t, p, "checked "+want+"\n")
	}
}

// wantLine reads records until the next line of the agent.
func wantLine(t *testing.T, p *Process, want string) {
	t.Helper()
	for {
		r, err := p.Next(within(t))
		must(t, err)
		if r.Kind == Output {
			if got := string(r.Data); got != want {
				t.Fatalf("the agent wrote %.40q, want %.40q", got, want)
			}
			return
		}
	}
}

// loosePolicy starts every agent, and splits a line at a plus into two lines.
type loosePolicy struct{}

func (loosePolicy) Start(_ context.Context, _ Launch, start func(spawn.Command) error) error {
	return start(spawn.Command{Path: "/bin/echo-agent", Dir: "/"})
}

func (loosePolicy) Line(_ string, line []byte) ([]byte, error) {
	return bytes.ReplaceAll(line, []byte("+"), []byte("\n")), nil
}

// The relay itself refuses a name that would change the key of an agent, and a policy that returns
// more than one line.
func TestRelay_loose(t *testing.T) {
	h := newFakeHost(t, Options{}, echoAgent)
	l, err := NewLink(within(t), h.relayed(loosePolicy{}), 1)
	must(t, err)
	defer l.Close()
	for _, name := range []string{"", "a/b", "/", "a/"} {
		if _, err := l.Launch(within(t), Launch{Agent: name, Dir: "/"}, AgentOptions{Key: "k"}); !errors.Is(err, ErrRefused) {
			t.Errorf("an agent with the name %q: %v, want %v", name, err, ErrRefused)
		}
	}
	p, err := l.Launch(within(t), Launch{Agent: "a", Dir: "/"}, AgentOptions{Key: "k"})
	must(t, err)
	if _, err := p.Write(within(t), "two", []byte("1+2\n")); !errors.Is(err, ErrRefused) {
		t.Errorf("a line of which the policy makes two: %v, want %v", err, ErrRefused)
	}
	_, err = p.Write(within(t), "one", []byte("1\n"))
	must(t, err)
	wantLine(t, p, "1\n")
	if n := len(h.all()); n != 1 {
		t.Errorf("%d agents run, want 1", n)
	}
}

// A server that was taken over cannot do more than the policy allows.
func TestRelay_hostile(t *testing.T) {
	start := func(l *Launch, cmd *spawn.Command) func(t *testing.T, o *hostileOwner) {
		return func(t *testing.T, o *hostileOwner) {
			o.ask(request{Op: opSpawn, Launch: l, Command: cmd, Options: &AgentOptions{Key: "x"}})
			o.wantRefusal(t)
		}
	}
	line := func(agent uint32, text string) func(t *testing.T, o *hostileOwner) {
		return func(t *testing.T, o *hostileOwner) {
			o.send(writeFrames(nil, agent, "bad", []byte(text)))
			var n notice
			o.next(t, frameNotice, &n)
			if n.Input == nil || n.Input.State != InputDropped {
				t.Errorf("the line is %+v, want lost", n.Input)
			}
		}
	}
	shell := &spawn.Command{Path: "/bin/sh", Args: []string{"-c", "true"}, Dir: "/srv/a"}
	for name, attack := range map[string]func(t *testing.T, o *hostileOwner){
		"a command line":        start(nil, shell),
		"a name and a command":  start(&Launch{Agent: "sh", Dir: "/srv/a"}, shell),
		"another directory":     start(&Launch{Agent: "echo", Dir: "/etc"}, nil),
		"a name with a slash":   start(&Launch{Agent: "echo/x", Dir: "/srv/a"}, nil),
		"no name":               start(&Launch{Dir: "/srv/a"}, nil),
		"a refused line":        line(1, "evil\n"),
		"a line behind another": line(1, "good\nevil\n"),
		"half a line":           line(1, "ev"),
		"an agent of nobody":    line(7, "good\n"),
		"the line of an orphan": func(t *testing.T, o *hostileOwner) {
			o.ask(request{Op: opSpawn, Launch: &Launch{Agent: "echo", Dir: "/srv/a"}, Options: &AgentOptions{OrphanInput: []byte("evil\n")}})
			o.wantRefusal(t)
		},
		"stop": func(t *testing.T, o *hostileOwner) {
			o.ask(request{Op: opStop})
			o.wantRefusal(t)
		},
		"an unknown operation": func(t *testing.T, o *hostileOwner) {
			o.ask(request{Op: "exec"})
			o.wantRefusal(t)
		},
		"a new line of an orphan": func(t *testing.T, o *hostileOwner) {
			o.ask(request{Op: opOrphan, Agent: 1, Options: &AgentOptions{OrphanInput: []byte("evil\n")}})
			o.wantRefusal(t)
		},
		"a second hello": func(t *testing.T, o *hostileOwner) {
			o.ask(request{Op: opHello, Version: Version, Epoch: 9})
			o.wantEnd(t)
		},
		"a frame of another kind": func(t *testing.T, o *hostileOwner) {
			o.send(endFrame(append(beginFrame(nil, frameData), 1, 2, 3), 0))
			o.wantEnd(t)
		},
		"the id of a start": func(t *testing.T, o *hostileOwner) {
			slow := request{Op: opSpawn, Launch: &Launch{Agent: "echo", Dir: "/srv/slow"}}
			o.ask(slow)
			for _, q := range []request{slow, {Op: opSpawn}, {Op: opList}, {Op: opOrphan, Agent: 1}} {
				o.id--
				o.ask(q)
				o.wantRefusal(t)
			}
			for range maxStarts - 1 {
				o.ask(slow)
			}
			o.ask(slow)
			o.wantRefusal(t)
		},
		"parts without bytes": func(t *testing.T, o *hostileOwner) {
			o.send(endFrame(append(binary.BigEndian.AppendUint32(beginFrame(nil, frameWrite), 7), flagMore, 1, 'x'), 0))
			o.wantEnd(t)
		},
		"an endless line": func(t *testing.T, o *hostileOwner) {
			part := writeFrames(nil, 1, "bad", make([]byte, 2*fragment))
			part = part[:len(part)/2] // only the first half, although the header announces more
			for range 12 {
				if _, err := o.conn.Write(part); err != nil {
					break
				}
			}
			o.wantEnd(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			policy := &testPolicy{}
			h := newFakeHost(t, Options{}, echoAgent)
			o := &hostileOwner{conn: h.relayed(policy), id: 0}
			o.frames = &frameReader{r: o.conn}
			o.hello(t, 1)
			o.ask(request{Op: opSpawn, Launch: &Launch{Agent: "echo", Dir: "/srv/a"}, Window: window})
			var a answer
			o.next(t, frameAnswer, &a)
			if a.Agent == nil {
				t.Fatalf("the agent was not started: %+v", a.Failure)
			}
			attack(t, o)
			if got := len(h.all()); got != 1 {
				t.Errorf("%d agents run, want 1", got)
			}
			agent := h.all()[0]
			agent.mu.Lock()
			defer agent.mu.Unlock()
			if d := agent.describe(); d.Last != 0 {
				t.Errorf("the agent has %d records, want none", d.Last)
			}
		})
	}
}

// An owner with the epoch of a guest gets no answer, and no frame passes before hello.
func TestRelay_hello(t *testing.T) {
	for name, q := range map[string]request{
		"a guest":      {ID: 1, Op: opHello, Version: Version},
		"no greeting":  {ID: 1, Op: opList},
		"a start":      {ID: 1, Op: opSpawn, Launch: &Launch{Agent: "echo", Dir: "/srv/a"}},
		"before hello": {ID: 1, Op: opStop},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFakeHost(t, Options{}, echoAgent)
			o := &hostileOwner{conn: h.relayed(&testPolicy{})}
			o.frames = &frameReader{r: o.conn}
			o.ask(q)
			o.wantEnd(t)
		})
	}
}

// hostileOwner sends frames that a correct owner never sends.
type hostileOwner struct {
	conn   net.Conn
	frames *frameReader
	id     uint64
}

func (o *hostileOwner) hello(t *testing.T, epoch uint64) {
	t.Helper()
	o.ask(request{Op: opHello, Version: Version, Epoch: epoch})
	var a answer
	o.next(t, frameAnswer, &a)
	if a.Info == nil {
		t.Fatalf("the host answers %+v", a.Failure)
	}
}

func (o *hostileOwner) ask(q request) {
	o.id++
	q.ID = o.id
	frame, _ := jsonFrame(frameRequest, q)
	o.send(frame)
}

func (o *hostileOwner) send(frames []byte) {
	_ = o.conn.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = o.conn.Write(frames) // the answer shows whether it arrived
}

// next reads the next frame of a kind.
func (o *hostileOwner) next(t *testing.T, kind byte, v any) {
	t.Helper()
	for {
		got, payload, err := o.frames.next()
		if err != nil {
			t.Fatalf("reading a frame %q: %v", kind, err)
		}
		if got == kind {
			must(t, json.Unmarshal(payload, v))
			return
		}
	}
}

func (o *hostileOwner) wantRefusal(t *testing.T) {
	t.Helper()
	var a answer
	o.next(t, frameAnswer, &a)
	if a.ID != o.id || a.Failure == nil {
		t.Errorf("the answer to request %d is %+v, want an error", o.id, a)
	}
}

func (o *hostileOwner) wantEnd(t *testing.T) {
	t.Helper()
	for {
		kind, payload, err := o.frames.next()
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("the connection ends with %v, want its end", err)
			}
			return
		}
		t.Logf("before the end: %q %s", kind, payload)
		if kind == frameAnswer {
			t.Errorf("the host answers %s, want the end of the connection", payload)
		}
	}
}

// tapped is a relay whose two connections the test controls.
type tapped struct {
	*hostileOwner
	host  net.Conn
	atEnd *frameReader // reads the frames for the host
}

func newTapped(t *testing.T, p Policy, limit int) *tapped {
	hostEnd, relayHost := net.Pipe()
	owner, relayOwner := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = relayTo(context.Background(), relayHost, relayOwner, p, limit, slog.New(slog.DiscardHandler))
	}()
	t.Cleanup(func() {
		owner.Close()
		hostEnd.Close()
		<-done
	})
	c := &tapped{hostileOwner: &hostileOwner{conn: owner, frames: &frameReader{r: owner}}, host: hostEnd, atEnd: &frameReader{r: hostEnd}}
	must(t, hostEnd.SetDeadline(time.Now().Add(10*time.Second)))
	c.ask(request{Op: opHello, Version: Version, Epoch: 1})
	if q := c.gets(t); q.Op != opHello || q.Epoch != 1 {
		t.Fatalf("the host gets %+v, want the hello", q)
	}
	return c
}

// gets returns the next request to the host.
func (c *tapped) gets(t *testing.T) (q request) {
	t.Helper()
	kind, payload, err := c.atEnd.next()
	if err != nil || kind != frameRequest || json.Unmarshal(payload, &q) != nil {
		t.Fatalf("the host gets a frame %q, %s, %v, want a request", kind, payload, err)
	}
	return q
}

// answers sends an answer of the host.
func (c *tapped) answers(t *testing.T, a answer) {
	t.Helper()
	frame, err := jsonFrame(frameAnswer, a)
	must(t, err)
	_, err = c.host.Write(frame)
	must(t, err)
}

// The owner chooses some members of a request to the host; the policy sets the others.
func TestRelay_requests(t *testing.T) {
	shell := &spawn.Command{Path: "/bin/sh", Dir: "/"}
	c := newTapped(t, &testPolicy{}, maxRelayed)
	for _, op := range relayed {
		c.ask(request{Op: op, Agent: 3, Window: 4, From: 5, Number: 6, State: []byte("s"), Input: "i", Signal: "TERM", Command: shell})
		if q := c.gets(t); q.Command != nil || q.Op != op || q.ID != c.id || q.Agent != 3 || q.Window != 4 || q.From != 5 || q.Number != 6 || string(q.State) != "s" || q.Input != "i" || q.Signal != "TERM" {
			t.Errorf("of %s the host gets %+v, want all but the command", op, q)
		}
	}
	c.ask(request{Op: opSpawn, Command: shell, Window: 9, Launch: &Launch{Agent: "echo", Dir: "/srv/a", Options: json.RawMessage(`{}`)}, Options: &AgentOptions{Key: "s/1", KeepChildren: true, OrphanInput: []byte("bye\n")}})
	q := c.gets(t)
	if q.Command == nil || q.Command.Path != "/bin/echo-agent" || q.Launch != nil || q.Window != 9 || q.Options == nil || q.Options.KeepChildren || q.Options.Key != "echo/s/1" || string(q.Options.OrphanInput) != "checked bye\n" {
		t.Errorf("of a start the host gets %+v with %+v, want the command and the lines of the policy, and no children", q, q.Options)
	}
	c.answers(t, answer{ID: c.id, Agent: &Agent{Number: 1, Key: "echo/s/1"}})
	var a answer
	if c.next(t, frameAnswer, &a); a.Agent == nil || a.Agent.Key != "s/1" {
		t.Errorf("the owner gets %+v, want its own key", a.Agent)
	}
	c.ask(request{Op: opOrphan, Agent: 1, Options: &AgentOptions{OrphanInput: []byte("later\n")}})
	if q := c.gets(t); string(q.Options.OrphanInput) != "checked later\n" {
		t.Errorf("the input without an owner is %q, want that of the policy", q.Options.OrphanInput)
	}
}

// The limit counts only the bytes of incomplete lines.
func TestRelay_limit(t *testing.T) {
	const limit = 1000
	c := newTapped(t, &testPolicy{}, limit)
	c.ask(request{Op: opList})
	c.gets(t)
	c.answers(t, answer{ID: c.id, Agents: []Agent{{Number: 1, Key: "echo/s"}}})
	var a answer
	c.next(t, frameAnswer, &a)
	line := strings.Repeat("x", limit-1) + "\n"
	for i := range 5 {
		c.send(writeFrames(nil, 1, fmt.Sprint("line", i), []byte(line)))
		if kind, payload, err := c.atEnd.next(); err != nil || kind != frameWrite || !bytes.HasSuffix(payload, []byte("checked "+line)) {
			t.Fatalf("for line %d the host gets a frame %q, %.50q, %v, want the line", i, kind, payload, err)
		}
	}
	go c.send(writeFrames(nil, 1, "longer", []byte("x"+line)))
	c.wantEnd(t)
}

// An invalid frame from either end closes the connection.
func TestRelay_malformed(t *testing.T) {
	frame := func(kind byte, payload ...byte) []byte { return endFrame(append(beginFrame(nil, kind), payload...), 0) }
	for name, text := range map[string][]byte{
		"a request":       frame(frameRequest, '{'),
		"a short line":    frame(frameWrite, 0, 0, 1),
		"without an id":   frame(frameWrite, 0, 0, 0, 1, 0, 0, 'x', '\n'),
		"an unknown kind": frame('?'),
	} {
		t.Run(name, func(t *testing.T) {
			c := newTapped(t, &testPolicy{}, maxRelayed)
			c.send(text)
			c.wantEnd(t)
		})
	}
	t.Run("an answer", func(t *testing.T) {
		c := newTapped(t, &testPolicy{}, maxRelayed)
		_, err := c.host.Write(frame(frameAnswer, '{'))
		must(t, err)
		c.wantEnd(t)
	})
}

// policyFunc is a policy that uses the function as Start.
type policyFunc struct {
	testPolicy
	start func(start func(spawn.Command) error) error
}

func (p *policyFunc) Start(_ context.Context, _ Launch, start func(spawn.Command) error) error {
	return p.start(start)
}

// A start that does not reach the host is answered.
func TestRelay_noStart(t *testing.T) {
	for name, tt := range map[string]struct {
		start func(start func(spawn.Command) error) error
		want  string
	}{
		"forgotten": {func(func(spawn.Command) error) error { return nil }, "has started no agent"},
		"refused":   {func(func(spawn.Command) error) error { return errors.New("not today") }, "not today"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTapped(t, &policyFunc{start: tt.start}, maxRelayed)
			c.ask(request{Op: opSpawn, Launch: &Launch{Agent: "echo", Dir: "/srv/a"}})
			var a answer
			must(t, c.conn.SetReadDeadline(time.Now().Add(10*time.Second)))
			if c.next(t, frameAnswer, &a); a.ID != c.id || a.Failure == nil || !strings.Contains(a.Failure.error().Error(), tt.want) {
				t.Errorf("the answer is %+v, want an error with %q", a, tt.want)
			}
		})
	}
}

// If the host is unreachable, the relay closes the connection.
func TestRelay_noHost(t *testing.T) {
	mine, theirs := net.Pipe()
	defer mine.Close()
	must(t, mine.SetReadDeadline(time.Now().Add(10*time.Second)))
	if err := Relay(t.Context(), t.TempDir(), theirs, &testPolicy{}, slog.New(slog.DiscardHandler)); !errors.Is(err, ErrNotRunning) {
		t.Errorf("Relay returned %v, want %v", err, ErrNotRunning)
	}
	if _, err := mine.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("reading from the connection: %v, want its end", err)
	}
}

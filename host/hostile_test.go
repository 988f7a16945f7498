//go:build unix

package host

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/internal/usersocket"
	"github.com/seed7221b0f9/parley/spawn"
)

// exhausted is a listener whose first Accept calls fail as if no file descriptor were free.
type exhausted struct {
	*usersocket.Listener
	failures atomic.Int32
}

func (e *exhausted) AcceptUnix() (*net.UnixConn, error) {
	if e.failures.Add(-1) >= 0 {
		return nil, syscall.EMFILE
	}
	return e.Listener.AcceptUnix()
}

// A failing listener ends neither the host nor its agents.
func TestAccept_fails(t *testing.T) {
	h := newFakeHost(t, Options{}, goldenAgent)
	l := h.connect()
	p := spawnAgent(t, l, spawn.Command{Path: "x"}, AgentOptions{})
	socket, err := usersocket.Listen(filepath.Join(h.dir, socketName))
	must(t, err)
	e := &exhausted{Listener: socket}
	e.failures.Store(3)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	stopped := context.AfterFunc(ctx, func() { socket.Close() })
	defer stopped()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.accept(ctx, e, &h.wg)
	}()
	guest, err := Dial(within(t), filepath.Dir(h.dir), 0)
	must(t, err)
	list, err := guest.Agents(within(t))
	if err != nil || len(list) != 1 || list[0].Exit != nil {
		t.Errorf("the agents are %+v, %v, want one that runs", list, err)
	}
	guest.Close()
	stop()
	<-ended
	must(t, p.Kill())
}

// Connections over the limit are refused until others end. The owner and its agents are not affected.
func TestConnections_limit(t *testing.T) {
	dir := runHost(t, Options{})
	owner := connect(t, dir)
	p := spawnAgent(t, owner, shell("read line; echo got $line"), AgentOptions{})
	var guests []*Link
	defer func() {
		for _, g := range guests {
			g.Close()
		}
	}()
	for len(guests) < maxConns-1 {
		g, err := Dial(within(t), dir, 0)
		if err != nil { // the connection that awaitHost made may not have ended
			continue
		}
		guests = append(guests, g)
	}
	if g, err := Dial(within(t), dir, 0); err == nil {
		g.Close()
		t.Errorf("there are more than %d connections", maxConns)
	}
	_, err := p.Write(within(t), "one", []byte("x\n"))
	must(t, err)
	wantNext(t, p, "input one x\n")
	wantNext(t, p, "output got x\n")
	guests[0].Close()
	guests = guests[1:]
	awaitHost(t, dir)
}

// rawOwner connects as an owner that can send any frame.
func rawOwner(t *testing.T, h *fakeHost) (conn net.Conn, ended <-chan struct{}) {
	t.Helper()
	ours, theirs := net.Pipe()
	done := make(chan struct{})
	h.wg.Go(func() {
		defer close(done)
		h.serve(theirs)
	})
	h.epoch++
	hello, err := jsonFrame(frameRequest, request{ID: 1, Op: opHello, Version: Version, Epoch: h.epoch})
	must(t, err)
	must(t, ours.SetDeadline(time.Now().Add(patience)))
	_, err = ours.Write(hello)
	must(t, err)
	takeFrames(t, &frameReader{r: ours}, 1)
	return ours, done
}

// wantEnd waits until the host closes a connection.
func wantEnd(t *testing.T, what string, ended <-chan struct{}) {
	t.Helper()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Errorf("the connection is open after %s", what)
	}
}

// wantAnswers checks that an agent without lines reads a line and answers it.
func wantAnswers(t *testing.T, h *fakeHost, agent uint32) {
	t.Helper()
	p, err := h.connect().Attach(within(t), agent, 0)
	must(t, err)
	_, err = p.Write(within(t), "one", []byte("x\n"))
	must(t, err)
	wantNext(t, p, "input one x\n")
	wantNext(t, p, "output got x\n")
}

// part returns a frame with a part of a line for an agent.
func linePart(agent uint32, data []byte) []byte {
	b := beginFrame(nil, frameWrite)
	b = append(b, byte(agent>>24), byte(agent>>16), byte(agent>>8), byte(agent), flagMore, 1, 'x')
	return endFrame(append(b, data...), 0)
}

// The size and the number of incomplete lines of a connection are limited over all agents.
func TestWrite_parts(t *testing.T) {
	short.SkipQuick(t, "writes large lines")
	h := newFakeHost(t, Options{}, goldenAgent)
	number := spawnAgent(t, h.connect(), spawn.Command{Path: "x"}, AgentOptions{}).Agent().Number
	conn, ended := rawOwner(t, h)
	defer conn.Close()
	data := make([]byte, 7<<20)
	sent := 0
	for agent := uint32(1); sent <= maxInput+len(data); agent++ { // one part each
		n, err := conn.Write(linePart(agent, data))
		sent += n
		if err != nil {
			break
		}
	}
	if sent > maxInput+len(data) {
		t.Errorf("the host has taken %d bytes of lines that do not end", sent)
	}
	wantEnd(t, "many parts", ended)

	conn, ended = rawOwner(t, h)
	defer conn.Close()
	_, err := conn.Write(linePart(1, nil))
	must(t, err)
	wantEnd(t, "a part without bytes", ended)
	wantAnswers(t, h, number)
}

// The host closes a connection that does not read its answers, and queues a limited amount.
func TestAnswers_unread(t *testing.T) {
	short.SkipQuick(t, "writes much output")
	h := newFakeHost(t, Options{}, goldenAgent)
	number := spawnAgent(t, h.connect(), spawn.Command{Path: "x"}, AgentOptions{}).Agent().Number
	conn, ended := rawOwner(t, h)
	defer conn.Close()
	q, err := jsonFrame(frameRequest, request{ID: 2, Op: opInput, Agent: number, Input: strings.Repeat("x", 1<<20)}) // the answer has it
	must(t, err)
	for range 3 * maxQueued / len(q) {
		if _, err := conn.Write(q); err != nil {
			break
		}
	}
	wantEnd(t, "many requests", ended)
	wantAnswers(t, h, number)
}

// Invalid frames of a client close its connection and do not affect the agents.
func TestFrames_invalid(t *testing.T) {
	h := newFakeHost(t, Options{}, goldenAgent)
	p := spawnAgent(t, h.connect(), spawn.Command{Path: "x"}, AgentOptions{})
	for name, frame := range map[string]string{
		"nothing":       "\x00\x00\x00\x00q",
		"huge":          "\xff\xff\xff\xffq",
		"unknown":       "\x00\x00\x00\x01?",
		"not JSON":      "\x00\x00\x00\x02q{",
		"short grant":   "\x00\x00\x00\x03g12",
		"short line":    "\x00\x00\x00\x03w12",
		"line, no id":   "\x00\x00\x00\x07w\x00\x00\x00\x01\x00\x00",
		"an answer":     "\x00\x00\x00\x03a{}",
		"second answer": "\x00\x00\x00\x03n{}",
	} {
		conn, ended := rawOwner(t, h)
		_, err := io.WriteString(conn, frame)
		must(t, err)
		wantEnd(t, "the frame "+name, ended)
		conn.Close()
	}
	// before the hello
	ours, theirs := net.Pipe()
	done := make(chan struct{})
	h.wg.Go(func() {
		defer close(done)
		h.serve(theirs)
	})
	must(t, ours.SetDeadline(time.Now().Add(patience)))
	_, err := ours.Write(grantFrame(1, 1, 1))
	must(t, err)
	wantEnd(t, "a frame before hello", done)
	ours.Close()
	wantAnswers(t, h, p.Agent().Number)
}

// Damaged files of one dead agent do not hide the other agents.
func TestReadSpool_damagedOther(t *testing.T) {
	h := newFakeHost(t, Options{}, func(*bufio.Reader, io.Writer, io.Writer) int { return 0 })
	l := h.connect()
	var dirs []string
	for _, key := range []string{"a", "b", "c"} {
		p := spawnAgent(t, l, spawn.Command{Path: "x"}, AgentOptions{Key: key})
		_, err := p.Exit(within(t))
		must(t, err)
		a, err := h.agent(p.Agent().Number)
		must(t, err)
		<-a.done
		dirs = append(dirs, a.dir)
	}
	must(t, os.WriteFile(filepath.Join(dirs[0], agentFile), nil, 0o600)) // as after a power failure
	_, err := newServer(h.dir, Options{}, nil)                           // moves them
	must(t, err)
	agents, err := ReadSpool(filepath.Dir(h.dir))
	if err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("the error is %v, want the damage", err)
	}
	if len(agents) != 2 || agents[0].Key != "b" || agents[1].Key != "c" {
		t.Errorf("the agents are %+v, want b and c", agents)
	}
}

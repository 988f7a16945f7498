package codextest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/spawn"
)

// Server is a scripted app-server in this process. It is a Spawner for codex.Options, with any
// existing file as the Path. The zero value answers the handshake, starts threads and ends every
// turn at once.
type Server struct {
	// Turn plays a turn on a separate goroutine. The turn is completed when it returns.
	Turn func(t *ServerTurn)
	// Handle answers requests before the server does. If handled is false, the server answers.
	Handle func(s *Session, c *item.Call) (result any, err error, handled bool)

	mu       sync.Mutex
	sessions []*Session
}

// Session is one run of a [Server] with one client, from the start of its process to the exit.
type Session struct {
	server *Server
	conn   *jsonrpc.Conn
	out    io.WriteCloser // the server's output, for lines that are not messages

	mu     sync.Mutex
	nextID int
	turns  map[string]*ServerTurn
	calls  []*item.Call

	exited chan struct{}
	once   sync.Once
	status spawn.ExitStatus
}

// ServerTurn is a turn that a script of the [Server] plays: its ids, its prompt, and methods that
// send its events.
type ServerTurn struct {
	*Session
	ThreadID, TurnID string
	// Prompt is the text of the prompt.
	Prompt string
	// Interrupted is closed when the client interrupts the turn.
	Interrupted chan struct{}

	ended bool
}

// Spawn starts a run of the server without an operating system process. Each run is a [Session].
func (s *Server) Spawn(context.Context, spawn.Command) (spawn.Process, error) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	n := &Session{server: s, out: outW, turns: map[string]*ServerTurn{}, exited: make(chan struct{})}
	n.conn = jsonrpc.New(inR, &sharedWriter{w: outW}, jsonrpc.Options{
		Bare:   true,
		Notify: func(_ context.Context, m *jsonrpc.Message) { n.note(m) },
		Handle: func(_ context.Context, m *jsonrpc.Message) (any, error) { return n.answer(n.note(m)) },
	})
	s.mu.Lock()
	s.sessions = append(s.sessions, n)
	s.mu.Unlock()
	go func() {
		<-n.conn.Done() // a server exits when its input ends
		n.Exit(0)
	}()
	return &serverProcess{session: n, stdin: inW, stdout: outR}, nil
}

// Sessions returns the runs of the server so far, in order of their start.
func (s *Server) Sessions() []*Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Session(nil), s.sessions...)
}

// sharedWriter ignores Close; Exit closes the output.
type sharedWriter struct{ w io.Writer }

func (s *sharedWriter) Write(p []byte) (int, error) { return s.w.Write(p) }

func (s *sharedWriter) Close() error { return nil }

// note records a request of the client.
func (s *Session) note(m *jsonrpc.Message) *item.Call {
	c := &item.Call{ID: item.JSON(m.ID), Method: m.Method, Params: item.JSON(m.Params)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	return c
}

// Calls returns the requests and notifications of the client so far, in order.
func (s *Session) Calls() []*item.Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*item.Call(nil), s.calls...)
}

func (s *Session) id(prefix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nextID++
	return fmt.Sprintf("%s-%d", prefix, s.nextID)
}

func (s *Session) answer(c *item.Call) (any, error) {
	if s.server.Handle != nil {
		if result, err, handled := s.server.Handle(s, c); handled {
			return result, err
		}
	}
	var p struct {
		ThreadID string       `json:"threadId"`
		TurnID   string       `json:"turnId"`
		CWD      string       `json:"cwd"`
		Input    []item.Input `json:"input"`
	}
	if c.Params != "" {
		_ = item.DecodeValue(c.Params, &p)
	}
	switch c.Method {
	case "initialize":
		return map[string]any{"userAgent": "codextest/0.166.0", "codexHome": "/nowhere", "platformFamily": "unix", "platformOs": "linux"}, nil
	case "thread/start", "thread/fork":
		return s.thread(s.id("thread"), p.CWD), nil
	case "thread/resume":
		return s.thread(p.ThreadID, p.CWD), nil
	case "turn/start":
		return s.start(p.ThreadID, p.Input), nil
	case "turn/interrupt":
		return s.interrupt(p.TurnID)
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("Invalid request: unknown variant `%s`, expected one of `initialize`", c.Method)}
}

func (s *Session) thread(id, cwd string) any {
	return map[string]any{
		"thread": map[string]any{"id": id, "sessionId": id, "cwd": cwd, "status": map[string]any{"type": "idle"}, "turns": []any{}, "preview": "", "ephemeral": false},
		"model":  Model, "modelProvider": "fake", "cwd": cwd, "approvalPolicy": "on-request", "sandbox": map[string]any{"type": "readOnly"},
	}
}

// start plays a turn after its response has been written.
func (s *Session) start(threadID string, input []item.Input) any {
	t := &ServerTurn{Session: s, ThreadID: threadID, TurnID: s.id("turn"), Interrupted: make(chan struct{})}
	for _, in := range input {
		if text, ok := in.(*item.Text); ok {
			t.Prompt += text.Text
		}
	}
	s.mu.Lock()
	s.turns[t.TurnID] = t
	s.mu.Unlock()
	return &jsonrpc.Then{Result: map[string]any{"turn": t.state(item.StatusInProgress, nil)}, Do: t.play}
}

func (s *Session) interrupt(turnID string) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.turns[turnID]
	if t == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "no active turn to interrupt"}
	}
	delete(s.turns, turnID)
	close(t.Interrupted)
	return map[string]any{}, nil
}

func (t *ServerTurn) play() {
	t.Notify("turn/started", map[string]any{"threadId": t.ThreadID, "turn": t.state(item.StatusInProgress, nil)})
	if t.server.Turn != nil {
		t.server.Turn(t)
	}
	t.End(item.StatusCompleted, nil)
}

func (t *ServerTurn) state(status string, failure any) map[string]any {
	return map[string]any{"id": t.TurnID, "items": []any{}, "status": status, "error": failure}
}

// End ends the turn with a status and, if it failed, the error. Later calls have no effect.
func (t *ServerTurn) End(status string, failure any) {
	t.mu.Lock()
	ended := t.ended
	t.ended = true
	delete(t.turns, t.TurnID)
	t.mu.Unlock()
	if !ended {
		t.Notify("turn/completed", map[string]any{"threadId": t.ThreadID, "turn": t.state(status, failure)})
	}
}

// About sends a notification with these fields and the ids of the thread and the turn.
func (t *ServerTurn) About(method string, fields map[string]any) {
	p := map[string]any{"threadId": t.ThreadID, "turnId": t.TurnID}
	for k, v := range fields {
		p[k] = v
	}
	t.Notify(method, p)
}

// Say sends a complete message of the agent: the start of its item, one delta, and its end.
func (t *ServerTurn) Say(text string) {
	id := t.id("msg")
	t.About("item/started", map[string]any{"item": &item.AgentMessage{ItemHead: item.ItemHead{ID: id}}, "startedAtMs": 1})
	t.About("item/agentMessage/delta", map[string]any{"itemId": id, "delta": text})
	t.About("item/completed", map[string]any{"item": &item.AgentMessage{ItemHead: item.ItemHead{ID: id}, Text: text}, "completedAtMs": 1})
}

// Notify sends a notification to the client. It ignores a closed connection.
func (s *Session) Notify(method string, params any) {
	_ = s.conn.Notify(context.Background(), method, params)
}

// Ask sends a request to the client and waits for its response, or for the end of the context.
func (s *Session) Ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	return s.conn.Call(ctx, method, params)
}

// Line writes a raw line between the others, including text that is not JSON.
func (s *Session) Line(line string) { _, _ = io.WriteString(s.out, line+"\n") }

// Exit ends the server with an exit code, like a process that exits.
func (s *Session) Exit(code int) { s.end(spawn.ExitStatus{Code: code}) }

// Kill ends the server like a signal, given by its name, such as "SIGKILL".
func (s *Session) Kill(signal string) { s.end(spawn.ExitStatus{Code: -1, Signal: signal}) }

func (s *Session) end(status spawn.ExitStatus) {
	s.once.Do(func() {
		s.status = status
		_ = s.out.Close()
		_ = s.conn.Close()
		close(s.exited)
	})
}

// serverProcess adapts a Session to a process.
type serverProcess struct {
	session *Session
	stdin   *io.PipeWriter
	stdout  *io.PipeReader
}

var errNoSignal = errors.New("codextest: the server has no process")

func (p *serverProcess) Stdin() io.WriteCloser { return p.stdin }

func (p *serverProcess) Stdout() io.ReadCloser { return p.stdout }

func (p *serverProcess) Stderr() io.ReadCloser { return nil }

func (p *serverProcess) PID() int { return 0 }

func (p *serverProcess) Terminate() error { return errNoSignal }

func (p *serverProcess) Kill() error {
	p.session.Kill("SIGKILL")
	return nil
}

func (p *serverProcess) Wait() (spawn.ExitStatus, error) {
	<-p.session.exited
	return p.session.status, nil
}

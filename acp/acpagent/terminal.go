package acpagent

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/spawn"
)

const (
	// maxTerminals limits the number of terminals that an agent has at the same time.
	maxTerminals = 100
	// maxOutput limits the kept output of a terminal, regardless of the agent's request.
	maxOutput = 4 << 20
)

// terminals holds the commands that an agent runs through this program. The zero value is empty and ready to use.
type terminals struct {
	restored chan struct{} // closed when byID contains the terminals of an earlier process; nil without a host

	mu     sync.Mutex
	closed bool
	count  int
	byID   map[string]*terminal
	calls  map[jsonrpc.ID]terminalCall // unanswered calls of an agent under a host
	past   map[string]int              // limits of the terminals of an earlier process, by id
	shown  shownTerminals
}

// terminal is a command and the end of its output.
type terminal struct {
	sup  *proc.Supervisor // nil for a lost command
	kept agent.Kept       // the process under a host; nil without one
	done chan struct{}    // closed when the command has ended and its output was read
	work sync.WaitGroup   // calls to the host

	mu     sync.Mutex
	output []byte
	limit  int
	cut    bool
	total  int64 // bytes of output
	told   int64 // bytes of output that were in events
	mark   mark
}

// createTerminal starts a command, in the session's directory or in a directory below it that the
// request names.
func (s *Session) createTerminal(ctx context.Context, call jsonrpc.ID, r *acp.CreateTerminalRequest) (any, error) {
	dir := r.CWD.Or(s.dir)
	if err := s.inside(dir, func(root *os.Root, name string) error {
		_, err := root.Stat(name)
		return err
	}); err != nil {
		return nil, err
	}
	path, err := exec.LookPath(r.Command)
	args := r.Args
	if err != nil && len(args) == 0 { // the command may be a whole command line
		path, args, err = "/bin/sh", []string{"-c", r.Command}, nil
	}
	if err != nil {
		return nil, err
	}
	env := append([]string{}, s.env...)
	for _, v := range r.Env {
		env = append(env, v.Name+"="+v.Value)
	}
	t := newTerminal(outputLimit(r))
	cmd := spawn.Command{Path: path, Args: args, Dir: dir, Env: env}
	id, err := s.terminals.add(t, call, func(id string) (err error) {
		if s.hosted != nil {
			return t.keep(ctx, s.keeper, id, cmd)
		}
		t.sup, err = proc.Start(ctx, cmd, proc.Options{Spawner: s.provider.spawner(nil), StderrTo: t.write})
		return err
	})
	if err != nil {
		return nil, err
	}
	go t.run()
	return &acp.CreateTerminalResponse{TerminalID: acp.TerminalID(id)}, nil
}

func newTerminal(limit int) *terminal { return &terminal{done: make(chan struct{}), limit: limit} }

// outputLimit returns the number of bytes of output that a terminal keeps.
func outputLimit(r *acp.CreateTerminalRequest) int {
	return int(min(max(r.OutputByteLimit.Or(maxOutput), 0), maxOutput))
}

// add starts a terminal. If the agent runs under a host, the terminal has the id of the call.
func (l *terminals) add(t *terminal, call jsonrpc.ID, start func(id string) error) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.byID) >= maxTerminals {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeOverloaded, Message: "too many terminals"}
	}
	id := l.calls[call].creates
	named := id != ""
	if !named {
		id = terminalID(l.count + 1)
	}
	if err := start(id); err != nil {
		return "", err
	}
	if !named {
		l.count++
	}
	l.put(id, t)
	return id, nil
}

func terminalID(n int) string { return "terminal-" + strconv.Itoa(n) }

// put adds a terminal. The caller holds mu.
func (l *terminals) put(id string, t *terminal) {
	if l.byID == nil {
		l.byID = map[string]*terminal{}
	}
	l.byID[id] = t
}

// run reads the output of the command until it has ended.
func (t *terminal) run() {
	defer close(t.done)
	_ = t.sup.Stdin().Close() // no input
	_, _ = io.Copy(writer(t.write), t.sup.Stdout())
	<-t.sup.Done()
	_ = t.sup.Close() // Exit returns the status
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) {
	w(b)
	return len(b), nil
}

// write adds output. It keeps the end of the output, beginning at the start of a character.
func (t *terminal) write(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.output = append(t.output, b...)
	from := max(0, len(t.output)-t.limit)
	t.cut = t.cut || from > 0
	for t.cut && from < len(t.output) && !utf8.RuneStart(t.output[from]) { // also skips the rest of a character that was cut before
		from++
	}
	t.output = append(t.output[:0], t.output[from:]...)
	t.discard(len(b))
}

// status returns the exit status, which is absent while the command runs.
func (t *terminal) status() acp.Optional[acp.TerminalExitStatus] {
	select {
	case <-t.done:
	default:
		return acp.Optional[acp.TerminalExitStatus]{}
	}
	exit := proc.Exit{}
	if exit.Signal = "SIGKILL"; t.sup != nil {
		exit = t.sup.Exit()
	}
	if exit.Signal != "" {
		return acp.Some(acp.TerminalExitStatus{Signal: acp.Some(exit.Signal)})
	}
	return acp.Some(acp.TerminalExitStatus{ExitCode: acp.Some(int64(exit.Code))})
}

// serve answers a request about a terminal.
func (l *terminals) serve(ctx context.Context, method, id string) (any, error) {
	if l.restored != nil {
		select {
		case <-l.restored:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	l.mu.Lock()
	t := l.byID[id]
	l.mu.Unlock()
	if t == nil {
		return nil, &jsonrpc.Error{Code: acp.CodeResourceNotFound, Message: "Resource not found: " + id}
	}
	switch method {
	case acp.MethodTerminalWaitForExit:
		select {
		case <-t.done:
			return t.status().Or(acp.TerminalExitStatus{}), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	case acp.MethodTerminalOutput:
		status := t.status()
		t.mu.Lock()
		defer t.mu.Unlock()
		return &acp.TerminalOutputResponse{Output: string(t.output), Truncated: t.cut, ExitStatus: status}, nil
	}
	err := t.stop()
	if method == acp.MethodTerminalRelease {
		t.forget()
		l.mu.Lock()
		l.release(id, t)
		l.mu.Unlock()
	}
	return struct{}{}, err
}

// stop ends the command and waits until its output was read.
func (t *terminal) stop() error {
	select {
	case <-t.done:
		return nil
	default:
	}
	err := t.sup.Kill()
	<-t.done
	return err
}

// close ends all commands and prevents new ones.
func (l *terminals) close() error {
	l.mu.Lock()
	l.closed = true
	all := l.byID
	l.byID = nil
	l.mu.Unlock()
	var err error
	for _, t := range all {
		err = errors.Join(err, t.stop())
		t.forget()
	}
	return err
}

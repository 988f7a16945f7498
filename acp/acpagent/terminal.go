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
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/spawn"
)

const (
	// maxTerminals bounds the terminals that an agent holds at a time.
	maxTerminals = 100
	// maxOutput bounds the output that is kept of a terminal, whatever the agent asks for.
	maxOutput = 4 << 20
)

// terminals are the commands that an agent runs through this program. The zero value has none.
type terminals struct {
	mu     sync.Mutex
	closed bool
	count  int
	byID   map[string]*terminal
}

// terminal is a command and the end of its output.
type terminal struct {
	sup  *proc.Supervisor
	done chan struct{} // is closed when the command has ended and its output was read

	mu     sync.Mutex
	output []byte
	limit  int
	cut    bool
}

// createTerminal starts a command, in the session's directory unless the request names another one inside of it.
func (s *Session) createTerminal(ctx context.Context, r *acp.CreateTerminalRequest) (any, error) {
	dir := r.CWD.Or(s.dir)
	if err := s.inside(dir, func(root *os.Root, name string) error {
		_, err := root.Stat(name)
		return err
	}); err != nil {
		return nil, err
	}
	path, err := exec.LookPath(r.Command)
	args := r.Args
	if err != nil && len(args) == 0 { // a whole command line
		path, args, err = "/bin/sh", []string{"-c", r.Command}, nil
	}
	if err != nil {
		return nil, err
	}
	env := append([]string{}, s.env...)
	for _, v := range r.Env {
		env = append(env, v.Name+"="+v.Value)
	}
	t := &terminal{done: make(chan struct{}), limit: int(min(max(r.OutputByteLimit.Or(maxOutput), 0), maxOutput))}
	id, err := s.terminals.add(t, func() (err error) {
		t.sup, err = proc.Start(ctx, spawn.Command{Path: path, Args: args, Dir: dir, Env: env}, proc.Options{
			Spawner:  s.provider.spawner(nil),
			StderrTo: t.write,
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	go t.run()
	return &acp.CreateTerminalResponse{TerminalID: acp.TerminalID(id)}, nil
}

// add starts a terminal and gives it an id.
func (l *terminals) add(t *terminal, start func() error) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.byID) >= maxTerminals {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeOverloaded, Message: "too many terminals"}
	}
	if err := start(); err != nil {
		return "", err
	}
	if l.byID == nil {
		l.byID = map[string]*terminal{}
	}
	l.count++
	id := "terminal-" + strconv.Itoa(l.count)
	l.byID[id] = t
	return id, nil
}

// run reads the output of the command until it has ended.
func (t *terminal) run() {
	defer close(t.done)
	_ = t.sup.Stdin().Close() // nobody types
	_, _ = io.Copy(writer(t.write), t.sup.Stdout())
	<-t.sup.Done()
	_ = t.sup.Close() // Exit has the status
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) {
	w(b)
	return len(b), nil
}

// write adds to the output, of which the end is kept, from the start of a character on.
func (t *terminal) write(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.output = append(t.output, b...)
	from := max(0, len(t.output)-t.limit)
	t.cut = t.cut || from > 0
	for t.cut && from < len(t.output) && !utf8.RuneStart(t.output[from]) { // also the rest of a character that was cut before
		from++
	}
	t.output = append(t.output[:0], t.output[from:]...)
}

// status is the exit status, absent while the command runs.
func (t *terminal) status() acp.Optional[acp.TerminalExitStatus] {
	select {
	case <-t.done:
	default:
		return acp.Optional[acp.TerminalExitStatus]{}
	}
	exit := t.sup.Exit()
	if exit.Signal != "" {
		return acp.Some(acp.TerminalExitStatus{Signal: acp.Some(exit.Signal)})
	}
	return acp.Some(acp.TerminalExitStatus{ExitCode: acp.Some(int64(exit.Code))})
}

// serve answers a request about a terminal.
func (l *terminals) serve(ctx context.Context, method, id string) (any, error) {
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
		l.mu.Lock()
		delete(l.byID, id)
		l.mu.Unlock()
	}
	return struct{}{}, err
}

// stop ends the command and waits for its output.
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

// close ends all commands. No more are started.
func (l *terminals) close() error {
	l.mu.Lock()
	l.closed = true
	all := l.byID
	l.byID = nil
	l.mu.Unlock()
	var err error
	for _, t := range all {
		err = errors.Join(err, t.stop())
	}
	return err
}

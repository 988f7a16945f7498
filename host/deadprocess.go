package host

import (
	"bytes"
	"context"
	"io"
	"iter"
	"os"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/spawn"
)

// Process returns the agent as a killed process with its remaining output. It accepts no input.
func (d *DeadAgent) Process() spawn.LineProcess {
	p := &deadProcess{d: d, ended: make(chan struct{})}
	p.end = sync.OnceFunc(func() { close(p.ended) })
	return p
}

// deadProcess is an agent of a host that has exited.
type deadProcess struct {
	d     *DeadAgent
	next  func() (Record, error, bool) // nil before the first line
	stop  func()
	ended chan struct{} // closed when the last line was read
	end   func()
}

var _ spawn.LineProcess = (*deadProcess)(nil)

// NextLine returns the next remaining line.
func (p *deadProcess) NextLine(context.Context) (spawn.Line, error) {
	if p.next == nil {
		p.next, p.stop = iter.Pull2(p.d.Records())
	}
	r, err, ok := p.next()
	if !ok || err != nil || r.Kind == OutputEnd || r.Kind == Exited {
		p.stop()
		p.end()
		if err == nil {
			err = io.EOF
		}
		return spawn.Line{}, err
	}
	line := spawn.Line{Number: r.Number, Input: r.Kind != Output}
	if r.Kind == Output || r.Kind == Input {
		line.Text = bytes.TrimSuffix(r.Data, []byte("\n"))
	}
	return line, nil
}

// WriteLine always fails, because the agent has ended.
func (p *deadProcess) WriteLine(context.Context, string, []byte) error { return os.ErrClosed }

func (p *deadProcess) Stdin() io.WriteCloser { return noInput{} }
func (p *deadProcess) Stdout() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }
func (p *deadProcess) Stderr() io.ReadCloser { return nil }
func (p *deadProcess) PID() int              { return 0 }
func (p *deadProcess) Terminate() error      { p.end(); return nil }
func (p *deadProcess) Kill() error           { p.end(); return nil }

// Wait waits for the last line.
func (p *deadProcess) Wait() (spawn.ExitStatus, error) {
	<-p.ended
	if p.d.Exit != nil {
		return p.d.Exit.ExitStatus, nil
	}
	return spawn.ExitStatus{Code: -1, Signal: "SIGKILL"}, nil
}

// noInput is the input of a process that has exited.
type noInput struct{}

func (noInput) Write([]byte) (int, error) { return 0, os.ErrClosed }
func (noInput) Close() error              { return nil }

package fakecli

import (
	"context"
	"io"
	"sync"

	"github.com/seed7221b0f9/parley/spawn"
)

// InProcess returns a [spawn.Spawner] that runs the program inside this process with
// in-memory pipes: &claude.Options{Spawner: InProcess(program)}. Use it for tests in a
// testing/synctest bubble and for many sessions at once; signals, descriptors and the
// faults that need them require [Options].
//
// Terminate and Kill close the program's input and output. The process ends when the
// program returns, so a program that uses neither continues.
func InProcess(program Program) spawn.Spawner {
	return spawn.Func(func(_ context.Context, cmd spawn.Command) (spawn.Process, error) {
		p := &memoryProcess{done: make(chan struct{})}
		p.inR, p.inW = io.Pipe()
		p.outR, p.outW = io.Pipe()
		p.errR, p.errW = io.Pipe()
		go func() {
			cli := newCLI(cmd.Args, cmd.Env, p.inR, p.outW, p.errW)
			cli.Dir = cmd.Dir
			p.code = program(cli)
			p.hangUp()
			cli.wait()
			close(p.done)
		}()
		return p, nil
	})
}

// memoryProcess is a program in a goroutine.
type memoryProcess struct {
	inR  *io.PipeReader
	inW  *io.PipeWriter
	outR *io.PipeReader
	outW *io.PipeWriter
	errR *io.PipeReader
	errW *io.PipeWriter

	code int
	done chan struct{}

	mu     sync.Mutex
	signal string
}

func (p *memoryProcess) Stdin() io.WriteCloser { return p.inW }

func (p *memoryProcess) Stdout() io.ReadCloser { return p.outR }

func (p *memoryProcess) Stderr() io.ReadCloser { return p.errR }

func (p *memoryProcess) PID() int { return 0 }

func (p *memoryProcess) Terminate() error { return p.end("SIGTERM") }

func (p *memoryProcess) Kill() error { return p.end("SIGKILL") }

func (p *memoryProcess) Wait() (spawn.ExitStatus, error) {
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.signal != "" {
		return spawn.ExitStatus{Code: -1, Signal: p.signal}, nil
	}
	return spawn.ExitStatus{Code: p.code}, nil
}

func (p *memoryProcess) end(signal string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
	default:
		p.signal = signal
		p.hangUp()
	}
	return nil
}

// hangUp closes the program's ends of the pipes.
func (p *memoryProcess) hangUp() {
	p.inR.Close()
	p.outW.Close()
	p.errW.Close()
}

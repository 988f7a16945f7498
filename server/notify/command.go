package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/spawn"
	"github.com/seed7221b0f9/parley/webhook"
)

// CommandTimeout is the time limit of a command that is run for an event.
const CommandTimeout = 30 * time.Second

// maxOutput is the number of bytes of a command's output in the error.
const maxOutput = 4 << 10

// Command runs a program with an event as JSON on its standard input. Its environment is env and two
// variables, PARLEY_EVENT and PARLEY_SESSION. Any status but 0 is an error. Processes that it has started
// end with it. The spawner runs the program; nil runs it on this machine without a supervisor.
func Command(ctx context.Context, program string, spawner spawn.Spawner, env []string, ev webhook.Event) error {
	body, err := json.Marshal(ev)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, CommandTimeout)
	defer cancel()
	if path, err := exec.LookPath(program); err == nil {
		program = path
	}
	out := &head{}
	env = append(append([]string{}, env...), "PARLEY_EVENT="+ev.Type, "PARLEY_SESSION="+ev.SessionID)
	p, err := proc.Start(ctx, spawn.Command{Path: program, Env: env}, proc.Options{
		Spawner: spawner, OnStderr: func(line string) { _, _ = io.WriteString(out, line+"\n") },
	})
	if err != nil {
		return fmt.Errorf("notify: the command: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = p.Kill() })
	go func() {
		_, _ = p.Stdin().Write(append(body, '\n')) // a command need not read it
		_ = p.Stdin().Close()
	}()
	_, _ = io.Copy(out, p.Stdout())
	<-p.Done()
	err = p.Close()
	switch status := p.Exit(); {
	case !stop():
		err = ctx.Err()
	case err == nil && status.Err != nil:
		err = status.Err
	case err == nil && status.ExitStatus != (spawn.ExitStatus{}):
		err = errors.New(status.String())
	}
	if err != nil {
		return fmt.Errorf("notify: the command: %w: %s", err, strings.TrimSpace(out.String()))
	}
	return nil
}

// head keeps the beginning of the data written by the readers of both streams.
type head struct {
	mu   sync.Mutex
	data []byte
}

// Write keeps the bytes that fit and discards the rest.
func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.data = append(h.data, p[:min(len(p), maxOutput-len(h.data))]...)
	return len(p), nil
}

func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.data)
}

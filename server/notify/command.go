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

// CommandTimeout is how long a command that is run for an event may take before it is ended.
const CommandTimeout = 30 * time.Second

// maxOutput is how much of a command's output is kept for the error.
const maxOutput = 4 << 10

// Command runs a program with an event as JSON on its standard input. Its environment is env
// and two variables, PARLEY_EVENT and PARLEY_SESSION. An error is everything but status 0. What it
// has started ends with it, below a supervisor where one is named.
func Command(ctx context.Context, program, supervisor string, env []string, ev webhook.Event) error {
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
		Local: proc.LocalOptions{Supervisor: supervisor}, OnStderr: func(line string) { _, _ = io.WriteString(out, line+"\n") },
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

// head keeps the beginning of what is written to it, by the readers of both streams.
type head struct {
	mu   sync.Mutex
	data []byte
}

// Write keeps what fits and takes the rest.
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

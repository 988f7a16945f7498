package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/webhook"
)

// CommandTimeout is how long a command that is run for an event may take before it is ended.
const CommandTimeout = 30 * time.Second

// maxOutput is how much of a command's output is kept for the error.
const maxOutput = 4 << 10

// Command runs a program with an event as JSON on its standard input. Its environment is env
// and two variables, PARLEY_EVENT and PARLEY_SESSION. An error is everything but status 0.
func Command(ctx context.Context, program string, env []string, ev webhook.Event) error {
	body, err := json.Marshal(ev)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, CommandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(append([]string{}, env...), "PARLEY_EVENT="+ev.Type, "PARLEY_SESSION="+ev.SessionID)
	cmd.Stdin, cmd.WaitDelay = bytes.NewReader(append(body, '\n')), time.Second
	out := &head{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("notify: the command: %w: %s", err, strings.TrimSpace(string(out.data)))
	}
	return nil
}

// head keeps the beginning of what is written to it. The command's pipes share it in one
// goroutine, because they are the same writer.
type head struct{ data []byte }

// Write keeps what fits and takes the rest.
func (h *head) Write(p []byte) (int, error) {
	h.data = append(h.data, p[:min(len(p), maxOutput-len(h.data))]...)
	return len(p), nil
}

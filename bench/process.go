package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"time"
)

// waitDelay is the time that a killed process may keep its output open.
const waitDelay = 5 * time.Second

// measureIn runs one measurement in a separate process and decodes the object that it prints. When
// ctx ends, the process and its group are killed; the firehoses that it has started exit at the end
// of their input.
func (b *bench) measureIn(ctx context.Context, argv, env []string, out any) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = env, b.path("work")
	ownGroup(cmd)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", argv[0], err, stderr.String())
	}
	if stderr.Len() > 0 {
		b.logf("%s", bytes.TrimSpace(stderr.Bytes()))
	}
	if err := json.Unmarshal(stdout.Bytes(), out); err != nil {
		return fmt.Errorf("what %s printed: %w", argv[0], err)
	}
	return nil
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// measured holds the cost of a command.
type measured struct {
	Seconds float64 // from its start to its exit
	CPU     float64 // user and system, in seconds
	Peak    int64   // peak resident memory in bytes
}

// measuredCommand is the subcommand that runs a command and measures it.
const measuredCommand = "measured"

// runMeasured implements the subcommand measured: it runs another command and writes its cost to a
// file. A process starts with the peak memory of its parent: the bench uses hundreds of megabytes,
// this process only a few.
func runMeasured(args []string) error {
	if len(args) < 2 {
		return errors.New("measured: a file and a command are wanted")
	}
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		return err
	}
	m := measured{Seconds: time.Since(begin).Seconds(), CPU: cpuOf(cmd).Seconds(), Peak: peakMemory(cmd)}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return os.WriteFile(args[0], text, 0o600)
}

// timeIn runs a command like measureIn, in a small intermediate process, and returns its cost.
func (b *bench) timeIn(ctx context.Context, argv, env []string, out any) (m measured, err error) {
	self, err := os.Executable()
	if err != nil {
		return m, err
	}
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return m, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "measured.json")
	cmd := exec.CommandContext(ctx, self, append([]string{measuredCommand, file}, argv...)...)
	cmd.Env, cmd.Dir = env, b.path("work")
	ownGroup(cmd)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return m, fmt.Errorf("%s: %w\n%s", argv[0], err, stderr.String())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, err
	}
	if err := json.Unmarshal(stdout.Bytes(), out); err != nil {
		return m, fmt.Errorf("what %s printed: %w", argv[0], err)
	}
	return m, nil
}

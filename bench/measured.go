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

// measured is what a command took.
type measured struct {
	Seconds float64 // from its start to its exit
	CPU     float64 // user and system, in seconds
	Peak    int64   // bytes that were resident at the most
}

// measuredCommand is the name under which the bench runs a command and measures it.
const measuredCommand = "measured"

// runMeasured is the command measured: it runs another one and writes what that took to a
// file. A process begins with the peak memory of the one that started it: the bench
// holds hundreds of megabytes, this one a few.
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

// timeIn runs a command as measureIn does, in a small process between, and says what it
// took.
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

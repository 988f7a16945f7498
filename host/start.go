package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/internal/filelock"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/internal/supervise"
	"github.com/seed7221b0f9/parley/internal/usersocket"
)

// Name is the name, the zeroth argument, under which an executable that calls [Enter] becomes a host.
const Name = "parley-host"

// startTime limits the start of a host, startPoll is the interval of checks.
const (
	startTime = 30 * time.Second
	startPoll = 5 * time.Millisecond
)

// Start ensures that a host runs for a data directory: it returns at once if there is one, and otherwise starts one in a new
// session, without this process's descriptors and with a minimal environment. executable is a program that calls [Enter], such as
// the parley command; empty means this one. Start returns when the host answers.
func Start(ctx context.Context, dataDir, executable string, o Options) error {
	if runtime.GOOS == "windows" {
		return errors.ErrUnsupported
	}
	if ask(ctx, dataDir) == nil {
		return nil
	}
	if executable == "" {
		program, err := Program()
		if err != nil {
			return err
		}
		executable = program
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	ended, err := launch(dataDir, executable, o)
	if err != nil {
		return err
	}
	tick := time.NewTicker(startPoll)
	defer tick.Stop()
	for {
		err := ask(ctx, dataDir)
		if err == nil {
			return nil
		}
		select {
		case exitErr := <-ended:
			if ask(ctx, dataDir) == nil { // another process has started it
				return nil
			}
			return fmt.Errorf("the host has ended: %w: %w", exitErr, lastError(dataDir))
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-tick.C:
		}
	}
}

// successorPoll is the interval at which awaitEnd asks for the host's id.
const successorPoll = 20 * startPoll

// awaitEnd waits until a host has ended. A host holds the lock of its folder until its end; if the
// holder has another id, it is the next host.
func awaitEnd(ctx context.Context, dir, id string) error {
	tick, ask := time.NewTicker(startPoll), time.NewTicker(successorPoll)
	defer tick.Stop()
	defer ask.Stop()
	for {
		lock, err := filelock.TryLock(filepath.Join(dir, lockName))
		switch {
		case err == nil:
			return lock.Unlock()
		case errors.Is(err, fs.ErrNotExist):
			return nil // so is its folder
		case !errors.Is(err, filelock.ErrLocked):
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		case <-ask.C:
			if l, err := dial(ctx, dir, 0); err == nil {
				next := l.Host().ID
				l.Close()
				if next != id {
					return nil
				}
			}
		}
	}
}

// Program returns the path of this program, from which a host can be started even after the file
// was replaced. It returns an error if the program does not call [Enter].
func Program() (string, error) {
	switch {
	case !canEnter:
		return "", fmt.Errorf("%w: this program does not call host.Enter", errors.ErrUnsupported)
	case supervise.Self() != "":
		return supervise.Self(), nil
	}
	return os.Executable()
}

// ask reports whether a host answers.
func ask(ctx context.Context, dataDir string) error {
	l, err := Dial(ctx, dataDir, 0)
	if err != nil {
		return err
	}
	return l.Close()
}

// launch starts the detached process of a host. The channel reports its end.
func launch(dataDir, executable string, o Options) (<-chan error, error) {
	dataDir, err := filepath.Abs(dataDir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dataDir, folder), 0o700); err != nil {
		return nil, err
	}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	out, err := os.OpenFile(LogFile(dataDir), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := &exec.Cmd{Path: executable, Args: []string{Name, dataDir, string(text)}, Env: environment(), Dir: "/", Stdout: out, Stderr: out}
	proc.Detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(errors.New(Name), cmd.Wait()) }() // it may end before this process
	return ended, nil
}

// environment returns the environment of the host, which has no secrets. Agents have the environment of their command.
func environment() []string {
	env := []string{"GOGC=50"}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains([]string{"PATH", "HOME", "TMPDIR", usersocket.RuntimeVariable, "LANG", "GOCOVERDIR", "GORACE"}, name) {
			env = append(env, kv)
		}
	}
	return env
}

// LogFile returns the log file of the host of a data directory. It stays below 2 MiB.
func LogFile(dataDir string) string { return filepath.Join(dataDir, folder, logName) }

// lastError returns the reason why a host has ended: the last line of its log, or the error of
// writing a file next to the log, because the log of a host with a full disk is incomplete.
func lastError(dataDir string) error {
	probe := LogFile(dataDir) + ".probe"
	defer os.Remove(probe)
	if err := os.WriteFile(probe, []byte{'\n'}, 0o600); err != nil {
		return err
	}
	text, err := os.ReadFile(LogFile(dataDir))
	if err != nil {
		return err
	}
	text = bytes.TrimSpace(text)
	return errors.New(string(text[bytes.LastIndexByte(text, '\n')+1:]))
}

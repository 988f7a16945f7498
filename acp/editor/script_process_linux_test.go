package editor_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process identifies a process by its id and its start time, because ids are reused.
type process struct {
	pid   int
	start string
}

// descendants returns all descendants of an agent's process.
func descendants(pid int) (list []process) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is well-formed
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(text)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				continue
			}
			if start := startTime(child); start != "" {
				list = append(list, process{child, start})
			}
			list = append(list, descendants(child)...)
		}
	}
	return list
}

// startTime returns the start time of a process, which distinguishes processes with the same id. It is empty if the
// process does not exist or is a zombie.
func startTime(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, rest, ok := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 20 || fields[0] == "Z" {
		return ""
	}
	return fields[19]
}

// awaitExits waits until processes have ended.
func awaitExits(ctx context.Context, list []process) error {
	ctx, cancel := context.WithTimeout(ctx, stepWait)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		left := 0
		for _, p := range list {
			if startTime(p.pid) == p.start {
				left = p.pid
			}
		}
		if left == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", left)) // for the message
			return fmt.Errorf("the process %d is left: %s", left, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
}

// kill kills an agent, as the system does when it runs out of memory, and starts another.
func (r *Run) kill(ctx context.Context) error {
	list := descendants(r.cmd.Process.Pid)
	if len(list) == 0 {
		return errors.New("the agent has no child")
	}
	if err := r.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	if err := awaitExits(ctx, list); err != nil {
		return err
	}
	<-r.exited
	r.answer.Wait()
	r.add("restart", mustJSON(map[string]any{}))
	return r.start()
}

// killChildren kills the agent's own children.
func (r *Run) killChildren() error {
	list := descendants(r.cmd.Process.Pid)
	for _, p := range list {
		if err := syscall.Kill(p.pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	if len(list) == 0 {
		return errors.New("the agent has no child")
	}
	return nil
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/supervise"
)

// kill kills the agent during a turn: the turn ends, and the next prompt gets an agent that
// remembers the conversation.
func (s *matrixSession) kill(ctx context.Context) (string, error) {
	if _, err := s.answered(ctx); err != nil {
		return "", err
	}
	turn, err := s.wait(ctx)
	if err != nil {
		return "", err
	}
	if s.agent.byMinute {
		if err := s.later(ctx); err != nil {
			return "", err
		}
	}
	if err := killAgent(s.server, s.agent.program); err != nil {
		return "", err
	}
	if err := s.until(ctx, "the end of the turn", func(c *event.Conversation) bool { return done(c, turn) }); err != nil {
		return "", err
	}
	name, err := s.answered(ctx)
	if err != nil {
		return "", err
	}
	return cellWorks, s.remembers(name)
}

// later waits until the minute has changed since the session began.
func (s *matrixSession) later(ctx context.Context) error {
	timer := time.NewTimer(time.Until(s.began.Truncate(time.Minute).Add(time.Minute)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// killAgent kills the processes of an agent: the descendants of the server with a word in their
// command lines, except for supervisors, which run the server's program. Some agents restart
// themselves, so killAgent kills the newest process first.
func killAgent(server *exec.Cmd, word string) error {
	table := supervise.Table()
	below := map[int]bool{server.Process.Pid: true}
	for grew := true; grew; {
		grew = false
		for _, p := range table {
			if !below[p.PID] && below[p.Parent] {
				below[p.PID], grew = true, true
			}
		}
	}
	own, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", server.Process.Pid))
	if err != nil {
		return err
	}
	slices.SortFunc(table, func(a, b supervise.Process) int { return b.PID - a.PID })
	killed := false
	var seen []string
	for _, p := range table {
		if !below[p.PID] {
			continue
		}
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.PID)) // the process may have ended
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
		seen = append(seen, string(bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
		if exe != own && bytes.Contains(line, []byte(word)) {
			killed = syscall.Kill(p.PID, syscall.SIGKILL) == nil || killed
		}
	}
	if killed {
		return nil
	}
	return fmt.Errorf("no process of the agent has %q in its command line: %q", word, seen)
}

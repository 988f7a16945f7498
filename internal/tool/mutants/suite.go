package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// suite is a program that runs tests by name: a test binary of Go, or vitest.
type suite struct {
	dir  string
	args func(tests []string, limit time.Duration) []string
}

// test is one test, with the sampled mutants whose code it reaches.
type test struct {
	suite *suite
	name  string
	took  time.Duration
	hits  map[int]bool
}

// goSuite returns a test binary that was built for the package of a directory.
func goSuite(bin, dir string, short bool) *suite {
	return &suite{dir: dir, args: func(tests []string, limit time.Duration) []string {
		return []string{bin, "-test.run", "^(" + strings.Join(tests, "|") + ")$", "-test.failfast", "-test.short=" + strconv.FormatBool(short), "-test.timeout", limit.String()}
	}}
}

// names lists the tests of a test binary.
func (s *suite) names(ctx context.Context, bin string) ([]string, error) {
	cmd := exec.CommandContext(ctx, bin, "-test.list", ".")
	cmd.Dir = s.dir
	out, err := cmd.Output()
	var names []string
	for name := range strings.SplitSeq(string(out), "\n") {
		if strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Example") || strings.HasPrefix(name, "Fuzz") {
			names = append(names, name)
		}
	}
	return names, err
}

// run runs tests with or without a change. All of their processes have ended when it returns.
func (s *suite) run(ctx context.Context, tmp string, tests []string, limit time.Duration, env ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit+2*time.Second)
	defer cancel()
	args := s.args(tests, limit)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = s.dir
	cmd.Env = append(append(os.Environ(), "TMPDIR="+tmp, "PARLEY_QUICK=0"), env...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	ownGroup(cmd)
	cmd.WaitDelay = 2 * time.Second
	err := cmd.Run()
	if cmd.Process != nil {
		_ = cmd.Cancel() // processes that a bug has left running
	}
	if errors.Is(err, exec.ErrWaitDelay) { // it passed, but left a process running
		err = nil
	}
	return output.String(), err
}

// trace runs a test without a change and records which changes it reaches. It reports whether the test
// passes.
func (s *suite) trace(ctx context.Context, tmp, name string, limit time.Duration) (*test, bool) {
	file := filepath.Join(tmp, "trace")
	defer os.Remove(file)
	started := time.Now()
	_, err := s.run(ctx, tmp, []string{name}, limit, "PARLEY_MUTANT_TRACE="+file)
	if err != nil {
		return nil, false
	}
	t := &test{suite: s, name: name, took: time.Since(started), hits: map[int]bool{}}
	text, _ := os.ReadFile(file) // missing if no change was reached
	for line := range strings.SplitSeq(string(text), "\n") {
		if id, err := strconv.Atoi(line); err == nil {
			t.hits[id] = true
		}
	}
	return t, true
}

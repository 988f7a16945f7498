package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// outcome is the outcome of a bug.
type outcome string

const (
	caught     outcome = "caught"
	survived   outcome = "SURVIVED"
	stale      outcome = "STALE"   // its place is not found exactly once
	broken     outcome = "BROKEN"  // it does not build
	unsound    outcome = "UNSOUND" // its test fails without it, or does not exist
	equivalent outcome = "equivalent"
)

// job is one run of the command.
type job struct {
	root    string
	copy    string // of the checkout
	only    *regexp.Regexp
	limit   time.Duration
	verbose bool
	out     io.Writer

	sound map[string]string // by package and test: "" if the test passes without a bug, otherwise the reason
}

// plant plants a bug, runs its test, and removes the bug.
func (j *job) plant(ctx context.Context, m mutant) (outcome, string) {
	path := filepath.Join(j.copy, filepath.FromSlash(m.File))
	text, err := os.ReadFile(path)
	if err != nil {
		return stale, err.Error()
	}
	if n := strings.Count(string(text), m.Old); n != 1 {
		return stale, fmt.Sprintf("what is to be changed stands there %d times", n)
	}
	if m.Equivalent != "" {
		return equivalent, m.Equivalent
	}
	if why := j.baseline(ctx, m); why != "" {
		return unsound, why
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), m.Old, m.New, 1)), 0o600); err != nil {
		return broken, err.Error()
	}
	output, err := j.test(ctx, m, j.limit)
	if werr := os.WriteFile(path, text, 0o600); werr != nil {
		return broken, werr.Error()
	}
	return j.judge(output, err)
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// judge derives the outcome from the output of the test.
func (j *job) judge(output string, err error) (outcome, string) {
	switch {
	case strings.Contains(output, "[build failed]") || strings.Contains(output, "[setup failed]"):
		return broken, firstLines(output, 6)
	case err == nil:
		return survived, ""
	case errors.Is(err, context.DeadlineExceeded):
		return caught, "(not over in time)"
	}
	if names := failed.FindAllStringSubmatch(output, -1); j.verbose && names != nil {
		var list []string
		for _, n := range names {
			list = append(list, n[1])
		}
		return caught, "by " + strings.Join(list, " ")
	}
	return caught, ""
}

// baseline returns the reason why the test of a bug is invalid, or "". It runs each test
// once.
func (j *job) baseline(ctx context.Context, m mutant) string {
	key := m.Package + " " + m.Run
	if why, known := j.sound[key]; known {
		return why
	}
	output, err := j.test(ctx, m, j.limit+buildLimit)
	why := ""
	switch {
	case err != nil:
		why = "the test fails without the bug: " + firstLines(output, 6)
	case strings.Contains(output, "no tests to run"):
		why = "there is no test " + m.Run + " in " + m.Package
	}
	if j.sound == nil {
		j.sound = map[string]string{}
	}
	j.sound[key] = why
	return why
}

// buildLimit is the additional time limit of a test without a bug, which compiles its package and
// all dependencies.
const buildLimit = 10 * time.Minute

// test runs the test of a bug in the copy, for at most limit. All of its processes have ended when it returns.
func (j *job) test(ctx context.Context, m mutant, limit time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-buildvcs=false", "-vet=off", "-count=1", "-run", m.Run, "-timeout", j.limit.String(), m.Package)
	if strings.HasPrefix(m.File, "web/") {
		cmd = exec.CommandContext(ctx, "sh", "-c", `scripts/generate-web --install && cd web && node node_modules/vitest/vitest.mjs run --testNamePattern "$1" "$2"`, "vitest", m.Run, m.Package)
	}
	cmd.Dir = j.copy
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	ownGroup(cmd)
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return output.String(), err
}

func firstLines(text string, n int) string {
	lines := strings.SplitN(strings.TrimSpace(text), "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "\n    ")
}

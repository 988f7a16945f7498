package proc

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/spawn"
)

var versionPattern = regexp.MustCompile(`^\d+\.\d+\.\d+`)

// ParseVersion returns the version that the output of `claude -v` begins with, such as "2.1.325", and whether
// it has one.
func ParseVersion(output string) (string, bool) {
	v := versionPattern.FindString(strings.TrimSpace(output))
	return v, v != ""
}

// Older reports whether version v comes before version min. Both are numbers separated by dots; only the
// first three count. It returns false if one of them is not a version.
func Older(v, min string) bool {
	a, okA := numbers(v)
	b, okB := numbers(min)
	if !okA || !okB {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

func numbers(version string) (n [3]int, ok bool) {
	v, ok := ParseVersion(version)
	if !ok {
		return n, false
	}
	for i, part := range strings.Split(v, ".") {
		var err error
		if n[i], err = strconv.Atoi(part); err != nil {
			return n, false
		}
	}
	return n, true
}

// Version runs `path -v` on this machine and returns the version that it prints. The program is killed when
// ctx ends; without a deadline in ctx a program that hangs blocks Version.
func Version(ctx context.Context, path string, env []string) (string, error) {
	const maxOutput = 4 << 10
	grace := 100 * time.Millisecond
	s, err := Start(ctx, spawn.Command{Path: path, Args: []string{"-v"}, Env: env}, Options{CloseGrace: grace, TermGrace: grace})
	if err != nil {
		return "", err
	}
	killed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(killed)
		_ = s.Kill()
	})
	_ = s.Stdin().Close()
	output, _ := io.ReadAll(io.LimitReader(s.Stdout(), maxOutput))
	closeErr := s.Close()
	if !stop() {
		<-killed
		return "", context.Cause(ctx)
	}
	if v, ok := ParseVersion(string(output)); ok {
		return v, nil
	}
	if closeErr != nil {
		return "", closeErr
	}
	return "", fmt.Errorf("%s -v printed no version: %q (%v, stderr %q)", path, output, s.Exit().ExitStatus, s.Exit().Stderr)
}

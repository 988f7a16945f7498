package box

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/spawn"
)

// initArgument is the argument with which a program that calls Enter becomes the first process of a
// box.
const initArgument = "parley-box-init"

// probeTime is the time limit of a probe, which takes milliseconds.
const probeTime = 30 * time.Second

// ErrUnavailable is returned on a system that does not support boxes. No process was started.
var ErrUnavailable = errors.New("boxes are not available")

// ErrRefused is returned for a command that a box cannot run or would not confine. No process was
// started.
var ErrRefused = errors.New("the box is refused")

// Find returns the path of bwrap in the directories of path, the value of PATH.
func Find(path string) (string, error) {
	if runtime.GOOS != "linux" {
		return "", fmt.Errorf("%w: bubblewrap needs Linux", ErrUnavailable)
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, "bwrap")
		if info, err := os.Stat(file); err == nil && filepath.IsAbs(dir) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("%w: bwrap is not in PATH; install your system's package bubblewrap", ErrUnavailable)
}

// Probe creates a box that ends at once, and returns the reason if that fails. The error matches
// ErrUnavailable.
func Probe(ctx context.Context, program, init string, n Network) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	args := append(namespaces(n), "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--", init, initArgument)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = []string{}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		said := strings.TrimSpace(out.String())
		return fmt.Errorf("%w: %s (%s: %s: %w)", ErrUnavailable, remedy(said), program, said, err)
	}
	return nil
}

// remedy explains the messages that bwrap prints when the system refuses a box.
func remedy(said string) string {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(strings.ToLower(said), p) })
	}
	switch {
	case has("no permissions to create", "uid map: permission denied", "creating new namespace failed: operation not permitted"):
		return "the system refuses user namespaces; allow them (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0 or an AppArmor profile for bwrap; in a container, its seccomp profile)"
	case has("nesting depth", "max_*_namespaces", "no space left"):
		return "the system allows no more user namespaces; raise sysctl user.max_user_namespaces"
	case has("loopback: failed"):
		return "the system refuses a network of the box; allow user namespaces with all their rights (kernel.apparmor_restrict_unprivileged_userns=0)"
	case has("proc on /newroot", "mount proc"):
		return "the system refuses a new /proc, as containers do; run the container without masked paths"
	case has("unknown option"):
		return "bubblewrap is too old; version 0.5 or newer is needed"
	}
	return "bubblewrap cannot make a box"
}

// Spawner returns a spawner that starts commands with next, each in a box. It tests a box before the first command
// and starts no command if that fails.
func (b *Box) Spawner(next spawn.Spawner) spawn.Spawner { return &spawner{box: b, next: next} }

type spawner struct {
	box  *Box
	next spawn.Spawner

	mu    sync.Mutex
	tried bool
}

// Local reports whether next runs processes on this machine: the files in a box have the same paths
// outside.
func (s *spawner) Local() bool {
	l, ok := s.next.(spawn.Locality)
	return ok && l.Local()
}

// Spawn starts a command in the box.
func (s *spawner) Spawn(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	boxed, err := s.box.Command(cmd)
	if err != nil {
		return nil, err
	}
	if err := s.try(ctx); err != nil {
		return nil, err
	}
	return s.next.Spawn(ctx, boxed)
}

func (s *spawner) try(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tried {
		return nil
	}
	err := Probe(ctx, s.box.Program, s.box.Init, s.box.Network)
	s.tried = err == nil
	return err
}

// inspect checks a command for the box, and returns it with the resolved path of its program.
func (b *Box) inspect(cmd spawn.Command) (spawn.Command, error) {
	if cmd.User != "" {
		return cmd, fmt.Errorf("%w: a command for another user cannot run in a box", ErrRefused)
	}
	var err error
	if cmd.Path, err = filepath.Abs(cmd.Path); err == nil {
		cmd.Path, err = filepath.EvalSymlinks(cmd.Path)
	}
	if err != nil {
		return cmd, fmt.Errorf("%w: the program: %w", ErrRefused, err)
	}
	if cmd.Dir == "" {
		return cmd, fmt.Errorf("%w: the command has no working directory", ErrRefused)
	}
	if err := b.check(cmd.Dir); err != nil {
		return cmd, err
	}
	for _, path := range slices.Concat([]string{cmd.Dir}, b.Write, b.Read, b.Logins) {
		if real, err := filepath.EvalSymlinks(path); err != nil || real != path {
			return cmd, errors.Join(fmt.Errorf("%w: %s does not exist or is reached through a symbolic link", ErrRefused, path), err)
		}
	}
	return cmd, nil
}

// Command returns the command that runs cmd in the box. Secrets stay in the environment.
func (b *Box) Command(cmd spawn.Command) (spawn.Command, error) {
	cmd, err := b.inspect(cmd)
	if err != nil {
		return cmd, err
	}
	shown := *b
	seen := sight{links: map[string]string{}, files: map[string]bool{}}
	shown.Hide = slices.DeleteFunc(slices.Clone(b.Hide), func(path string) bool {
		info, err := os.Lstat(path)
		seen.files[path] = err == nil && !info.IsDir()
		return err != nil
	})
	for _, path := range kernelHidden {
		_, err := os.Lstat(path)
		seen.files[path] = err == nil
	}
	for _, path := range system {
		if target, err := os.Readlink(path); err == nil && !strings.HasPrefix(path, "/etc/") {
			seen.links[path] = target
		}
	}
	return shown.command(cmd, seen), nil
}

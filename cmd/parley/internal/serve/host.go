package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/server"
	"github.com/seed7221b0f9/parley/server/cluster"
	"github.com/seed7221b0f9/parley/server/session"
)

// stopTime limits the time for ending the host and its agents when a user stops the server.
const stopTime = 30 * time.Second

// idleTime is the time after which a host ends that has neither a server nor agents.
const idleTime = 10 * time.Second

// checkHost returns an error for settings that do not work with a host.
func (f *Settings) checkHost() error {
	switch {
	case f.host && f.noHost:
		return term.Usagef("--host and --no-host are both set")
	case f.host && runtime.GOOS == "windows":
		return term.Usagef("--host is not available on Windows")
	}
	return nil
}

// hosted reports whether agents run under a host and so survive the server, and the reason.
func (f *Settings) hosted() (hosted bool, why string) {
	return f.hostedOn(runtime.GOOS, noInit(os.Getpid(), "/proc"))
}

// hostedOn is hosted for an operating system. noInit is the reason why agents cannot survive the
// server there, or "".
func (f *Settings) hostedOn(system, noInit string) (hosted bool, why string) {
	switch {
	case f.noHost:
		return false, "--no-host is set"
	case f.host:
		return true, "--host is set"
	case system == "windows":
		return false, "it is not available on Windows"
	case noInit != "":
		return false, noInit
	}
	return true, "it is the default"
}

// inits are the names of programs that can be process 1 of a system or a container, because they
// wait for orphaned processes.
var inits = []string{"systemd", "init", "launchd", "tini", "docker-init", "podman-init", "catatonit", "dumb-init", "s6-svscan", "runit"}

// noInit returns the reason why agents may not outlive the server, or an empty text. A container ends with its first process, and a
// first process that is not an init does not wait for orphaned processes.
func noInit(pid int, procDir string) (why string) {
	if pid == 1 {
		return "the server is the first process of its container"
	}
	name, err := os.ReadFile(filepath.Join(procDir, "1", "comm"))
	if err != nil || slices.Contains(inits, strings.TrimSpace(string(name))) {
		return ""
	}
	return fmt.Sprintf("the first process of the container, %q, is not an init", strings.TrimSpace(string(name)))
}

// openHost opens the host, if agents run under one. The caller must call end after the server has
// ended, with its error. end stops the agents and the host, unless the server leaves them to the
// next server or could not start, and prints which of the two applies.
func (f *Settings) openHost(ctx context.Context, out io.Writer, peers *cluster.Cluster, logger *slog.Logger) (h *session.Host, end func(failed error) error, err error) {
	if hosted, _ := f.hosted(); !hosted {
		return nil, func(error) error { return nil }, f.endLeft(ctx, logger)
	}
	leases, err := f.hostLeases(ctx, peers)
	if err != nil {
		return nil, nil, err
	}
	if h, err = session.OpenHost(ctx, f.Data, session.HostOptions{Options: host.Options{OrphanTimeout: f.orphanTimeout, IdleTimeout: idleTime}, KeepChildren: f.keep, Leases: leases}, logger); err != nil {
		return nil, nil, fmt.Errorf("the host of the agents: %w", err)
	}
	return h, func(failed error) error {
		if failed != nil && ctx.Err() == nil || errors.Is(context.Cause(ctx), server.ErrLeave) {
			if failed == nil && h.Used() {
				fmt.Fprintln(out, "The agents run on, for the next server. parley host list shows them, parley host stop ends them.")
			}
			return h.Close()
		}
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if err := h.Stop(bound); err != nil {
			return err
		}
		if h.Used() {
			fmt.Fprintln(out, "The agents and their host have ended.")
		}
		return nil
	}, nil
}

// endLeft ends the host of an earlier server and its agents, for a server that does not adopt them.
func (f *Settings) endLeft(ctx context.Context, logger *slog.Logger) error {
	l, err := host.Dial(ctx, f.Data, 0)
	if errors.Is(err, host.ErrNotRunning) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return err
	}
	defer l.Close()
	logger.Warn("ending the agents that an earlier server has left in a host", "pid", l.Host().PID)
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	return l.Stop(ctx)
}

package server

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/spawn/box"
)

// reach reports the files and hosts that the agent of a session can currently read, write and reach.
func reach(s *Server, ctx context.Context, _ *caller, p api.SessionRef) (api.IsolationResult, error) {
	a, err := s.sessions.Agent(ctx, p.SessionID)
	if err != nil {
		return api.IsolationResult{}, err
	}
	defer a.Release()
	_, proxied := a.Provider.(agent.KeyProxied)
	f := &findings{serverData: s.opts.Dir, proxied: s.keys != nil && proxied, mode: a.Mode, dirs: a.Dirs}
	if r, ok := a.Session.(agent.Reacher); ok {
		bound, cancel := context.WithTimeout(ctx, s.opts.CallTimeout)
		defer cancel()
		f.reach, f.reachErr = r.Reach(bound)
	}
	f.look(a.Env, s.opts.APIKey)
	if f.box = a.Box; f.box != nil {
		f.hosts = s.opts.Boxes.Allow
		f.boxErr = s.tryBox(ctx, f, a)
	}
	return f.report(), nil
}

// look performs the checks that need the system.
func (f *findings) look(given []string, key string) {
	env := given
	if read, found, ok := inspect(f.reach.PID, key); ok {
		env, f.inspected, f.keySeen = unboxed(read), true, found
	}
	home := ""
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		f.variables = append(f.variables, name)
		if name == "HOME" {
			home = value
		}
	}
	for _, path := range contained(slices.Concat(f.dirs, []string{home, f.reach.ConfigDir, f.serverData})) {
		if canRead(path) {
			f.readable = append(f.readable, path)
		}
		if canWrite(path) {
			f.writable = append(f.writable, path)
		}
	}
	for _, path := range f.reach.Logins {
		if canRead(path) {
			f.logins = append(f.logins, path)
		}
	}
	f.interfaces = outside()
}

// unboxed returns the environment inside of a box for the environment of the process that makes the
// box; any other environment is returned unchanged.
func unboxed(env []string) []string {
	if inside := box.Unpacked(env); len(inside) > 0 {
		return inside
	}
	return env
}

// machineSockets are sockets that control a machine.
var machineSockets = []string{"/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock", "/run/dbus/system_bus_socket", "/run/containerd/containerd.sock"}

// tryBox replaces the findings with those from inside a box like the agent's.
func (s *Server) tryBox(ctx context.Context, f *findings, a *session.Agent) error {
	opts := &agent.Options{Dir: a.Dirs[0], AdditionalDirectories: a.Dirs[1:], Env: a.Env}
	b, err := s.boxOf(a.Provider, opts)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.CallTimeout)
	defer cancel()
	trial := box.Trial{Paths: contained(slices.Concat(f.readable, f.writable, f.logins, b.Hide, []string{"/etc/shadow", "/usr"})), Sockets: machineSockets}
	if f.tried, err = s.confine(b, "trial").Try(ctx, opts.Dir, opts.Env, trial); err != nil {
		return err
	}
	f.logins = slices.DeleteFunc(f.logins, func(path string) bool { return !slices.Contains(f.tried.Readable, path) })
	f.readable, f.writable, f.interfaces = without(f.tried.Readable, "/usr"), f.tried.Writable, f.tried.Interfaces
	return nil
}

func without(list []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == one })
}

// maxProcess limits the data that is read of a process.
const maxProcess = 4 << 20

// inspect reads the environment and the arguments of a process, if the system shows them, and
// searches both for the key.
func inspect(pid int, key string) (env []string, found, ok bool) {
	if pid <= 0 {
		return nil, false, false
	}
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil || len(environ) == 0 || len(environ) > maxProcess {
		return nil, false, false
	}
	args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return nil, false, false
	}
	for entry := range strings.SplitSeq(strings.TrimRight(string(environ), "\x00"), "\x00") {
		env = append(env, entry)
	}
	return env, key != "" && (bytes.Contains(environ, []byte(key)) || bytes.Contains(args, []byte(key))), true
}

// outside returns the interfaces that reach other machines.
func outside() []string {
	all, err := net.Interfaces()
	if err != nil {
		return []string{"unknown"}
	}
	var names []string
	for _, i := range all {
		addrs, err := i.Addrs()
		if i.Flags&net.FlagLoopback == 0 && i.Flags&net.FlagUp != 0 && (err != nil || len(addrs) > 0) {
			names = append(names, i.Name)
		}
	}
	return names
}

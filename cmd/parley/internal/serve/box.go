package serve

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/hostctl"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/internal/supervise"
	"github.com/seed7221b0f9/parley/server"
	"github.com/seed7221b0f9/parley/spawn/box"
)

// boxFlags are the settings of boxes.
type boxFlags struct {
	kind, network, image string
	caches, allow        []string
}

func (f *boxFlags) register(p *pflag.FlagSet) {
	p.StringVar(&f.kind, "sandbox", "none", "box for all agents: bwrap, docker, podman or none; with none, a session can request bwrap")
	p.StringVar(&f.image, "sandbox-image", "", "image of the containers of --sandbox docker and podman; it is not downloaded")
	p.StringVar(&f.network, "sandbox-network", "off", "network in a box: off, allow for the hosts of --sandbox-allow, or on; off and allow need an API key (--api-key-file)")
	p.StringArrayVar(&f.allow, "sandbox-allow", nil, "host that agents in a box can reach over TLS with --sandbox-network allow: HOST, HOST:PORT or *.HOST; repeatable")
	p.StringArrayVar(&f.caches, "sandbox-cache", nil, "directory that agents in a box can write; repeatable")
}

// check returns an error for unknown values.
func (f *boxFlags) check() error {
	if !slices.Contains([]string{server.BoxBwrap, server.BoxDocker, server.BoxPodman, server.BoxNone}, f.kind) {
		return term.Usagef("--sandbox %s: it is bwrap, docker, podman or none", f.kind)
	}
	if f.contained() != (f.image != "") {
		return term.Usagef("--sandbox-image and --sandbox docker or podman need each other")
	}
	n := box.Network(f.network)
	switch {
	case n.Check() != nil:
		return term.Usagef("--sandbox-network %s: it is off, allow or on", f.network)
	case n == box.NetworkAllow && len(f.allow) == 0:
		return term.Usagef("--sandbox-network allow needs --sandbox-allow HOST")
	case n != box.NetworkAllow && len(f.allow) > 0:
		return term.Usagef("--sandbox-allow needs --sandbox-network allow")
	}
	return nil
}

// contained reports whether boxes are containers.
func (f *boxFlags) contained() bool { return f.kind == server.BoxDocker || f.kind == server.BoxPodman }

// clientVariables are the variables of docker and podman.
var clientVariables = []string{"HOME", "PATH", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "CONTAINER_HOST", "CONTAINERS_CONF", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"}

// containers sets the options of containers, and ends containers that an earlier server has left
// without an agent.
func (f *Settings) containers(ctx context.Context, b *server.Boxes) error {
	for _, name := range clientVariables {
		if value, ok := os.LookupEnv(name); ok {
			b.Env = append(b.Env, name+"="+value)
		}
	}
	id, err := serverID(filepath.Join(f.Data, serverIDFile))
	if err != nil {
		return err
	}
	b.Kind, b.Image, b.Label = f.box.kind, f.box.image, id
	c := &box.Container{Box: box.Box{Program: b.Program}, Image: b.Image, Host: id, Env: b.Env}
	if err := c.Probe(ctx); err != nil {
		return err
	}
	running, err := hostctl.Ask(ctx, f.Data)
	if err != nil {
		return err
	}
	var keep []string
	for _, a := range running.Agents {
		if a.Exit == nil {
			keep = append(keep, a.Key)
		}
	}
	_, err = c.Sweep(ctx, keep...)
	return err
}

// boxes sets the options of boxes. If all agents run in boxes, it tries one.
func (f *Settings) boxes(ctx context.Context, opts *server.Options) error {
	always := f.box.kind != server.BoxNone
	if always && box.Network(f.box.network).Closed() && opts.APIKey == "" {
		return term.Usagef("--sandbox-network %s needs --api-key-file or %s: agents reach their model through the server; or set --sandbox-network on", f.box.network, keyVariable)
	}
	b := server.Boxes{Always: always, Network: box.Network(f.box.network), Allow: f.box.allow, Supervisor: supervise.Self()}
	if f.box.contained() {
		b.Program, b.Missing = exec.LookPath(f.box.kind)
	} else {
		b.Program, b.Missing = box.Find(os.Getenv("PATH"))
	}
	if b.Missing == nil {
		b.Init, b.Missing = os.Executable()
	}
	switch {
	case b.Missing != nil:
	case f.box.contained():
		b.Missing = f.containers(ctx, &b)
	case always:
		b.Missing = box.Probe(ctx, b.Program, b.Init, b.Network)
	}
	if always && b.Missing != nil {
		return b.Missing
	}
	var err, cacheErr error
	b.Hide, err = realPaths(f.Data, f.apiKeyFile, f.secretKeyFile)
	b.Caches, cacheErr = realPaths(f.box.caches...)
	opts.Boxes = b
	return errors.Join(err, cacheErr)
}

// realPaths returns the absolute paths without symbolic links, and skips empty ones.
func realPaths(paths ...string) ([]string, error) {
	var out []string
	for _, path := range paths {
		if path == "" {
			continue
		}
		abs, err := filepath.Abs(path)
		if err == nil {
			abs, err = filepath.EvalSymlinks(abs)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, abs)
	}
	return out, nil
}

package serve

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/internal/supervise"
	"github.com/seed7221b0f9/parley/server"
	"github.com/seed7221b0f9/parley/spawn/box"
)

// boxFlags are the settings of boxes.
type boxFlags struct {
	kind, network string
	caches, allow []string
}

func (f *boxFlags) register(p *pflag.FlagSet) {
	p.StringVar(&f.kind, "sandbox", "none", "box that all agents run in: bwrap or none; with none, a session can ask for bwrap")
	p.StringVar(&f.network, "sandbox-network", "off", "network in a box: off, allow for the hosts of --sandbox-allow, or on; off and allow need an API key (--api-key-file)")
	p.StringArrayVar(&f.allow, "sandbox-allow", nil, "host that agents in a box reach over TLS with --sandbox-network allow: HOST, HOST:PORT or *.HOST; repeatable")
	p.StringArrayVar(&f.caches, "sandbox-cache", nil, "directory that agents in a box can change; repeatable")
}

// check returns an error for values that do not exist.
func (f *boxFlags) check() error {
	if f.kind != "bwrap" && f.kind != "none" {
		return term.Usagef("--sandbox %s: it is bwrap or none", f.kind)
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

// boxes adds the boxes of agents. If all agents run in one, it tries one.
func (f *Settings) boxes(ctx context.Context, opts *server.Options) error {
	always := f.box.kind == "bwrap"
	if always && box.Network(f.box.network).Closed() && opts.APIKey == "" {
		return term.Usagef("--sandbox-network %s needs --api-key-file or %s: agents reach their model through the server; or set --sandbox-network on", f.box.network, keyVariable)
	}
	b := server.Boxes{Always: always, Network: box.Network(f.box.network), Allow: f.box.allow, Supervisor: supervise.Self()}
	if b.Program, b.Missing = box.Find(os.Getenv("PATH")); b.Missing == nil {
		b.Init, b.Missing = os.Executable()
	}
	if always && b.Missing == nil {
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

package joined

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/server"
	"github.com/seed7221b0f9/parley/spawn/box"
)

// The values of --sandbox.
const (
	boxBwrap = server.BoxBwrap
	boxNone  = server.BoxNone
)

// Box is the box of all agents of a machine. It uses the machine's network and contains the agents'
// logins, because the agents reach their models with them.
type Box struct {
	Program, Init string   // see [box.Box]
	Env           []string // of the agents
	Hide          []string // hidden in every box
}

// openBox returns the box that --sandbox selects. The box hides the data directory. It returns an
// error if the system cannot make boxes.
func openBox(ctx context.Context, env []string, data string) (*Box, error) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	data, err := resolve(data)
	if err != nil {
		return nil, err
	}
	b := &Box{Env: env, Hide: []string{data}}
	if b.Program, err = box.Find(os.Getenv("PATH")); err != nil {
		return nil, err
	}
	if b.Init, err = os.Executable(); err != nil {
		return nil, err
	}
	return b, box.Probe(ctx, b.Program, b.Init, box.NetworkOn)
}

// of returns the box for an agent, and sets its environment.
func (b *Box) of(p agent.Provider, opts *agent.Options) (*box.Box, error) {
	boxable, ok := p.(agent.Boxable)
	if !ok {
		return nil, fmt.Errorf("agent %q cannot run in the box of this machine", p.Name())
	}
	opts.Env = server.BoxEnv(b.Env, box.NetworkOn)
	home := ""
	for _, entry := range opts.Env {
		if value, ok := strings.CutPrefix(entry, "HOME="); ok {
			home = value
		}
	}
	if home == "" {
		return nil, fmt.Errorf("a box needs a HOME in the agent's environment")
	}
	needs := boxable.BoxNeeds(*opts)
	for _, dir := range needs.Write {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	missing := func(path string) bool { _, err := os.Stat(path); return err != nil }
	return &box.Box{Program: b.Program, Init: b.Init, Home: filepath.Clean(home), Empty: needs.Empty, Write: needs.Write, Hide: b.Hide,
		Logins: slices.DeleteFunc(needs.Logins, missing), Network: box.NetworkOn}, nil
}

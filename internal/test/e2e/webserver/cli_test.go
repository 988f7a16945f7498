package webserver

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/seed7221b0f9/parley/claude/claudeagent"
	"github.com/seed7221b0f9/parley/claude/claudetest"
)

// realCLI returns the provider of the real Claude CLI, which talks to a fake API that
// plays a script. Its home is below dir and is kept for the next server of that
// directory; work is the directory of its sessions. The second result closes it and the
// API.
func realCLI(dir, work, cli, script string) (*claudeagent.Provider, func(), error) {
	s, err := claudetest.ReadScript(script)
	if err != nil {
		return nil, nil, err
	}
	api, err := claudetest.NewFakeAPI(s)
	if err != nil {
		return nil, nil, err
	}
	if err := claudetest.IsolateProject(work); err != nil {
		return nil, nil, err
	}
	o, err := claudetest.HermeticOptions(filepath.Join(dir, "claude"), api.URL())
	if err != nil {
		_ = api.Close()
		return nil, nil, err
	}
	o.CLIPath, o.Dir = cli, work
	p := &claudeagent.Provider{Options: *o, RegistryDir: filepath.Join(dir, "agents")}
	return p, func() { _, _ = p.Close(), api.Close() }, nil
}

// serveAPI serves the fake API for a CLI of another process until ctx is done. It prints the URL and the environment of the CLI as JSON.
func serveAPI(ctx context.Context, f flags) error {
	s, err := claudetest.ReadScript(f.script)
	if err != nil {
		return err
	}
	api, err := claudetest.NewFakeAPI(s)
	if err != nil {
		return err
	}
	defer api.Close()
	if err := claudetest.IsolateProject(f.work); err != nil {
		return err
	}
	env, err := claudetest.HermeticEnv(filepath.Join(f.dir, "claude"), api.URL())
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"url": api.URL(), "env": env}); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

package claudeagent

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/internal/proc"
)

// logoutWait limits Logout if its context has no earlier deadline.
const logoutWait = time.Minute

// Logout runs the CLI's logout command, for at most a minute, and discards the cached login.
func (p *Provider) Logout(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, logoutWait)
	defer cancel()
	env := p.environ()
	path, err := proc.Find(p.Options.CLIPath, env)
	if err != nil {
		return translate(err)
	}
	cmd := exec.CommandContext(ctx, path, "auth", "logout")
	cmd.Env, cmd.WaitDelay = env, time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("claude auth logout: %w: %.200s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// environ returns the environment of the provider's CLIs.
func (p *Provider) environ() []string {
	var env []string
	if !p.Options.CleanEnv {
		env = os.Environ()
	}
	for _, name := range slices.Sorted(maps.Keys(p.Options.Env)) {
		env = append(env, name+"="+p.Options.Env[name])
	}
	return env
}

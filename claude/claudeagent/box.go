package claudeagent

import (
	"path/filepath"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/claudedir"
)

var _ agent.Boxable = (*Provider)(nil)

// BoxNeeds returns the directory of the sessions in the working directory, and the file of the login. The rest of the configuration,
// with the user's settings and the sessions of other projects, stays outside.
func (p *Provider) BoxNeeds(opts agent.Options) agent.BoxNeeds {
	env := claudedir.Environ(opts.Env)
	config := claudedir.Config(env)
	return agent.BoxNeeds{
		Empty:  []string{config},
		Write:  []string{filepath.Join(claudedir.Projects(config), claudedir.Project(env, opts.Dir))},
		Logins: []string{filepath.Join(config, ".credentials.json")},
	}
}

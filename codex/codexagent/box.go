package codexagent

import (
	"path/filepath"

	"github.com/seed7221b0f9/parley/agent"
)

var _ agent.Boxable = (*Provider)(nil)

// BoxNeeds returns the directory of the threads, and the files of the login and of the configuration, which names the model's provider and may
// have keys. The rest of CODEX_HOME is empty in the box.
func (p *Provider) BoxNeeds(opts agent.Options) agent.BoxNeeds {
	o := p.Options
	if opts.Env != nil {
		o.Env = opts.Env
	}
	home, err := (&Provider{Options: o}).home()
	if err != nil {
		return agent.BoxNeeds{} // its start fails for the same reason
	}
	return agent.BoxNeeds{
		Empty:  []string{home},
		Write:  []string{filepath.Join(home, "sessions")},
		Logins: []string{filepath.Join(home, "auth.json"), filepath.Join(home, "config.toml")},
	}
}

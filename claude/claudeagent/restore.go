package claudeagent

import (
	"context"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/transcript"
)

// Restorable reports whether the archive has a copy of the session.
func (p *Provider) Restorable(ctx context.Context, sessionID string) bool {
	return p.restore(ctx, sessionID, true) == nil
}

// Restore restores the session from the archive. Its files get the current time, because the CLI
// deletes by age.
func (p *Provider) Restore(ctx context.Context, sessionID string) error {
	return p.restore(ctx, sessionID, false)
}

func (p *Provider) restore(ctx context.Context, id string, dry bool) error {
	if p.Archive == nil {
		return agent.ErrNotFound
	}
	_, err := p.Archive.Restore(ctx, p.dir(), &transcript.RestoreOptions{Sessions: []string{id}, DryRun: dry})
	return translate(err)
}

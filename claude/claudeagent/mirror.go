package claudeagent

import (
	"context"

	"github.com/seed7221b0f9/parley/claude/claudestore"
	"github.com/seed7221b0f9/parley/internal/claudedir"
)

// place returns the location of a session on this machine.
func (p *Provider) place(id, dir string) claudestore.Place {
	return claudestore.Place{ConfigDir: p.configDir(), Project: claudedir.Project(p.getenv, dir), SessionID: id}
}

// Mirror copies the CLI's files of a session to Copies.
func (p *Provider) Mirror(ctx context.Context, sessionID, dir string) error {
	if p.Copies == nil {
		return nil
	}
	return translate(p.Copies.Save(ctx, p.place(sessionID, dir)))
}

// Fetch writes the transcripts of a session from Copies. It leaves a session that another process has open as it is.
func (p *Provider) Fetch(ctx context.Context, sessionID, dir string) error {
	if p.Copies == nil {
		return nil
	}
	if live, err := p.Live(ctx, sessionID); err != nil || live != nil {
		return err
	}
	return translate(p.Copies.Fetch(ctx, p.place(sessionID, dir)))
}

package session

import (
	"context"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// Details are the calls about one session.
type Details struct{ *Sessions }

// UsageSession returns the cost of a session.
func (s Details) UsageSession(ctx context.Context, p api.SessionRef) (api.UsageSessionResult, error) {
	var result api.UsageSessionResult
	err := s.with(ctx, p.SessionID, func(a *actor) error {
		t := a.conv.Totals
		result = api.UsageSessionResult{CostUSD: t.CostUSD, Turns: t.Turns, ModelUsage: t.ModelUsage}
		return nil
	})
	return result, err
}

// Disconnect ends the agent of a session.
func (s Details) Disconnect(ctx context.Context, p api.SessionRef) (api.StatusResult, error) {
	a, release, err := s.use(ctx, p.SessionID)
	if err != nil {
		return api.StatusResult{}, err
	}
	defer release()
	return api.StatusResult{Status: "disconnected"}, a.end(ctx)
}

// GetHistory returns the conversation of a session.
func (s Details) GetHistory(ctx context.Context, p api.SessionRef) (api.GetHistoryResult, error) {
	var result api.GetHistoryResult
	err := s.with(ctx, p.SessionID, func(a *actor) error {
		data, err := a.conversation()
		result = api.GetHistoryResult{Cursor: api.Cursor{Epoch: a.hub.epoch, Seq: a.seq, Sub: a.sub}, Conversation: uncopied(data)}
		return err
	})
	return result, err
}

// Rename sets the title of a session; an empty one is derived from its first prompt.
func (s Details) Rename(ctx context.Context, p api.SessionRenameParams) (api.Empty, error) {
	return api.Empty{}, s.with(ctx, p.SessionID, func(a *actor) error {
		title, by := p.Title, "person"
		if strings.TrimSpace(title) == "" {
			title, by = a.core.FirstPrompt, "prompt"
		} else if clean, ok := ValidTitle(title); ok {
			title = clean
		} else {
			return Invalid("a title is one line of at most %d visible characters", MaxTitle)
		}
		if title == "" {
			return Invalid("the session has no prompt to take a title from")
		}
		return a.commit(a.core.titleDraft(title, by))
	})
}

// Archive archives a session. A working session cannot be archived.
func (s Details) Archive(ctx context.Context, p api.SessionRef) (api.StatusResult, error) {
	return s.setArchived(ctx, p.SessionID, true)
}

// Unarchive moves a session out of the archive.
func (s Details) Unarchive(ctx context.Context, p api.SessionRef) (api.StatusResult, error) {
	return s.setArchived(ctx, p.SessionID, false)
}

func (s Details) setArchived(ctx context.Context, id string, archived bool) (api.StatusResult, error) {
	err := s.with(ctx, id, func(a *actor) error {
		switch {
		case a.core.Archived == archived:
			return nil
		case archived && (a.core.State.busy() || a.starting):
			return Conflict("the session works; interrupt it first")
		}
		if archived {
			a.stop(onEvict)
		}
		return a.commit(draft{event: &event.SessionInfo{Header: a.core.header(""), Archived: &archived}, facts: &facts{Archived: &archived}})
	})
	status := "unarchived"
	if archived {
		status = "archived"
	}
	return api.StatusResult{Status: status}, err
}

// continuePrompt is the prompt that continues an interrupted turn.
const continuePrompt = "Continue from where you left off."

// Continue continues an interrupted turn.
func (s Details) Continue(ctx context.Context, p api.SessionRef, by string) (api.Accepted, error) {
	err := s.with(ctx, p.SessionID, func(a *actor) error {
		if a.core.State.busy() || a.core.State == Starting {
			return Conflict("a turn runs")
		}
		return nil
	})
	if err != nil {
		return api.Accepted{}, err
	}
	return s.query(ctx, p.SessionID, "", event.Quote(continuePrompt), "", by, true) // in a turn before the held ones
}

package session

import (
	"context"

	"github.com/seed7221b0f9/parley/agent"
)

// maxImport is the number of messages of an older session that are imported into a new log.
const maxImport = 2000

// resume imports the history of the agent's session that a new session continues. It has no effect
// if the id is empty.
func (a *actor) resume(ctx context.Context, id string) {
	if id == "" {
		return
	}
	if err := a.importHistory(ctx, id); err != nil {
		a.logger.Warn("the history was not read", "err", err)
	}
}

// importHistory imports the messages of the agent's session into the log.
func (a *actor) importHistory(ctx context.Context, id string) error {
	history, err := a.history(ctx)
	if err != nil || history == nil {
		return err
	}
	events, err := history.Load(ctx, id, agent.HistoryPage{Limit: maxImport})
	if err != nil {
		return err
	}
	for ev, err := range events.Events {
		if err != nil {
			return err
		}
		if isDelta(ev) {
			continue
		}
		a.draft(draft{event: ev})
		if len(a.batch) >= maxBatch {
			if err := a.write(); err != nil {
				return err
			}
		}
	}
	return a.write()
}

// history returns the history of the agent on the machine of the session, or nil.
func (a *actor) history(ctx context.Context) (agent.History, error) {
	if a.machine() == "" {
		if keeper, ok := a.provider.(agent.HistoryKeeper); ok {
			return keeper.History(), nil
		}
		return nil, nil
	}
	at, err := a.srv.Place(a.machine())
	if err != nil {
		return nil, err
	}
	all, err := at.Histories(ctx)
	for _, h := range all {
		if h.Agent == a.provider.Name() {
			return h, nil
		}
	}
	return nil, err
}

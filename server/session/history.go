package session

import (
	"context"

	"github.com/seed7221b0f9/parley/agent"
)

// maxImport is the number of messages of an older session that are imported into a new log.
const maxImport = 2000

// resume imports the history of the agent's session that a new session continues; an empty id is none.
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
	keeper, ok := a.provider.(agent.HistoryKeeper)
	if !ok {
		return nil
	}
	events, err := keeper.History().Load(ctx, id, agent.HistoryPage{Limit: maxImport})
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

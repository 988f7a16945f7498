package session

import (
	"context"

	"github.com/seed7221b0f9/parley/agent"
)

// maxImport is the number of messages of an older session that are imported into a new log.
const maxImport = 2000

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

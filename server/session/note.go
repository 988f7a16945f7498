package session

import (
	"encoding/json"
	"fmt"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/webhook"
)

// notable returns the webhook event of a record, and false for a record without one.
func notable(session, title string, seq uint64, rec record, ev event.Event) (webhook.Event, bool) {
	e := webhook.Event{ID: fmt.Sprintf("%s-%d", session, seq), Time: rec.Time, SessionID: session, Seq: seq, Title: title}
	data := map[string]any{}
	if rec.Facts != nil && rec.Facts.Asked != nil && rec.Facts.Asked.Again {
		return e, false
	}
	switch m := ev.(type) {
	case *event.PermissionRequest:
		e.Type, e.Text = webhook.NeedsAnswer, "The agent asks for permission to use "+m.ToolName+"."
		data["request_id"], data["kind"], data["tool_name"] = m.RequestID, m.Kind, m.ToolName
	case *event.QuestionRequest:
		e.Type, e.Text = webhook.NeedsAnswer, "The agent asks a question."
		data["request_id"], data["kind"] = m.RequestID, m.Kind
	case *event.ResultMessage:
		e.Type, e.Text = webhook.TurnDone, "A turn has ended."
		if m.IsError {
			e.Type, e.Text = webhook.Failed, "A turn has failed."
		}
		data["subtype"], data["duration_ms"], data["num_turns"] = m.Subtype, m.DurationMS, m.NumTurns
		if m.TotalCostUSD != nil {
			data["total_cost_usd"] = *m.TotalCostUSD
		}
	case *event.Notice:
		if m.Code != noticeBudgetReached {
			return e, false
		}
		e.Type, e.Text = webhook.BudgetReached, m.Text
		for name, value := range event.Members(m) {
			data[name] = value
		}
	default:
		if rec.Facts == nil || rec.Facts.State != Failed && rec.Facts.State != Interrupted {
			return e, false
		}
		e.Type, e.Text = webhook.Failed, "The agent could not be started."
		if rec.Facts.State == Interrupted {
			e.Text = "The agent ended in a turn."
		}
		data["state"] = rec.Facts.State
	}
	if len(data) > 0 {
		e.Data = json.RawMessage(mustMarshal(data))
	}
	return e, true
}

// mustMarshal encodes a map of plain values, which cannot fail.
func mustMarshal(v map[string]any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		return []byte("{}")
	}
	return data
}

// notes holds the webhook events of a session that are not yet in the outbox.
type notes struct {
	*loop
	waiting []webhook.Event
}

// add stores the webhook event of a record that is now in the log.
func (n *notes) add(c *core, seq uint64, rec record, ev event.Event) {
	if !n.srv.opts.Notices.Wants(rec.Time) {
		return
	}
	if e, ok := notable(n.id, c.title(), seq, rec, ev); ok {
		e.Tenant = c.Opened.Tenant
		n.waiting = append(n.waiting, e)
	}
}

// tell moves the events to the outbox. They are kept until that succeeds.
func (n *notes) tell() {
	if len(n.waiting) == 0 {
		return
	}
	ctx, cancel := n.bounded()
	defer cancel()
	if err := n.srv.opts.Notices.Add(ctx, n.waiting); err != nil {
		n.logger.Warn("the outbox cannot be written; it is tried again", "err", err)
		return
	}
	n.waiting = nil
}

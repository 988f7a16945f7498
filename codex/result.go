package codex

import (
	"cmp"
	"errors"

	"github.com/seed7221b0f9/parley/codex/item"
)

// Result is the outcome of a turn: its status, the agent's last message, its items and its usage.
type Result struct {
	ThreadID string
	TurnID   string
	// Status is item.StatusCompleted, item.StatusInterrupted or item.StatusFailed.
	Status string
	// Error is the reason why the turn failed, or nil.
	Error *item.TurnError
	// Items are the items of the turn in the order of their ends, without those of subagents. The
	// output of commands is completed as [item.Output] describes. Commands that continue after the
	// turn are not included.
	Items []item.Item
	// Cut lists the ids of the Items that were cut off.
	Cut map[string]bool
	// Text is the agent's last message that is not a commentary. A message that was cut off counts
	// only if the turn did not complete or has no other message.
	Text string
	// Usage is the thread's usage up to the end of the turn. The server reports no cost.
	Usage item.TokenUsage
	// Diff is the diff of all changes of the turn, and Plan its plan; both may be empty.
	Diff string
	Plan []item.PlanStep
	// Steered is set when the prompt was added to a running turn.
	Steered bool
	// DurationMs is the duration of the turn, 0 if the server did not report it.
	DurationMs int64

	cutText string // text of the last message that was cut off
}

// add collects data from a notification of the turn's thread.
func (r *Result) add(n item.Notification) {
	switch n := n.(type) {
	case *item.ItemCompleted:
		r.addItem(n.Item)
	case *item.ItemCut:
		r.addCut(n.Item)
	case *item.ThreadTokenUsageUpdated:
		r.Usage = n.TokenUsage
	case *item.TurnDiffUpdated:
		r.Diff = n.Diff
	case *item.TurnPlanUpdated:
		r.Plan = n.Plan
	case *item.TurnCompleted:
		r.Status, r.Error = n.Turn.Status, n.Turn.Error
		if r.Text == "" || r.Status != item.StatusCompleted {
			r.Text = cmp.Or(r.cutText, r.Text)
		}
		if n.Turn.DurationMs != nil {
			r.DurationMs = *n.Turn.DurationMs
		}
	}
}

func (r *Result) addItem(i item.Item) {
	if i == nil {
		return
	}
	r.Items = append(r.Items, i)
	if text, ok := finalText(i); ok {
		r.Text = text
	}
}

// addCut adds an item that was cut off. It may have started before completed ones.
func (r *Result) addCut(i item.Item) {
	if i == nil {
		return
	}
	r.Items = append(r.Items, i)
	if r.Cut == nil {
		r.Cut = map[string]bool{}
	}
	r.Cut[i.Head().ID] = true
	if text, ok := finalText(i); ok {
		r.cutText = text
	}
}

// finalText returns the text of a message that is not a commentary.
func finalText(i item.Item) (text string, ok bool) {
	m, ok := i.(*item.AgentMessage)
	if !ok || m.Phase == item.PhaseCommentary {
		return "", false
	}
	return m.Text, true
}

// Err returns nil for a turn that completed, [ErrInterrupted] for one that was interrupted, and a
// *[TurnError] for one that failed.
func (r *Result) Err() error {
	switch r.Status {
	case item.StatusCompleted:
		return nil
	case item.StatusInterrupted:
		return ErrInterrupted
	case "":
		return errors.New("codex: the turn did not end")
	}
	e := &TurnError{Result: r}
	if r.Error != nil {
		e.Message, e.Info = r.Error.Message, r.Error.CodexErrorInfo
	}
	return e
}

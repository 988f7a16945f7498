package event_test

import (
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
)

func folded(events ...event.Event) *event.Conversation {
	c := new(event.Conversation)
	for _, ev := range events {
		c.Apply(ev)
	}
	return c
}

// TestFold_totals checks which figures of results are added up and which are totals of the session.
func TestFold_totals(t *testing.T) {
	result := func(n int64) event.Event {
		cost := float64(n)
		return &event.ResultMessage{DurationMS: n, DurationAPIMS: 10 * n, TotalCostUSD: &cost, ModelUsage: event.Encoded(n),
			Usage: event.Encoded(map[string]int64{"input_tokens": n, "output_tokens": 2 * n, "cache_creation_input_tokens": 3 * n, "cache_read_input_tokens": 4 * n})}
	}
	c := folded(result(1), result(5))
	if cost := c.Totals.CostUSD; cost == nil || *cost != 5 {
		t.Errorf("the cost is %v, want that of the last result, 5", cost)
	}
	got := c.Totals
	got.CostUSD = nil
	want := event.Totals{Turns: 2, DurationMS: 6, DurationAPIMS: 50, InputTokens: 6, OutputTokens: 12, CacheCreationInputTokens: 18, CacheReadInputTokens: 24, ModelUsage: "5"}
	if got != want {
		t.Errorf("the totals are %+v, want %+v", got, want)
	}
}

// TestFold_usageOfNextTurn checks that the next turn resets the usage of a turn, but not that of
// the session.
func TestFold_usageOfNextTurn(t *testing.T) {
	n, cost := int64(7), 1.5
	c := folded(
		&event.TurnStart{TurnID: "t1"},
		&event.Usage{TurnID: "t1", Model: "m", InputTokens: &n, OutputTokens: &n, CacheCreationInputTokens: &n, CacheReadInputTokens: &n, ReasoningTokens: &n,
			ContextTokens: &n, ContextWindow: &n, CostUSD: &cost, Data: `{}`},
		&event.TurnStart{TurnID: "t2"},
	)
	u := c.Usage
	if u == nil {
		t.Fatal("there is no usage")
	}
	for name, gone := range map[string]bool{
		"turn": u.TurnID == "", "input": u.InputTokens == nil, "output": u.OutputTokens == nil, "cache creation": u.CacheCreationInputTokens == nil,
		"cache read": u.CacheReadInputTokens == nil, "reasoning": u.ReasoningTokens == nil, "data": u.Data == "",
	} {
		if !gone {
			t.Errorf("the usage of the next turn has the %s of the last one: %+v", name, u)
		}
	}
	if u.Model != "m" || u.ContextTokens == nil || u.ContextWindow == nil || u.CostUSD == nil {
		t.Errorf("the usage of the next turn lacks what is of the session: %+v", u)
	}
}

// TestFold_decision checks that an answer is recorded at the tool of its request, even if it does
// not name the tool.
func TestFold_decision(t *testing.T) {
	for name, named := range map[string]string{"named": "tool", "not named": ""} {
		c := folded(
			&event.ToolStart{Header: event.Header{MessageID: "m"}, ToolUseID: "tool", Name: "Bash", BlockType: "tool_use"},
			&event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", ToolUseID: "tool", ToolName: "Bash"},
			&event.PermissionResolved{RequestID: "r", ToolUseID: named, Behavior: event.ResolvedDeny, By: "ann"},
		)
		c.Settle()
		d := c.Thread("").Items[0].Message.Blocks[0].Tool.Decision
		if d == nil || d.Behavior != event.ResolvedDeny || d.By != "ann" || len(c.Prompts) != 0 {
			t.Errorf("%s: the decision at the tool is %+v and %d prompts are open, want deny by ann and none", name, d, len(c.Prompts))
		}
	}
}

// TestFold_turnAfterClear checks that a turn after a complete truncation is a new one, even with the
// id of a removed turn.
func TestFold_turnAfterClear(t *testing.T) {
	c := folded(&event.TurnStart{TurnID: "t1"}, &event.Truncate{All: true, Reason: "clear"}, &event.TurnStart{TurnID: "t1"}, &event.ResultMessage{})
	if len(c.Turns) != 1 || !c.Turns[0].Done {
		t.Errorf("the conversation has %d turns, want one that is done", len(c.Turns))
	}
}

// TestFold_agentEnds checks that everything an agent left open has ended when no agent is running.
func TestFold_agentEnds(t *testing.T) {
	for _, state := range []string{"starting", "interrupted", "failed", "ended"} {
		c := folded(
			&event.TurnStart{TurnID: "t1"},
			&event.ToolStart{Header: event.Header{MessageID: "m"}, ToolUseID: "u1", Name: "Bash", BlockType: "tool_use"},
			&event.ToolStart{Header: event.Header{MessageID: "m"}, Index: 1, ToolUseID: "u2", Name: "Bash", BlockType: "tool_use"},
			&event.ToolComplete{ToolUseID: "u2", Content: `"done"`},
			&event.TaskStarted{TaskID: "k"},
			&event.SessionState{State: "running"},
		)
		if c.Turns[0].Done || c.Tool("u1").Status != event.ToolInProgress || c.Tasks[0].Status != "running" {
			t.Fatalf("while the agent runs: %+v %+v %+v", c.Turns[0], c.Tool("u1"), c.Tasks[0])
		}
		c.Apply(&event.SessionState{State: state})
		if !c.Turns[0].Done || c.Tool("u1").Status != event.ToolInterrupted || c.Tool("u2").Status != event.ToolSuccess || c.Tasks[0].Status != "killed" {
			t.Errorf("%s: %+v %+v %+v %+v; want c.Turns[0].Done and c.Tool(\"u1\").Status == event.ToolInterrupted and c.Tool(\"u2\").Status == event.ToolSuccess and c.Tasks[0].Status == \"killed\"", state, c.Turns[0], c.Tool("u1"), c.Tool("u2"), c.Tasks[0])
		}
	}
}

// TestFold_restartedDiff checks that a turn which begins with its changes belongs to the agent that reports them: a restarted agent that starts
// the turn afterwards makes no second one.
func TestFold_restartedDiff(t *testing.T) {
	c := folded(
		&event.TurnStart{TurnID: "t1"},
		&event.SessionState{State: "starting"},
		&event.TurnDiff{TurnID: "t2", Files: []event.FileChange{{Path: "a"}}},
		&event.TurnStart{TurnID: "t2"},
	)
	if len(c.Turns) != 2 || c.Turns[1].ID != "t2" || c.Turns[1].Restart != 1 || len(c.Turns[1].Changes) != 1 {
		t.Errorf("the turns are %s, want t1 and, after the restart, t2 with its change", event.Encoded(c.Turns))
	}
}

// TestFold_promptAgain checks that a prompt keeps its sender and its time when the agent reports it again without them.
func TestFold_promptAgain(t *testing.T) {
	prompt := event.UserMessage{Header: event.Header{UUID: "u"}, Timestamp: "2026-03-14T15:09:26Z", IsPrompt: true, IsText: true, By: "ann", Blocks: []event.Content{{Type: "text", Text: "hello"}}}
	again := event.UserMessage{Header: event.Header{UUID: "u"}, IsReplay: true, Blocks: prompt.Blocks}
	c := folded(&prompt, &again)
	items := c.Threads[0].Items
	if len(items) != 1 {
		t.Fatalf("the conversation has %d messages, want 1", len(items))
	}
	if u := items[0].Message.User; u.By != "ann" || u.Timestamp != prompt.Timestamp || !u.IsPrompt || !u.IsReplay {
		t.Errorf("the prompt is %+v, want one of ann at %s", u, prompt.Timestamp)
	}
}

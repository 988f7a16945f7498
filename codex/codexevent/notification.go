package codexevent

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex/item"
)

// notification emits the events of a notification.
func (c *Converter) notification(t *thread, n item.Notification) {
	switch n := n.(type) {
	case *item.ItemStarted:
		c.itemStarted(t, n)
	case *item.ItemCompleted:
		c.completed(t, n)
	case *item.ItemCut:
		if n.Item != nil {
			if o := t.find(n.TurnID, n.Item.Head().ID); o != nil {
				c.cut(t, o, n.Reason)
			}
		}
	case *item.AgentMessageDelta, *item.PlanDelta, *item.ReasoningSummaryDelta, *item.ReasoningSummaryPartAdded, *item.ReasoningTextDelta,
		*item.CommandOutputDelta, *item.TerminalInteraction, *item.FileChangeOutputDelta, *item.FileChangePatchUpdated, *item.MCPToolCallProgress:
		c.delta(t, n)
	case *item.TurnStarted:
		c.turnStarted(t, n)
	case *item.TurnCompleted:
		c.turnCompleted(t, n)
	case *item.TurnDiffUpdated:
		if t.parent == "" {
			c.emit(&event.TurnDiff{Header: c.head(t), TurnID: n.TurnID, Replace: true, Files: diffFiles(n.Diff)})
		}
	case *item.TurnPlanUpdated:
		c.plan(t, n)
	case *item.ErrorNotice:
		c.errorNotice(t, n)
	case *item.ThreadTokenUsageUpdated:
		c.tokens(t, n)
	case *item.RequestResolved:
		c.resolved(n.RequestID)
	default:
		c.session(t, n)
	}
}

func (c *Converter) turnStarted(t *thread, n *item.TurnStarted) {
	if t.parent != "" {
		return // a turn of a subagent is part of its owner's turn
	}
	id, by := n.Turn.ID, event.ByAgent
	if c.review != "" {
		id = c.review // the other notifications and the end have the id of the response
		c.review = ""
	}
	prompt, ours := c.mine[id]
	if !ours {
		prompt, ours = c.starting()
	}
	if !ours && c.compacts != "" {
		prompt, ours = c.compacts, true
	}
	c.compacts = ""
	if ours {
		by = event.ByUser
	}
	c.seen[id] = false
	c.turnID, c.answer, c.failure, c.base = id, "", nil, c.usage.Total
	c.emit(&event.TurnStart{Header: c.head(t), TurnID: id, By: by, PromptID: prompt})
	c.showCommand(t, prompt)
}

// starting reports whether the client has requested a turn and has no response yet, and returns its prompt. Which of several turns
// has started is not known before the response.
func (c *Converter) starting() (prompt string, ok bool) {
	for _, call := range c.calls {
		p := startOf(call)
		if call.Method != "turn/start" || p.ThreadID != c.ThreadID {
			continue
		}
		if ok {
			return "", true
		}
		prompt, ok = p.ClientID, true
	}
	return prompt, ok
}

func (c *Converter) turnCompleted(t *thread, n *item.TurnCompleted) {
	c.cutTurn(t, n.Turn.ID, item.CutTurnEnded, func(i item.Item) bool {
		// A command of a completed turn continues in the background.
		_, command := i.(*item.CommandExecution)
		return !command || n.Turn.Status != item.StatusCompleted
	})
	for _, id := range slices.Clone(c.order) {
		if a := c.asks[id]; a != nil && a.turnID == n.Turn.ID && a.thread == t {
			c.expire(id, event.ResolvedCancelled)
		}
	}
	if t.parent != "" {
		return
	}
	c.seen[n.Turn.ID] = true
	if n.Turn.Error == nil && n.Turn.Status == item.StatusFailed {
		turn := n.Turn
		turn.Error = c.failure
		c.result(t, &turn, string(n.Raw()))
		return
	}
	c.result(t, &n.Turn, string(n.Raw()))
}

// result ends a turn.
func (c *Converter) result(t *thread, turn *item.Turn, data string) {
	h := c.head(t)
	h.UUID = "result-" + turn.ID
	r := &event.ResultMessage{Header: h, NumTurns: 1, Result: c.answer, Data: event.NewJSON(data)}
	if turn.DurationMs != nil {
		r.DurationMS = *turn.DurationMs
	}
	switch turn.Status {
	case item.StatusCompleted:
		r.Subtype = "success"
	case item.StatusInterrupted:
		r.Subtype = "interrupted"
	default:
		r.Subtype, r.IsError = "error_during_execution", true
	}
	if turn.Error != nil {
		r.Errors = []string{turn.Error.Message}
		r.TerminalReason = turn.Error.CodexErrorInfo.Kind
	}
	if used := minus(c.usage.Total, c.base); data != "" && used.TotalTokens > 0 {
		r.Usage = event.Encoded(map[string]any{
			"input_tokens": used.InputTokens - used.CachedInputTokens, "cache_read_input_tokens": used.CachedInputTokens,
			"cache_creation_input_tokens": used.CacheWriteInputTokens, "output_tokens": used.OutputTokens,
		})
	}
	c.emit(r)
}

func minus(a, b item.TokenCount) item.TokenCount {
	return item.TokenCount{
		TotalTokens: a.TotalTokens - b.TotalTokens, InputTokens: a.InputTokens - b.InputTokens, CachedInputTokens: a.CachedInputTokens - b.CachedInputTokens,
		CacheWriteInputTokens: a.CacheWriteInputTokens - b.CacheWriteInputTokens, OutputTokens: a.OutputTokens - b.OutputTokens,
		ReasoningOutputTokens: a.ReasoningOutputTokens - b.ReasoningOutputTokens,
	}
}

// tokens emits the usage of a turn. The wire has no cost.
func (c *Converter) tokens(t *thread, n *item.ThreadTokenUsageUpdated) {
	if t.parent != "" {
		return
	}
	c.usage = n.TokenUsage
	if c.turnID == "" {
		c.base = n.TokenUsage.Total // the initial count of a fork or a resumed thread
	}
	used := minus(c.usage.Total, c.base)
	fresh := used.InputTokens - used.CachedInputTokens
	c.emit(&event.Usage{
		Header: c.head(t), TurnID: n.TurnID, Model: c.model, InputTokens: &fresh, OutputTokens: &used.OutputTokens,
		CacheReadInputTokens: &used.CachedInputTokens, CacheCreationInputTokens: &used.CacheWriteInputTokens, ReasoningTokens: &used.ReasoningOutputTokens,
		ContextTokens: &n.TokenUsage.Last.TotalTokens, ContextWindow: n.TokenUsage.ModelContextWindow, Data: event.NewJSON(string(n.Raw())),
	})
}

func (c *Converter) plan(t *thread, n *item.TurnPlanUpdated) {
	p := &event.Plan{Header: c.head(t), Explanation: n.Explanation, Entries: []event.PlanEntry{}}
	for _, s := range n.Plan {
		status := s.Status
		if status == "inProgress" {
			status = event.PlanInProgress
		}
		p.Entries = append(p.Entries, event.PlanEntry{Content: s.Step, Status: status})
	}
	c.emit(p)
}

// attempts matches the server's "Reconnecting... 1/2".
var attempts = regexp.MustCompile(`(\d+)/(\d+)`)

// errorNotice emits a retry. An error without a retry is reported at the end of its turn.
func (c *Converter) errorNotice(t *thread, n *item.ErrorNotice) {
	if !n.WillRetry {
		if t.parent == "" {
			c.failure = &n.Error
		}
		return
	}
	r := &event.Retry{Header: c.head(t), Reason: n.Error.CodexErrorInfo.Kind, Data: event.NewJSON(string(n.Raw()))}
	r.Reason = cmp.Or(r.Reason, n.Error.Message)
	if m := attempts.FindStringSubmatch(n.Error.Message); m != nil {
		r.Attempt, _ = strconv.ParseInt(m[1], 10, 64)
		if most, err := strconv.ParseInt(m[2], 10, 64); err == nil {
			r.MaxAttempts = &most
		}
	}
	if code := n.Error.CodexErrorInfo.HTTPStatusCode; code != 0 {
		r.Status = &code
	}
	c.cutTurn(t, n.TurnID, item.CutRetry, func(i item.Item) bool {
		switch i.(type) {
		case *item.AgentMessage, *item.Reasoning, *item.Plan:
			return true
		}
		return false
	})
	c.emit(r)
}

// session handles notifications about the session or the server, and unknown ones.
func (c *Converter) session(t *thread, n item.Notification) {
	h := c.head(t)
	data := event.NewJSON(string(n.Raw()))
	info := &event.SessionInfo{Header: h, Data: data}
	yes, no, none := true, false, ""
	switch n := n.(type) {
	case *item.ThreadStarted:
		if !c.inited && t.parent == "" {
			c.inited, c.model = true, n.Thread.Model
			c.emit(&event.SystemInit{Header: h, CWD: n.Thread.CWD, Model: n.Thread.Model, CLIVersion: n.Thread.CLIVersion, Data: data})
		}
		return
	case *item.ThreadStatusChanged:
		c.state(t, n.Status)
		return
	case *item.ThreadClosed:
		c.state(t, item.Status{Type: item.ThreadNotLoaded})
		return
	case *item.ThreadNameUpdated:
		info.Title = &n.ThreadName
	case *item.ThreadArchived:
		info.Archived = &yes
	case *item.ThreadUnarchived:
		info.Archived = &no
	case *item.ThreadDeleted:
		info.Deleted = &yes
	case *item.ThreadGoalUpdated:
		info.Goal = &n.Goal.Objective
	case *item.ThreadGoalCleared:
		info.Goal = &none
	case *item.ThreadSettingsUpdated:
		c.settings(info, &n.ThreadSettings)
	case *item.MCPServerStatusUpdated:
		info.MCPServers = c.server(n)
	default:
		c.notice(t, n)
		return
	}
	if t.parent == "" {
		c.emit(info)
	}
}

// state emits the state of the followed thread.
func (c *Converter) state(t *thread, s item.Status) {
	if t.parent != "" {
		return
	}
	state := s.Type
	switch {
	case s.Type == item.ThreadActive && len(s.ActiveFlags) > 0:
		state = "requires_action"
	case s.Type == item.ThreadActive:
		state = "running"
	case s.Type == item.ThreadSystemError:
		state = "failed"
	case s.Type == item.ThreadNotLoaded:
		state = "ended"
	}
	c.emit(&event.SessionState{Header: c.head(t), State: state})
}

func (c *Converter) settings(info *event.SessionInfo, s *item.Settings) {
	policy, box := word(s.ApprovalPolicy), sandbox(s.SandboxPolicy)
	info.Model, info.CWD, info.PermissionMode, info.Sandbox = &s.Model, &s.CWD, &policy, &box
	c.model = s.Model
}

// server records the status of an MCP server and returns all of them.
func (c *Converter) server(n *item.MCPServerStatusUpdated) []event.MCPServer {
	s := event.MCPServer{Name: n.Name, Status: n.Status, Error: n.Error}
	if i := slices.IndexFunc(c.servers, func(o event.MCPServer) bool { return o.Name == n.Name }); i >= 0 {
		c.servers[i] = s
	} else {
		c.servers = append(c.servers, s)
	}
	return slices.Clone(c.servers)
}

// notice emits notices for people that are not part of the conversation.
func (c *Converter) notice(t *thread, n item.Notification) {
	h := c.head(t)
	data := event.NewJSON(string(n.Raw()))
	note := func(severity, text string) {
		c.emit(&event.Notice{Header: h, Severity: severity, Text: text, Code: item.Method(n), Data: data})
	}
	switch n := n.(type) {
	case *item.Warning:
		note(event.NoticeWarning, n.Message)
	case *item.GuardianWarning:
		note(event.NoticeWarning, n.Message)
	case *item.ConfigWarning:
		note(event.NoticeWarning, join(n.Summary, n.Details))
	case *item.DeprecationNotice:
		note(event.NoticeInfo, join(n.Summary, n.Details))
	case *item.ModelRerouted:
		note(event.NoticeInfo, "The model "+n.ToModel+" answers instead of "+n.FromModel+".")
	case *item.ModelSafetyBuffering:
		note(event.NoticeInfo, join(n.Reasons...))
	case *item.AuthRecoveryStarted:
		note(event.NoticeInfo, n.Message)
	case *item.AuthRecoveryCompleted:
		note(event.NoticeInfo, n.Message)
	case *item.ThreadReverted:
		c.reverted(t, note)
	case *item.HookStarted:
		c.hook(t, &n.Run, event.HookStarted, data)
	case *item.HookCompleted:
		c.hook(t, &n.Run, event.HookFinished, data)
	case *item.RateLimitsUpdated:
		c.emit(&event.RateLimit{Header: h, Info: event.NewJSON(string(n.RateLimits))})
	case *item.ThreadCompacted:
		// Servers that send this notification also send the item.
	case *item.ThreadReadStateChanged, *item.RemoteControlStatusChanged, *item.SkillsChanged, *item.AccountUpdated,
		*item.AccountLoginCompleted, *item.ThreadAttachmentUpdated, *item.ThreadProjectUpdated:
		// Not part of a conversation.
	default:
		c.emit(&event.Unknown{Header: h, OriginalType: item.Method(n), Data: data})
	}
}

func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(parts), func(s string) bool { return s == "" }), "\n")
}

// reverted removes turns. Only the client that requested the revert knows which.
func (c *Converter) reverted(t *thread, note func(severity, text string)) {
	if c.revert == "" {
		note(event.NoticeWarning, "Turns were taken out of the conversation by another client.")
		return
	}
	c.emit(&event.Truncate{Header: c.head(t), Reason: "revert", TurnID: c.revert})
	c.revert = ""
}

func (c *Converter) hook(t *thread, run *item.HookRun, state string, data event.JSON) {
	ev := &event.Hook{Header: c.head(t), HookID: run.ID, Name: run.SourcePath, Event: run.EventName, State: state, Message: run.StatusMessage, Data: data}
	for _, e := range run.Entries {
		ev.Output += e.Text + "\n"
	}
	if state == event.HookFinished {
		switch run.Status {
		case "completed":
			ev.Outcome = "success"
		case "blocked":
			ev.Outcome, ev.Decision = "success", "block"
		case "stopped":
			ev.Outcome, ev.Decision = "success", "stop"
		default:
			ev.Outcome = "error"
		}
	}
	c.emit(ev)
}

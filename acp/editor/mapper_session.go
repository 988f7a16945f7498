package editor

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// sessionEvent maps events about the whole session.
func (m *Mapper) sessionEvent(ev event.Event) {
	switch ev := ev.(type) {
	case *event.TurnStart:
		m.turn = true
	case *event.Plan:
		m.plan(ev)
	case *event.Usage:
		m.usageEvent(ev)
	case *event.ResultMessage:
		m.result(ev)
	case *event.Notice:
		m.notice(ev.Severity, ev.Text, "")
	case *event.Retry:
		m.retry(ev)
	case *event.RateLimit:
		m.rateLimit(ev)
	case *event.Status:
		m.status(ev)
	case *event.CompactBoundary:
		m.compacted(acp.CompactionStatusCompleted)
	case *event.SessionInfo:
		if ev.Title != nil {
			m.emit(acp.SessionUpdateIsSessionInfoUpdate, &acp.SessionInfoUpdate{Title: acp.Some(*ev.Title)})
		}
		m.mcpServers(ev.MCPServers)
	case *event.SystemInit:
		m.mcpServers(ev.MCPServers)
	case *event.Truncate:
		if ev.All && !m.Replay {
			m.emit(acp.SessionUpdateIsPlan, &acp.Plan{Entries: []acp.PlanEntry{}})
		}
	}
}

// plan shows the complete plan of the main thread.
func (m *Mapper) plan(ev *event.Plan) {
	if ev.ParentToolUseID != "" || ev.Entries == nil {
		return
	}
	p := &acp.Plan{Entries: []acp.PlanEntry{}}
	for _, e := range ev.Entries {
		entry := acp.PlanEntry{Content: e.Content, Priority: acp.PlanEntryPriority(e.Priority), Status: acp.PlanEntryStatus(e.Status)}
		if e.Status == event.PlanInProgress && e.ActiveForm != "" {
			entry.Content = e.ActiveForm
		}
		switch entry.Priority {
		case acp.PlanEntryPriorityHigh, acp.PlanEntryPriorityMedium, acp.PlanEntryPriorityLow:
		default:
			entry.Priority = acp.PlanEntryPriorityMedium
		}
		switch entry.Status {
		case acp.PlanEntryStatusPending, acp.PlanEntryStatusInProgress, acp.PlanEntryStatusCompleted:
		default:
			entry.Status = acp.PlanEntryStatusPending
		}
		p.Entries = append(p.Entries, entry)
	}
	m.emit(acp.SessionUpdateIsPlan, p)
}

// usageEvent reports the used part of the context, once for each change.
func (m *Mapper) usageEvent(ev *event.Usage) {
	next := m.usage
	if ev.ContextTokens != nil {
		next.used = *ev.ContextTokens
	}
	if ev.ContextWindow != nil {
		next.size = *ev.ContextWindow
	}
	if ev.CostUSD != nil {
		next.cost = ev.CostUSD
	}
	m.setUsage(next)
}

func (m *Mapper) setUsage(next usage) {
	sameCost := next.cost == m.usage.cost || next.cost != nil && m.usage.cost != nil && *next.cost == *m.usage.cost
	if m.Replay || next.size == 0 || next.used == m.usage.used && next.size == m.usage.size && sameCost {
		m.usage = next
		return
	}
	m.usage = next
	u := &acp.UsageUpdate{Used: next.used, Size: next.size}
	if next.cost != nil {
		u.Cost = acp.Some(acp.Cost{Amount: *next.cost, Currency: "USD"})
	}
	m.emit(acp.SessionUpdateIsUsageUpdate, u)
}

// result ends a turn. The text of an API error that has no equivalent in the protocol is shown as a message of the
// agent.
func (m *Mapper) result(ev *event.ResultMessage) {
	next := m.usage
	if ev.TotalCostUSD != nil {
		next.cost = ev.TotalCostUSD
	}
	m.setUsage(next)
	if m.stop, m.stopErr = stopReason(ev, m.errorKind); m.stopErr == nil && !m.Replay {
		m.say(m.heldID, m.held)
	}
	m.held, m.local, m.errorKind, m.abandoned, m.retried, m.turn = "", "", "", false, false, false
	clear(m.streamed)
	m.endTools(ev)
}

// Stop returns the stop reason of the last turn, or its error if it failed.
func (m *Mapper) Stop() (acp.StopReason, *jsonrpc.Error) { return m.stop, m.stopErr }

// notice shows the user a text that is not from the model. A client without notices gets it as a
// separate message.
func (m *Mapper) notice(severity, title, description string) {
	if m.Replay || title == "" {
		return
	}
	switch severity {
	case "info", "warning", "error":
	default:
		severity = "info"
	}
	m.notices++
	if m.Features.Notices {
		n := &acp.Notice{Severity: acp.NoticeSeverity(severity), Title: title}
		n.Description = acp.NonZero(description)
		m.emit(acp.SessionUpdateIsNotice, n)
		return
	}
	if description != "" {
		title += "\n\n" + description
	}
	label := map[string]string{"info": "Notice", "warning": "Warning", "error": "Error"}[severity]
	m.say("notice-"+strconv.Itoa(m.notices), "**"+label+":** "+title)
}

// quietRetries is the number of retries that are not reported to a client without notices, because
// most requests succeed after a few retries.
const quietRetries = 2

// retry reports that a request is retried. A client without notices gets at most one report per turn, after several
// retries.
func (m *Mapper) retry(ev *event.Retry) {
	if !m.Features.Notices && (ev.Attempt <= quietRetries || m.retried) {
		return
	}
	m.retried = true
	text := "The request failed and is tried again"
	if ev.DelayMS != nil {
		text += fmt.Sprintf(" in %.1f s", float64(*ev.DelayMS)/1000)
	}
	text += fmt.Sprintf(" (attempt %d", ev.Attempt)
	if ev.MaxAttempts != nil {
		text += fmt.Sprintf(" of %d", *ev.MaxAttempts)
	}
	m.notice("warning", text+").", ev.Reason)
}

func (m *Mapper) rateLimit(ev *event.RateLimit) {
	status, _ := ev.Info.Member("status")
	kind, _ := ev.Info.Member("rateLimitType")
	limit := status.Text() + " " + kind.Text()
	if m.limit == limit && !m.Features.Notices {
		return // already reported
	}
	m.limit = limit
	if s := status.Text(); s != "" && s != "allowed" {
		m.notice("warning", strings.TrimSpace("The account is at a limit: "+s+" "+kind.Text()), "")
	}
}

// mcpServers reports each MCP server that failed to start, once.
func (m *Mapper) mcpServers(servers []event.MCPServer) {
	for _, s := range servers {
		if s.Status != "failed" || m.Replay {
			continue
		}
		if m.failed[s.Name] {
			continue
		}
		m.failed[s.Name] = true
		m.notice("warning", fmt.Sprintf("The MCP server %q failed to start: its tools are not available.", s.Name), s.Error)
	}
}

// status maps the start of a compaction.
func (m *Mapper) status(ev *event.Status) {
	if ev.Status == "compacting" && m.compact == "" && m.Features.Compaction && !m.Replay {
		m.compact = "compaction-" + strconv.Itoa(m.notices) + "-" + ev.UUID
		m.emit(acp.SessionUpdateIsCompactionUpdate, &acp.CompactionUpdate{CompactionID: acp.CompactionID(m.compact), Status: acp.CompactionStatusInProgress})
	}
}

// compacted ends a compaction, once.
func (m *Mapper) compacted(status acp.CompactionStatus) {
	if m.Replay || !m.Features.Compaction {
		return
	}
	if m.compact == "" {
		m.compact = "compaction-" + strconv.Itoa(m.notices)
	}
	m.emit(acp.SessionUpdateIsCompactionUpdate, &acp.CompactionUpdate{CompactionID: acp.CompactionID(m.compact), Status: status})
	m.compact = ""
}

package chat

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// note writes one short line to standard error.
func (p *printer) note(text string) {
	if to := p.con.Err; !p.quiet {
		to.Line(to.Paint(term.Yellow, "!") + " " + term.Shorten(term.OneLine(text), max(to.Width-2, 0)))
	}
}

// notice shows events about the session that matter to a person.
func (p *printer) notice(ev event.Event) {
	switch ev := ev.(type) {
	case *event.Notice:
		p.remark(ev)
	case *event.Retry:
		p.note(retryText(ev))
	case *event.CompactBoundary:
		text := "the conversation was compacted"
		if ev.PreTokens != nil {
			text += fmt.Sprintf(" (%d tokens before)", *ev.PreTokens)
		}
		p.note(text)
	case *event.RateLimit:
		var l message.RateLimitInfo
		if ev.Info.Decode(&l) == nil && l.Status != "" && l.Status != "allowed" {
			p.note(limitText(l))
		}
	case *event.Error:
		p.con.Err.Line(p.con.Err.Failure(ev.Message))
	case *event.Unknown:
		p.other(ev)
	default:
		p.task(ev)
	}
}

// remark shows a notice. The data of Claude Code's notices has more details than their text.
func (p *printer) remark(n *event.Notice) {
	member := func(name string) string {
		j, _ := n.Data.Member(name)
		return j.Text()
	}
	switch subtype := member("subtype"); {
	case n.Code == "permission_denied":
		p.denied(n.ToolUseID, member("tool_name"), term.FirstLine(n.Text))
	case n.Code == "model_fallback":
		p.note(fmt.Sprintf("%s answers instead of %s", member("fallback_model"), member("original_model")))
	case n.Code == "model_refusal_fallback":
		p.note(fmt.Sprintf("%s refused, %s answers instead", member("original_model"), member("fallback_model")))
	case n.Code == "model_refusal_no_fallback":
		p.note(member("original_model") + " refused: " + term.FirstLine(n.Text))
	case subtype == "notification" || n.Code == "mirror_error": // not for the terminal
	case subtype == "informational" || n.Severity != event.NoticeInfo:
		p.note(term.FirstLine(n.Text))
	}
}

// other shows an event without a type: the output of a command of Claude Code, or an event of
// a newer agent.
func (p *printer) other(ev *event.Unknown) {
	m, err := message.Decode([]byte(ev.Data))
	if err != nil || message.Kind(m) != ev.OriginalType {
		return // of another agent
	}
	switch m := m.(type) {
	case *message.LocalCommandOutput:
		p.say(m.Content)
	case *message.Unknown, *message.System:
		p.unknownThing("message", ev.OriginalType)
	}
}

// task reports when background work begins and ends.
func (p *printer) task(ev event.Event) {
	switch ev := ev.(type) {
	case *event.TaskStarted:
		if ambient, _ := ev.Data.Member("ambient"); ev.IsBackgrounded && ambient != "true" {
			p.tasks[strings.Clone(ev.TaskID)] = strings.Clone(ev.Description)
		}
	case *event.TaskUpdated:
		if b := ev.IsBackgrounded; b != nil && *b {
			p.tasks[strings.Clone(ev.TaskID)] = strings.Clone(ev.Description)
		}
	case *event.TaskNotification:
		if description, ok := p.tasks[ev.TaskID]; ok {
			delete(p.tasks, ev.TaskID)
			p.note(fmt.Sprintf("background task %s: %s", ev.Status, description))
		}
	}
}

// unknownThing reports an unknown event of a newer agent once.
func (p *printer) unknownThing(what, name string) {
	if key := what + " " + name; !p.unknown[key] {
		p.unknown[key] = true
		p.note("unknown " + what + " " + term.Shorten(term.OneLine(name), 60))
	}
}

func retryText(r *event.Retry) string {
	if r.MaxAttempts == nil || r.DelayMS == nil {
		return "the request failed and is sent again: " + r.Reason
	}
	why := "no answer from the API"
	if r.Status != nil && *r.Status != 0 {
		why = fmt.Sprintf("API error %d (%s)", *r.Status, r.Reason)
	}
	return fmt.Sprintf("%s, trying again in %s (%d of %d)", why, term.Seconds(time.Duration(*r.DelayMS)*time.Millisecond), r.Attempt, *r.MaxAttempts)
}

func limitText(l message.RateLimitInfo) string {
	s := strings.TrimSpace("rate limit "+l.RateLimitType) + ": " + l.Status
	if l.ResetsAt > 0 {
		s += ", until " + time.Unix(int64(l.ResetsAt), 0).Format("Jan 2 15:04")
	}
	return s
}

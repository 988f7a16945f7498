package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// note writes one short line to standard error.
func (p *printer) note(text string) {
	if to := p.con.Err; !p.quiet {
		to.Line(to.Paint(term.Yellow, "!") + " " + term.Shorten(term.OneLine(text), max(to.Width-2, 0)))
	}
}

// notice shows messages about the session, those that a person should know of.
func (p *printer) notice(m message.Message) {
	switch m := m.(type) {
	case *message.APIRetry:
		p.note(retryText(m))
	case *message.PermissionDenied:
		p.denied(m)
	case *message.ModelFallback:
		p.note(fmt.Sprintf("%s answers instead of %s", m.FallbackModel, m.OriginalModel))
	case *message.ModelRefusalFallback:
		p.note(fmt.Sprintf("%s refused, %s answers instead", m.OriginalModel, m.FallbackModel))
	case *message.ModelRefusalNoFallback:
		p.note(m.OriginalModel + " refused: " + term.FirstLine(m.Content))
	case *message.Informational:
		p.note(term.FirstLine(m.Content))
	case *message.CompactBoundary:
		p.note(fmt.Sprintf("the conversation was compacted (%d tokens before)", m.CompactMetadata.PreTokens))
	case *message.RateLimitEvent:
		if s := m.RateLimitInfo.Status; s != "" && s != "allowed" {
			p.note(limitText(m.RateLimitInfo))
		}
	case *message.SessionWritesLost:
		p.note("the disk is full (" + m.ErrorCode + "), lost: " + strings.Join(m.Lost, ", "))
	case *message.BadLine:
		p.note(fmt.Sprintf("a line that is not a message, %d bytes: %s", m.Size, term.Shorten(term.OneLine(string(m.Raw())), 60)))
	case *message.Error:
		p.note("error: " + string(m.Error))
	case *message.Unknown:
		p.unknownThing("message", m.Type)
	case *message.System:
		p.unknownThing("message", "system/"+m.Subtype)
	default:
		p.task(m)
	}
}

// task tells when work in the background begins and ends.
func (p *printer) task(m message.Message) {
	switch m := m.(type) {
	case *message.TaskStarted:
		if m.IsBackgrounded && !m.Ambient {
			p.tasks[m.TaskID] = strings.Clone(m.Description)
		}
	case *message.TaskUpdated:
		if b := m.Patch.IsBackgrounded; b != nil && *b {
			p.tasks[m.TaskID] = strings.Clone(m.Patch.Description)
		}
	case *message.TaskNotification:
		if description, ok := p.tasks[m.TaskID]; ok {
			delete(p.tasks, m.TaskID)
			p.note(fmt.Sprintf("background task %s: %s", m.Status, description))
		}
	}
}

// unknownThing tells once of something that a newer CLI says.
func (p *printer) unknownThing(what, name string) {
	if key := what + " " + name; !p.unknown[key] {
		p.unknown[key] = true
		p.note("unknown " + what + " " + term.Shorten(term.OneLine(name), 60))
	}
}

func retryText(m *message.APIRetry) string {
	why := "no answer from the API"
	if m.ErrorStatus != 0 {
		why = fmt.Sprintf("API error %d (%s)", m.ErrorStatus, m.Error)
	}
	delay := time.Duration(m.RetryDelayMS * float64(time.Millisecond))
	return fmt.Sprintf("%s, trying again in %s (%d of %d)", why, term.Seconds(delay), m.Attempt, m.MaxRetries)
}

func limitText(l message.RateLimitInfo) string {
	s := strings.TrimSpace("rate limit "+l.RateLimitType) + ": " + l.Status
	if l.ResetsAt > 0 {
		s += ", until " + time.Unix(int64(l.ResetsAt), 0).Format("Jan 2 15:04")
	}
	return s
}

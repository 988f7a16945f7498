package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/agent/handover"
	"github.com/seed7221b0f9/parley/internal/random"
)

// forgottenError is the failure of a start with an agent that no longer has the conversation. A new
// agent would answer as if it knew the conversation, so a person decides.
type forgottenError struct {
	cause      error
	restorable bool // a copy can be restored
}

func (e *forgottenError) Error() string {
	return "the agent no longer has this conversation: " + e.cause.Error()
}

func (e *forgottenError) Unwrap() error {
	return Conflict("the agent no longer has this conversation")
}

// memory is the state of a session after its agent has lost the conversation.
type memory struct {
	Asked string `json:"asked,omitempty"` // the request for a person's decision
	Fresh bool   `json:"fresh,omitempty"` // the next input goes to a new agent, after a summary
}

// The choices of a person when the agent has lost the conversation.
const (
	memoryQuestion = "The agent no longer has this conversation. How do you want to continue?"
	memorySummary  = "Continue with a summary"
	memoryRestore  = "Restore it from the archive"
	memoryRetry    = "Look again"
	memoryCancel   = "Cancel"
)

// fileSize is the size of the file in which an agent keeps a session. Such files only grow, so that a smaller one has lost a part.
type fileSize struct {
	AgentID string `json:"agent_id"`
	Size    int64  `json:"size"`
}

// keptOf returns the size of an agent's file, with read of the lines that can be read. It returns nil if the agent has no such file
// here.
func (l *life) keptOf(ctx context.Context, agentID string, read bool) *fileSize {
	m, ok := l.provider.(agent.Measurer)
	if !ok || agentID == "" || l.machine() != "" {
		return nil
	}
	size, err := m.Measure(ctx, agentID, read)
	if err != nil {
		return nil // a lost file is reported when the agent is started
	}
	return &fileSize{agentID, size}
}

// noteKept records the size of the agent's file. The next record stores it.
func (a *actor) noteKept() {
	ctx, cancel := a.bounded()
	defer cancel()
	if k := a.keptOf(ctx, a.core.AgentID, false); k != nil && *k != a.core.Kept {
		a.core.Kept, a.carrying().Kept = *k, k
	}
}

// sayShortened reports that the agent continues with a file that has lost a part.
func (a *actor) sayShortened(rest *fileSize) {
	was := a.core.Kept
	if rest == nil || rest.AgentID != was.AgentID || rest.Size >= was.Size {
		return
	}
	d := a.memoryNotice(event.NoticeWarning, "memory_shortened", fmt.Sprintf(
		"The agent's transcript has lost a part: %d of %d bytes can be read. The agent may not remember all of this conversation.", rest.Size, was.Size))
	d.facts = &facts{Kept: rest} // it is reported once
	a.draft(d)
}

// spoken reports whether an agent has sent messages in the session, which the next agent must know.
func (c *core) spoken(conv *event.Conversation) bool {
	return c.Turns > 0 || conv.Answer != nil || c.Opened.Params.ResumeSessionID != ""
}

// resume starts an agent that continues a session. If the agent has never written the session, it
// starts a new one: the session has no messages yet.
func (l *life) resume(ctx context.Context, id string, spoken bool, opts agent.Options) (agent.Session, error) {
	if err := l.fetch(ctx, id, opts); err != nil {
		return nil, err
	}
	err := agent.ErrUnsupported
	var session agent.Session
	if r, ok := l.provider.(agent.Resumer); ok {
		session, err = r.Resume(ctx, id, opts)
	}
	if err == nil || opts.Fork || !errors.Is(err, agent.ErrNotFound) && !errors.Is(err, agent.ErrUnsupported) {
		return session, err
	}
	if spoken {
		r, ok := l.provider.(agent.Restorer)
		return nil, &forgottenError{err, ok && r.Restorable(ctx, id)}
	}
	return l.provider.Open(ctx, opts)
}

// forgotten asks a person how to continue. The queue waits for the answer.
func (a *actor) forgotten(restorable bool) {
	if _, open := a.core.request(a.core.Memory.Asked); open {
		return
	}
	options := []event.QuestionOption{{Label: memorySummary, Description: "A new agent gets a summary of this conversation from the server's log."}}
	if restorable {
		options = append(options, event.QuestionOption{Label: memoryRestore, Description: "The archive has a copy of the agent's transcript."})
	}
	options = append(options,
		event.QuestionOption{Label: memoryRetry, Description: "You have put the agent's transcript back."},
		event.QuestionOption{Label: memoryCancel, Description: "Nothing is sent; the prompts stay in the queue."})
	q := &event.QuestionRequest{Header: a.core.header(""), Kind: event.QuestionAsk, RequestID: random.UUID(),
		Questions: []event.Question{{Question: memoryQuestion, Header: "Memory", Options: options}}}
	prompt, _ := event.NewPrompt(q)
	a.draft(draft{event: q, facts: &facts{Asked: &asking{AskedAt: Timestamp(a.srv.opts.Now()), prompt: prompt}, Memory: &memory{Asked: q.RequestID}}})
}

// remembers withdraws the question, because an agent has the conversation again.
func (a *actor) remembers() {
	id := a.core.Memory.Asked
	if r, open := a.core.request(id); open {
		ev := event.Resolve(a.core.header(""), true, id, r.Prompt.ToolUseID(), event.Resolution{Behavior: event.ResolvedCancelled})
		a.draft(draft{event: ev, facts: &facts{Resolved: id, Memory: &memory{}}})
	}
}

// recall acts on a person's answer. It is called in the loop.
func (a *actor) recall(rep reply, key, by string) error {
	answer, _ := rep.answer.(*agent.QuestionAnswer)
	choice := chosen(answer)
	drafts := a.core.answer(a.core.Memory.Asked, rep, key, by)
	switch choice {
	case memorySummary, memoryRetry, memoryRestore, memoryCancel:
	default:
		return Invalid("the answer is %q, which is none of the options", choice)
	}
	drafts[0].facts.Memory = &memory{Fresh: choice == memorySummary}
	if choice == memorySummary {
		drafts = append(drafts, a.memoryNotice(event.NoticeWarning, "memory_summary", "A new agent continues with a summary of the conversation. It remembers nothing else."))
	}
	if choice == memorySummary || choice == memoryRetry {
		drafts = append(drafts, a.core.release())
	}
	if err := a.commit(drafts...); err != nil {
		return err
	}
	if choice == memoryRestore {
		a.restoreMemory()
	}
	a.sendNext()
	return nil
}

// chosen returns the chosen label, alone or in a list; cancel if the question was declined or
// skipped.
func chosen(answer *agent.QuestionAnswer) string {
	var answers map[string]json.RawMessage
	if answer == nil || answer.Declined || json.Unmarshal(answer.Answers, &answers) != nil || string(answers[memoryQuestion]) == "null" {
		return memoryCancel
	}
	var label string
	var labels []string
	if json.Unmarshal(answers[memoryQuestion], &labels) == nil && len(labels) == 1 {
		return labels[0]
	}
	_ = json.Unmarshal(answers[memoryQuestion], &label) // an empty label is not an option
	return label
}

// restoreMemory restores the transcript from the archive and continues with it.
func (a *actor) restoreMemory() {
	r, ok := a.provider.(agent.Restorer)
	if !ok {
		return // it was not offered
	}
	id := a.core.AgentID
	a.srv.wg.Go(func() {
		ctx, cancel := context.WithTimeout(a.ctx, a.srv.opts.StartTimeout)
		defer cancel()
		err := r.Restore(ctx, id)
		a.post(func() {
			if err != nil {
				a.logger.Warn("a transcript was not restored", "err", err)
				a.draft(a.memoryNotice(event.NoticeError, "memory_lost", "The transcript was not restored: "+FailureOf(err).Message))
				a.forgotten(false)
			} else {
				a.draft(a.core.release())
			}
			_ = a.write() // kept and retried by tick
			a.sendNext()
		})
	})
}

func (a *actor) memoryNotice(severity, code, text string) draft {
	return draft{event: &event.Notice{Header: a.core.header(""), Severity: severity, Code: code, Text: text}}
}

// summarized returns an input preceded by a summary of the conversation.
func summarized(in agent.Input, conv *event.Conversation) agent.Input {
	text := handover.Make(conv, handover.Options{Ask: "The conversation goes on with the next message of the person, which follows."}).Prompt
	if len(in.Content) == 0 {
		in.Text = text + "\n\n" + in.Text
		return in
	}
	in.Content = append([]json.RawMessage{json.RawMessage(`{"type":"text","text":` + event.Quote(text) + `}`)}, in.Content...)
	return in
}

package history

import (
	"context"
	"errors"
	"fmt"
	"github.com/seed7221b0f9/parley/codex/rollout"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/agent/handover"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/transcript"
)

// foldHistory reads a past session and folds it.
func foldHistory(ctx context.Context, h agent.History, provider, id string) (*event.Conversation, error) {
	m, err := h.Metadata(ctx, id)
	if err != nil {
		return nil, err
	}
	page, err := h.Load(ctx, id, agent.HistoryPage{})
	if err != nil {
		return nil, err
	}
	c := &event.Conversation{}
	for ev, err := range page.Events {
		if err != nil {
			return nil, err
		}
		c.Apply(ev)
	}
	c.Provider, c.SessionID, c.CWD = provider, id, m.Dir
	return c, nil
}

// HandOver builds the first prompt of a new session from a conversation with any agent:
// the session of --continue-from, and the user's prompt.
func HandOver(ctx context.Context, con *term.Console, session, ask string) (string, error) {
	w := &sessionWork{ctx: ctx, con: con, dir: transcript.Open("")}
	var err error
	if w.sources, err = (&Whose{}).sources(w.dir); err != nil {
		return "", err
	}
	s, id, err := w.find(session)
	if err == nil && isFile(session) {
		var kept *transcript.Session
		if kept, err = w.kept(session); err == nil {
			id = kept.ID
		}
	}
	var c *event.Conversation
	if err == nil {
		c, err = foldHistory(ctx, s, s.name, id)
	}
	if errors.Is(err, transcript.ErrNoSession) {
		return "", term.Usagef("--continue-from: %v", err)
	}
	if err != nil {
		return "", err
	}
	h := handover.Make(c, handover.Options{Ask: ask})
	note := fmt.Sprintf("this is a new session: %d of %d entries of the one with %s are handed over as text", h.Included, h.Entries, c.Provider)
	if h.Omitted != "" {
		note += "; left out: " + h.Omitted
	}
	con.Note(note)
	return h.Prompt, nil
}

// CodexThread returns the id of the session of Codex that --resume names.
func CodexThread(ctx context.Context, con *term.Console, arg string) (string, error) {
	home, err := rollout.DefaultHome()
	if err != nil {
		return "", err
	}
	_, id, err := (&sessionWork{ctx: ctx, con: con, sources: []*source{codexSource(home)}}).find(arg)
	if err != nil {
		return "", term.Usagef("--resume: %v", err)
	}
	return id, nil
}

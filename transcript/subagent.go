package transcript

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// Subagent is an agent that a session started. It has a separate file.
type Subagent struct {
	ID   string // agentId
	Path string
	AgentMeta
}

// AgentMeta is the CLI's metadata of a subagent, in a separate file. All fields are empty if the
// file is missing.
type AgentMeta struct {
	AgentType     string       `json:"agentType"`
	Description   string       `json:"description"`
	ToolUseID     string       `json:"toolUseId"`     // the call that started it
	ParentAgentID string       `json:"parentAgentId"` // set if another subagent started it
	SpawnDepth    int64        `json:"spawnDepth"`
	WorktreePath  string       `json:"worktreePath"`
	Meta          message.JSON `json:"-"` // the complete metadata
}

// Subagents returns the subagents of the session, including nested ones, sorted by path.
func (s *Session) Subagents() ([]*Subagent, error) { return s.subagents(newWork(context.Background())) }

func (s *Session) subagents(w *work) ([]*Subagent, error) {
	var agents []*Subagent
	err := filepath.WalkDir(filepath.Join(s.sideDir(), "subagents"), func(path string, d fs.DirEntry, err error) error {
		if w.ended() {
			return w.err
		}
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		id, isAgent := strings.CutPrefix(d.Name(), "agent-")
		id, isFile := strings.CutSuffix(id, ".jsonl")
		if isAgent && isFile && d.Type().IsRegular() {
			agents = append(agents, newSubagent(id, path))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("transcript: %w", err)
	}
	return agents, nil
}

func newSubagent(id, path string) *Subagent {
	a := &Subagent{ID: id, Path: path}
	text, err := regularfile.Read(strings.TrimSuffix(path, ".jsonl")+".meta.json", sidecarLimit)
	if err == nil && jsonwire.Valid(string(text)) {
		a.Meta = message.JSON(text)
		_ = jsonwire.Unmarshal(string(text), &a.AgentMeta) // it is valid
	}
	return a
}

// Entries returns an iterator over the lines of the subagent's file, with the errors of
// [Session.Entries].
func (a *Subagent) Entries(ctx context.Context) iter.Seq2[Entry, error] {
	return fileEntries(ctx, a.Path)
}

// Conversation returns the messages of the subagent, from the root to the last message, including
// notes for the model.
func (a *Subagent) Conversation(ctx context.Context) ([]*Message, error) {
	w := newWork(ctx)
	entries, err := goodEntries(w, a.Path)
	if err != nil {
		return nil, err
	}
	g := &graph{work: w, byID: map[string]*node{}}
	var last *node
	for i, e := range entries {
		if w.over() {
			return nil, w.err
		}
		e = spoken(e)
		l := LinkOf(e)
		if l == nil || l.UUID == "" || e.Kind() == "system" || e.Kind() == "progress" {
			continue
		}
		n := &node{entry: e, link: l, kind: e.Kind(), parent: l.ParentUUID, index: i}
		g.byID[l.UUID] = n
		if n.isTalk() {
			last = n
		}
	}
	t := thread{work: w, nodes: g.chain(last), keepMeta: true}
	var messages []*Message
	for _, m := range t.messages() {
		if m.Type != "user" && m.Type != "assistant" {
			continue
		}
		m.ParentToolUseID, m.ParentAgentID = plainID(a.ToolUseID), plainID(a.ParentAgentID)
		messages = append(messages, m.Message)
	}
	if w.ended() {
		return nil, w.err
	}
	return messages, nil
}

// plainID returns s if it has the form of an id, else "".
func plainID(s string) string {
	if len(s) > 128 {
		return ""
	}
	for _, c := range []byte(s) {
		switch {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', strings.IndexByte("_.:-", c) >= 0:
		default:
			return ""
		}
	}
	return s
}

package session

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/workspace"
)

// Reviews are the calls about comments on changes.
type Reviews struct{ *Sessions }

// Comment adds a comment on changed lines.
func (s Reviews) Comment(ctx context.Context, p api.ReviewCommentParams, by string) (api.ReviewCommentResult, error) {
	o := comment{ReviewComment: api.ReviewComment{WorkspaceScope: p.WorkspaceScope, ID: "c-" + random.Hex(6), File: p.File, From: p.From, To: p.To, Side: p.Side,
		Hunk: p.Hunk, Text: strings.TrimSpace(p.Text), By: by, State: commentOpen}}
	o.Side, o.To = cmp.Or(o.Side, string(workspace.New)), cmp.Or(o.To, o.From)
	if err := o.check(); err != nil {
		return api.ReviewCommentResult{}, err
	}
	f, release, err := s.files(ctx, p.SessionID, p.Key)
	if err != nil {
		return api.ReviewCommentResult{}, err
	}
	defer release()
	if k, done := f.core.accepted(p.Key); done {
		old, err := f.core.comment(k.Value)
		return api.ReviewCommentResult{Comment: old.ReviewComment}, err
	}
	if o.Code, err = f.code(ctx, o); err != nil {
		return api.ReviewCommentResult{}, err
	}
	err = f.a.call(ctx, func() error {
		if len(f.a.core.Comments) >= maxComments {
			return LimitReached("there are %d comments; remove some", maxComments)
		}
		fs := &facts{Comments: []comment{o}}
		if p.Key != "" {
			fs.Key = &accepted{Key: p.Key, Value: o.ID}
		}
		return f.a.commit(f.a.core.reviewDraft(fs))
	})
	return api.ReviewCommentResult{Comment: o.ReviewComment}, err
}

// check rejects an invalid comment.
func (c comment) check() error {
	switch {
	case c.Side != string(workspace.New) && c.Side != string(workspace.Old):
		return Invalid("side is %q, not new or old", c.Side)
	case c.Text == "" || len(c.Text) > maxCommentText:
		return Invalid("the text is empty, or has more than %d bytes", maxCommentText)
	case c.From < 1 || c.To < c.From || c.To-c.From >= maxCommentCode:
		return Invalid("lines %d to %d: the first is 1 or more, and there are %d at most", c.From, c.To, maxCommentCode)
	}
	return nil
}

// code returns the lines of a comment, from its hunk.
func (f *files) code(ctx context.Context, c comment) ([]string, error) {
	d, err := f.compare(ctx, c.WorkspaceScope)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(d.Files, func(file workspace.File) bool { return file.Path == c.File })
	if i < 0 {
		return nil, WorkspaceFailure(&workspace.StaleError{File: c.File, Hunk: c.Hunk})
	}
	hunks := d.Files[i].Hunks
	j := slices.IndexFunc(hunks, func(h workspace.Hunk) bool { return h.ID == c.Hunk })
	if j < 0 {
		return nil, WorkspaceFailure(&workspace.StaleError{File: c.File, Hunk: c.Hunk, Hunks: workspace.Near(hunks, c.Hunk)})
	}
	code, ok := hunks[j].Code(workspace.Side(c.Side), int(c.From), int(c.To))
	if !ok {
		return nil, Invalid("the hunk does not show lines %d to %d of its %s side", c.From, c.To, c.Side)
	}
	return valid(code), nil
}

// List returns the comments of a session.
func (s Reviews) List(ctx context.Context, p api.SessionRef) (api.ReviewListResult, error) {
	var result api.ReviewListResult
	err := s.with(ctx, p.SessionID, func(a *actor) error {
		result.Comments = wireComments(a.core.Comments)
		return nil
	})
	return result, err
}

// changeComments changes the comments of a session and returns them.
func (s Reviews) changeComments(ctx context.Context, session string, change func(*core) (*facts, error)) (api.ReviewListResult, error) {
	var result api.ReviewListResult
	err := s.with(ctx, session, func(a *actor) error {
		f, err := change(&a.core)
		if err != nil {
			return err
		}
		err = a.commit(a.core.reviewDraft(f))
		result.Comments = wireComments(a.core.Comments)
		return err
	})
	return result, err
}

// Update changes the text or the state of a comment.
func (s Reviews) Update(ctx context.Context, p api.ReviewUpdateParams, by string) (api.ReviewListResult, error) {
	return s.changeComments(ctx, p.SessionID, func(core *core) (*facts, error) {
		o, err := core.comment(p.ID)
		if err != nil {
			return nil, err
		}
		if p.Text != "" {
			if o.State != commentOpen {
				return nil, Conflict("the comment was sent already")
			}
			if o.Text = strings.TrimSpace(p.Text); o.check() != nil {
				return nil, o.check()
			}
		}
		switch p.State {
		case "":
		case commentOpen:
			o.State, o.ResolvedBy, o.TurnID = commentOpen, "", ""
		case commentResolved:
			o.State, o.ResolvedBy = commentResolved, by
		default:
			return nil, Invalid("state is %q, not open or resolved", p.State)
		}
		return &facts{Comments: []comment{o}}, nil
	})
}

// Remove removes a comment.
func (s Reviews) Remove(ctx context.Context, p api.ReviewRemoveParams) (api.ReviewListResult, error) {
	return s.changeComments(ctx, p.SessionID, func(core *core) (*facts, error) {
		_, err := core.comment(p.ID)
		return &facts{Uncommented: []string{p.ID}}, err
	})
}

// Send sends comments to the agent as one prompt.
func (s Reviews) Send(ctx context.Context, p api.ReviewSendParams, by string) (api.ReviewSendResult, error) {
	result := api.ReviewSendResult{Sent: []string{}, Stale: []api.ReviewStale{}}
	if err := s.Working(); err != nil {
		return result, err
	}
	f, release, err := s.files(ctx, p.SessionID, p.Key)
	if err != nil {
		return result, err
	}
	defer release()
	if k, done := f.core.accepted(p.Key); done {
		result.TurnID, result.Seq = k.TurnID, k.Seq
		return result, nil
	}
	chosen, err := f.core.chosen(p.IDs)
	if err != nil {
		return result, err
	}
	ready, err := f.place(ctx, chosen, &result)
	if err != nil {
		return result, err
	}
	if len(ready) == 0 {
		near := result.Stale[0].Hunks
		return result, &StaleFailure{&Failure{api.Conflict, "the lines of all comments have changed since"}, near}
	}
	result.Prompt = reviewPrompt(p.Text, ready)
	in := input{ID: random.UUID(), Content: event.Quote(result.Prompt), Status: inputQueued, By: by, Trace: s.opts.Tracer.ToText(ctx)}
	result.TurnID = in.ID
	for i := range ready {
		ready[i].State, ready[i].TurnID, ready[i].ResolvedBy = commentSent, in.ID, ""
		result.Sent = append(result.Sent, ready[i].ID)
	}
	err = f.a.call(ctx, func() error {
		if err := f.a.owned(); err != nil {
			return err
		}
		d, err := f.a.core.enqueue(in, p.Key)
		if err != nil {
			return err
		}
		if err := f.a.commit(f.a.core.reviewDraft(&facts{Comments: ready}), d); err != nil {
			return err
		}
		result.Seq = f.a.seq
		f.a.trace.accepted(in)
		f.a.sendNext()
		return nil
	})
	return result, err
}

// chosen returns the comments to send: the named ones, or all open ones.
func (c *core) chosen(ids []string) ([]comment, error) {
	var all []comment
	for _, id := range ids {
		o, err := c.comment(id)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(all, func(b comment) bool { return b.ID == id }) {
			all = append(all, o)
		}
	}
	if ids == nil {
		all = slices.DeleteFunc(slices.Clone(c.Comments), func(o comment) bool { return o.State != commentOpen })
	}
	if len(all) == 0 {
		return nil, Conflict("no comment is open")
	}
	return all, nil
}

// place finds the lines of comments in the current files. Those with changed lines are added to the
// result.
func (f *files) place(ctx context.Context, chosen []comment, result *api.ReviewSendResult) ([]comment, error) {
	now, err := f.tree.Snapshot(ctx)
	if err != nil {
		return nil, WorkspaceFailure(err)
	}
	diffs := map[api.WorkspaceScope]workspace.Diff{}
	var ready []comment
	for _, o := range chosen {
		d, ok := diffs[o.WorkspaceScope]
		if !ok {
			from, _, known, err := f.core.scope(f.base(), o.WorkspaceScope)
			if err != nil {
				return nil, err
			}
			if known {
				if d, err = f.tree.Diff(ctx, from, now.Tree); err != nil {
					return nil, WorkspaceFailure(err)
				}
			}
			diffs[o.WorkspaceScope] = d
		}
		at, near, ok := o.placed(d)
		if !ok {
			result.Stale = append(result.Stale, api.ReviewStale{ID: o.ID, Hunks: wireHunks(near)})
			continue
		}
		at.Base, at.Tree = d.From, now.Tree
		ready = append(ready, at)
	}
	return ready, nil
}

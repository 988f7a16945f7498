package place

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/ports"
	"github.com/seed7221b0f9/parley/workspace"
)

// reply is the answer to a call.
type reply struct {
	Result any    `json:",omitempty"`
	Fault  *fault `json:",omitempty"`
}

// Serve answers a call of [Remote] with a place. It returns an error only for an unknown method; all other errors are
// in the reply.
func Serve(ctx context.Context, p Place, method string, params json.RawMessage) ([]byte, error) {
	serve := methods[method]
	if serve == nil {
		return nil, errors.New("unknown method " + method)
	}
	result, err := serve(ctx, p, params)
	if err != nil {
		return json.Marshal(reply{Fault: faultOf(err)})
	}
	return json.Marshal(reply{Result: result})
}

// method is a method of a place with its parameters in JSON.
type method func(ctx context.Context, p Place, params json.RawMessage) (any, error)

// of converts a function of a place to a method.
func of[P, R any](f func(ctx context.Context, p Place, q P) (R, error)) method {
	return func(ctx context.Context, p Place, params json.RawMessage) (any, error) {
		var q P
		if err := json.Unmarshal(params, &q); err != nil {
			return nil, fail(api.InvalidParams, "the parameters: %v", err)
		}
		return f(ctx, p, q)
	}
}

// ofTree converts a function of a tree to a method.
func ofTree[P, R any](f func(ctx context.Context, t Tree, q P) (R, error)) method {
	return of(func(ctx context.Context, p Place, q treeCall[P]) (R, error) {
		t, err := p.Tree(ctx, q.Dir, q.Owner)
		if err != nil {
			var none R
			return none, err
		}
		return f(ctx, t, q.Params)
	})
}

// ofHistory converts a function of a history to a method.
func ofHistory[P, R any](f func(ctx context.Context, h agent.History, q P) (R, error)) method {
	return of(func(ctx context.Context, p Place, q historyCall[P]) (R, error) {
		var none R
		all, err := p.Histories(ctx)
		if err != nil {
			return none, err
		}
		for _, h := range all {
			if h.Agent == q.Agent {
				return f(ctx, h, q.Params)
			}
		}
		return none, agent.ErrUnsupported
	})
}

// Parameters and results of methods that have several.
type (
	treeCall[P any] struct {
		Dir, Owner string
		Params     P
	}
	historyCall[P any] struct {
		Agent  string
		Params P
	}
	portsCall struct {
		Session string
		Port    int `json:",omitempty"`
	}
	searchCall struct {
		Dir, Query string
		Limit      int
	}
	readCall struct {
		Dir, Path string
		Lines     *api.LineRange `json:",omitempty"`
	}
	removeCall struct {
		ID      string
		Options workspace.RemoveOptions
	}
	none        struct{}
	head        struct{ Commit, Branch string }
	twoStates   struct{ From, To string }
	page[T any] struct {
		List   []T
		Cursor string
	}
	loadCall struct {
		ID   string
		Page agent.HistoryPage
	}
	loaded struct {
		Messages []json.RawMessage
		HasMore  bool
	}
	exportCall struct{ ID, Format string }
)

// methods maps the names of methods on the link to their functions.
var methods = map[string]method{
	"files.search": of(func(ctx context.Context, p Place, q searchCall) ([]api.FileInfo, error) {
		return p.Search(ctx, q.Dir, q.Query, q.Limit)
	}),
	"files.read": of(func(ctx context.Context, p Place, q readCall) (api.FilesReadResult, error) {
		return p.Read(ctx, q.Dir, q.Path, q.Lines)
	}),
	"projects": of(func(ctx context.Context, p Place, q ProjectsQuery) (api.ProjectsListResult, error) {
		return p.Projects(ctx, q)
	}),
	"worktrees.create": of(func(ctx context.Context, p Place, q workspace.CreateOptions) (workspace.Workspace, error) {
		return p.Create(ctx, q)
	}),
	"worktrees.get":  of(func(ctx context.Context, p Place, id string) (workspace.Workspace, error) { return p.Get(ctx, id) }),
	"worktrees.list": of(func(ctx context.Context, p Place, _ none) ([]workspace.Workspace, error) { return p.List(ctx) }),
	"worktrees.remove": of(func(ctx context.Context, p Place, q removeCall) (none, error) {
		return none{}, p.Remove(ctx, q.ID, q.Options)
	}),
	"tree.forget": of(func(ctx context.Context, p Place, q treeCall[none]) (none, error) {
		return none{}, p.Forget(ctx, q.Dir, q.Owner)
	}),
	"tree.open": ofTree(func(context.Context, Tree, none) (none, error) { return none{}, nil }),
	"tree.head": ofTree(func(ctx context.Context, t Tree, _ none) (h head, _ error) {
		h.Commit, h.Branch = t.Head(ctx)
		return h, nil
	}),
	"tree.snapshot": ofTree(func(ctx context.Context, t Tree, _ none) (workspace.State, error) { return t.Snapshot(ctx) }),
	"tree.diff": ofTree(func(ctx context.Context, t Tree, q twoStates) (workspace.Diff, error) {
		return t.Diff(ctx, q.From, q.To)
	}),
	"tree.commits": ofTree(func(ctx context.Context, t Tree, base string) ([]workspace.Commit, error) {
		return t.Commits(ctx, base)
	}),
	"tree.revert": ofTree(func(ctx context.Context, t Tree, q workspace.RevertOptions) (workspace.State, error) {
		return t.Revert(ctx, q)
	}),
	"tree.commit": ofTree(func(ctx context.Context, t Tree, q workspace.CommitOptions) (workspace.Committed, error) {
		return t.Commit(ctx, q)
	}),
	"tree.branch": ofTree(func(ctx context.Context, t Tree, _ none) (workspace.Branch, error) { return t.Branch(ctx) }),
	"tree.merge":  ofTree(func(ctx context.Context, t Tree, _ none) (workspace.Merged, error) { return t.Merge(ctx) }),
	"tree.push":   ofTree(func(ctx context.Context, t Tree, url string) (workspace.Pushed, error) { return t.Push(ctx, url) }),
	"ports":       of(func(ctx context.Context, p Place, q portsCall) ([]ports.Port, error) { return p.Ports(ctx, q.Session) }),
	"usage":       of(func(ctx context.Context, p Place, q agent.UsageQuery) ([]agent.Usage, error) { return p.Usage(ctx, q) }),
	"history.agents": of(func(ctx context.Context, p Place, _ none) (names []string, _ error) {
		all, err := p.Histories(ctx)
		for _, h := range all {
			names = append(names, h.Agent)
		}
		return names, err
	}),
	"history.list": ofHistory(func(ctx context.Context, h agent.History, q agent.HistoryQuery) (r page[agent.HistoryInfo], err error) {
		r.List, r.Cursor, err = h.List(ctx, q)
		return r, err
	}),
	"history.search": ofHistory(func(ctx context.Context, h agent.History, q agent.HistoryQuery) (r page[agent.HistoryHit], err error) {
		r.List, r.Cursor, err = h.Search(ctx, q)
		return r, err
	}),
	"history.metadata": ofHistory(func(ctx context.Context, h agent.History, id string) (agent.HistoryMetadata, error) {
		return h.Metadata(ctx, id)
	}),
	"history.load": ofHistory(load),
	"history.export": ofHistory(func(ctx context.Context, h agent.History, q exportCall) (agent.HistoryExport, error) {
		return h.Export(ctx, q.ID, q.Format)
	}),
}

// load returns the events of one page of a session.
func load(ctx context.Context, h agent.History, q loadCall) (loaded, error) {
	events, err := h.Load(ctx, q.ID, q.Page)
	if err != nil {
		return loaded{}, err
	}
	r, encoder := loaded{HasMore: events.HasMore}, event.NewEncoder(random.Hex(4), 0)
	for ev, err := range events.Events {
		if err != nil {
			return loaded{}, err
		}
		messages, err := encoder.Messages(ev)
		if err != nil {
			return loaded{}, err
		}
		r.Messages = append(r.Messages, messages...)
	}
	return r, nil
}

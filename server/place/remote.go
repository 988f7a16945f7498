package place

import (
	"context"
	"encoding/json"
	"fmt"
	"net"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/ports"
	"github.com/seed7221b0f9/parley/workspace"
)

// Remote is a place on another machine.
type Remote struct {
	// Call sends a call to that machine and returns the result of [Serve].
	Call func(ctx context.Context, method string, params json.RawMessage) ([]byte, error)
	// Dial returns the connection that [Dial] makes on that machine.
	Dial func(ctx context.Context, method string, params json.RawMessage) (net.Conn, error)
}

var _ Place = Remote{}

// call calls a method of another machine.
func call[R any](ctx context.Context, m Remote, method string, params any) (result R, err error) {
	text, err := json.Marshal(params)
	if err != nil {
		return result, err
	}
	if text, err = m.Call(ctx, method, text); err != nil {
		return result, err
	}
	var r struct {
		Result json.RawMessage
		Fault  *fault
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return result, fmt.Errorf("the answer of the machine to %s: %w", method, err)
	}
	if r.Fault != nil {
		return result, r.Fault.error()
	}
	if err := json.Unmarshal(r.Result, &result); err != nil {
		return result, fmt.Errorf("the answer of the machine to %s: %w", method, err)
	}
	return result, nil
}

// Search finds files of the machine.
func (m Remote) Search(ctx context.Context, dir, query string, limit int) ([]api.FileInfo, error) {
	return call[[]api.FileInfo](ctx, m, "files.search", searchCall{dir, query, limit})
}

// Read reads lines of a file of the machine.
func (m Remote) Read(ctx context.Context, dir, path string, lines *api.LineRange) (api.FilesReadResult, error) {
	return call[api.FilesReadResult](ctx, m, "files.read", readCall{dir, path, lines})
}

// Projects lists folders of the machine.
func (m Remote) Projects(ctx context.Context, q ProjectsQuery) (api.ProjectsListResult, error) {
	return call[api.ProjectsListResult](ctx, m, "projects", q)
}

// Create creates a worktree on the machine.
func (m Remote) Create(ctx context.Context, o workspace.CreateOptions) (workspace.Workspace, error) {
	return call[workspace.Workspace](ctx, m, "worktrees.create", o)
}

// Get returns a worktree of the machine.
func (m Remote) Get(ctx context.Context, id string) (workspace.Workspace, error) {
	return call[workspace.Workspace](ctx, m, "worktrees.get", id)
}

// List returns the worktrees of the machine.
func (m Remote) List(ctx context.Context) ([]workspace.Workspace, error) {
	return call[[]workspace.Workspace](ctx, m, "worktrees.list", none{})
}

// Remove removes a worktree of the machine.
func (m Remote) Remove(ctx context.Context, id string, o workspace.RemoveOptions) error {
	_, err := call[none](ctx, m, "worktrees.remove", removeCall{id, o})
	return err
}

// Forget releases the snapshots of an owner on the machine.
func (m Remote) Forget(ctx context.Context, dir, owner string) error {
	_, err := call[none](ctx, m, "tree.forget", treeCall[none]{Dir: dir, Owner: owner})
	return err
}

// Ports lists the ports of a session on the machine.
func (m Remote) Ports(ctx context.Context, session string) ([]ports.Port, error) {
	return call[[]ports.Port](ctx, m, "ports", portsCall{Session: session})
}

// DialPort connects to a port of a session on the machine.
func (m Remote) DialPort(ctx context.Context, session string, port int) (net.Conn, error) {
	params, err := json.Marshal(portsCall{session, port})
	if err != nil {
		return nil, err
	}
	return m.Dial(ctx, dialMethod, params)
}

// Usage returns the usage of the machine's agents.
func (m Remote) Usage(ctx context.Context, q agent.UsageQuery) ([]agent.Usage, error) {
	return call[[]agent.Usage](ctx, m, "usage", q)
}

// Tree opens a directory of the machine.
func (m Remote) Tree(ctx context.Context, dir, owner string) (Tree, error) {
	t := &remoteTree{m: m, dir: dir, owner: owner}
	if _, err := ask[none](ctx, t, "tree.open", none{}); err != nil {
		return nil, err
	}
	return t, nil
}

// Histories returns the histories of the machine's agents.
func (m Remote) Histories(ctx context.Context) (all []History, err error) {
	names, err := call[[]string](ctx, m, "history.agents", none{})
	for _, name := range names {
		all = append(all, History{name, remoteHistory{m, name}})
	}
	return all, err
}

// remoteTree is a tree on another machine. The machine opens it again for each call.
type remoteTree struct {
	m          Remote
	dir, owner string
}

// ask calls a method of a tree.
func ask[R, P any](ctx context.Context, t *remoteTree, method string, params P) (R, error) {
	return call[R](ctx, t.m, method, treeCall[P]{t.dir, t.owner, params})
}

func (t *remoteTree) Head(ctx context.Context) (commit, branch string) {
	h, _ := ask[head](ctx, t, "tree.head", none{}) // as locally, unknown is empty
	return h.Commit, h.Branch
}

func (t *remoteTree) Snapshot(ctx context.Context) (workspace.State, error) {
	return ask[workspace.State](ctx, t, "tree.snapshot", none{})
}

func (t *remoteTree) Diff(ctx context.Context, from, to string) (workspace.Diff, error) {
	return ask[workspace.Diff](ctx, t, "tree.diff", twoStates{from, to})
}

func (t *remoteTree) Commits(ctx context.Context, base string) ([]workspace.Commit, error) {
	return ask[[]workspace.Commit](ctx, t, "tree.commits", base)
}

func (t *remoteTree) Revert(ctx context.Context, o workspace.RevertOptions) (workspace.State, error) {
	return ask[workspace.State](ctx, t, "tree.revert", o)
}

func (t *remoteTree) Commit(ctx context.Context, o workspace.CommitOptions) (workspace.Committed, error) {
	return ask[workspace.Committed](ctx, t, "tree.commit", o)
}

func (t *remoteTree) Branch(ctx context.Context) (workspace.Branch, error) {
	return ask[workspace.Branch](ctx, t, "tree.branch", none{})
}

func (t *remoteTree) Merge(ctx context.Context) (workspace.Merged, error) {
	return ask[workspace.Merged](ctx, t, "tree.merge", none{})
}

func (t *remoteTree) Push(ctx context.Context, url string) (workspace.Pushed, error) {
	return ask[workspace.Pushed](ctx, t, "tree.push", url)
}

// remoteHistory is a read-only history of another machine.
type remoteHistory struct {
	m     Remote
	agent string
}

// read calls a method of a history.
func read[R, P any](ctx context.Context, h remoteHistory, method string, params P) (R, error) {
	return call[R](ctx, h.m, method, historyCall[P]{h.agent, params})
}

func (h remoteHistory) List(ctx context.Context, q agent.HistoryQuery) ([]agent.HistoryInfo, string, error) {
	r, err := read[page[agent.HistoryInfo]](ctx, h, "history.list", q)
	return r.List, r.Cursor, err
}

func (h remoteHistory) Search(ctx context.Context, q agent.HistoryQuery) ([]agent.HistoryHit, string, error) {
	r, err := read[page[agent.HistoryHit]](ctx, h, "history.search", q)
	return r.List, r.Cursor, err
}

func (h remoteHistory) Metadata(ctx context.Context, id string) (agent.HistoryMetadata, error) {
	return read[agent.HistoryMetadata](ctx, h, "history.metadata", id)
}

func (h remoteHistory) Load(ctx context.Context, id string, p agent.HistoryPage) (agent.HistoryEvents, error) {
	r, err := read[loaded](ctx, h, "history.load", loadCall{id, p})
	if err != nil {
		return agent.HistoryEvents{}, err
	}
	return agent.HistoryEvents{HasMore: r.HasMore, Events: func(yield func(event.Event, error) bool) {
		var decoder event.Decoder
		for _, text := range r.Messages {
			events, err := decoder.Decode(text)
			for _, ev := range events {
				if !yield(ev, nil) {
					return
				}
			}
			if err != nil && !yield(nil, err) {
				return
			}
		}
	}}, nil
}

func (h remoteHistory) Export(ctx context.Context, id, format string) (agent.HistoryExport, error) {
	return read[agent.HistoryExport](ctx, h, "history.export", exportCall{id, format})
}

func (h remoteHistory) Rename(context.Context, string, string) error { return agent.ErrUnsupported }
func (h remoteHistory) Tag(context.Context, string, string) error    { return agent.ErrUnsupported }
func (h remoteHistory) Delete(context.Context, string) error         { return agent.ErrUnsupported }

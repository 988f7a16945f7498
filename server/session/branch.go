package session

import (
	"context"
	"net/url"
	"regexp"
	"strings"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/workspace"
)

// Branch compares the branch of a session with its target.
func (s Workspaces) Branch(ctx context.Context, p api.SessionRef) (api.WorkspaceBranchResult, error) {
	f, release, err := s.files(ctx, p.SessionID, "")
	if err != nil {
		return api.WorkspaceBranchResult{}, err
	}
	defer release()
	b, err := f.tree.Branch(ctx)
	return wireBranch(b), WorkspaceFailure(err)
}

func wireBranch(b workspace.Branch) api.WorkspaceBranchResult {
	return api.WorkspaceBranchResult{Branch: b.Name, Target: b.Target, Ahead: int64(b.Ahead), Behind: int64(b.Behind),
		Remote: b.Remote, URL: withoutSecret(b.URL), Pushed: b.Pushed, CompareURL: compareURL(b.URL, b.Target, b.Name)}
}

// changing opens the files of a session for a call that changes its branch. done reports that the
// same call was made before.
func (s Workspaces) changing(ctx context.Context, session, key string) (f *files, value string, done bool, release func(), err error) {
	f, release, err = s.files(ctx, session, key)
	if err != nil {
		return nil, "", false, nil, err
	}
	k, done := f.core.accepted(key)
	if !done {
		err = f.idle()
	}
	if err != nil {
		release()
		return nil, "", false, nil, err
	}
	return f, k.Value, done, release, nil
}

// Merge merges the branch of a session into its target.
func (s Workspaces) Merge(ctx context.Context, p api.WorkspaceMergeParams, by string) (api.WorkspaceMergeResult, error) {
	f, commit, done, release, err := s.changing(ctx, p.SessionID, p.Key)
	if err != nil {
		return api.WorkspaceMergeResult{}, err
	}
	defer release()
	if done {
		return api.WorkspaceMergeResult{Target: p.Target, Commit: commit}, nil
	}
	ctx, cancel := s.Undisturbed(ctx)
	defer cancel()
	b, err := f.tree.Branch(ctx)
	if err == nil && b.Target != p.Target {
		return api.WorkspaceMergeResult{}, Conflict("the branch to merge into is %q, not %q", b.Target, p.Target)
	}
	if err != nil {
		return api.WorkspaceMergeResult{}, WorkspaceFailure(err)
	}
	m, err := f.tree.Merge(ctx)
	if err != nil {
		return api.WorkspaceMergeResult{}, WorkspaceFailure(err)
	}
	err = f.tell(ctx, api.WorkspaceEvent{Event: "merged", Commit: m.Commit, By: by}, p.Key, nil)
	return api.WorkspaceMergeResult{Target: m.Target, Commit: m.Commit, Commits: int64(m.Commits), FastForward: m.FastForward}, err
}

// Push pushes the branch of a session.
func (s Workspaces) Push(ctx context.Context, p api.WorkspacePushParams, by string) (api.WorkspacePushResult, error) {
	f, _, done, release, err := s.changing(ctx, p.SessionID, p.Key)
	if err != nil {
		return api.WorkspacePushResult{}, err
	}
	defer release()
	ctx, cancel := s.Undisturbed(ctx)
	defer cancel()
	b, err := f.tree.Branch(ctx)
	switch {
	case err != nil:
		return api.WorkspacePushResult{}, WorkspaceFailure(err)
	case done:
		return api.WorkspacePushResult{Remote: b.Remote, Branch: b.Name}, nil
	case withoutSecret(b.URL) != p.URL:
		return api.WorkspacePushResult{}, Invalid("the remote is %q now, not %q", withoutSecret(b.URL), p.URL)
	}
	r, err := f.tree.Push(ctx, b.URL)
	if err != nil {
		return api.WorkspacePushResult{}, WorkspaceFailure(err)
	}
	err = f.tell(ctx, api.WorkspaceEvent{Event: "pushed", By: by}, p.Key, nil)
	return api.WorkspacePushResult{Remote: r.Remote, Branch: r.Branch, Output: r.Output}, err
}

// withoutSecret returns the address of a remote without user and password.
func withoutSecret(remote string) string {
	u, err := url.Parse(remote)
	if err != nil || u.User == nil || u.Scheme == "ssh" {
		return remote
	}
	u.User = nil
	return u.String()
}

// scpAddress matches an address of the form user@host:path.
var scpAddress = regexp.MustCompile(`^(?:[^@/:]+@)?([A-Za-z0-9.-]+):([^:]+)$`)

// compareURL returns the web page on which a pull request from a branch can be opened, or "" for an unknown kind of
// host. GitLab and Bitbucket have their own paths; other known hosts use GitHub's.
func compareURL(remote, target, branch string) string {
	if remote == "" || target == "" || branch == "" || target == branch {
		return ""
	}
	host, path := "", ""
	if u, err := url.Parse(remote); err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" || u.Scheme == "ssh") {
		host, path = u.Host, u.Path
		if u.Scheme == "ssh" {
			host = u.Hostname() // the port is that of ssh
		}
	} else if m := scpAddress.FindStringSubmatch(remote); m != nil && !strings.Contains(remote, "://") && strings.Contains(m[1], ".") {
		host, path = m[1], m[2]
	}
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	if host == "" || strings.Count(path, "/") < 1 {
		return ""
	}
	page := url.URL{Scheme: "https", Host: host, Path: "/" + path}
	switch {
	case strings.Contains(host, "gitlab"):
		page.Path += "/-/merge_requests/new"
		page.RawQuery = url.Values{"merge_request[source_branch]": {branch}, "merge_request[target_branch]": {target}}.Encode()
	case host == "bitbucket.org":
		page.Path += "/pull-requests/new"
		page.RawQuery = url.Values{"source": {branch}, "dest": {target}}.Encode()
	default:
		page.Path += "/compare/" + target + "..." + branch
		page.RawQuery = "expand=1"
	}
	return page.String()
}

package server

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/api"
)

// Folders are found only below the roots, by a part of their name, with their branch; recent ones are first.
func TestProjectsList(t *testing.T) {
	h := newHarness(t)
	work := h.opts.Directories[0]
	for name, text := range map[string]string{
		"harbour/.git/HEAD":                   "ref: refs/heads/main\n",
		"harbour/.git/refs/heads/main":        "0\n",
		"harbour/.git/refs/heads/wt/tides":    "0\n",
		"harbour/.git/packed-refs":            "# pack-refs\n0123 refs/heads/old\n0123 refs/tags/v1\n",
		"tools/harness/.git":                  "gitdir: ../../harbour/.git/worktrees/harness\n",
		"harbour/.git/worktrees/harness/HEAD": "ref: refs/heads/develop\n",
		"data/charts/a.txt":                   "a",
		"harbour/docs/quay/x":                 "in a repository",
		"a/b/c/d/harder/x":                    "too deep",
		".hidden/hare/x":                      "hidden",
		"node_modules/hare/x":                 "skipped",
	} {
		path := filepath.Join(work, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, text)
	}
	if err := os.MkdirAll(filepath.Join(h.dir, "harm"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(h.dir, "harm"), filepath.Join(work, "harm")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	real, err := filepath.EvalSymlinks(work)
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(real, name) }
	harbour := api.Project{Path: at("harbour"), Git: true, Branch: "main"}
	harness := api.Project{Path: at("tools/harness"), Git: true, Branch: "develop"}
	charts := api.Project{Path: at("data/charts")}

	var r api.ProjectsListResult
	h.call("projects.list", api.ProjectsListParams{Query: "HAR"}, &r)
	if want := []api.Project{harbour, harness, charts}; !reflect.DeepEqual(r.Folders, want) || len(r.Recent) != 0 {
		t.Errorf("folders %+v, recent %+v; want %+v and none", r.Folders, r.Recent, want)
	}
	h.call("session.connect", api.ConnectParams{CWD: at("data/charts")}, &api.ConnectResult{})
	r = api.ProjectsListResult{}
	h.call("projects.list", api.ProjectsListParams{Query: "har"}, &r)
	if want := []api.Project{charts}; !reflect.DeepEqual(r.Recent, want) || len(r.Folders) != 2 {
		t.Errorf("recent %+v, folders %+v; want %+v first, and not again", r.Recent, r.Folders, want)
	}
	r = api.ProjectsListResult{}
	h.call("projects.list", api.ProjectsListParams{Query: "quay"}, &r)
	if want := []api.Project{{Path: at("harbour/docs/quay"), Branch: "main"}}; !reflect.DeepEqual(r.Folders, want) {
		t.Errorf("a folder of a repository: %+v; want %+v", r.Folders, want)
	}
	r = api.ProjectsListResult{}
	h.call("projects.list", api.ProjectsListParams{Path: at("harbour")}, &r)
	harbour.Branches = []string{"main", "old", "wt/tides"}
	if want := []api.Project{harbour}; !reflect.DeepEqual(r.Folders, want) {
		t.Errorf("one folder: %+v; want %+v", r.Folders, want)
	}
	for _, dir := range []string{h.dir, at("harm"), "/etc"} {
		if got := client.Reason(h.client(h.token).Call(h.ctx(), "projects.list", api.ProjectsListParams{Path: dir}, nil)); got != api.AuthFailed {
			t.Errorf("projects.list of %s: reason %q, want %q", dir, got, api.AuthFailed)
		}
		if got := client.Reason(h.client(h.token).Call(h.ctx(), "files.search", api.FilesSearchParams{CWD: dir}, nil)); got != api.AuthFailed {
			t.Errorf("files.search in %s: reason %q, want %q", dir, got, api.AuthFailed)
		}
	}
	var found api.FilesSearchResult
	h.call("files.search", api.FilesSearchParams{CWD: at("data"), Query: "a.txt"}, &found)
	if len(found.Files) != 1 || found.Files[0].Path != "charts/a.txt" {
		t.Errorf("files.search before a session: %+v; want charts/a.txt", found.Files)
	}
}

// The branch of a folder is not read if its file .git names git data outside of the roots.
func TestProjects_outside(t *testing.T) {
	h := newHarness(t)
	work := h.opts.Directories[0]
	for name, text := range map[string]string{
		filepath.Join(h.dir, "hidden", "HEAD"): "ref: refs/heads/secret\n",
		filepath.Join(work, "spy", ".git"):     "gitdir: " + filepath.Join(h.dir, "hidden") + "\n",
		filepath.Join(work, "spy2", ".git"):    "gitdir: ../../hidden\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, name, text)
	}
	var r api.ProjectsListResult
	h.call("projects.list", api.ProjectsListParams{Query: "spy"}, &r)
	for _, p := range r.Folders {
		if p.Branch != "" || !p.Git {
			t.Errorf("%+v, want a repository without a branch", p)
		}
	}
	if len(r.Folders) != 2 {
		t.Errorf("%d folders, want 2", len(r.Folders))
	}
	for _, name := range []string{"spy", "spy2"} {
		h.call("session.connect", api.ConnectParams{CWD: filepath.Join(work, name)}, nil)
	}
	var list api.ListResult
	h.call("session.list", api.ListParams{}, &list)
	for _, s := range list.Sessions {
		if s.Branch != "" {
			t.Errorf("the session in %s has the branch %q, want none", s.CWD, s.Branch)
		}
	}
}

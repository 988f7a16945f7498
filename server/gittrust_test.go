package server

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/workspace"
)

// TestTrustGit checks that a commit that needs a filter of the repository is a conflict, and that the diff lists the file, until the
// operator trusts the configuration.
func TestTrustGit(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	var hash string
	for _, trusted := range []bool{false, true} {
		r := newRepoHarness(t, func(o *Options) {
			if trusted {
				o.TrustGit = []string{hash}
			}
		})
		writeFile(t, filepath.Join(r.repo, ".gitattributes"), "*.up filter=up\n")
		r.git(r.repo, "config", "filter.up.clean", "tr a-z A-Z")
		id := r.connect()
		r.turn(id, func() { writeFile(t, filepath.Join(r.repo, "x.up"), "x\n") })
		left := r.diff(id, api.WorkspaceScope{}).LeftOut
		commit := api.WorkspaceCommitParams{SessionID: id, Message: "m", Files: []string{"x.up"}, Checkout: true}
		if !trusted {
			if len(left) != 1 || left[0].Path != "x.up" || left[0].Why != workspace.NeedsFilter {
				t.Errorf("left out: %+v, want x.up", left)
			}
			if err := r.client(r.token).Call(r.ctx(), "workspace.commit", commit, nil); err == nil || !strings.Contains(err.Error(), "filter") {
				t.Errorf("workspace.commit: %v, want that the filter is not trusted", err)
			}
			tree, err := r.server.workspaces.Tree(r.ctx(), r.repo, "x")
			if err != nil {
				t.Fatal(err)
			}
			p, err := tree.Programs(r.ctx())
			if err != nil || p.Hash == "" {
				t.Fatalf("Programs: %+v, %v", p, err)
			}
			hash = p.Hash
			continue
		}
		if len(left) != 0 {
			t.Errorf("left out: %+v, want none", left)
		}
		r.call("workspace.commit", commit, nil)
		if got := r.git(r.repo, "show", "HEAD:x.up"); got != "X" {
			t.Errorf("git has %q, want what the filter makes", got)
		}
	}
}

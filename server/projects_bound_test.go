package server

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestProjects_tenants checks that each caller gets only the folders of sessions that it may see:
// of the server's sessions, and of histories, with and without separate agents for tenants.
func TestProjects_tenants(t *testing.T) {
	for _, apart := range []bool{false, true} {
		h := newHarness(t, func(o *Options) {
			if !apart {
				return
			}
			dir := filepath.Dir(o.Dir)
			o.Tenant = func(name string) (Tenant, error) {
				p := &agenttest.Provider{Dir: filepath.Join(dir, "agent-"+name)}
				return Tenant{Providers: []agent.Provider{p}}, os.MkdirAll(p.Dir, 0o700)
			}
		})
		work, err := filepath.EvalSymlinks(h.opts.Directories[0])
		if err != nil {
			t.Fatal(err)
		}
		holders := map[string]string{"owner": h.token}
		for _, tenant := range []string{"acme", "other"} {
			if _, holders[tenant], err = h.server.tokens.create(token{Role: "operator", Tenant: tenant}, 0); err != nil {
				t.Fatal(err)
			}
		}
		for name, value := range holders {
			if err := os.Mkdir(filepath.Join(work, "of-"+name), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := h.client(value).Call(h.ctx(), "session.connect", api.ConnectParams{CWD: filepath.Join(work, "of-"+name)}, nil); err != nil {
				t.Fatal(err)
			}
		}
		for name, want := range map[string][]string{"owner": {"of-acme", "of-other", "of-owner"}, "acme": {"of-acme"}, "other": {"of-other"}} {
			var r api.ProjectsListResult
			if err := h.client(holders[name]).Call(h.ctx(), "projects.list", api.ProjectsListParams{Query: "of-"}, &r); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range r.Recent {
				got = append(got, strings.TrimPrefix(p.Path, work+string(filepath.Separator)))
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("with agents of tenants %v the recent folders of %s are %v, want %v", apart, name, got, want)
			}
		}
	}
}

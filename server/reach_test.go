package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/server/api"
)

// typical returns the findings about an agent with the user's login and no restrictions but
// permissions.
func typical() findings {
	return findings{
		reach:     agent.Reach{PID: 7, Sandbox: "off", ConfigDir: "/user/.claude"},
		variables: []string{"PATH", "HOME"}, mode: "default", dirs: []string{"/work"},
		readable: []string{"/work", "/user"}, writable: []string{"/work", "/user"}, serverData: "/data", interfaces: []string{"eth0"},
	}
}

// verdicts returns the checks of a report by name.
func verdicts(r api.IsolationResult) map[string]bool {
	all := map[string]bool{}
	for _, c := range r.Checks {
		all[c.Name] = c.OK
	}
	return all
}

// TestIsolationReport checks the report for each setting.
func TestIsolationReport(t *testing.T) {
	base := map[string]bool{"api_key": false, "environment": true, "login_files": true, "sandbox": false, "permissions": true, "server_data": true, "network": false}
	for _, tt := range []struct {
		name    string
		change  func(*findings)
		checks  map[string]bool // checks that differ from base
		holds   bool
		secrets []string
		write   []string // nil means that of base
		network []string
		says    string // expected in the text of a check
	}{
		{name: "no bounds", says: "the agent uses, and can read, the login"},
		{name: "key in the environment", change: func(f *findings) {
			f.variables = append(f.variables, "ANTHROPIC_API_KEY", "GITHUB_TOKEN", "KEYBOARD", "MONKEY", "PASSWORD")
		},
			checks: map[string]bool{"environment": false}, holds: true, secrets: []string{"ANTHROPIC_API_KEY", "GITHUB_TOKEN", "PASSWORD"}, says: "7 variables"},
		{name: "login file", change: func(f *findings) { f.logins = []string{"/user/.claude/.credentials.json"} },
			checks: map[string]bool{"login_files": false}, holds: true, says: ".credentials.json"},
		{name: "behind the proxy, seen", change: func(f *findings) {
			f.proxied, f.inspected, f.variables = true, true, append(f.variables, "ANTHROPIC_API_KEY")
		}, checks: map[string]bool{"api_key": true}, says: "the server's key is not in them"},
		{name: "behind the proxy, not seen", change: func(f *findings) { f.proxied = true }, checks: map[string]bool{"api_key": true}, says: "could not be looked at"},
		{name: "behind the proxy, and leaked", change: func(f *findings) { f.proxied, f.inspected, f.keySeen = true, true, true }, holds: true, says: "the server's key is in them"},
		{name: "behind the proxy, with another secret", change: func(f *findings) {
			f.proxied, f.variables = true, append(f.variables, "ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY")
		}, checks: map[string]bool{"api_key": true, "environment": false}, secrets: []string{"AWS_SECRET_ACCESS_KEY"}},
		{name: "behind the proxy, with a login", change: func(f *findings) { f.proxied, f.logins = true, []string{"/x"} },
			checks: map[string]bool{"api_key": true, "login_files": false}, holds: true},
		{name: "sandbox", change: func(f *findings) {
			f.reach.Sandbox, f.reach.AllowWrite, f.reach.Domains = "on", []string{"/cache"}, []string{"example.com"}
		}, checks: map[string]bool{"sandbox": true, "sandbox_escape": true, "network": true}, write: []string{"/work", "/cache"}, network: []string{"example.com"}},
		{name: "sandbox with a way out", change: func(f *findings) {
			f.reach.Sandbox, f.reach.CanEscape, f.reach.Escapes = "on", true, []string{"docker"}
		},
			checks: map[string]bool{"sandbox": true, "sandbox_escape": false, "network": true}, write: []string{"/work"}, network: []string{}, says: "docker"},
		{name: "sandbox that does not work", change: func(f *findings) { f.reach.Missing = []string{"bubblewrap is not installed"} }, says: "bubblewrap is not installed"},
		{name: "sandbox not known", change: func(f *findings) { f.reach.Sandbox = "" }, says: "does not report"},
		{name: "the agent does not answer", change: func(f *findings) { f.reach.Sandbox, f.reachErr = "on", errors.New("hush-hush") }, says: "does not report whether"},
		{name: "accept edits", change: func(f *findings) { f.mode = "acceptEdits" }, checks: map[string]bool{"permissions": false}, says: "without asking"},
		{name: "bypass", change: func(f *findings) { f.mode = "bypassPermissions" }, checks: map[string]bool{"permissions": false}, says: "every tool runs"},
		{name: "plan", change: func(f *findings) { f.mode = "plan" }, says: "The mode is plan"},
		{name: "the server's data", change: func(f *findings) { f.writable = append(f.writable, "/data") }, checks: map[string]bool{"server_data": false},
			write: []string{"/work", "/user", "/data", "everything else that the user can write"}, says: "/data is writable"},
		{name: "no network", change: func(f *findings) { f.interfaces = nil }, checks: map[string]bool{"network": true}, network: []string{"this machine"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := typical()
			if tt.change != nil {
				tt.change(&f)
			}
			r := f.report()
			want := map[string]bool{}
			for _, m := range []map[string]bool{base, tt.checks} {
				for name, ok := range m {
					want[name] = ok
				}
			}
			if diff := cmp.Diff(want, verdicts(r)); diff != "" {
				t.Errorf("the checks (-want +got):\n%s", diff)
			}
			if r.HoldsLogin != tt.holds || !slices.Equal(r.Secrets, tt.secrets) {
				t.Errorf("holds the login: %t, secrets %v", r.HoldsLogin, r.Secrets)
			}
			if write := orDefault(tt.write, []string{"/work", "/user", "everything else that the user can write"}); !slices.Equal(r.Write, write) {
				t.Errorf("writes %v, want %v", r.Write, write)
			}
			if network := orDefault(tt.network, []string{"this machine", "every host that this machine reaches"}); !slices.Equal(r.Network, network) {
				t.Errorf("reaches %v, want %v", r.Network, network)
			}
			if !slices.ContainsFunc(r.Checks, func(c api.IsolationCheck) bool { return strings.Contains(c.Detail, tt.says) }) {
				t.Errorf("no check says %q: %+v", tt.says, r.Checks)
			}
		})
	}
}

func orDefault(list, other []string) []string {
	if list == nil {
		return other
	}
	return list
}

// boundedSession is a session that reports its limits.
type boundedSession struct {
	agent.Session
	reach agent.Reach
}

func (s boundedSession) Reach(context.Context) (agent.Reach, error) { return s.reach, nil }

type boundedProvider struct {
	*agenttest.Provider
	reach agent.Reach
}

func (p *boundedProvider) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	s, err := p.Provider.Open(ctx, opts)
	return boundedSession{s, p.reach}, err
}

// TestIsolation checks the report on this system with a real process, files and directories.
func TestIsolation(t *testing.T) {
	config := t.TempDir()
	login := filepath.Join(config, "login.json")
	writeFile(t, login, "{}")
	p := &boundedProvider{&agenttest.Provider{}, agent.Reach{PID: os.Getpid(), ConfigDir: config, Logins: []string{login, filepath.Join(config, "none")}, Sandbox: "off"}}
	h := newHarness(t, func(o *Options) {
		o.Providers, o.Env = []agent.Provider{p}, []string{"HOME=" + config, "SOME_TOKEN=x"}
	})
	var r api.IsolationResult
	h.call("session.isolation", api.SessionRef{SessionID: h.connect()}, &r)
	work := h.server.opts.Directories[0]
	if !slices.Contains(r.Write, work) || !slices.Contains(r.Write, config) || !slices.Contains(r.Read, config) || !r.HoldsLogin || r.Sandbox != "off" {
		t.Errorf("the report is %+v", r)
	}
	got := verdicts(r)
	if got["login_files"] || got["server_data"] || got["sandbox"] || !got["permissions"] {
		t.Errorf("the checks are %+v", r.Checks)
	}
	i := slices.IndexFunc(r.Checks, func(c api.IsolationCheck) bool { return c.Name == "environment" })
	if seen := strings.Contains(r.Checks[i].Detail, "environment of process"); seen != (runtime.GOOS == "linux") {
		t.Errorf("the environment: %s", r.Checks[i].Detail)
	}
}

// TestInspect finds a key in the environment of a process, if the system shows it.
func TestInspect(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows the environment of a process")
	}
	env, found, ok := inspect(os.Getpid(), "a key that is not there")
	if !ok || found || len(env) == 0 {
		t.Errorf("%d variables, found %t, ok %t", len(env), found, ok)
	}
	if _, found, ok := inspect(os.Getpid(), env[0]); !ok || !found {
		t.Error("what is in the environment was not found")
	}
	if _, found, ok := inspect(os.Getpid(), filepath.Base(os.Args[0])); !ok || !found {
		t.Error("what is in the arguments was not found")
	}
	for _, pid := range []int{0, -1, 1 << 30} {
		if _, _, ok := inspect(pid, "x"); ok {
			t.Errorf("process %d was looked at", pid)
		}
	}
}

// A report lists the hosts that a box reaches: none, those of its list, or all.
func TestFindings_boxHosts(t *testing.T) {
	for _, tt := range []struct {
		box        api.Box
		hosts      []string
		interfaces []string
		want       []string
		check      bool
	}{
		{api.Box{Kind: "bwrap", Network: "off"}, nil, nil, []string{}, false},
		{api.Box{Kind: "bwrap", Network: "allow"}, []string{"example.org", "*.example.com:8443"}, nil, []string{"example.org", "*.example.com:8443"}, true},
		{api.Box{Kind: "bwrap", Network: "on"}, nil, []string{"eth0"}, []string{"this machine", "every host that this machine reaches"}, false},
	} {
		f := typical()
		f.box, f.hosts, f.interfaces = &tt.box, tt.hosts, tt.interfaces
		r := f.report()
		if !slices.Equal(r.Network, tt.want) {
			t.Errorf("with the network %s it reaches %q, want %q", tt.box.Network, r.Network, tt.want)
		}
		if got := slices.ContainsFunc(r.Checks, func(c api.IsolationCheck) bool {
			return c.Name == "network" && strings.Contains(c.Detail, "*.example.com:8443")
		}); got != tt.check {
			t.Errorf("with the network %s the check names the hosts: %t, want %t", tt.box.Network, got, tt.check)
		}
	}
}

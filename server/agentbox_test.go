package server

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/spawn/box"
)

// scriptedKeys is a key proxy with calls that can fail.
type scriptedKeys struct {
	url             string
	doorErr, denied error
	granted         []string // the sessions with a token
	revoked         int
}

func (k *scriptedKeys) URL() string { return k.url }

func (k *scriptedKeys) Door() (string, error) { return "/run/door", k.doorErr }

func (k *scriptedKeys) Grant(session string) (string, func(), error) {
	if k.denied != nil {
		return "", nil, k.denied
	}
	k.granted = append(k.granted, session)
	return "token of " + session, func() { k.revoked++ }, nil
}

func (k *scriptedKeys) Close() error { return nil }

// needy is an agent that needs files in its box.
type needy struct {
	*agenttest.Provider
	needs agent.BoxNeeds
}

func (n needy) BoxNeeds(agent.Options) agent.BoxNeeds { return n.needs }

// needyProxied also reaches its model through the key proxy.
type needyProxied struct{ needy }

func (needyProxied) ProxyEnv(env []string, url, token string) []string {
	return append(slices.Clone(env), "URL="+url, "KEY="+token)
}

// TestBoxOf checks the files, logins and doors of a box: an agent with the key proxy gets no login, one without the network gets a door,
// and the server's data is hidden.
func TestBoxOf(t *testing.T) {
	dir := t.TempDir()
	login := filepath.Join(dir, "login")
	writeFile(t, login, "x")
	needs := agent.BoxNeeds{Empty: []string{"/empty"}, Write: []string{filepath.Join(dir, "transcripts", "deep")}, Logins: []string{login, filepath.Join(dir, "none")}}
	direct := needy{&agenttest.Provider{}, needs}
	boxes := Boxes{Program: "/bwrap", Init: "/parley", Network: box.NetworkOn, Caches: []string{"/cache"}, Hide: []string{"/hidden"}}
	opts := func() *agent.Options {
		return &agent.Options{AdditionalDirectories: []string{"/more"}, Env: []string{"HOME=/other", "A=b", "HOME=/h/"}}
	}
	want := box.Box{Program: "/bwrap", Init: "/parley", Home: "/h", Empty: []string{"/empty"}, Write: []string{"/more", needs.Write[0], "/cache"},
		Hide: []string{"/data", "/hidden"}, Network: box.NetworkOn}
	for _, tt := range []struct {
		name    string
		p       agent.Provider
		network box.Network
		logins  []string
		doors   map[int]string
	}{
		{"an agent with its login", direct, box.NetworkOn, []string{login}, nil},
		{"an agent with the key proxy", needyProxied{direct}, box.NetworkOn, nil, nil},
		{"no network", needyProxied{direct}, box.NetworkOff, nil, map[int]string{4711: "/run/door"}},
		{"some hosts", needyProxied{direct}, box.NetworkAllow, nil, map[int]string{4711: "/run/door"}},
	} {
		s := &Server{opts: Options{Dir: "/data", Boxes: boxes}, keys: &scriptedKeys{url: "http://127.0.0.1:4711"}}
		s.opts.Boxes.Network = tt.network
		got, err := s.boxOf(tt.p, opts())
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		full := want
		full.Network, full.Logins, full.Doors = tt.network, tt.logins, tt.doors
		if diff := cmp.Diff(full, *got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if info, err := os.Stat(needs.Write[0]); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the directory for what the agent writes: %v, %v", info, err)
	}
}

// TestBoxOf_fails checks that a missing part of a box is an error.
func TestBoxOf_fails(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	writeFile(t, file, "x")
	failed := errors.New("failed")
	for _, tt := range []struct {
		name  string
		keys  *scriptedKeys
		env   []string
		write string
		boxes Boxes
		want  api.Reason
	}{
		{name: "no home", env: []string{"A=b"}, boxes: Boxes{Program: "/bwrap", Network: box.NetworkOn}, want: api.Unsupported},
		{name: "an empty home", env: []string{"HOME="}, boxes: Boxes{Program: "/bwrap", Network: box.NetworkOn}, want: api.Unsupported},
		{name: "no bwrap", env: []string{"HOME=/h"}, boxes: Boxes{Network: box.NetworkOn}, want: api.Unsupported},
		{name: "a directory that cannot be made", env: []string{"HOME=/h"}, write: filepath.Join(file, "x"), boxes: Boxes{Program: "/bwrap", Network: box.NetworkOn}, want: session.InternalError},
		{name: "no door", env: []string{"HOME=/h"}, keys: &scriptedKeys{url: "http://127.0.0.1:1", doorErr: failed}, boxes: Boxes{Program: "/bwrap", Network: box.NetworkOff}, want: session.InternalError},
		{name: "an address without a port", env: []string{"HOME=/h"}, keys: &scriptedKeys{url: "http://127.0.0.1"}, boxes: Boxes{Program: "/bwrap", Network: box.NetworkOff}, want: session.InternalError},
		{name: "a bad address", env: []string{"HOME=/h"}, keys: &scriptedKeys{url: "http://[::1"}, boxes: Boxes{Program: "/bwrap", Network: box.NetworkOff}, want: session.InternalError},
	} {
		s := &Server{opts: Options{Dir: "/data", Boxes: tt.boxes}, keys: &scriptedKeys{}}
		if tt.keys != nil {
			s.keys = tt.keys
		}
		p := needyProxied{needy{&agenttest.Provider{}, agent.BoxNeeds{}}}
		if tt.write != "" {
			p.needs.Write = []string{tt.write}
		}
		b, err := s.boxOf(p, &agent.Options{Env: tt.env})
		if err == nil || session.FailureOf(err).Reason != tt.want {
			t.Errorf("%s: %+v, %v; want %s", tt.name, b, err, tt.want)
		}
		opts := &agent.Options{Env: tt.env}
		if err := s.putInBox(p, "s-1", opts, "t"); err == nil || opts.Box != nil {
			t.Errorf("%s: the agent starts, %v", tt.name, err)
		}
	}
}

// TestPrepareAgent checks that an agent gets access to its model, and that the access ends when it
// is released, or at once if the agent gets no box.
func TestPrepareAgent(t *testing.T) {
	needs := needy{&agenttest.Provider{}, agent.BoxNeeds{}}
	proxied := needyProxied{needs}
	boxes := Boxes{Program: "/bwrap", Network: box.NetworkAllow}
	tunnel := "http://parley:token of s-1@127.0.0.1:4711"
	for _, tt := range []struct {
		name    string
		p       agent.Provider
		noKeys  bool
		denied  bool
		sandbox string
		env     []string // before
		want    []string // after
		boxed   bool
		fails   bool
		granted bool
	}{
		{name: "with the key proxy", p: proxied, env: []string{"HOME=/h"}, want: []string{"HOME=/h", "URL=http://127.0.0.1:4711", "KEY=token of s-1"}, granted: true},
		{name: "without a key", p: proxied, noKeys: true, env: []string{"HOME=/h"}, want: []string{"HOME=/h"}},
		{name: "another agent", p: needs, env: []string{"HOME=/h"}, want: []string{"HOME=/h"}},
		{name: "no token", p: proxied, denied: true, env: []string{"HOME=/h"}, fails: true},
		{name: "in a box", p: proxied, sandbox: BoxBwrap, env: []string{"HOME=/h"}, boxed: true, granted: true,
			want: []string{"TMPDIR=/tmp", "IS_SANDBOX=1", "HOME=/h", "URL=http://127.0.0.1:4711", "KEY=token of s-1", "HTTPS_PROXY=" + tunnel, "https_proxy=" + tunnel}},
		{name: "without its box", p: proxied, sandbox: BoxBwrap, env: []string{"A=b"}, fails: true, granted: true},
		{name: "an agent that needs the network", p: needs, sandbox: BoxBwrap, env: []string{"HOME=/h"}, fails: true},
	} {
		keys := &scriptedKeys{url: "http://127.0.0.1:4711"}
		if tt.denied {
			keys.denied = errors.New("denied")
		}
		s := &Server{opts: Options{Dir: "/data", Boxes: boxes}}
		if !tt.noKeys {
			s.keys = keys
		}
		opts := &agent.Options{Env: slices.Clone(tt.env), Sandbox: tt.sandbox}
		release, err := s.prepareAgent("s-1", tt.p, opts)
		if (err != nil) != tt.fails || (len(keys.granted) > 0) != tt.granted {
			t.Errorf("%s: %v, granted %q", tt.name, err, keys.granted)
			continue
		}
		if tt.fails {
			if want := len(keys.granted); keys.revoked != want {
				t.Errorf("%s: %d of %d tokens were revoked", tt.name, keys.revoked, want)
			}
			continue
		}
		if diff := cmp.Diff(tt.want, opts.Env); diff != "" || (opts.Box != nil) != tt.boxed {
			t.Errorf("%s: in a box %t; the environment (-want +got):\n%s", tt.name, opts.Box != nil, diff)
		}
		if keys.revoked != 0 {
			t.Errorf("%s: the token was revoked before the agent ended", tt.name)
		}
		release()
		release()
		if want := len(keys.granted); keys.revoked != want {
			t.Errorf("%s: %d tokens were revoked, want %d", tt.name, keys.revoked, want)
		}
	}
}

// TestDescribeBox_credentials checks that the description of a box reports secrets in the agent's
// environment, under any name.
func TestDescribeBox_credentials(t *testing.T) {
	for entry, want := range map[string]bool{"PATH=/bin": false, "EDITOR=token": false, "X_API_KEY=x": true, "DB_PASSWORD=": true, "EMPTY": false} {
		s := &Server{opts: Options{Boxes: Boxes{Always: true, Program: "/bwrap", Network: box.NetworkOff}}, keys: &scriptedKeys{}}
		got := s.describeBox(boxable{&agenttest.Provider{}}, "", false, []string{"HOME=/h", entry})
		if got == nil || got.Credentials != want {
			t.Errorf("with %s: %+v, want credentials %t", entry, got, want)
		}
	}
	if got := tunnelEnv("http://127.0.0.1:1", "t"); !slices.ContainsFunc(got, func(e string) bool { return strings.HasPrefix(e, "https_proxy=http://parley:t@127.0.0.1:1") }) {
		t.Errorf("the variables for the tunnel are %q", got)
	}
}

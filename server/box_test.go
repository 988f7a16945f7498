package server

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/keyproxy"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/spawn/box"
)

// boxable is an agent that can run in a box and through the key proxy.
type boxable struct{ *agenttest.Provider }

func (boxable) BoxNeeds(agent.Options) agent.BoxNeeds { return agent.BoxNeeds{} }

func (boxable) ProxyEnv(env []string, _, _ string) []string {
	return append(slices.DeleteFunc(slices.Clone(env), func(e string) bool { return strings.HasPrefix(e, "ANTHROPIC_API_KEY=") }), "ANTHROPIC_API_KEY=token")
}

// unproxied is an agent that can run in a box, and not through the key proxy.
type unproxied struct{ *agenttest.Provider }

func (unproxied) BoxNeeds(agent.Options) agent.BoxNeeds { return agent.BoxNeeds{} }

// TestBoxes checks which sessions have a box, which are refused, and which may run without permissions.
func TestBoxes(t *testing.T) {
	off := Boxes{Always: true, Program: "/usr/bin/bwrap", Network: box.NetworkOff}
	with := func(edit func(*Boxes)) Boxes { b := off; edit(&b); return b }
	sealed := &api.Box{Kind: "bwrap", Network: "off"}
	for _, tt := range []struct {
		name    string
		boxes   Boxes
		sandbox string
		noKey   bool
		plain   bool // the agent cannot run in a box
		direct  bool // the agent cannot use the key proxy
		secret  bool
		env     []string
		want    *api.Box
		refused string
	}{
		{name: "always", boxes: off, want: sealed},
		{name: "asked for", boxes: with(func(b *Boxes) { b.Always = false }), sandbox: "bwrap", want: sealed},
		{name: "not asked for", boxes: with(func(b *Boxes) { b.Always = false })},
		{name: "none", boxes: with(func(b *Boxes) { b.Always = false }), sandbox: "none"},
		{name: "none against the server", boxes: off, sandbox: "none", want: sealed, refused: "all agents in a box"},
		{name: "unknown", boxes: off, sandbox: "docker", want: sealed, refused: "not bwrap or none"},
		{name: "the network on", boxes: with(func(b *Boxes) { b.Network = box.NetworkOn }), want: &api.Box{Kind: "bwrap", Network: "on"}},
		{name: "the network on, without a key", boxes: with(func(b *Boxes) { b.Network = box.NetworkOn }), noKey: true, want: &api.Box{Kind: "bwrap", Network: "on", Credentials: true}},
		{name: "an agent that cannot use the key", boxes: off, direct: true, refused: "only with an API key"},
		{name: "the network on, an agent that cannot use the key", boxes: with(func(b *Boxes) { b.Network = box.NetworkOn }), direct: true, want: &api.Box{Kind: "bwrap", Network: "on", Credentials: true}},
		{name: "without a key", boxes: off, noKey: true, refused: "only with an API key"},
		{name: "a list", boxes: with(func(b *Boxes) { b.Network = box.NetworkAllow }), want: &api.Box{Kind: "bwrap", Network: "allow"}},
		{name: "a list, without a key", boxes: with(func(b *Boxes) { b.Network = box.NetworkAllow }), noKey: true, refused: "only with an API key"},
		{name: "a list, a variable", boxes: with(func(b *Boxes) { b.Network = box.NetworkAllow }), env: []string{"GITHUB_TOKEN=x"}, want: &api.Box{Kind: "bwrap", Network: "allow", Credentials: true}},
		{name: "another agent", boxes: off, plain: true, refused: "cannot run in a box"},
		{name: "no bwrap", boxes: with(func(b *Boxes) { b.Program, b.Missing = "", errors.New("install it") }), refused: "install it"},
		{name: "a variable", boxes: off, env: []string{"GITHUB_TOKEN=x"}, want: &api.Box{Kind: "bwrap", Network: "off", Credentials: true}},
		{name: "the key", boxes: off, env: []string{"ANTHROPIC_API_KEY=x"}, want: sealed},
		{name: "an MCP server", boxes: off, secret: true, want: &api.Box{Kind: "bwrap", Network: "off", Credentials: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &Server{opts: Options{Boxes: tt.boxes}}
			if !tt.noKey {
				s.keys = &keyproxy.Proxy{}
			}
			var p agent.Provider = boxable{&agenttest.Provider{}}
			switch {
			case tt.plain:
				p = &agenttest.Provider{}
			case tt.direct:
				p = unproxied{&agenttest.Provider{}}
			}
			got := s.describeBox(p, tt.sandbox, tt.secret, tt.env)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("the box (-want +got):\n%s", diff)
			}
			if want := got != nil && got.Network != "on" && !got.Credentials; got.Sealed() != want {
				t.Errorf("the box is sealed: %t, want %t", got.Sealed(), want)
			}
			offered := s.describeProvider(p, true, tt.env)
			if asked := s.describeBox(p, "bwrap", false, tt.env); cmp.Diff(asked, offered.Box) != "" || offered.Boxed != tt.boxes.Always {
				t.Errorf("the agent is offered with the box %+v, always %t; want %+v, %t", offered.Box, offered.Boxed, asked, tt.boxes.Always)
			}
			if offered.Available != (s.checkSandbox(p, "") == nil) || offered.Available != (offered.Error == "") {
				t.Errorf("the agent is available %t: %q", offered.Available, offered.Error)
			}
			err := s.checkSandbox(p, tt.sandbox)
			if (err == nil) != (tt.refused == "") || err != nil && !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("the session is refused with %v, want %q", err, tt.refused)
			}
			if err != nil && session.FailureOf(err).Reason == session.InternalError {
				t.Errorf("the caller does not learn why: %v", err)
			}
		})
	}
}

// TestBoxEnv checks that an agent in a box gets no variables that lead outside.
func TestBoxEnv(t *testing.T) {
	env := []string{"HOME=/h", "TMPDIR=/x", "SSH_AUTH_SOCK=/s", "XDG_RUNTIME_DIR=/r", "HTTPS_PROXY=http://user:secret@proxy", "IS_SANDBOX=0"}
	for _, n := range []box.Network{box.NetworkOff, box.NetworkAllow} {
		if diff := cmp.Diff([]string{"TMPDIR=/tmp", "IS_SANDBOX=1", "HOME=/h"}, BoxEnv(env, n)); diff != "" {
			t.Errorf("with the network %s (-want +got):\n%s", n, diff)
		}
	}
	if got := BoxEnv(env, box.NetworkOn); !slices.Contains(got, "HTTPS_PROXY=http://user:secret@proxy") {
		t.Errorf("with a network: %q", got)
	}
}

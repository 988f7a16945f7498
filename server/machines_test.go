//go:build unix

package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/host/join"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/spawn"
)

// noPolicy starts no agent.
type noPolicy struct{}

func (noPolicy) Start(context.Context, host.Launch, func(spawn.Command) error) error {
	return errors.New("no agents here")
}

func (noPolicy) Line(string, []byte) ([]byte, error) { return nil, errors.New("no lines here") }

// machineHost runs the host of a machine in this process.
func (h *harness) machineHost() (dir string) {
	h.Helper()
	dir, err := os.MkdirTemp("", "h")
	if err != nil {
		h.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- host.Run(ctx, dir, host.Options{}, slog.New(slog.DiscardHandler)) }()
	h.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, os.RemoveAll(dir)); err != nil {
			h.Errorf("the host ended with %v", err)
		}
	})
	for {
		if l, err := host.Dial(h.ctx(), dir, 0); err == nil {
			l.Close()
			return dir
		} else if h.ctx().Err() != nil {
			h.Fatal(err)
		}
	}
}

// joinAs connects a machine with a token.
func (h *harness) joinAs(token, dir string, r host.Registration) (relayed <-chan error, err error) {
	h.Helper()
	header := http.Header{"Authorization": {"Bearer " + token}}
	conn, _, err := websocket.Dial(h.ctx(), h.url+join.Path, &websocket.DialOptions{HTTPHeader: header, Subprotocols: []string{join.Subprotocol}})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var nc net.Conn = websocket.NetConn(ctx, conn, websocket.MessageBinary)
	if err := host.Register(h.ctx(), nc, r); err != nil {
		cancel()
		return nil, errors.Join(err, conn.CloseNow())
	}
	ended := make(chan error, 1)
	go func() { ended <- host.Relay(ctx, dir, nc, noPolicy{}, slog.New(slog.DiscardHandler)) }()
	h.Cleanup(cancel)
	return ended, nil
}

func (h *harness) hostToken() (id, value string) {
	h.Helper()
	var made api.TokensCreateResult
	h.call("tokens.create", api.TokensCreateParams{Name: "a machine", Role: "host"}, &made)
	return made.ID, made.Token
}

// waitMachine waits for the state of a machine.
func (h *harness) waitMachine(name, state string) api.Machine {
	h.Helper()
	for ctx := h.ctx(); ; {
		var all api.MachinesListResult
		h.call("machines.list", api.Empty{}, &all)
		for _, m := range all.Machines {
			if m.Name == name && m.State == state {
				return m
			}
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			h.Fatalf("the machines are %+v, want %s to be %s", all.Machines, name, state)
		}
	}
}

// A machine joins with a token of its role, is listed, and is disconnected within a second when its
// token is revoked.
func TestMachines_join(t *testing.T) {
	h := newHarness(t)
	dir := h.machineHost()
	id, token := h.hostToken()
	relayed, err := h.joinAs(token, dir, host.Registration{Version: host.Version, Name: "box-1", Agents: []string{"claude"}, Dirs: []string{"/srv"}, MaxMode: "default"})
	if err != nil {
		t.Fatal(err)
	}
	m := h.waitMachine("box-1", api.MachineReachable)
	if m.MaxMode != "default" || len(m.Directories) != 1 || m.Directories[0] != "/srv" || m.Since == "" {
		t.Errorf("the machine is %+v", m)
	}
	for name, p := range map[string]api.ConnectParams{
		"another directory": {Machine: "box-1", CWD: "/etc"},
		"a parent":          {Machine: "box-1", CWD: "/srv/../etc"},
		"a relative one":    {Machine: "box-1", CWD: "srv"},
		"another machine":   {Machine: "box-2", CWD: "/srv"},
		"a program":         {Machine: "box-1", CWD: "/srv", MCPServers: `{"x":{"command":"sh"}}`},
		"allowed tools":     {Machine: "box-1", CWD: "/srv", AllowedTools: []string{"Bash"}},
		"another agent":     {Machine: "box-1", CWD: "/srv"}, // the test agent is not claude
	} {
		if err := h.client(h.token).Call(h.ctx(), "session.connect", p, nil); err == nil {
			t.Errorf("%s: a session began", name)
		}
	}
	began := time.Now()
	h.call("tokens.revoke", api.TokensRevokeParams{ID: id}, nil)
	select {
	case <-relayed:
		if took := time.Since(began); took > time.Second && os.Getenv("CI") == "" {
			t.Logf("the link ended after %v", took)
		}
	case <-h.ctx().Done():
		t.Fatal("a revoked machine keeps its link")
	}
	h.waitMachine("box-1", api.MachineUnreachable)
	if _, err := h.joinAs(token, dir, host.Registration{Version: host.Version, Name: "box-1"}); err == nil {
		t.Error("a revoked machine joins again")
	}
}

// The token of a machine allows only joining, and no other token allows that.
func TestMachines_roles(t *testing.T) {
	h := newHarness(t)
	_, token := h.hostToken()
	for _, m := range Methods() {
		err := h.client(token).Call(h.ctx(), m.Name, struct{}{}, nil)
		if got := client.Reason(err); got != api.AuthFailed {
			t.Errorf("%s: %v, want %s", m.Name, err, api.AuthFailed)
		}
	}
	for _, rt := range routes() {
		if rt.name == "host.join" {
			continue
		}
		method, path, ok := strings.Cut(rt.pattern, " ")
		if !ok {
			method, path = "POST", rt.pattern
		}
		req, _ := http.NewRequestWithContext(h.ctx(), method, h.url+strings.ReplaceAll(path, "{id}", "s-1"), nil)
		req.Header.Set("Authorization", "Bearer "+token)
		if code, _, _ := h.do(req); code != http.StatusForbidden {
			t.Errorf("%s: %d, want %d", rt.pattern, code, http.StatusForbidden)
		}
	}
	for _, role := range []string{"viewer", "operator", "admin"} {
		var made api.TokensCreateResult
		h.call("tokens.create", api.TokensCreateParams{Name: role, Role: role}, &made)
		if _, err := h.joinAs(made.Token, "", host.Registration{Version: host.Version, Name: "x"}); err == nil || !strings.Contains(err.Error(), "403") {
			t.Errorf("a token of the role %s joins with %v, want 403", role, err)
		}
	}
	if _, err := h.joinAs("wrong", "", host.Registration{Version: host.Version, Name: "x"}); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("a wrong token joins with %v, want 401", err)
	}
}

// A machine that the server connects to is listed without a token, is connected again when its link
// breaks or cannot be made, and is disconnected when the context ends.
func TestLinkMachine(t *testing.T) {
	short.SkipQuick(t, "starts programs")
	h := newHarness(t)
	dir := h.machineHost()
	dials := 0
	machines := make(chan net.Conn, 10)
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		h.server.LinkMachine(ctx, "ssh:dev@box", func(context.Context) (net.Conn, error) {
			if dials++; dials == 2 {
				return nil, errors.New("no route to host")
			}
			ours, theirs := net.Pipe()
			go func() {
				if host.Register(context.Background(), theirs, host.Registration{Version: host.Version, Name: "box"}) == nil {
					_ = host.Relay(context.Background(), dir, theirs, noPolicy{}, slog.New(slog.DiscardHandler)) // ends when the link is closed
				}
			}()
			machines <- theirs
			return ours, nil
		})
	}()
	if m := h.waitMachine("box", api.MachineReachable); m.Token != "" {
		t.Errorf("the machine has the token %q, want none", m.Token)
	}
	(<-machines).Close()
	h.waitMachine("box", api.MachineUnreachable)
	h.waitMachine("box", api.MachineReachable)
	if dials != 3 {
		t.Errorf("the machine was dialed %d times, want 3", dials)
	}
	cancel()
	h.waitMachine("box", api.MachineUnreachable)
	<-over
}

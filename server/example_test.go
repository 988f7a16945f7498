package server_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server"
	"github.com/seed7221b0f9/parley/server/api"
)

// Serve sessions on a free port until the context ends.
func Example() {
	dir, err := os.MkdirTemp("", "parley")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	store, err := eventlog.Open(ctx, &eventlog.Options{Dir: filepath.Join(dir, "log")})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close(context.Background())
	s, err := server.New(ctx, server.Options{
		Providers: []agent.Provider{&agenttest.Provider{}}, Store: store, Dir: filepath.Join(dir, "server"), Directories: []string{dir},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	served := make(chan error)
	go func() { served <- s.Serve(ctx, l) }()

	c, err := client.New(client.Options{URL: "http://" + l.Addr().String(), Token: s.Token()})
	if err != nil {
		fmt.Println(err)
		return
	}
	var session api.ConnectResult
	if err := c.Call(ctx, "session.connect", api.ConnectParams{}, &session); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(session.Provider, session.Status, session.Capabilities.CanResumeSession)

	stop() // drains
	fmt.Println(<-served)
	// Output:
	// sim connected true
	// <nil>
}

// Tokens of a tenant run sessions with separate agents, and see only those.
func ExampleTenant() {
	base, err := os.MkdirTemp("", "tenants")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(base)
	open := func(name string) (server.Tenant, error) {
		dir := filepath.Join(base, fmt.Sprintf("%x", name)) // a name may contain characters that are invalid in a path
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return server.Tenant{}, err
		}
		return server.Tenant{Providers: []agent.Provider{&agenttest.Provider{Dir: dir}}, Env: []string{"CLAUDE_CONFIG_DIR=" + dir}}, nil
	}
	opts := server.Options{Tenant: open} // with Providers for sessions without a tenant, and the other options
	acme, err := opts.Tenant("acme")
	fmt.Println(acme.Providers[0].Name(), len(acme.Env), err)
	// Output: sim 1 <nil>
}

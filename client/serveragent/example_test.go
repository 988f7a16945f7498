package serveragent_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/client/serveragent"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server"
)

// Use the sessions of a server like those of a local agent: the same code works with both.
func Example() {
	dir, err := os.MkdirTemp("", "parley")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	url, token, stop, err := serve(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()
	c, err := client.New(client.Options{URL: url, Token: token})
	if err != nil {
		fmt.Println(err)
		return
	}
	provider := &serveragent.Provider{Client: c}
	session, err := provider.Open(context.Background(), agent.Options{Dir: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	if err := session.Send(context.Background(), agent.Input{Text: "say hello"}); err != nil {
		fmt.Println(err)
		return
	}
	for ev, err := range session.Events(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch ev := ev.(type) {
		case *event.AssistantMessage:
			fmt.Println("agent:", ev.Blocks[0].Block.Text)
		case *event.ResultMessage:
			return
		}
	}
	// Output:
	// agent: hello
}

// serve runs a server with a scripted agent.
func serve(dir string) (url, token string, stop func(), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	store, err := eventlog.Open(ctx, &eventlog.Options{Dir: filepath.Join(dir, "log")})
	if err != nil {
		cancel()
		return "", "", nil, err
	}
	s, err := server.New(ctx, server.Options{
		Providers: []agent.Provider{&agenttest.Provider{}}, Store: store, Dir: filepath.Join(dir, "server"), Directories: []string{dir},
	})
	if err != nil {
		cancel()
		return "", "", nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		cancel()
		return "", "", nil, err
	}
	served := make(chan error)
	go func() { served <- s.Serve(ctx, l) }()
	return "http://" + l.Addr().String(), s.Token(), func() {
		cancel()
		if err := <-served; err != nil {
			fmt.Println(err)
		}
		if err := store.Close(context.Background()); err != nil {
			fmt.Println(err)
		}
	}, nil
}

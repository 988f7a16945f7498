package main

import (
	"context"
	"errors"
	"fmt"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude/claudeagent"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server"
	"github.com/seed7221b0f9/parley/server/api"
	"log"
	"net"
	"os"
	"path/filepath"
)

func main() {
	dir, err := os.MkdirTemp("", "parley-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := serve(context.Background(), dir); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context, dir string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	store, err := eventlog.Open(ctx, &eventlog.Options{Dir: filepath.Join(dir, "log")})
	if err != nil {
		return err
	}
	defer store.Close(context.Background())
	provider := &claudeagent.Provider{}
	defer provider.Close()
	s, err := server.New(ctx, server.Options{
		Providers: []agent.Provider{provider}, Store: store, Dir: filepath.Join(dir, "server"), Directories: []string{dir},
		Env: server.AgentEnv(os.Environ(), nil), // what agents need, and no more
	})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, listener) }()
	err = ask(ctx, "http://"+listener.Addr().String(), s.Token(), dir)
	stop() // drains
	return errors.Join(err, <-served)
}

func ask(ctx context.Context, url, token, dir string) error {
	c, err := client.New(client.Options{URL: url, Token: token})
	if err != nil {
		return err
	}
	var session api.ConnectResult
	if err := c.Call(ctx, "session.connect", api.ConnectParams{CWD: dir}, &session); err != nil {
		return err
	}
	query := api.QueryParams{SessionID: session.SessionID, Text: "Say hello.", Idempotency: api.Idempotency{Key: client.Key()}}
	if err := c.Call(ctx, "session.query", query, nil); err != nil {
		return err
	}
	var view client.View
	for ev, err := range c.Follow(ctx, session.SessionID, nil) {
		if err == nil {
			err = view.Apply(ev)
		}
		if err != nil {
			return err
		}
		if turns := view.Conversation.Turns; len(turns) > 0 && turns[0].Done {
			break
		}
	}
	for _, it := range view.Conversation.Thread("").Items {
		if it.Message != nil {
			fmt.Println(it.Message.Role, it.Message.Blocks[0].Text)
		}
	}
	return nil
}

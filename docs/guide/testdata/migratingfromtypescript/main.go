package main

import (
	"context"
	"fmt"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/mcptool"
	"log"
	"time"
)

func query(ctx context.Context) error {
	for msg, err := range claude.Query(ctx, "What is 2 + 2?", &claude.Options{MaxTurns: 1}) {
		if err != nil {
			return err
		}
		if r, ok := msg.(*message.Result); ok && !r.IsError {
			fmt.Println(r.Result)
		}
	}
	return nil
}

func stream(ctx context.Context) error {
	prompts := func(ctx context.Context, send func(message.UserInput) error) error {
		if err := send(claude.Text("First question.")); err != nil {
			return err
		}
		return send(claude.Text("Second question."))
	}
	for msg, err := range claude.QueryStream(ctx, prompts, nil) {
		if err != nil {
			return err
		}
		if r, ok := msg.(*message.Result); ok {
			fmt.Println(r.Result)
		}
	}
	return nil
}

func bounded(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	add := mcptool.NewTool("add", "Add two numbers", func(_ context.Context, in struct{ A, B float64 }) (string, error) {
		return fmt.Sprint(in.A + in.B), nil
	})
	_, err := claude.Run(ctx, "Add 1 and 2.", &claude.Options{
		MCPServers: map[string]claude.MCPServer{"calc": {Server: mcptool.NewToolServer("calc", "1.0.0", add)}},
		CanUseTool: func(context.Context, *claude.PermissionRequest) (claude.PermissionResult, error) {
			return &claude.Deny{Message: "no"}, nil
		},
	})
	return err
}

func main() {
	for _, step := range []func(context.Context) error{query, stream, bounded} {
		if err := step(context.Background()); err != nil {
			log.Fatal(err)
		}
	}
}

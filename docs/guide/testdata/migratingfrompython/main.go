package main

import (
	"context"
	"fmt"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/mcptool"
	"log"
)

func query(ctx context.Context) error {
	for msg, err := range claude.Query(ctx, "What is 2 + 2?", &claude.Options{MaxTurns: 1}) {
		if err != nil {
			return err
		}
		if msg, ok := msg.(*message.Assistant); ok {
			fmt.Println(msg.Text())
		}
	}
	return nil
}

func talk(ctx context.Context, opts *claude.Options) error {
	client, err := claude.Connect(ctx, opts)
	if err != nil {
		return err
	}
	defer client.Close()
	for msg, err := range client.Query(ctx, "Hello") {
		if err != nil {
			return err
		}
		fmt.Println(message.Kind(msg))
	}
	return nil
}

func options() *claude.Options {
	add := mcptool.NewTool("add", "Add two numbers", func(_ context.Context, in struct{ A, B float64 }) (string, error) {
		return fmt.Sprint(in.A + in.B), nil
	})
	return &claude.Options{
		MCPServers: map[string]claude.MCPServer{"calc": {Server: mcptool.NewToolServer("calc", "1.0.0", add)}},
		CanUseTool: func(context.Context, *claude.PermissionRequest) (claude.PermissionResult, error) {
			return &claude.Deny{Message: "no"}, nil
		},
		Hooks: &hook.Hooks{PreToolUse: hook.On("Bash", func(context.Context, *hook.PreToolUseInput) (*hook.PreToolUseOutput, error) {
			return nil, nil // no opinion
		})},
	}
}

func main() {
	ctx := context.Background()
	if err := query(ctx); err != nil {
		log.Fatal(err)
	}
	if err := talk(ctx, options()); err != nil {
		log.Fatal(err)
	}
}

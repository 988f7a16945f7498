package main

import (
	"context"
	"errors"
	"fmt"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/codex/item"
	"os"
	"strings"
	"testing"
)

func newThread(ctx context.Context, client *codex.Client) (*codex.Thread, error) {
	return client.StartThread(ctx, &codex.ThreadOptions{Sandbox: "workspace-write", ApprovalPolicy: "on-request"})
}

func fix(ctx context.Context, opts *codex.Options) (string, error) {
	client, err := codex.Connect(ctx, opts)
	if errors.Is(err, codex.ErrNotFound) {
		return "", fmt.Errorf("install it: npm install -g @openai/codex: %w", err)
	}
	if err != nil {
		return "", err
	}
	defer client.Close()
	thread, err := newThread(ctx, client)
	if err != nil {
		return "", err
	}
	result, err := thread.Run(ctx, "Fix the failing test.")
	if err != nil {
		return "", err // *codex.TurnError when the turn failed, codex.ErrInterrupted when it was stopped
	}
	return result.Text, nil
}

func decide(ctx context.Context, a *codex.Approval) (codex.Decision, error) {
	if strings.HasPrefix(a.Command, "go ") {
		return codex.AcceptForSession, nil
	}
	return codex.Decline, nil
}

func watch(ctx context.Context, thread *codex.Thread) error {
	for n, err := range thread.Query(ctx, "What did you change?") {
		if err != nil {
			return err
		}
		switch n := n.(type) {
		case *item.AgentMessageDelta:
			fmt.Print(n.Delta)
		case *item.TurnCompleted:
			fmt.Println(n.Turn.Status)
		}
	}
	return nil
}

func TestFix(t *testing.T) {
	self, err := os.Executable() // any file that exists
	if err != nil {
		t.Fatal(err)
	}
	opts := &codex.Options{Approve: decide, Path: self, Spawner: &codextest.Server{Turn: func(turn *codextest.ServerTurn) {
		answer, err := turn.Ask(t.Context(), "item/commandExecution/requestApproval", map[string]any{
			"threadId": turn.ThreadID, "turnId": turn.TurnID, "itemId": "call_1", "command": "go test ./...",
		})
		turn.Say(fmt.Sprint("answer: ", string(answer), err))
	}}}
	got, err := fix(t.Context(), opts)
	if err != nil || !strings.Contains(got, "acceptForSession") {
		t.Errorf("%q, %v", got, err)
	}
}

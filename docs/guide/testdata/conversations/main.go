package main

import (
	"context"
	"errors"
	"fmt"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"log"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for _, step := range []func(context.Context) error{once, every, value, talk} {
		if err := step(ctx); err != nil {
			log.Fatal(explain(err))
		}
	}
}

func once(ctx context.Context) error {
	result, err := claude.Run(ctx, "What is 2 + 2?", nil)
	if err != nil {
		return err
	}
	fmt.Println(result.Result, "for", result.TotalCostUSD, "USD")
	return nil
}

func every(ctx context.Context) error {
	opts := &claude.Options{Model: "sonnet", SystemPrompt: claude.PromptText("Answer in one word.")}
	for msg, err := range claude.Query(ctx, "What is the capital of Norway?", opts) {
		if err != nil {
			return err
		}
		switch msg := msg.(type) {
		case *message.Assistant:
			fmt.Println(msg.Text())
		case *message.Result:
			fmt.Println(msg.NumTurns, "turns")
		}
	}
	return nil
}

func value(ctx context.Context) error {
	type answer struct {
		Files int `json:"files" jsonschema:"how many files there are"`
	}
	v, _, err := claude.RunJSON[answer](ctx, "How many files are here?", nil)
	if err != nil {
		return err // *claude.StructuredOutputError when the model gave no such value
	}
	fmt.Println(v.Files, "files")
	return nil
}

func talk(ctx context.Context) error {
	client, err := claude.Connect(ctx, &claude.Options{IncludePartialMessages: true})
	if err != nil {
		return err
	}
	defer client.Close()
	first, err := client.Send(ctx, claude.Text("Count to three."))
	if err != nil {
		return err
	}
	second, err := client.Send(ctx, claude.Text("And backwards."))
	if err != nil {
		return err
	}
	for _, turn := range []*claude.Turn{first, second} {
		result, err := turn.Wait(ctx)
		if err != nil {
			return err
		}
		fmt.Println(result.Result)
	}
	return client.WaitIdle(ctx) // no turn, no queue, no task in the background, no open question
}

func explain(err error) string {
	var limit *claude.RateLimitError
	var exit *claude.ExitError
	var failed *claude.ResultError
	switch {
	case errors.Is(err, claude.ErrNotFound):
		return "install the CLI: npm install -g @anthropic-ai/claude-code"
	case errors.As(err, &limit):
		if at, known := limit.ResetsAt(); known {
			return fmt.Sprint("rate limited until ", at)
		}
		return "rate limited"
	case errors.Is(err, claude.ErrInterrupted):
		return "you have interrupted the turn"
	case errors.As(err, &failed):
		return "the turn failed: " + string(failed.Result.Subtype)
	case errors.As(err, &exit):
		return fmt.Sprintf("the CLI ended with code %d: %s", exit.Code, exit.Stderr)
	}
	return err.Error()
}

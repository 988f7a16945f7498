package main

import (
	"context"
	"fmt"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"log"
	"os"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	prompt := strings.Join(os.Args[1:], " ")
	if prompt == "" {
		prompt = "What does this directory contain?"
	}
	if err := ask(ctx, prompt); err != nil {
		log.Fatal(err)
	}
}

func ask(ctx context.Context, prompt string) error {
	opts := &claude.Options{IncludePartialMessages: true}
	for msg, err := range claude.Query(ctx, prompt, opts) {
		if err != nil {
			return err
		}
		switch msg := msg.(type) {
		case *message.StreamEvent:
			fmt.Print(msg.TextDelta())
		case *message.Result:
			fmt.Printf("\n%d turns, $%.4f\n", msg.NumTurns, msg.TotalCostUSD)
		}
	}
	return nil
}

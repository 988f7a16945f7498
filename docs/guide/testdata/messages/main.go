package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/claude/tool"
	"log"
	"time"
)

func main() {
	ctx := context.Background()
	for _, step := range []func(context.Context) error{blocks, deltas, picture, delegate, stop} {
		if err := patiently(ctx, step); err != nil {
			log.Fatal(err)
		}
	}
}

func blocks(ctx context.Context) error {
	names := map[string]string{} // by the id of the call
	opts := &claude.Options{AllowedTools: []string{"Bash"}}
	for msg, err := range claude.Query(ctx, "Print a greeting in the shell.", opts) {
		if err != nil {
			return err
		}
		switch msg := msg.(type) {
		case *message.Assistant:
			for _, block := range msg.Message.Content {
				switch block := block.(type) {
				case *message.Text:
					fmt.Println("text:", block.Text)
				case *message.ToolUse:
					names[block.ID] = block.Name
					if in, err := tool.DecodeAs[tool.BashInput](block); err == nil {
						fmt.Println("runs:", in.Command)
					}
				}
			}
		case *message.User:
			for _, block := range msg.Message.Content.Blocks() {
				if result, ok := block.(*message.ToolResult); ok {
					printResult(msg, result, names[result.ToolUseID])
				}
			}
		}
	}
	return nil
}

func printResult(msg *message.User, result *message.ToolResult, name string) {
	if result.IsError {
		fmt.Println("failed:", result.Content)
		return
	}
	out, err := tool.DecodeResultOf(msg, name)
	if bash, ok := out.(*tool.BashResult); ok && err == nil {
		fmt.Println("printed:", bash.Stdout)
		return
	}
	fmt.Println("result:", result.Content) // the text that the model reads
}

func deltas(ctx context.Context) error {
	opts := &claude.Options{IncludePartialMessages: true}
	for msg, err := range claude.Query(ctx, "Tell a joke.", opts) {
		if err != nil {
			return err
		}
		if piece, ok := msg.(*message.StreamEvent); ok {
			fmt.Print(piece.TextDelta())
		}
	}
	fmt.Println()
	return nil
}

// pixel is a PNG with one pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func picture(ctx context.Context) error {
	png, err := base64.StdEncoding.DecodeString(pixel) // or os.ReadFile
	if err != nil {
		return err
	}
	client, err := claude.Connect(ctx, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	turn, err := client.Send(ctx, message.UserInput{Content: []message.InputBlock{
		&message.Text{Text: "Describe this picture and the notes."},
		&message.Image{Source: message.Source{Type: "base64", MediaType: "image/png", Data: base64.StdEncoding.EncodeToString(png)}},
		&message.Document{Title: "notes.txt", Source: message.Source{Type: "text", MediaType: "text/plain", Data: "It is red."}},
	}})
	if err != nil {
		return err
	}
	result, err := turn.Wait(ctx)
	if err != nil {
		return err
	}
	fmt.Println(result.Result)
	return nil
}

func delegate(ctx context.Context) error {
	foreground := false
	opts := &claude.Options{ForwardSubagentText: true, Agents: map[string]claude.AgentDefinition{
		"reviewer": {
			Description: "Reviews a file for mistakes.",
			Prompt:      "You review one file. Report mistakes only.",
			Tools:       []string{"Read"},
			Background:  &foreground,
		},
	}}
	for msg, err := range claude.Query(ctx, "Let the reviewer read main.go.", opts) {
		if err != nil {
			return err
		}
		if answer, ok := msg.(*message.Assistant); ok && answer.Text() != "" {
			who := "main"
			if answer.ParentToolUseID != "" {
				who = "reviewer"
			}
			fmt.Println(who+":", answer.Text())
		}
	}
	return nil
}

func stop(ctx context.Context) error {
	client, err := claude.Connect(ctx, &claude.Options{IncludePartialMessages: true})
	if err != nil {
		return err
	}
	defer client.Close()
	turn, err := client.Send(ctx, claude.Text("Wait for a long time."))
	if err != nil {
		return err
	}
	for msg, err := range turn.Messages(ctx) {
		if err != nil {
			return err
		}
		if _, ok := msg.(*message.StreamEvent); ok {
			break // the answer has begun
		}
	}
	receipt, err := client.Interrupt(ctx)
	if err != nil {
		return err
	}
	if _, err := turn.Wait(ctx); !errors.Is(err, claude.ErrInterrupted) {
		return err
	}
	fmt.Println("interrupted,", len(receipt.StillQueued), "prompts wait")
	return nil
}

func patiently(ctx context.Context, step func(context.Context) error) error {
	for {
		err := step(ctx)
		var limit *claude.RateLimitError
		if !errors.As(err, &limit) {
			return err
		}
		wait := time.Minute
		if at, known := limit.ResetsAt(); known {
			wait = time.Until(at)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

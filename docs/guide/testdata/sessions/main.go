package main

import (
	"context"
	"errors"
	"fmt"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/transcript"
	"github.com/seed7221b0f9/parley/transcript/export"
	"github.com/seed7221b0f9/parley/transcript/usage"
	"log"
	"os"
)

func main() {
	ctx := context.Background()
	result, err := claude.Run(ctx, "Remember the word heron.", nil)
	if err != nil {
		log.Fatal(err)
	}
	dir := transcript.Open("") // where the CLI of this user keeps its sessions
	for _, step := range []func() error{
		func() error { return list(ctx, dir) },
		func() error { return find(ctx, dir, "heron") },
		func() error { return show(ctx, dir, result.SessionID) },
		func() error { return cost(ctx) },
		func() error { return dir.Rename(ctx, result.SessionID, "About birds", nil) },
	} {
		if err := step(); err != nil {
			log.Fatal(err)
		}
	}
}

func list(ctx context.Context, dir *transcript.Dir) error {
	for info, err := range dir.Sessions(ctx, transcript.Filter{Dir: ".", Limit: 10}) {
		if err != nil {
			return err
		}
		fmt.Println(info.ResumeCommand(), "#", info.Summary)
	}
	return nil
}

func find(ctx context.Context, dir *transcript.Dir, text string) error {
	for hit, err := range dir.Search(ctx, transcript.Query{Text: text, Hits: 5}) {
		if err != nil {
			return err
		}
		fmt.Println("found:", hit.Snippet)
	}
	return nil
}

func show(ctx context.Context, dir *transcript.Dir, id string) error {
	session, err := dir.Session(id)
	if errors.Is(err, transcript.ErrNoSession) {
		return fmt.Errorf("session %s was deleted or belongs to another user: %w", id, err)
	}
	if err != nil {
		return err
	}
	messages, err := session.Conversation(ctx, nil)
	if err != nil {
		return err
	}
	fmt.Println(len(messages), "messages")
	return export.Write(ctx, os.Stdout, session, export.Markdown, nil)
}

func cost(ctx context.Context) error {
	ledger, err := usage.Scan(ctx, usage.Options{})
	if err != nil {
		return err
	}
	for _, row := range ledger.Report(usage.ByDay, usage.View{}).Rows {
		fmt.Printf("%d answers, %d tokens, $%.4f\n", row.Answers, row.Total(), row.Cost)
	}
	return nil
}

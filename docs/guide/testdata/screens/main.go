package main

import (
	"context"
	"fmt"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"log"
)

func main() {
	ctx, prompt := context.Background(), "Say hello."
	opts := &claude.Options{IncludePartialMessages: true} // text as it is written
	wire := event.NewEncoder("example", 0)
	var conv event.Conversation
	var lines []byte
	for ev := range claudeevent.Events(claude.Query(ctx, prompt, opts), claude.Text(prompt)) {
		conv.Apply(ev)
		draw(ev)
		var err error
		if lines, err = wire.AppendLines(lines, ev); err != nil { // for a front end elsewhere
			log.Fatal(err)
		}
	}
	fmt.Println(len(lines) > 0, "bytes for a browser")
	show(&conv)
}

func draw(ev event.Event) {
	switch ev := ev.(type) {
	case *event.TextDelta:
		fmt.Print(ev.Text)
	case *event.ToolComplete:
		fmt.Println("tool:", ev.Content)
	case *event.Error:
		log.Println("the stream failed:", ev.Message)
	case *event.ResultMessage:
		fmt.Println()
	}
}

func show(conv *event.Conversation) {
	for _, it := range conv.Thread("").Items { // "" is the main thread; subagents have their own
		if it.Message == nil {
			continue
		}
		for _, b := range it.Message.Blocks {
			fmt.Printf("%s: %s (%s)\n", it.Message.Role, b.Text, b.State)
		}
	}
}

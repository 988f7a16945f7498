package main

import (
	"context"
	"fmt"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"log"
)

func main() {
	for msg, err := range claude.Query(context.Background(), "What is 2 + 2?", nil) {
		if err != nil {
			log.Fatal(err)
		}
		switch msg := msg.(type) {
		case *message.Assistant:
			fmt.Println(msg.Text())
		case *message.Result:
			fmt.Printf("%d turns, $%.4f\n", msg.NumTurns, msg.TotalCostUSD)
		}
	}
}

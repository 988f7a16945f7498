package main

import (
	"context"
	"errors"
	"fmt"
	"github.com/seed7221b0f9/parley/claude"
	"log/slog"
	"os"
	"time"
)

func main() {
	opts := &claude.Options{
		Logger:    slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Stderr:    func(line string) { fmt.Fprintln(os.Stderr, "cli:", line) },
		Deadlines: claude.Deadlines{SilenceTimeout: 5 * time.Minute},
	}
	result, err := claude.Run(context.Background(), "Hello.", opts)
	var stalled *claude.StalledError
	if errors.As(err, &stalled) {
		fmt.Println("silent in", stalled.Phase, "after", stalled.LastEvent, "in the tool", stalled.InFlightTool)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(result.Result)
}

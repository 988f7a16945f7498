package main

import (
	"context"
	"errors"
	"fmt"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudepool"
	"github.com/seed7221b0f9/parley/claude/message"
	"log"
	"log/slog"
	"os"
	"time"
)

func main() {
	ctx := context.Background()
	opts := &claude.Options{Tenant: "acme"}
	for _, step := range []func(context.Context, *claude.Options) error{ahead, pooled, admitted, registered} {
		if err := step(ctx, opts.Clone()); err != nil {
			log.Fatal(why(err))
		}
	}
}

func ahead(ctx context.Context, opts *claude.Options) error {
	warm, err := claude.Prewarm(ctx, opts) // when the user begins to type
	if err != nil {
		return err
	}
	defer warm.Close()                     // ends it if it was not used
	result, err := warm.Run(ctx, "Hello.") // or warm.Query, warm.QueryStream, warm.Connect
	if err != nil {
		return err
	}
	fmt.Println(result.Result)
	return nil
}

func pooled(ctx context.Context, opts *claude.Options) error {
	pool := claudepool.New(claudepool.Options{
		Min:      1,                                   // ready for each kind of options that was asked for
		Max:      40,                                  // in all, ready or in use
		IdleTime: 10 * time.Minute,                    // then a kind is forgotten
		Recycle:  claudepool.Recycle{Memory: 1 << 30}, // bytes of the process tree, looked at between turns
	})
	defer pool.Close() // waits for everything
	conversation, err := pool.Connect(ctx, opts)
	if err != nil {
		return err
	}
	defer conversation.Close()
	for msg, err := range conversation.Query(ctx, "Hello.") {
		if err != nil {
			return err
		}
		if r, ok := msg.(*message.Result); ok {
			fmt.Println(r.Result, pool.Stats().InUse, "in use")
		}
	}
	return nil
}

func admitted(ctx context.Context, opts *claude.Options) error {
	admission := claudepool.NewAdmission(64)
	defer admission.Close() // the first step of a shutdown: no one new is admitted
	opts.Admission, opts.Weight = admission, 4
	_, err := claude.Run(ctx, "Hello.", opts)
	fmt.Println(admission.State().Held, "places held")
	return err
}

func registered(ctx context.Context, opts *claude.Options) error {
	dir, err := os.MkdirTemp("", "agents-") // /var/lib/myservice/agents, say
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	registry, swept, err := claude.OpenRegistry(dir)
	if err != nil {
		return err
	}
	defer registry.Close()
	for _, c := range swept {
		slog.Warn("left by a crash", "pid", c.PID, "program", c.Path)
	}
	opts.Registry = registry
	_, err = claude.Run(ctx, "Hello.", opts)
	return err
}

func why(err error) string {
	var exit *claude.ExitError
	var stalled *claude.StalledError
	switch {
	case errors.As(err, &exit) && exit.OutOfMemory:
		return "killed by the OOM killer"
	case errors.As(err, &exit) && exit.Foreign:
		return "killed by another program"
	case errors.As(err, &stalled):
		return fmt.Sprint("silent in ", stalled.Phase, " for ", stalled.Since)
	}
	return err.Error()
}

package host_test

import (
	"context"
	"fmt"
	"log"

	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/spawn"
)

// An owner starts an agent that outlives it, and stores the records before the host discards them.
func Example() {
	own := func(ctx context.Context, dataDir string) error {
		if err := host.Start(ctx, dataDir, "", host.Options{}); err != nil {
			return err
		}
		epoch, err := host.NextEpoch(dataDir)
		if err != nil {
			return err
		}
		link, err := host.Dial(ctx, dataDir, epoch)
		if err != nil {
			return err
		}
		defer link.Close()
		agent, err := link.SpawnAgent(ctx, spawn.Command{Path: "/usr/bin/agent"}, host.AgentOptions{Key: "session 7"})
		if err != nil {
			return err
		}
		if _, err := agent.Write(ctx, "prompt-1", []byte("hello\n")); err != nil {
			return err
		}
		for {
			record, err := agent.Next(ctx)
			if err != nil {
				return err
			}
			fmt.Printf("%d %s %s", record.Number, record.Kind, record.Data) // and to disk
			if err := agent.Checkpoint(ctx, record.Number, nil); err != nil {
				return err
			}
		}
	}
	if false {
		log.Print(own(context.Background(), "/var/lib/parley"))
	}
}

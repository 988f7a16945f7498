// Consumer is Parley's side of the benchmark; ts/consumer.mjs and python/consumer.py are the other
// sides. It prints its measurements as one JSON object.
//
//	consumer stream  read one stream
//	consumer first   time first messages
//	consumer idle    hold idle clients
//	consumer history list, search and open session files
//	consumer warm    time first messages of a prestarted CLI
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "consumer:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("what to do: stream, first, idle, history or warm")
	}
	flags := flag.NewFlagSet("consumer", flag.ContinueOnError)
	cli := flags.String("cli", "", "the firehose")
	calls := flags.Int("calls", 100, "how many calls first times")
	clients := flags.Int("clients", 1000, "how many clients idle holds")
	big := flags.String("big", "", "the session whose end history opens")
	profile := flags.String("cpuprofile", "", "where stream writes a CPU profile")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	ctx := context.Background()
	var out any
	var err error
	switch args[0] {
	case "stream":
		out, err = stream(ctx, *cli, *profile)
	case "first":
		out, err = first(ctx, *cli, *calls)
	case "idle":
		out, err = idle(ctx, *cli, *clients)
	case "history":
		out, err = history(ctx, *big)
	case "warm":
		out, err = warm(ctx, *cli, *calls)
	default:
		err = fmt.Errorf("unknown measurement %q", args[0])
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

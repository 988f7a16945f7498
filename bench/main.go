// Bench measures Parley side by side with the official SDKs, in one run, and prints a table:
//
//	go run ./bench                              everything, five rounds
//	go run ./bench --rounds 1 --lines 20000     a quick try
//	go run ./bench --only delta_allocs          some rows only
//	go run ./bench corpus --scale 0.01          write generated sessions and print where
//
// README.md describes the measurement of each figure. The targets in the table are goals of the
// project; missing one is not a failure.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// config holds the values of the flags.
type config struct {
	rounds, lines, calls, clients int
	only                          []string // rows; empty means all
	peers                         []string
	out                           string // file of the JSON; "" writes none
	scale                         float64
	cache                         string // directory of the generated sessions
	profile                       string
	log                           io.Writer // progress
}

var allPeers = []string{"ts", "python", "cat", "ccusage", "adapter"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := start(ctx, os.Args[1:])
	interrupted := ctx.Err() != nil // before stop, which also ends ctx
	stop()
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case interrupted:
		fmt.Fprintln(os.Stderr, "bench: interrupted")
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func start(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == measuredCommand {
		return runMeasured(args[1:])
	}
	if len(args) > 0 && args[0] == "corpus" {
		return writeCorpus(ctx, args[1:])
	}
	c, err := parseFlags(args)
	if err != nil {
		return err
	}
	report, err := run(ctx, c)
	if err != nil {
		return err
	}
	if c.out != "" {
		if err := writeJSON(c.out, report.rows); err != nil {
			return err
		}
		report.notes = append(report.notes, "written to "+c.out)
	}
	report.print(os.Stdout)
	return nil
}

func parseFlags(args []string) (*config, error) {
	c := &config{log: os.Stderr}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&c.rounds, "rounds", 5, "how many rounds; the figures are their medians")
	flags.IntVar(&c.lines, "lines", 200_000, "how many lines the stream has")
	flags.IntVar(&c.calls, "calls", 100, "how many first messages a round times")
	flags.IntVar(&c.clients, "clients", 1000, "the number of idle clients")
	only := flags.String("only", "", "only these `rows`: "+strings.Join(rowNames(), ","))
	flags.Float64Var(&c.scale, "scale", 1, "how much of the 1.4 GB of generated sessions the usage rows read")
	flags.StringVar(&c.cache, "cache", "", "the `directory` that generated sessions stay in (default $PARLEY_CACHE, else parley in the user's cache directory)")
	peers := flags.String("peers", strings.Join(allPeers, ","), "other programs to measure")
	flags.StringVar(&c.out, "out", filepath.Join("bench", "out", "results.json"), "where the JSON goes")
	flags.StringVar(&c.profile, "cpuprofile", "", "where a CPU profile of Parley's last stream goes")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	c.only, c.peers = list(*only), list(*peers)
	if c.profile != "" { // the consumer that writes it runs in another directory
		abs, err := filepath.Abs(c.profile)
		if err != nil {
			return nil, err
		}
		c.profile = abs
	}
	return c, c.check()
}

// list splits at commas.
func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

func (c *config) check() error {
	for _, name := range c.only {
		if findRow(name) == nil {
			return fmt.Errorf("unknown row %q; the rows are %s", name, strings.Join(rowNames(), ", "))
		}
	}
	for _, name := range c.peers {
		if !slices.Contains(allPeers, name) {
			return fmt.Errorf("unknown peer %q; the peers are %s", name, strings.Join(allPeers, ", "))
		}
	}
	if c.scale <= 0 || c.scale > 1 {
		return errors.New("--scale is more than 0 and at most 1")
	}
	if c.rounds < 1 || c.calls < 1 || c.clients < 1 || c.lines < minLines {
		return fmt.Errorf("--rounds, --calls and --clients are at least 1, --lines at least %d", minLines)
	}
	return nil
}

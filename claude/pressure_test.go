package claude_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
)

// narrow returns options with a small buffer, the log, and the reported traces.
func narrow(cli *memCLI) (opts *claude.Options, log *logs, told *[]int64) {
	opts, log, told = cli.options(), newLogs(), new([]int64)
	opts.MaxBuffered = 1000
	opts.Logger = slog.New(log)
	opts.Trace = &claude.Trace{Buffered: func(b claude.BufferedTrace) { *told = append(*told, b.Bytes) }}
	return opts, log, told
}

// greeting returns a CLI that begins a turn when it reads a prompt.
func greeting(t *testing.T) *memCLI {
	cli := newCLI(t)
	cli.onLine = func(line string) {
		if !cli.answerInitialize(line) {
			cli.say(initLine())
		}
	}
	return cli
}

// pour makes the CLI write n messages of about 300 bytes.
func pour(cli *memCLI, n int) {
	cli.say(slices.Repeat([]string{assistant(strings.Repeat("x", 100))}, n)...)
}

func TestSlowConsumerStopsTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := greeting(t)
		opts, log, told := narrow(cli)
		n := 0
		for m, err := range claude.Query(t.Context(), "go", opts) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n == 1 {
				// The consumer does not read yet.
				pour(cli, 100)
				if read, _, _ := cli.counts(); read > 10 {
					t.Fatalf("%d lines read", read)
				}
				if n := log.count("reading has stopped"); n != 1 {
					t.Errorf("%d warnings", n)
				}
				cli.say(good("done"))
			}
			if label(m) == "result:done" {
				break
			}
		}
		if n != 102 {
			t.Errorf("%d messages", n)
		}
		if len(*told) != 1 || (*told)[0] <= 1000 {
			t.Errorf("told %v", *told)
		}
		if n := log.count("reading has stopped"); n != 1 {
			t.Errorf("%d warnings", n)
		}
	})
}

func TestContextEndsUnderBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := greeting(t)
		opts, _, _ := narrow(cli)
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		n := 0
		var last error
		for _, err := range claude.Query(ctx, "go", opts) {
			if n++; n == 1 {
				pour(cli, 100)
				synctest.Wait()
				cancel(enough)
			}
			last = err
		}
		if last != enough || n != 2 { // queued messages are no longer yielded
			t.Fatalf("%d elements, %v", n, last)
		}
	})
}

// pressed returns a client whose reader is blocked because its turn is not read.
func pressed(t *testing.T) (*memCLI, *claude.Client, *claude.Turn) {
	t.Helper()
	cli := newCLI(t)
	opts, _, _ := narrow(cli)
	client := cli.connect(opts)
	turn := send(t, client, "a")
	cli.say(initLine(turn.ID))
	pour(cli, 100)
	cli.say(good("A", turn.ID))
	if reads, _, _ := cli.counts(); reads > 10 {
		t.Fatalf("%d lines read", reads)
	}
	return cli, client, turn
}

func TestCloseUnderBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client, turn := pressed(t)
		client.Close()
		s := collect(turn.Messages(t.Context()))
		s.ended(t)
		if len(s.got) != 102 || s.got[101] != "result:A" {
			t.Fatalf("%d messages", len(s.got)) // no message was dropped
		}
	})
}

func TestReaderContinuesWhenTurnIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client, turn := pressed(t)
		defer client.Close()
		s := collect(turn.Messages(t.Context()))
		if err := s.ended(t); err != nil || len(s.got) != 102 {
			t.Fatalf("len(s.got) is %v, err is %v; want err == nil and len(s.got) == 102", len(s.got), err)
		}
	})
}

func TestReaderContinuesWhenTurnIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client, turn := pressed(t)
		defer client.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if r, err := turn.Wait(ctx); err != nil || r.Result != "A" {
			t.Fatalf("r is %v, err is %v; want err == nil and r.Result == \"A\"", r, err)
		}
	})
}

func TestReaderContinuesWhenMessagesAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli, client, _ := pressed(t)
		defer client.Close()
		all := collect(client.Messages(t.Context()))
		all.running(t)
		if reads, _, _ := cli.counts(); reads != 103 {
			t.Fatalf("%d lines read", reads)
		}
	})
}

func TestReaderContinuesAfterBreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli, client, turn := pressed(t)
		defer client.Close()
		for range turn.Messages(t.Context()) {
			break
		}
		if reads, _, _ := cli.counts(); reads != 103 {
			t.Fatalf("%d lines read", reads)
		}
	})
}

func TestCallContextEndsUnderBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client, _ := pressed(t)
		defer client.Close()
		// Its answer is queued after unread messages.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := client.Control(ctx, "mcp_status", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	})
}

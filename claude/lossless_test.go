package claude_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// The lossless tests run real processes and check for every run that all messages arrive in
// order, that the error is the last element and has the CLI's exit status, that the end is
// bounded in time, and that no process or descriptor is left.

// bound is the time limit for any end on a busy machine.
const bound = 30 * time.Second

// repeat runs f many times, ten times as many in a soak test, in batches, and checks after
// each batch for leftover processes and descriptors.
func repeat(t *testing.T, times, atOnce int, f func(i int) error) {
	t.Helper()
	times = short.Count((times+9)/10, (times+1)/2, 10*times)
	before := openFiles()
	for first := 0; first < times; first += atOnce {
		errs := make([]error, min(atOnce, times-first))
		var running sync.WaitGroup
		for i := range errs {
			running.Go(func() { errs[i] = f(first + i) })
		}
		running.Wait()
		for i, err := range errs {
			if err != nil {
				t.Errorf("run %d: %v", first+i, err)
			}
		}
		checkLeft(t, before)
		if t.Failed() {
			return
		}
	}
}

// checkLeft reports leftover children and descriptors, if the system lists them.
func checkLeft(t *testing.T, before []string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	if left := children(); len(left) > 0 {
		t.Errorf("processes left behind: %v", left)
	}
	if after := openFiles(); !slices.Equal(before, after) {
		t.Errorf("descriptors left behind: %v, before: %v", after, before)
	}
}

func children() (pids []string) {
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, task := range tasks {
		b, _ := os.ReadFile(task)
		pids = append(pids, strings.Fields(string(b))...)
	}
	return pids
}

// openFiles returns the targets of this process's descriptors, except for those of the
// runtime.
func openFiles() (files []string) {
	links, _ := filepath.Glob("/proc/self/fd/*")
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && !strings.HasPrefix(target, "anon_inode:") {
			files = append(files, target)
		}
	}
	slices.Sort(files)
	return files
}

// fake returns options for a program with parameters, each "NAME=value".
func fake(program string, params ...string) *claude.Options {
	opts := claudetest.FakeCLI(program)
	opts.Logger = slog.New(slog.DiscardHandler)
	for _, p := range params {
		k, v, _ := strings.Cut(p, "=")
		opts.Env[k] = v
	}
	return opts
}

// iterated holds the elements of an iterator.
type iterated struct {
	texts    []string // texts of the answers, in order
	unknown  []string // kinds
	bad      int
	result   *message.Result
	afterErr int // elements after the error
	err      error
	took     time.Duration
}

func take(seq iter.Seq2[message.Message, error], each func(n int)) *iterated {
	got := &iterated{}
	begun, n := time.Now(), 0
	for m, err := range seq {
		if got.err != nil {
			got.afterErr++
		}
		if err != nil {
			got.err = err
			continue
		}
		switch m := m.(type) {
		case *message.Assistant:
			got.texts = append(got.texts, m.Text())
		case *message.Unknown:
			got.unknown = append(got.unknown, m.Type)
		case *message.BadLine:
			got.bad++
		case *message.Result:
			got.result = m
		}
		if each != nil {
			each(n)
		}
		n++
	}
	got.took = time.Since(begun)
	return got
}

// numbered checks that the texts are the numbered ones from 0 to n-1, and that the error was
// the last element.
func (got *iterated) numbered(n int) error {
	for i, text := range got.texts {
		if text != claudetest.NumberedText(i) {
			return fmt.Errorf("message %d is %.40q", i, text)
		}
	}
	switch {
	case len(got.texts) != n:
		return fmt.Errorf("%d of %d messages, then %v", len(got.texts), n, got.err)
	case got.afterErr > 0:
		return fmt.Errorf("%d elements behind the error", got.afterErr)
	case got.took > bound:
		return fmt.Errorf("took %v", got.took)
	}
	return nil
}

// complete checks for n messages, a successful result and no error.
func (got *iterated) complete(n int) error {
	if err := got.numbered(n); err != nil {
		return err
	}
	if got.err != nil || got.result == nil || got.result.Result != "done" {
		return fmt.Errorf("ended with %v, result %v", got.err, got.result)
	}
	return nil
}

// exited checks for n messages and then an ExitError.
func (got *iterated) exited(n, code int, stderr string) error {
	if err := got.numbered(n); err != nil {
		return err
	}
	return isExit(got.err, code, stderr)
}

func isExit(err error, code int, stderr string) error {
	exit, ok := errors.AsType[*claude.ExitError](err)
	if !ok || exit.Code != code || !strings.HasSuffix(exit.Stderr, stderr+"\n") {
		return fmt.Errorf("got %T %v, want an exit with code %d and %q on stderr", err, err, code, stderr)
	}
	return nil
}

// through runs a program with Query or, every second time, with a client.
func through(i int, opts *claude.Options, each func(n int)) *iterated {
	if i%2 == 0 {
		return take(claude.Query(context.Background(), "go", opts), each)
	}
	client, err := claude.Connect(context.Background(), opts)
	if err != nil {
		return &iterated{err: err}
	}
	all := client.Messages(context.Background())
	if _, err := client.Send(context.Background(), claude.Text("go")); err != nil {
		return &iterated{err: err}
	}
	got := take(all, each)
	client.Close()
	return got
}

func TestLosslessFlood(t *testing.T) {
	repeat(t, 20, 2, func(i int) error {
		return through(i, fake("flood", "COUNT=5000"), nil).complete(5000)
	})
}

func TestLosslessSlowConsumer(t *testing.T) {
	repeat(t, 20, 4, func(i int) error {
		ticks := time.NewTicker(2 * time.Millisecond)
		defer ticks.Stop()
		got := through(i, fake("dies", "COUNT=100", "CODE=1"), func(int) { <-ticks.C })
		return got.exited(100, 1, "fatal: out of luck")
	})
}

func TestLosslessFailedResult(t *testing.T) {
	repeat(t, 20, 4, func(i int) error {
		ticks := time.NewTicker(2 * time.Millisecond)
		defer ticks.Stop()
		got := through(i, fake("failed-result", "COUNT=40"), func(int) { <-ticks.C })
		if err := got.numbered(40); err != nil {
			return err
		}
		failed, ok := errors.AsType[*message.ResultError](got.err)
		if !ok || failed.Result != got.result {
			return fmt.Errorf("got %T %v, want the error of the result", got.err, got.err)
		}
		return nil
	})
}

func TestLosslessExitInTheMiddle(t *testing.T) {
	repeat(t, 20, 4, func(i int) error {
		return through(i, fake("dies", "COUNT=500", "CODE=3"), nil).exited(500, 3, "fatal: out of luck")
	})
}

func TestLosslessTornLine(t *testing.T) {
	repeat(t, 20, 4, func(i int) error {
		got := through(i, fake("torn", "COUNT=50"), nil)
		if got.bad != 1 {
			return fmt.Errorf("%d bad lines, want 1", got.bad)
		}
		return got.exited(50, 3, "fatal: torn")
	})
}

func TestLosslessKilled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals")
	}
	repeat(t, 20, 4, func(i int) error {
		got := through(i, fake("killed", "COUNT=50"), nil)
		exit, ok := errors.AsType[*claude.ExitError](got.err)
		if !ok || exit.Signal != "SIGKILL" {
			return fmt.Errorf("got %v, want an end by SIGKILL", got.err)
		}
		return got.exited(50, -1, "last words")
	})
}

func TestLosslessHugeLine(t *testing.T) {
	short.SkipLong(t, "sends a huge line")
	repeat(t, 2, 1, func(i int) error {
		got := through(i, fake("huge", "COUNT=20"), nil)
		at := slices.IndexFunc(got.texts, func(s string) bool { return len(s) > 100 })
		if at != 10 || len(got.texts[at]) != hugeSize || strings.Trim(got.texts[at], "x") != "" {
			return fmt.Errorf("the huge line is not whole or not at its place, %d (%v)", at, got.err)
		}
		got.texts = slices.Delete(got.texts, at, at+1)
		return got.complete(20)
	})
}

func TestLosslessUnknownTypes(t *testing.T) {
	const n = 200
	var want []string
	for i := range n {
		if i%10 != 9 && i%25 != 24 {
			want = append(want, claudetest.NumberedText(i)+" – ünïcödé 🎉")
		}
	}
	repeat(t, 20, 4, func(i int) error {
		got := through(i, fake("unknown-tenth", "COUNT="+strconv.Itoa(n)), nil)
		unknown := slices.DeleteFunc(got.unknown, func(typ string) bool { return typ != "type_of_2031" })
		if !slices.Equal(got.texts, want) || len(unknown) != n/10 || got.bad != 4 {
			return fmt.Errorf("%d of %d texts, %d of %d unknown, %d bad lines, error %v", len(got.texts), len(want), len(unknown), n/10, got.bad, got.err)
		}
		if got.err != nil || got.result == nil {
			return fmt.Errorf("ended with %v", got.err)
		}
		return nil
	})
}

func TestLosslessDeathDuringInitialize(t *testing.T) {
	why := map[string]string{
		"dead-on-arrival": "cannot start: no such setting",
		"dead-in-shake":   "cannot start: no such session",
		"dead-half-shake": "cannot start: half an answer",
	}
	for program, stderr := range why {
		repeat(t, 20, 4, func(int) error {
			got := take(claude.Query(context.Background(), "go", fake(program)), nil)
			if err := got.exited(0, 9, stderr); err != nil {
				return fmt.Errorf("%s: Query: %w", program, err)
			}
			begun := time.Now()
			_, err := claude.Connect(context.Background(), fake(program))
			if _, ok := errors.AsType[*claude.HandshakeError](err); !ok || time.Since(begun) > bound {
				return fmt.Errorf("%s: Connect: %T %v after %v", program, err, err, time.Since(begun))
			}
			if err := isExit(err, 9, stderr); err != nil {
				return fmt.Errorf("%s: Connect: %w", program, err)
			}
			return nil
		})
	}
}

func TestLosslessGrandchild(t *testing.T) {
	for _, detached := range []string{"", "yes"} {
		repeat(t, 20, 4, func(i int) error {
			opts := fake("grandchild", "COUNT=20", "DETACHED="+detached)
			pid := make(chan int, 1)
			opts.Stderr = func(line string) {
				if n, ok := strings.CutPrefix(line, "grandchild "); ok {
					id, _ := strconv.Atoi(n)
					pid <- id
				}
			}
			got := through(i, opts, nil)
			select {
			case id := <-pid:
				// A process outside of the group outlives a CLI that exits by itself.
				if p, err := os.FindProcess(id); err == nil && detached != "" {
					_ = p.Kill()
				}
			default:
				return fmt.Errorf("no grandchild: %v", got.err)
			}
			return got.complete(20)
		})
	}
}

func TestLosslessParallelStarts(t *testing.T) {
	short.SkipLong(t, "starts many processes")
	const clients = 80
	repeat(t, 3*clients, clients, func(i int) error {
		client, err := claude.Connect(context.Background(), fake("hello"))
		if err != nil {
			return err
		}
		defer client.Close()
		prompt := "number " + strconv.Itoa(i)
		got := take(client.Query(context.Background(), prompt), nil)
		if got.err != nil || got.result == nil || got.result.Result != "you said "+prompt {
			return fmt.Errorf("got %v, %v", got.result, got.err)
		}
		return nil
	})
}

// A consumer that has stopped blocks neither direction of the control protocol.
func TestLosslessStoppedConsumer(t *testing.T) {
	const n = 2000
	repeat(t, 20, 4, func(i int) error {
		opts := fake("two-way", "COUNT="+strconv.Itoa(n))
		answered := make(chan string, 100)
		opts.Stderr = func(line string) { answered <- line }
		client, err := claude.Connect(context.Background(), opts)
		if err != nil {
			return err
		}
		defer client.Close()
		all := client.Messages(context.Background())
		if _, err := client.Send(context.Background(), claude.Text("go")); err != nil {
			return err
		}
		goOn := make(chan error, 1)
		go func() { goOn <- controlBothWays(client, answered) }()
		var failed error
		got := take(all, func(n int) {
			if n == 0 {
				failed = <-goOn
			}
		})
		return errors.Join(failed, got.complete(n+10))
	})
}

// controlBothWays sends control requests, waits until the CLI's requests were answered, and
// lets the CLI continue.
func controlBothWays(client *claude.Client, answered <-chan string) error {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	errs := make([]error, 20)
	var calls sync.WaitGroup
	for i := range errs {
		calls.Go(func() {
			var out struct{ Model string }
			errs[i] = client.Control(ctx, "set_model", map[string]any{"model": "m"}, &out)
			if errs[i] == nil && out.Model != "m" {
				errs[i] = fmt.Errorf("answer %+v", out)
			}
		})
	}
	calls.Wait()
	select {
	case line := <-answered:
		if line != "all answered" {
			errs = append(errs, errors.New(line))
		}
	case <-ctx.Done():
		errs = append(errs, errors.New("the CLI's own requests were not answered"))
	}
	_, err := client.Send(ctx, claude.Text("go on"))
	return errors.Join(append(errs, err)...)
}

// A CLI that writes before it reads, and a prompt that fills the pipe in the other direction,
// do not deadlock.
func TestLosslessBurst(t *testing.T) {
	prompt := strings.Repeat("long ", 200_000)
	repeat(t, 20, 4, func(int) error {
		got := take(claude.Query(context.Background(), prompt, fake("burst")), nil)
		if err := got.numbered(len(got.texts)); err != nil || got.err != nil || got.result == nil {
			return fmt.Errorf("%v, ended with %v", err, got.err)
		}
		if want := fmt.Sprintf("%d messages, %d bytes", len(got.texts), len(prompt)); got.result.Result != want {
			return fmt.Errorf("result %q, want %q", got.result.Result, want)
		}
		return nil
	})
}

// Close is bounded by the graces, and returns the messages read so far.
func TestLosslessStubborn(t *testing.T) {
	repeat(t, 20, 4, func(int) error {
		opts := fake("stubborn", "COUNT=50")
		opts.CloseGrace, opts.TermGrace = 20*time.Millisecond, 20*time.Millisecond
		client, err := claude.Connect(context.Background(), opts)
		if err != nil {
			return err
		}
		got := take(client.Query(context.Background(), "go"), nil)
		begun := time.Now()
		client.Close()
		if d := time.Since(begun); d > bound {
			return fmt.Errorf("Close took %v", d)
		}
		return got.complete(50)
	})
}

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/seed7221b0f9/parley/claude"
)

// timed holds the times of calls to the first message, of starts of the same program by the same
// runtime, and of the same dialogue without an SDK.
type timed struct {
	QueryMS []float64 `json:"query_ms"`
	SpawnMS []float64 `json:"spawn_ms"`
	BareMS  []float64 `json:"bare_ms"`
}

// first measures the three in turn. Each is first equally often, so that side effects are
// distributed evenly.
func first(ctx context.Context, cli string, calls int) (*timed, error) {
	t := &timed{}
	kinds := []struct {
		ms   *[]float64
		time func() (float64, error)
	}{
		{&t.SpawnMS, func() (float64, error) { return spawnTime(cli) }},
		{&t.QueryMS, func() (float64, error) { return queryTime(ctx, cli) }},
		{&t.BareMS, func() (float64, error) { return bareTime(cli) }},
	}
	for i := range calls + 1 {
		for j := range kinds {
			k := kinds[(i+j)%len(kinds)]
			ms, err := k.time()
			if err != nil {
				return nil, err
			}
			if i > 0 { // the first is a warm-up
				*k.ms = append(*k.ms, ms)
			}
		}
	}
	return t, nil
}

// spawnTime returns the time from the start of the program to its first byte.
func spawnTime(cli string) (ms float64, err error) {
	cmd := exec.Command(cli, "--spawn")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	_, readErr := out.Read(make([]byte, 1))
	ms = time.Since(begin).Seconds() * 1000
	if err := cmd.Wait(); err != nil || readErr != nil {
		return 0, fmt.Errorf("starting %s: %w", cli, errors.Join(err, readErr))
	}
	return ms, nil
}

// queryTime returns the time from the call of Query to its first message. The rest is read too, so
// that calls do not overlap.
func queryTime(ctx context.Context, cli string) (ms float64, err error) {
	begin := time.Now()
	for _, err := range claude.Query(ctx, "go", &claude.Options{CLIPath: cli, IncludePartialMessages: true}) {
		if err != nil {
			return 0, err
		}
		if ms == 0 {
			ms = time.Since(begin).Seconds() * 1000
		}
	}
	if ms == 0 {
		return 0, errors.New("no message came")
	}
	return ms, nil
}

// bareTime returns the time from the start of the program to the first line after its response to
// initialize, with only a pipe: the lower bound for any SDK.
func bareTime(cli string) (ms float64, err error) {
	cmd := exec.Command(cli)
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	_, writeErr := io.WriteString(in, dialogue)
	lines := bufio.NewReaderSize(out, 64<<10)
	for range 3 { // the response, the running state, which only the SDK uses, and a message
		if _, err = lines.ReadSlice('\n'); err != nil {
			break
		}
	}
	ms = time.Since(begin).Seconds() * 1000
	closeErr := in.Close()
	_, restErr := io.Copy(io.Discard, lines)
	if err := errors.Join(writeErr, err, closeErr, restErr, cmd.Wait()); err != nil {
		return 0, fmt.Errorf("talking to %s: %w", cli, err)
	}
	return ms, nil
}

const dialogue = `{"type":"control_request","request_id":"1","request":{"subtype":"initialize"}}` + "\n" +
	`{"type":"user","message":{"role":"user","content":"go"}}` + "\n"

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/seed7221b0f9/parley/bench/internal/meter"
)

func (b *bench) prepareStream(context.Context) error {
	b.logf("making a stream of %d lines", b.lines)
	want, err := b.writeStream(b.path("stream.jsonl"), b.lines)
	if err != nil {
		return err
	}
	b.expected = want
	b.notef("stream: %d lines, %.1f MB", want.lines, float64(want.size)/1e6)
	return nil
}

// streamed is the output of a consumer; consumer/stream.go has the same.
type streamed struct {
	Messages  int            `json:"messages"`
	TextBytes int            `json:"text_bytes"`
	Tools     map[string]int `json:"tools"`
	EndNS     int64          `json:"end_ns"`
	CPUS      float64        `json:"cpu_s"`
}

// streamRound reads the stream once on every side.
func (b *bench) streamRound(ctx context.Context) error {
	for _, s := range b.sides {
		argv := b.command(s, "stream", 0)
		if s.name == "parley" && b.profile != "" {
			argv = append(argv, "-cpuprofile", b.profile)
		}
		var got streamed
		if err := b.measureIn(ctx, argv, b.streamEnv(), &got); err != nil {
			return err
		}
		if err := b.expected.check(&got); err != nil {
			return fmt.Errorf("%s read another stream than was written: %w", s.name, err)
		}
		if err := b.addStream(s.name, got.EndNS, got.CPUS); err != nil {
			return err
		}
	}
	if !b.has("cat") {
		return nil
	}
	end, cpu, err := b.cat(ctx)
	if err != nil {
		return fmt.Errorf("cat: %w", err)
	}
	return b.addStream("cat", end, cpu)
}

func (b *bench) streamEnv() []string {
	return b.env("FIREHOSE_STREAM="+b.path("stream.jsonl"), "FIREHOSE_STAMP="+b.path("stamp"))
}

// check compares the counts of a consumer with the written stream.
func (e *expected) check(got *streamed) error {
	switch {
	case got.Messages > e.lines || got.Messages < e.lines-e.hostOnly:
		return fmt.Errorf("%d messages of %d", got.Messages, e.lines)
	case got.TextBytes != e.textBytes:
		return fmt.Errorf("%d bytes of text, not %d", got.TextBytes, e.textBytes)
	case !maps.Equal(got.Tools, e.tools):
		return fmt.Errorf("the tools %v, not %v", got.Tools, e.tools)
	}
	return nil
}

// addStream adds a side's samples. The time is from the firehose's first byte to the consumer's
// result, on the system's monotonic clock.
func (b *bench) addStream(side string, end int64, cpu float64) error {
	text, err := os.ReadFile(b.path("stamp"))
	if err != nil {
		return err
	}
	begin, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return err
	}
	if err := os.Remove(b.path("stamp")); err != nil {
		return err
	}
	seconds := float64(end-begin) / 1e9
	if seconds <= 0 {
		return fmt.Errorf("%s was done %.6f s before the stream began", side, -seconds)
	}
	b.logf("  %-8s %8.3f s  %8.3f s CPU", side, seconds, cpu)
	b.add("stream_s", side, seconds)
	b.add("stream_msgs_per_s", side, float64(b.expected.lines)/seconds)
	b.add("stream_cpu_s", side, cpu)
	return nil
}

// cat reads the same pipe with cat. It cannot record the arrival of the last line: its end is its
// exit, and its CPU time the total.
func (b *bench) cat(ctx context.Context) (end int64, cpu float64, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, 0, err
	}
	defer r.Close()
	defer w.Close()
	sink, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return 0, 0, err
	}
	defer sink.Close()
	hose, cat := exec.CommandContext(ctx, b.firehose), exec.CommandContext(ctx, "cat")
	hose.Env, cat.Env = b.streamEnv(), b.env()
	hose.Stdout, hose.Stderr, cat.Stdin, cat.Stdout = w, os.Stderr, r, sink
	ownGroup(hose)
	ownGroup(cat)
	stdin, err := hose.StdinPipe()
	if err != nil {
		return 0, 0, err
	}
	if err := errors.Join(cat.Start(), hose.Start()); err != nil {
		kill(hose, cat)
		return 0, 0, err
	}
	w.Close()
	_, err = io.WriteString(stdin, `{"type":"control_request","request_id":"1","request":{"subtype":"initialize"}}`+"\n"+
		`{"type":"user","message":{"role":"user","content":"go"}}`+"\n")
	err = errors.Join(err, stdin.Close(), cat.Wait())
	end = meter.Now()
	err = errors.Join(err, hose.Wait())
	return end, cpuOf(cat).Seconds(), err
}

// kill kills those commands that were started.
func kill(cmds ...*exec.Cmd) {
	for _, cmd := range cmds {
		if cmd.Process != nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
}

func cpuOf(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/api"
)

// crowdOrder configures a process of viewers.
type crowdOrder struct {
	URL, Token string
	Sessions   []string
	Viewers    int // in total; distributed evenly over the sessions
	Seconds    int // streaming time of the sessions
	Text       int // bytes of text that each viewer must have at the end
}

// crowdReport is the viewers' report. Times are in milliseconds.
type crowdReport struct {
	P50, P99 float64
	Deltas   int
	Failed   int    // number of disconnected viewers
	Why      string // error of one of them
	Short    int    // number of viewers with missing text
}

// crowd is a process of viewers.
type crowd struct {
	t   *testing.T
	cmd *exec.Cmd
	out bytes.Buffer
}

// startCrowd starts the viewers. They follow from the beginning, so that their start times do not
// matter.
func startCrowd(t *testing.T, order crowdOrder) *crowd {
	t.Helper()
	data, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	c := &crowd{t: t, cmd: exec.Command(os.Args[0])}
	c.cmd.Env = []string{"PARLEY_TEST_CROWD=1", "GORACE=atexit_sleep_ms=0", "HOME=" + t.TempDir()}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = bytes.NewReader(data), &c.out, os.Stderr
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.cmd.Process.Kill() }) // it has exited, unless the test failed before
	return c
}

// wait returns the viewers' report.
func (c *crowd) wait() (r crowdReport) {
	c.t.Helper()
	if err := c.cmd.Wait(); err != nil {
		c.t.Fatalf("the viewers: %v", err)
	}
	if err := json.Unmarshal(c.out.Bytes(), &r); err != nil {
		c.t.Fatalf("the viewers: %v", err)
	}
	return r
}

// runCrowd is the process of viewers.
func runCrowd() {
	debug.SetGCPercent(400) // the pauses of hundreds of viewers in one process are not the server's
	var order crowdOrder
	if err := json.NewDecoder(os.Stdin).Decode(&order); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(order.Seconds)*time.Second+2*time.Minute)
	defer cancel()
	watchers := make([]stampWatcher, order.Viewers)
	errs := make([]error, order.Viewers)
	var wg sync.WaitGroup
	for i := range order.Viewers {
		wg.Go(func() { errs[i] = watchers[i].watch(ctx, &order, order.Sessions[i%len(order.Sessions)]) })
	}
	wg.Wait()
	var r crowdReport
	var all []time.Duration
	for i := range watchers {
		if errs[i] != nil {
			r.Failed, r.Why = r.Failed+1, errs[i].Error()
		}
		if watchers[i].text < order.Text {
			r.Short++
		}
		all = append(all, watchers[i].delays...)
	}
	slices.Sort(all)
	if r.Deltas = len(all); r.Deltas > 0 {
		r.P50, r.P99 = all[r.Deltas/2].Seconds()*1000, all[r.Deltas*99/100].Seconds()*1000
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// stampWatcher follows one session. It compares every message with its deltas without storing them,
// so that hundreds use little memory.
type stampWatcher struct {
	cursor  api.Cursor
	partial string // text of the streamed message
	text    int    // bytes of complete messages
	delays  []time.Duration
}

// watch follows a session to its first result.
func (w *stampWatcher) watch(ctx context.Context, order *crowdOrder, session string) error {
	c, err := client.New(client.Options{URL: order.URL, Token: order.Token, Retry: 10 * time.Millisecond, MaxRetry: 100 * time.Millisecond})
	if err != nil {
		return err
	}
	w.delays = make([]time.Duration, 0, order.Text/stampSize)
	for ev, err := range c.Follow(ctx, session, nil) {
		if err != nil {
			return err
		}
		done, err := w.take(ev)
		if done || err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// take processes an event and reports whether it was the last. A gap between two events and a
// message that is not the sum of its deltas are errors.
func (w *stampWatcher) take(ev client.Event) (done bool, err error) {
	if a := ev.Attached; a != nil {
		w.cursor = a.Cursor
		return false, nil
	}
	e := ev.Envelope
	if e.Sub == 0 && e.Seq != w.cursor.Seq+1 || e.Sub != 0 && e.Seq != w.cursor.Seq {
		return false, fmt.Errorf("message %d.%d came after %d.%d", e.Seq, e.Sub, w.cursor.Seq, w.cursor.Sub)
	}
	w.cursor = api.Cursor{Epoch: e.Epoch, Seq: e.Seq, Sub: e.Sub}
	for _, m := range ev.Events {
		switch m := m.(type) {
		case *event.AssistantMessage:
			for _, b := range m.Blocks {
				if text := b.Block.Text; b.Block.Type == "text" && !strings.HasSuffix(w.partial, text) && !strings.HasSuffix(text, w.partial) {
					return false, fmt.Errorf("message %d is not what was streamed", e.Seq)
				} else if b.Block.Type == "text" {
					w.text += len(text)
				}
			}
			w.partial = ""
		case *event.ResultMessage:
			return !m.IsError, nil
		default:
			w.stream(m)
		}
	}
	return false, nil
}

// stream processes a part of a message. A restarted block has its text so far.
func (w *stampWatcher) stream(ev event.Event) {
	switch ev := ev.(type) {
	case *event.TextStart:
		w.partial = ev.Text
	case *event.ThinkingStart, *event.ToolStart, *event.BlockStart:
		w.partial = ""
	case *event.TextDelta:
		w.partial += ev.Text
		w.delays = appendDelays(w.delays, ev.Text)
	}
}

// appendDelays appends the ages of the stamps of a delta.
func appendDelays(delays []time.Duration, text string) []time.Duration {
	now := time.Now().UnixNano()
	for ; len(text) >= stampSize; text = text[stampSize:] {
		if n, err := strconv.ParseInt(text[:stampSize-1], 10, 64); err == nil {
			delays = append(delays, time.Duration(now-n))
		}
	}
	return delays
}

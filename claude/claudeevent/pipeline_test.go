package claudeevent_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
)

// step is one input of a converter: a line from the CLI, or one to it.
type step struct {
	in   bool
	line string
}

// dialogue returns the lines of a process in the order of its timeline, or only the
// output lines if there is no timeline.
func dialogue(tb testing.TB, dir string) []step {
	tb.Helper()
	out, in := readLines(tb, filepath.Join(dir, "stdout.jsonl")), rawLines(tb, filepath.Join(dir, "stdin.jsonl"))
	var steps []step
	seen := 0
	for _, line := range readLines(tb, filepath.Join(dir, "timeline.jsonl")) {
		var t struct {
			Dir, Ev string
			N       int
		}
		if err := json.Unmarshal([]byte(line), &t); err != nil || t.Ev != "line" {
			continue
		}
		switch {
		case t.Dir == "in" && t.N >= 1 && t.N <= len(in):
			steps = append(steps, step{true, in[t.N-1]})
		case t.Dir == "out" && seen < len(out):
			steps = append(steps, step{false, out[seen]})
			seen++
		}
	}
	for _, line := range out[min(seen, len(out)):] {
		steps = append(steps, step{false, line})
	}
	return steps
}

// rawLines returns the lines of a file including blank ones, so that line numbers match.
func rawLines(tb testing.TB, name string) []string {
	tb.Helper()
	if len(readLines(tb, name)) == 0 {
		return nil
	}
	return strings.Split(string(mustRead(tb, name)), "\n")
}

// tell passes a step to the converter and returns the events.
func tell(c *claudeevent.Converter, s step) []event.Event {
	m, err := message.Decode([]byte(s.line))
	if err != nil {
		if s.in {
			return nil
		}
		m = &message.BadLine{Size: len(s.line), Err: err}
	}
	switch m := m.(type) {
	case *message.ControlRequest:
		if s.in {
			return nil
		}
		return c.Ask(m.RequestID, m.Request)
	case *message.ControlResponse:
		if !s.in {
			return nil
		}
		return c.Answer(m.Response.RequestID, m.Response.Response, "somebody")
	case *message.ControlCancelRequest:
		return c.Answer(m.RequestID, "", "")
	}
	if s.in {
		return c.Prompt(message.UserInput{Raw: json.RawMessage(s.line)})
	}
	return c.Add(m)
}

// run holds the stages of a dialogue from the CLI to a screen.
type run struct {
	events []event.Event
	lines  []json.RawMessage // the messages
	conv   *event.Conversation
}

// convert sends steps through all stages.
func convert(tb testing.TB, steps []step) *run {
	tb.Helper()
	var c claudeevent.Converter
	var events []event.Event
	for _, s := range steps {
		events = append(events, tell(&c, s)...)
	}
	return follow(tb, append(events, c.End(nil)...))
}

// follow sends events through the remaining stages.
func follow(tb testing.TB, events []event.Event) *run {
	tb.Helper()
	r := &run{events: events, conv: &event.Conversation{}}
	conv := event.NewEncoder("0a1b2c3d", 0, event.CapabilityOutputDelta)
	quick := event.NewEncoder("0a1b2c3d", 0, event.CapabilityOutputDelta)
	for _, ev := range r.events {
		r.conv.Apply(ev)
		lines, err := quick.AppendLines(nil, ev)
		if err != nil {
			tb.Fatalf("%T: %v", ev, err)
		}
		messages, err := conv.Messages(ev)
		if err != nil {
			tb.Fatalf("%T: %v", ev, err)
		}
		for _, line := range messages {
			if !bytes.HasPrefix(lines, append(bytes.Clone(line), '\n')) {
				tb.Fatalf("%T: AppendLines gives %s, Messages %s", ev, lines, line)
			}
			lines = lines[len(line)+1:]
			r.lines = append(r.lines, line)
		}
	}
	return r
}

// canonical returns the canonical JSON of a conversation.
func canonical(tb testing.TB, c *event.Conversation) string {
	tb.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		tb.Fatal(err)
	}
	out, err := event.Canonical(text)
	if err != nil {
		tb.Fatal(err)
	}
	return string(out)
}

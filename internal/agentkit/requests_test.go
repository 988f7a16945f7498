package agentkit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/agentkit"
)

// TestWait checks that the waiter of a request gets its answer, also if the request was withdrawn or the context ended at the same time, and
// otherwise the reason; and that an ended context withdraws the request.
func TestWait(t *testing.T) {
	gone := errors.New("the caller has gone")
	for name, tt := range map[string]struct {
		answer, withdraw, cancel bool
		want                     error
	}{
		"answered":                {answer: true},
		"answered and withdrawn":  {answer: true, withdraw: true},
		"answered, then too late": {answer: true, cancel: true},
		"withdrawn":               {withdraw: true, want: agent.ErrNotOpen},
		"too late":                {cancel: true, want: gone},
	} {
		t.Run(name, func(t *testing.T) {
			for range 50 { // of two reasons to return either may be the first
				s := agentkit.New(agentkit.Options{})
				ctx, cancel := context.WithCancelCause(t.Context())
				r, err := ask(t.Context(), s, "r", nil)
				if err != nil {
					t.Fatal(err)
				}
				if tt.answer {
					if err := s.Answer(t.Context(), "r", &agent.PermissionAnswer{Message: "yes"}); err != nil {
						t.Fatal(err)
					}
				}
				if tt.withdraw {
					s.Withdraw(agentkit.All)
				}
				if tt.cancel {
					cancel(gone)
				}
				bound, stop := context.WithTimeout(ctx, 10*time.Second)
				a, err := s.Wait(bound, r)
				stop()
				if got, ok := a.(*agent.PermissionAnswer); !errors.Is(err, tt.want) || ok != tt.answer || ok && got.Message != "yes" {
					t.Fatalf("the waiter gets %v, %v, want the answer: %v, or %v", a, err, tt.answer, tt.want)
				}
				if err := s.Check("r", &agent.PermissionAnswer{}); !errors.Is(err, agent.ErrNotOpen) {
					t.Fatalf("afterwards the request can be answered: %v, want %v", err, agent.ErrNotOpen)
				}
				cancel(nil)
				s.End(nil, nil)
			}
		})
	}
}

// TestAnswer_ended checks that an answer with an ended context, or to a request that the agent has just withdrawn, does not reach the handler.
func TestAnswer_ended(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s := agentkit.New(agentkit.Options{})
	asked, withdraw := context.WithCancel(t.Context())
	handled := 0
	if _, err := ask(asked, s, "r", func(context.Context, *agentkit.Prompt, agent.Answer) ([]event.Event, error) {
		handled++
		return nil, nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Answer(ended, "r", &agent.PermissionAnswer{}); !errors.Is(err, context.Canceled) || handled != 0 {
		t.Errorf("an answer of a caller that has gone: %v, handled %d times, want %v and 0", err, handled, context.Canceled)
	}
	s.Do(withdraw) // nothing can withdraw the request in the table before Do returns
	if err := s.Answer(t.Context(), "r", &agent.PermissionAnswer{}); !errors.Is(err, agent.ErrNotOpen) || handled != 0 {
		t.Errorf("an answer to a request that was withdrawn: %v, handled %d times, want %v and 0", err, handled, agent.ErrNotOpen)
	}
	s.End(nil, nil)
}

// TestOpen_refused checks that a request is refused without an event if it cannot be shown: after the end, with an ended context, without an
// id, and beyond the limit.
func TestOpen_refused(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	const most = 1000
	for name, tt := range map[string]struct {
		ctx    context.Context
		before func(s *agentkit.Session)
		open   int
		want   error
	}{
		"open":                  {ctx: t.Context()},
		"at the end":            {ctx: t.Context(), before: func(s *agentkit.Session) { s.Stop(nil) }, want: agent.ErrClosed},
		"with an ended context": {ctx: ended, want: agent.ErrClosed},
		"below the limit":       {ctx: t.Context(), open: most - 1},
		"at the limit":          {ctx: t.Context(), open: most, want: agent.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			s := agentkit.New(agentkit.Options{})
			for i := range tt.open {
				if _, err := ask(t.Context(), s, fmt.Sprint(i), nil); err != nil {
					t.Fatal(err)
				}
			}
			if tt.before != nil {
				tt.before(s)
			}
			r, err := ask(tt.ctx, s, "r", nil)
			if !errors.Is(err, tt.want) || (r == nil) != (tt.want != nil) {
				t.Errorf("opening returns %v, %v, want %v", r, err, tt.want)
			}
			s.End(nil, nil)
			list, _ := texts(t, s)
			if shown := strings.Contains(strings.Join(list, ","), "ask r"); shown != (tt.want == nil) {
				t.Errorf("the request is among the events: %v, want %v", shown, tt.want == nil)
			}
		})
	}
}

// TestEnd_header checks that a request that is still open at the end is resolved with its own header and tool, in its own kind.
func TestEnd_header(t *testing.T) {
	s := agentkit.New(agentkit.Options{})
	head := event.Header{Provider: "p", SessionID: "s", ParentToolUseID: "parent"}
	s.Update(func() []event.Event {
		return []event.Event{
			&event.PermissionRequest{Header: head, RequestID: "a", ToolUseID: "tool-a", Kind: event.PermissionTool},
			&event.QuestionRequest{Header: head, RequestID: "b", ToolUseID: "tool-b", Kind: event.QuestionAsk},
		}
	})
	s.End(nil, nil)
	var got []string
	for ev, err := range s.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		h := ev.Head()
		switch ev := ev.(type) {
		case *event.PermissionResolved:
			got = append(got, fmt.Sprint("permission ", ev.RequestID, ev.ToolUseID, ev.Behavior, h.Provider, h.SessionID, h.ParentToolUseID))
		case *event.QuestionResolved:
			got = append(got, fmt.Sprint("question ", ev.RequestID, ev.ToolUseID, ev.Action, h.Provider, h.SessionID, h.ParentToolUseID))
		}
	}
	want := []string{fmt.Sprint("permission a", "tool-a", event.ResolvedExpired, "p", "s", "parent"), fmt.Sprint("question b", "tool-b", event.ResolvedExpired, "p", "s", "parent")}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the requests are resolved by\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestErr checks that the error of the end is unknown before the end, although Stop has set it.
func TestErr(t *testing.T) {
	fault := errors.New("fault")
	s := agentkit.New(agentkit.Options{})
	s.Stop(fault)
	if err := s.Err(); err != nil {
		t.Errorf("before the end the error is %v, want none", err)
	}
	select {
	case <-s.Context().Done():
	default:
		t.Error("the context of a stopped session goes on, want its end")
	}
	s.End(errors.New("later"), nil)
	if err := s.Err(); !errors.Is(err, fault) {
		t.Errorf("after the end the error is %v, want %v", err, fault)
	}
	select {
	case <-s.Done():
	default:
		t.Error("the session is not done after its end")
	}
}

// TestAddLine checks that the events of a line are one batch, that those without a line are others, and that an expired request is resolved
// before the next line.
func TestAddLine(t *testing.T) {
	s := agentkit.New(agentkit.Options{Cancel: cancelled})
	ctx, cancel := context.WithCancel(t.Context())
	s.AddLine(1, false, func() []event.Event { return append(notice("one"), notice("two")...) })
	if _, err := ask(ctx, s, "r", nil); err != nil {
		t.Fatal(err)
	}
	s.Do(cancel)
	s.AddLine(2, false, func() []event.Event { return notice("three") })
	s.Update(func() []event.Event { return notice("alone") })
	s.AddLine(3, false, func() []event.Event { return nil })
	s.End(nil, nil)
	var got []string
	for b, err := range s.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprint(b.Line, ":")
		for _, ev := range b.Events {
			switch ev := ev.(type) {
			case *event.Notice:
				line += " " + ev.Text
			case *event.PermissionRequest:
				line += " ask"
			case *event.PermissionResolved:
				line += " " + ev.Behavior
			}
		}
		got = append(got, line)
	}
	if want := "1: one two|0: ask cancelled|2: three|0: alone|3:"; strings.Join(got, "|") != want {
		t.Errorf("the batches are %q, want %q", strings.Join(got, "|"), want)
	}
	var again error
	for _, again = range s.Batches(t.Context()) {
	}
	if !errors.Is(again, agent.ErrInvalid) {
		t.Errorf("a second range over the batches yields %v, want %v", again, agent.ErrInvalid)
	}
}

// TestBatches_context checks that a consumer that waits for a batch returns with its context.
func TestBatches_context(t *testing.T) {
	s := agentkit.New(agentkit.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		var last error
		for _, err := range s.Batches(ctx) {
			last = err
		}
		ended <- last
	}()
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the batches end with %v, want %v", err, context.Canceled)
		}
	case <-time.After(10 * time.Second):
		t.Error("the consumer still waits after the end of its context")
	}
	s.End(nil, nil)
}

// TestBatches_waits checks that a consumer that has read everything gets later events.
func TestBatches_waits(t *testing.T) {
	s := agentkit.New(agentkit.Options{})
	first := make(chan struct{})
	go func() {
		s.Update(func() []event.Event { return notice("one") })
		<-first
		s.Update(func() []event.Event { return notice("two") })
		s.End(nil, nil)
	}()
	n := 0
	bound, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for b, err := range s.Batches(bound) {
		if err != nil {
			t.Fatalf("after %d events: %v", n, err)
		}
		if n += len(b.Events); n == 1 {
			close(first)
		}
	}
	if n != 2 {
		t.Errorf("the consumer got %d events, want 2", n)
	}
}

// TestAwait_end checks that a wait ends with the session, without its condition.
func TestAwait_end(t *testing.T) {
	for name, end := range map[string]func(s *agentkit.Session){"stopped": func(s *agentkit.Session) { s.Stop(nil) }, "ended": func(s *agentkit.Session) { s.End(nil, nil) }} {
		s := agentkit.New(agentkit.Options{})
		returned := make(chan struct{})
		go func() {
			s.Await(t.Context(), time.Minute, func() bool { return false })
			close(returned)
		}()
		end(s)
		select {
		case <-returned:
		case <-time.After(10 * time.Second):
			t.Errorf("the wait goes on after the session has %s", name)
		}
		s.End(nil, nil)
	}
}

// TestAskAgain checks that an unresolved request of an earlier process is asked again once, and not after the end.
func TestAskAgain(t *testing.T) {
	past := func() *agentkit.Session {
		s := agentkit.New(agentkit.Options{})
		s.AddLine(1, true, func() []event.Event {
			return []event.Event{&event.PermissionRequest{RequestID: "r", Kind: event.PermissionTool}}
		})
		return s
	}
	s := past()
	if err := s.Check("r", &agent.PermissionAnswer{}); !errors.Is(err, agent.ErrNotOpen) {
		t.Errorf("before it is asked again: %v, want %v", err, agent.ErrNotOpen)
	}
	if r := s.AskAgain("other"); r != nil {
		t.Errorf("an unknown request is asked again as %+v, want nothing", r)
	}
	r := s.AskAgain("r")
	if r == nil || r.ID != "r" || s.AskAgain("r") != r {
		t.Fatalf("asked again the request is %+v, want r both times", r)
	}
	if err := s.Check("r", &agent.PermissionAnswer{}); err != nil {
		t.Errorf("after it was asked again it cannot be answered: %v", err)
	}
	s.Stop(nil)
	s.End(nil, nil)
	if list, _ := texts(t, s); strings.Join(list, ", ") != "ask r, ask r, "+event.ResolvedExpired+" r" {
		t.Errorf("the events are %v, want the request of the past, the same again, and its end", list)
	}
	over := past()
	over.Stop(nil)
	if r := over.AskAgain("r"); r != nil {
		t.Errorf("after the stop it is asked again as %+v, want nothing", r)
	}
	over.End(nil, nil)
}

// TestChoose checks what can be set in an agent that runs, and that nothing can after its end.
func TestChoose(t *testing.T) {
	s := agentkit.New(agentkit.Options{})
	if err := s.Choose("model", "b", []string{"a", "b"}); err != nil {
		t.Errorf("a value of the list: %v, want no error", err)
	}
	if err := s.Choose("model", "c", []string{"a", "b"}); !errors.Is(err, agent.ErrInvalid) || !strings.Contains(err.Error(), `model "c"`) {
		t.Errorf("another value: %v, want %v with its name", err, agent.ErrInvalid)
	}
	s.End(nil, nil)
	if err := s.Choose("model", "b", []string{"a", "b"}); !errors.Is(err, agent.ErrClosed) {
		t.Errorf("after the end: %v, want %v", err, agent.ErrClosed)
	}
}

// TestLists checks the lists that agents show: catalogues, MCP servers and their tools.
func TestLists(t *testing.T) {
	type model struct{ ID, Text string }
	list := []model{{"b", "second"}, {"a", "first"}}
	entries := agentkit.Entries(list, func(m *model) (string, string) { return m.ID, m.Text })
	if len(entries) != 2 || entries[0].Name != "b" || entries[0].Description != "second" || string(entries[0].Data) != `{"ID":"b","Text":"second"}` || entries[1].Name != "a" {
		t.Errorf("the entries are %+v, want both with name, description and data", entries)
	}
	name := func(m *model) string { return m.ID }
	for asked, want := range map[string]string{"": "b a", "b": "b", "a": "a", "c": ""} {
		got, err := agentkit.Server(list, asked, name)
		var ids []string
		for _, m := range got {
			ids = append(ids, m.ID)
		}
		if strings.Join(ids, " ") != want || (want == "") != errors.Is(err, agent.ErrNotFound) {
			t.Errorf("the servers named %q are %v, %v, want %q", asked, ids, err, want)
		}
	}
	tools := []agent.MCPTool{{Server: "y", Name: "a"}, {Server: "x", Name: "b"}, {Server: "x", Name: "a"}}
	agentkit.SortTools(tools)
	if tools[0].Name != "a" || tools[0].Server != "x" || tools[1].Name != "b" || tools[2].Server != "y" {
		t.Errorf("the tools are %+v, want them by server and name", tools)
	}
}

// TestBlocks checks the blocks of inputs, and that invalid inputs have none.
func TestBlocks(t *testing.T) {
	raw := func(texts ...string) (in agent.Input) {
		for _, text := range texts {
			in.Content = append(in.Content, []byte(text))
		}
		return in
	}
	both := raw(`{"type":"text","text":"a"}`)
	both.Text = "a"
	for name, tt := range map[string]struct {
		in   agent.Input
		want string // types and texts
	}{
		"a text":           {agent.Input{Text: "hello"}, "text:hello"},
		"blocks":           {raw(`{"type":"text","text":"a"}`, `{"type":"image","source":{"type":"base64"}}`), "text:a image:base64"},
		"nothing":          {agent.Input{}, ""},
		"text and blocks":  {both, ""},
		"an invalid block": {raw(`{"type":"text","text":"a"}`, `7`), ""},
	} {
		blocks, err := agentkit.Blocks(tt.in)
		if tt.want == "" {
			if !errors.Is(err, agent.ErrInvalid) {
				t.Errorf("%s: %+v, %v, want %v", name, blocks, err, agent.ErrInvalid)
			}
			continue
		}
		var got []string
		for _, b := range blocks {
			got = append(got, b.Type+":"+b.Text+b.Source.Type)
		}
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("%s: the blocks are %v, %v, want %s", name, got, err, tt.want)
		}
	}
}

// TestRegistry checks that a registry is opened once, with a directory, and is open until no process of it runs.
func TestRegistry(t *testing.T) {
	var r agentkit.Registry
	if n, err := r.Sweep(""); n != 0 || err != nil || r.Current() != nil {
		t.Errorf("without a directory: %d, %v, %v, want no registry", n, err, r.Current())
	}
	if err := r.Close(); err != nil {
		t.Errorf("closing no registry: %v", err)
	}
	if _, err := r.Sweep(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	first := r.Current()
	if _, err := r.Sweep(t.TempDir()); err != nil || first == nil || r.Current() != first {
		t.Errorf("a second directory: %v, the registry is %p, want still %p", err, r.Current(), first)
	}
	var damaged agentkit.Registry
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := damaged.Sweep(file); err == nil || damaged.Current() != nil {
		t.Errorf("a file in place of the directory: %v, the registry is %v, want an error and none", err, damaged.Current())
	}
	if err := r.Close(); err != nil || r.Current() != nil {
		t.Errorf("closing it: %v, the registry is %v, want none", err, r.Current())
	}
}

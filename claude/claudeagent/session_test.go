package claudeagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeagent"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/sim"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

const limit = 30 * time.Second

// opened is a session of the real CLI with its events.
type opened struct {
	*claudeagent.Session
	t      *testing.T
	p      *claudeagent.Provider
	dir    string
	events chan event.Event
}

func open(t *testing.T, script claudetest.Script, opts agent.Options) *opened {
	t.Helper()
	cli := e2e.CLI(t)
	api := claudetest.StartFakeAPI(t, script)
	o, err := claudetest.HermeticOptions(t.TempDir(), api.URL())
	if err != nil {
		t.Fatal(err)
	}
	o.CLIPath = cli
	p := &claudeagent.Provider{Options: *o}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	s, err := p.Open(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	out := &opened{Session: s.(*claudeagent.Session), t: t, p: p, dir: o.Dir, events: make(chan event.Event, 1000)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(out.events)
		for ev, err := range s.Events(context.Background()) {
			if err != nil {
				return
			}
			out.events <- ev
		}
	}()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})
	return out
}

func (o *opened) send(uuid, text string) {
	o.t.Helper()
	if err := o.Send(o.t.Context(), agent.Input{UUID: uuid, Text: text}); err != nil {
		o.t.Fatal(err)
	}
}

func await[T event.Event](o *opened) T {
	o.t.Helper()
	timeout := time.After(limit)
	for {
		select {
		case ev, ok := <-o.events:
			if !ok {
				o.t.Fatalf("the events ended before a %T", *new(T))
			}
			if e, ok := ev.(T); ok {
				return e
			}
		case <-timeout:
			o.t.Fatalf("no %T", *new(T))
		}
	}
}

const firstUUID = "11111111-1111-4111-8111-111111111111"

// TestHistory reads and changes a session of the real CLI with every method of the interface.
func TestHistory(t *testing.T) {
	o := open(t, claudetest.Replies(claudetest.Say("An answer about walruses."), claudetest.Say("Another one.")), agent.Options{})
	o.send(firstUUID, "tell me of walruses")
	await[*event.ResultMessage](o)
	ctx, id := t.Context(), o.ID()
	if live, err := o.p.Live(ctx, id); live != nil || err != nil {
		t.Errorf("a session of the provider itself is live elsewhere: %+v, %v", live, err)
	}
	other := &claudeagent.Provider{Options: o.p.Options}
	if live, err := other.Live(ctx, id); err != nil || live == nil || live.PID != o.PID() {
		t.Errorf("another provider sees %+v, %v; want the process %d", live, err, o.PID())
	}
	if _, err := other.Resume(ctx, id, agent.Options{}); !errors.Is(err, agent.ErrBusy) {
		t.Errorf("Resume of a session that is open: %v, want ErrBusy", err)
	}
	if err := other.History().Delete(ctx, id); !errors.Is(err, agent.ErrBusy) {
		t.Errorf("Delete of a session that is open: %v, want ErrBusy", err)
	}
	fork, err := o.Fork(ctx, "")
	if err != nil || fork == id {
		t.Errorf("Fork: %q, %v", fork, err)
	}
	if _, err := o.Fork(ctx, "22222222-2222-4222-8222-222222222222"); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("Fork at no message: %v, want ErrNotFound", err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	h := o.p.History()
	if err := h.Rename(ctx, id, "Sea animals"); err != nil {
		t.Error(err)
	}
	if err := h.Tag(ctx, id, "sea"); err != nil {
		t.Error(err)
	}
	checkLists(t, o, h, id)
	checkPages(t, h, id)
	usage, err := o.p.Usage(ctx, agent.UsageQuery{GroupBy: "model"})
	if err != nil || len(usage) == 0 || usage[0].OutputTokens == 0 {
		t.Errorf("Usage: %+v, %v", usage, err)
	}
	for format, want := range map[string]string{"markdown": "walruses", "json": "{", "html": "<!"} {
		if out, err := h.Export(ctx, id, format); err != nil || !strings.Contains(out.Text, want) {
			t.Errorf("Export as %s: %.80q, %v", format, out.Text, err)
		}
	}
	if _, err := h.Export(ctx, id, "pdf"); !errors.Is(err, agent.ErrInvalid) {
		t.Errorf("Export as pdf: %v, want ErrInvalid", err)
	}
	if err := h.Delete(ctx, id); err != nil {
		t.Error(err)
	}
	if _, err := h.Metadata(ctx, id); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("Metadata after Delete: %v, want ErrNotFound", err)
	}
}

func checkLists(t *testing.T, o *opened, h agent.History, id string) {
	t.Helper()
	ctx := t.Context()
	list, cursor, err := h.List(ctx, agent.HistoryQuery{Limit: 1})
	if err != nil || len(list) != 1 || cursor == "" {
		t.Fatalf("List of one of two: %d, %q, %v", len(list), cursor, err)
	}
	rest, cursor, err := h.List(ctx, agent.HistoryQuery{Limit: 1, Cursor: cursor})
	if err != nil || len(rest) != 1 || cursor != "" || rest[0].ID == list[0].ID {
		t.Errorf("the second page: %+v, %q, %v", rest, cursor, err)
	}
	if found, _, err := h.List(ctx, agent.HistoryQuery{Query: "sea animals"}); err != nil || len(found) == 0 || found[0].ID != id {
		t.Errorf("List by title: %+v, %v", found, err)
	}
	m, err := h.Metadata(ctx, id)
	if err != nil || m.CustomTitle != "Sea animals" || m.Tag != "sea" || m.Messages < 2 || m.Dir != o.dir {
		t.Errorf("Metadata: %+v, %v", m, err)
	}
	hits, _, err := h.Search(ctx, agent.HistoryQuery{Query: "about walruses"})
	if err != nil || len(hits) == 0 || !strings.Contains(hits[0].Excerpt, "walruses") {
		t.Errorf("Search: %+v, %v", hits, err)
	}
}

func checkPages(t *testing.T, h agent.History, id string) {
	t.Helper()
	load := func(page agent.HistoryPage) (list []event.Event, more bool) {
		t.Helper()
		events, err := h.Load(t.Context(), id, page)
		if err != nil {
			t.Fatal(err)
		}
		for ev, err := range events.Events {
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, ev)
		}
		return list, events.HasMore
	}
	all, more := load(agent.HistoryPage{})
	var prompt, answer bool
	for _, ev := range all {
		switch ev := ev.(type) {
		case *event.UserMessage:
			prompt = prompt || ev.IsPrompt && ev.UUID == firstUUID
		case *event.AssistantMessage:
			answer = answer || ev.Blocks[0].Block.Text == "An answer about walruses."
		}
	}
	if !prompt || !answer || more {
		t.Errorf("the session was loaded with its prompt: %v, its answer: %v, more: %v", prompt, answer, more)
	}
	if last, more := load(agent.HistoryPage{Limit: 1}); len(last) == 0 || len(last) >= len(all) || !more {
		t.Errorf("the last message is %d of %d events, more: %v", len(last), len(all), more)
	}
	if part, _ := load(agent.HistoryPage{Leaf: firstUUID}); len(part) == 0 || len(part) >= len(all) {
		t.Errorf("up to the prompt there are %d of %d events", len(part), len(all))
	}
	if _, err := h.Load(t.Context(), id, agent.HistoryPage{Before: "none"}); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("a page before no message: %v, want ErrNotFound", err)
	}
}

// TestControl calls all control methods of a session of the real CLI.
func TestControl(t *testing.T) {
	o := open(t, claudetest.Replies(
		claudetest.Use("Write", map[string]any{"file_path": "made.txt", "content": "one\n"}), claudetest.Say("Done.")), agent.Options{Mode: "acceptEdits"})
	file := filepath.Join(o.dir, "made.txt")
	o.send(firstUUID, "write a file")
	await[*event.ResultMessage](o)
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	dry, err := o.Rewind(ctx, firstUUID, true)
	if err != nil || !dry.CanRewind || len(dry.FilesChanged) != 1 {
		t.Errorf("a dry rewind: %+v, %v", dry, err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("a dry rewind changed the file: %v", err)
	}
	if done, err := o.Rewind(ctx, firstUUID, false); err != nil || !done.CanRewind {
		t.Errorf("a rewind: %+v, %v", done, err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the rewind the file is still there: %v", err)
	}
	usage, err := o.ContextUsage(ctx)
	if err != nil || !json.Valid(usage) || !strings.Contains(string(usage), "totalTokens") {
		t.Errorf("ContextUsage: %.100s, %v", usage, err)
	}
	tokens := int64(2000)
	for _, err := range []error{o.SetThinking(ctx, &tokens), o.SetThinking(ctx, nil), o.SetMode(ctx, "plan")} {
		if err != nil {
			t.Error(err)
		}
	}
	if err := o.SetMode(ctx, "bypassPermissions"); !errors.Is(err, agent.ErrInvalid) {
		t.Errorf("bypassPermissions where it is not allowed: %v, want ErrInvalid", err)
	}
	if title, err := o.Title(ctx, "write a file"); err != nil || title == "" {
		t.Errorf("Title: %q, %v", title, err)
	}
	if _, err := o.Background(ctx); err != nil {
		t.Errorf("Background: %v", err)
	}
	for name, list := range map[string]func(context.Context) ([]agent.Entry, error){
		"models": o.Models, "commands": o.Commands, "agents": o.Agents, "the provider's models": o.p.Models,
	} {
		if entries, err := list(ctx); err != nil || len(entries) == 0 || entries[0].Name == "" {
			t.Errorf("%s: %v, %v; want err == nil and len(entries) != 0 and entries[0].Name != \"\"", name, entries, err)
		}
	}
}

// TestBypass checks that no option and no answer leads to bypassPermissions unless the start
// allowed it.
func TestBypass(t *testing.T) {
	p := &claudeagent.Provider{}
	if _, err := p.Open(t.Context(), agent.Options{Mode: "bypassPermissions"}); !errors.Is(err, agent.ErrInvalid) {
		t.Errorf("Open: %v, want ErrInvalid", err)
	}
	o := open(t, claudetest.Replies(claudetest.Use("Bash", map[string]any{"command": "touch made"}), claudetest.Say("Done.")), agent.Options{})
	o.send(firstUUID, "make a file")
	ask := await[*event.PermissionRequest](o)
	bypass := json.RawMessage(`[{"type":"setMode","mode":"bypassPermissions","destination":"session"}]`)
	if err := o.Answer(t.Context(), ask.RequestID, &agent.PermissionAnswer{Allow: true, UpdatedPermissions: bypass}); !errors.Is(err, agent.ErrInvalid) {
		t.Errorf("an answer that sets the mode: %v, want ErrInvalid", err)
	}
	if err := o.Answer(t.Context(), ask.RequestID, &agent.PermissionAnswer{Allow: true, Scope: event.ScopeTurn}); !errors.Is(err, agent.ErrUnsupported) {
		t.Errorf("an answer for the turn: %v, want ErrUnsupported", err)
	}
	if err := o.Answer(t.Context(), ask.RequestID, &agent.PermissionAnswer{Allow: true, UpdatedInput: json.RawMessage(`[]`)}); !errors.Is(err, agent.ErrInvalid) {
		t.Errorf("an input that is not an object: %v, want ErrInvalid", err)
	}
	// The request is still open. When the CLI dies it is cancelled, not allowed.
	proc, err := os.FindProcess(o.PID())
	if err == nil {
		err = proc.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	if r := await[*event.PermissionResolved](o); r.Behavior != event.ResolvedCancelled {
		t.Errorf("the request of a dead agent was resolved with %q", r.Behavior)
	}
	if err := o.Answer(t.Context(), ask.RequestID, &agent.PermissionAnswer{Allow: true}); err == nil {
		t.Error("the request of a dead agent was answered")
	}
	if _, err := os.Stat(filepath.Join(o.dir, "made")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the tool ran: %v", err)
	}
}

// TestInterrupt interrupts a prompt right after it was sent, before the CLI has begun it: the
// turn ends as interrupted, not with the answer.
func TestInterrupt(t *testing.T) {
	wait := claudetest.Say("An answer that comes too late.")
	wait.Hold = claudetest.HoldMid
	o := open(t, claudetest.Replies(wait), agent.Options{})
	o.send(firstUUID, "wait")
	if _, err := o.Interrupt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := await[*event.ResultMessage](o); !r.IsError {
		t.Errorf("the result of an interrupted turn is %+v", r)
	}
}

// simulated returns a provider with a CLI that runs in this process without delays.
func simulated() *claudeagent.Provider {
	return &claudeagent.Provider{Options: claude.Options{
		Spawner: claudetest.InProcess(sim.Program), CLIPath: "simulated", CleanEnv: true, Env: map[string]string{sim.PaceVariable: "0"},
	}}
}

// TestInterrupt_early is like TestInterrupt, for a CLI that loses an interrupt while no prompt has
// begun.
func TestInterrupt_early(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	p := simulated()
	for range 50 {
		s, err := p.Open(ctx, agent.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Send(ctx, agent.Input{Text: "wait"}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Interrupt(ctx); err != nil {
			t.Fatal(err)
		}
		for ev, err := range s.Events(ctx) {
			if err != nil {
				t.Error(errors.Join(err, s.Close()))
				return
			}
			if r, ok := ev.(*event.ResultMessage); ok {
				if !r.IsError {
					t.Errorf("the result of an interrupted turn is %+v", r)
				}
				break
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOrder checks that a request follows its tool use, even if an agent writes both at once.
func TestOrder(t *testing.T) {
	p := simulated()
	for range 100 {
		s, err := p.Open(t.Context(), agent.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Send(t.Context(), agent.Input{Text: "tool Bash"}); err != nil {
			t.Fatal(err)
		}
		used := map[string]bool{}
		for ev, err := range s.Events(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if a, ok := ev.(*event.AssistantMessage); ok {
				for _, b := range a.Blocks {
					used[b.Block.ToolUseID] = true
				}
			}
			if ask, ok := ev.(*event.PermissionRequest); ok {
				if !used[ask.ToolUseID] {
					t.Errorf("the request for %s came before its tool use", ask.ToolUseID)
				}
				break
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOpen_loggedOut starts the real CLI without credentials.
func TestOpen_loggedOut(t *testing.T) {
	o, err := claudetest.HermeticOptions(t.TempDir(), "http://127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	o.CLIPath = e2e.CLI(t)
	for name := range o.Env {
		if strings.Contains(name, "KEY") || strings.Contains(name, "TOKEN") {
			delete(o.Env, name)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if s, err := (&claudeagent.Provider{Options: *o}).Open(ctx, agent.Options{}); !errors.Is(err, agent.ErrAuth) {
		t.Errorf("without credentials Open gives %v, %v, want ErrAuth", s, err)
	}
}

// TestSweep checks that running CLIs are recorded for the server after a crash.
func TestSweep(t *testing.T) {
	o := open(t, claudetest.Replies(), agent.Options{})
	p := &claudeagent.Provider{Options: o.p.Options, RegistryDir: filepath.Join(t.TempDir(), "agents")}
	if n, err := p.Sweep(t.Context()); n != 0 || err != nil {
		t.Fatalf("Sweep of nothing: %d, %v", n, err)
	}
	s, err := p.Open(t.Context(), agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); !errors.Is(err, claude.ErrChildren) {
		t.Errorf("Close while a CLI runs: %v, want ErrChildren", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// TestAnswer_once answers a request for which the CLI stores no rule: no scope is possible.
func TestAnswer_once(t *testing.T) {
	program := func(cli *claudetest.CLI) int {
		if _, err := cli.Handshake(); err != nil {
			return 1
		}
		if _, err := cli.Prompt(); err != nil {
			return 1
		}
		cli.BeginTurn()
		rule := map[string]any{"type": "addRules", "behavior": "allow", "destination": "session", "rules": []any{map[string]any{"toolName": "Bash"}}}
		answer, err := cli.Request("can_use_tool", map[string]any{"tool_name": "Bash", "input": map[string]any{"command": "ls"},
			"suppress_always_allow_rule": true, "permission_suggestions": []any{rule}})
		if err != nil {
			return 1
		}
		cli.EndTurn(cli.Result(string(answer)))
		<-cli.InputEnd()
		return 0
	}
	p := &claudeagent.Provider{Options: claude.Options{Spawner: claudetest.InProcess(program), CLIPath: "scripted", CleanEnv: true}}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	s, err := p.Open(ctx, agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Send(ctx, agent.Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	for ev, err := range s.Events(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		switch ev := ev.(type) {
		case *event.PermissionRequest:
			for _, scope := range []string{event.ScopeSession, event.ScopeAlways} {
				if err := s.Answer(ctx, ev.RequestID, &agent.PermissionAnswer{Allow: true, Scope: scope}); !errors.Is(err, agent.ErrUnsupported) {
					t.Errorf("scope %s: %v, want ErrUnsupported", scope, err)
				}
			}
			if err := s.Answer(ctx, ev.RequestID, &agent.PermissionAnswer{Allow: true, Scope: event.ScopeOnce}); err != nil {
				t.Error(err)
			}
		case *event.ResultMessage:
			if !strings.Contains(ev.Result, "allow") || strings.Contains(ev.Result, "updatedPermissions") {
				t.Errorf("the CLI got %s", ev.Result)
			}
			return
		}
	}
}

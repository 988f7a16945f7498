package agenttest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/agent/event"
)

// turns sends prompts to a session, waits for each result, and returns the events in short.
func turns(t *testing.T, s agent.Session, prompts ...string) (list []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	send := func(n int) {
		if err := s.Send(ctx, agent.Input{UUID: fmt.Sprintf("%s-%d", s.ID(), n), Text: prompts[n]}); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	send(0)
	for ev, err := range s.Events(ctx) {
		if err != nil {
			t.Fatalf("the events end with %v after %q", err, list)
		}
		switch ev := ev.(type) {
		case *event.AssistantMessage:
			for _, b := range ev.Blocks {
				list = append(list, b.Block.Type+" "+b.Block.Text+b.Block.Name)
			}
		case *event.ToolComplete:
			list = append(list, fmt.Sprintf("result of %d bytes, failed %v", len(ev.Content), ev.IsError))
		case *event.ResultMessage:
			list = append(list, "end "+ev.Subtype)
			if n++; n == len(prompts) {
				return list
			}
			send(n)
		}
	}
	return list
}

func is(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func fails(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// The files of the scripted agent can be listed, paged, filtered, searched, loaded, changed, copied and counted, like those of a real one.
func TestHistory(t *testing.T) {
	ctx := t.Context()
	p := &agenttest.Provider{Dir: t.TempDir(), ProviderName: "own"}
	is(t, "name", p.Name(), "own")
	var ids []string
	for i, dir := range []string{"/a", "/b", "/a"} {
		s, err := p.Open(ctx, agent.Options{ID: fmt.Sprint("s", i), Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		turns(t, s, fmt.Sprintf("say one %d", i), "say two")
		ids = append(ids, s.ID())
		is(t, "running", p.Running(), 1)
		_, err = p.Open(ctx, agent.Options{ID: s.ID()})
		fails(t, "a session that runs", err, agent.ErrBusy)
		_, err = s.(agent.Rewinder).Rewind(ctx, "none", true)
		fails(t, "Rewind to nothing", err, agent.ErrNotFound)
		r, err := s.(agent.Rewinder).Rewind(ctx, s.ID()+"-0", true)
		is(t, "Rewind", fmt.Sprint(r.CanRewind, r.FilesChanged, r.Insertions, err), fmt.Sprint(true, []string{filepath.Join(dir, "file.txt")}, 1, nil))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	is(t, "opened and running", fmt.Sprint(p.Opened(), p.Running()), "3 0")
	h := p.History()
	names := func(q agent.HistoryQuery) string {
		list, next, err := h.List(ctx, q)
		var got []string
		for _, i := range list {
			got = append(got, i.ID+i.Dir+" "+i.FirstPrompt)
		}
		return fmt.Sprint(got, next, err)
	}
	all := []string{"s2/a say one 2", "s1/b say one 1", "s0/a say one 0"}
	is(t, "List", names(agent.HistoryQuery{}), fmt.Sprint(all, "", nil))
	is(t, "a page", names(agent.HistoryQuery{Limit: 2}), fmt.Sprint(all[:2], "s1", nil))
	is(t, "the next page", names(agent.HistoryQuery{Limit: 2, Cursor: "s1"}), fmt.Sprint(all[2:], "", nil))
	is(t, "a whole page", names(agent.HistoryQuery{Limit: 3}), fmt.Sprint(all, "", nil))
	is(t, "a project", names(agent.HistoryQuery{Project: "/b"}), fmt.Sprint(all[1:2], "", nil))
	is(t, "a text", names(agent.HistoryQuery{Query: "one 0"}), fmt.Sprint(all[2:], "", nil))
	_, _, err := h.List(ctx, agent.HistoryQuery{Cursor: "none"})
	fails(t, "a cursor of nothing", err, agent.ErrInvalid)
	hits := func(q agent.HistoryQuery) string {
		list, next, err := h.Search(ctx, q)
		var got []string
		for _, hit := range list {
			got = append(got, hit.ID+" "+hit.Excerpt)
		}
		return fmt.Sprint(got, next != "", err)
	}
	is(t, "Search", hits(agent.HistoryQuery{Query: "one 1"}), fmt.Sprint([]string{"s1 say one 1", "s1 one 1"}, false, nil))
	is(t, "Search of a page", hits(agent.HistoryQuery{Query: "one 1", Limit: 1}), fmt.Sprint([]string{"s1 say one 1"}, true, nil))
	is(t, "Search of a project", hits(agent.HistoryQuery{Query: "one 1", Project: "/a"}), fmt.Sprint([]string{}, false, nil))
	is(t, "Search of nothing", hits(agent.HistoryQuery{}), fmt.Sprint([]string{}, false, nil))
	past(t, h, ids[0])
	usage(t, p)
	copies(t, p, ids[0])
	for _, id := range []string{"none", "", "../s0", "a/b", `a\b`, "a.b"} {
		_, metadata := h.Metadata(ctx, id)
		_, load := h.Load(ctx, id, agent.HistoryPage{})
		_, export := h.Export(ctx, id, "markdown")
		_, resume := p.Resume(ctx, id, agent.Options{})
		for _, err := range []error{metadata, load, export, resume, h.Rename(ctx, id, "x"), h.Tag(ctx, id, "x"), h.Delete(ctx, id)} {
			fails(t, fmt.Sprintf("the session %q", id), err, agent.ErrNotFound)
		}
	}
	if err := h.Delete(ctx, ids[0]); err != nil {
		t.Error(err)
	}
	_, err = h.Metadata(ctx, ids[0])
	fails(t, "a session that was deleted", err, agent.ErrNotFound)
	none, _, err := (&agenttest.Provider{}).History().List(ctx, agent.HistoryQuery{})
	is(t, "List without a directory", fmt.Sprint(none, err), fmt.Sprint([]string{}, nil))
}

// past checks one session on disk.
func past(t *testing.T, h agent.History, id string) {
	t.Helper()
	ctx := t.Context()
	page := func(p agent.HistoryPage) string {
		e, err := h.Load(ctx, id, p)
		var got []string
		if err == nil {
			for ev := range e.Events {
				switch ev := ev.(type) {
				case *event.UserMessage:
					got = append(got, "user "+ev.Blocks[0].Text)
				case *event.AssistantMessage:
					got = append(got, "agent "+ev.Blocks[0].Block.Text)
				}
			}
			for range e.Events {
				break
			}
		}
		return fmt.Sprint(got, e.HasMore, err)
	}
	all := []string{"user say one 0", "agent one 0", "user say two", "agent two"}
	second := id + "-1"
	is(t, "Load", page(agent.HistoryPage{}), fmt.Sprint(all, false, nil))
	is(t, "the last", page(agent.HistoryPage{Limit: 1}), fmt.Sprint(all[3:], true, nil))
	is(t, "before", page(agent.HistoryPage{Before: second}), fmt.Sprint(all[:2], false, nil))
	is(t, "the last before", page(agent.HistoryPage{Before: second, Limit: 1}), fmt.Sprint(all[1:2], true, nil))
	is(t, "after", page(agent.HistoryPage{After: second}), fmt.Sprint(all[3:], true, nil))
	is(t, "the first after", page(agent.HistoryPage{After: id + "-0", Limit: 1}), fmt.Sprint(all[1:2], true, nil))
	is(t, "all", page(agent.HistoryPage{Limit: 4}), fmt.Sprint(all, false, nil))
	for _, p := range []agent.HistoryPage{{Before: "none"}, {After: "none"}} {
		_, err := h.Load(ctx, id, p)
		fails(t, "a page at nothing", err, agent.ErrNotFound)
	}
	if err := errors.Join(h.Rename(ctx, id, "A title"), h.Tag(ctx, id, "a tag")); err != nil {
		t.Error(err)
	}
	m, err := h.Metadata(ctx, id)
	is(t, "Metadata", fmt.Sprint(m.ID, m.CustomTitle, m.Tag, m.Summary, m.FirstPrompt, m.Dir, m.Messages, m.Branches, m.Created.IsZero(), !m.Modified.After(m.Created), m.FileSize, err), fmt.Sprint(id, "A title", "a tag", "say one 0", "say one 0", "/a", 4, 1, false, false, 9+5+7+3+7+5, nil))
	e, err := h.Export(ctx, id, "markdown")
	is(t, "Export", fmt.Sprint(e.Name, e.MediaType, strings.HasPrefix(e.Text, "**user**\n\nsay one 0\n\n**assistant**\n\none 0\n\n"), err), fmt.Sprint(id+".md", "text/markdown", true, nil))
	_, err = h.Export(ctx, id, "html")
	fails(t, "Export as html", err, agent.ErrUnsupported)
}

func usage(t *testing.T, p *agenttest.Provider) {
	t.Helper()
	now := time.Now().UTC()
	for name, c := range map[string]struct {
		q    agent.UsageQuery
		n    int
		want string
	}{
		"all": {agent.UsageQuery{}, 3, ""}, "project": {agent.UsageQuery{GroupBy: "project", Project: "/b"}, 1, "/b"}, "block": {agent.UsageQuery{GroupBy: "block", Project: "/b"}, 1, ":00:00Z"},
		"later": {agent.UsageQuery{Since: now.Add(time.Hour)}, 0, ""}, "before": {agent.UsageQuery{Until: now.Add(-time.Hour)}, 0, ""}, "between": {agent.UsageQuery{Since: now.Add(-time.Hour), Until: now.Add(time.Hour)}, 3, ""},
	} {
		rows, err := p.Usage(t.Context(), c.q)
		if err != nil || len(rows) != c.n || c.n == 1 && !strings.HasSuffix(rows[0].Group, c.want) {
			t.Errorf("usage %s: %v, %v; want %d rows with %q", name, rows, err, c.n, c.want)
		}
	}
}

// copies checks forks, and which prompts are known to be delivered.
func copies(t *testing.T, p *agenttest.Provider, id string) {
	t.Helper()
	ctx := t.Context()
	for uuid, want := range map[string]agent.Delivery{id + "-0": agent.Delivered, "none": agent.DeliveryUnknown} {
		got, err := p.Delivered(ctx, id, uuid)
		is(t, "Delivered of "+uuid, fmt.Sprint(got, err), fmt.Sprint(want, nil))
	}
	got, err := p.Delivered(ctx, "none", id+"-0")
	is(t, "Delivered in no session", fmt.Sprint(got, err), fmt.Sprint(agent.DeliveryUnknown, nil))
	for at, want := range map[string]int64{"": 4, id + "-1": 3, id + "-0": 1} {
		s, err := p.Resume(ctx, id, agent.Options{Fork: true, At: at})
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.History().Metadata(ctx, s.ID())
		if err != nil || m.Messages != want || s.ID() == id {
			t.Errorf("a copy up to %q has %d messages, %v; want %d", at, m.Messages, err, want)
		}
		fork, err := s.(agent.Forker).Fork(ctx, "")
		if err != nil || fork == s.ID() {
			t.Errorf("Fork: %q, %v; want another session", fork, err)
		}
		if err := errors.Join(s.Close(), p.History().Delete(ctx, s.ID()), p.History().Delete(ctx, fork)); err != nil {
			t.Error(err)
		}
	}
	_, err = p.Resume(ctx, id, agent.Options{Fork: true, At: "none"})
	fails(t, "a copy up to nothing", err, agent.ErrNotFound)
}

// Every script behaves as the documentation of Open describes it.
func TestScripts(t *testing.T) {
	p := &agenttest.Provider{}
	s, err := p.Open(t.Context(), agent.Options{Dir: "/d", Mode: "bypassPermissions", AllowBypass: true, Partial: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got := turns(t, s, "say a b", "count 3", "think deep", "auto Read", "tool Bash", "big 1000", "fail", "anything else", "model", "big x", "count x", "auto")
	used := func(name string, bytes int) []string {
		return []string{"tool_use " + name, fmt.Sprintf("result of %d bytes, failed false", bytes), "text I have used " + name + ".", "end success"}
	}
	want := slices.Concat(
		[]string{"text a b", "end success", "text w1 w2 w3", "end success", "thinking I think about it.", "text deep", "end success"}, used("Read", 6), used("Bash", 6), used("Bash", 1002),
		[]string{"end error_during_execution", "text anything else", "end success", "text model sim-1 mode bypassPermissions thinking default", "end success"}, used("Bash", 2), []string{"text ", "end success"}, used("Bash", 6),
	)
	if !slices.Equal(got, want) {
		t.Errorf("the events are %q, want %q", got, want)
	}
	optional(t, s.(*agenttest.Session))
}

// optional checks what the session can do besides turns.
func optional(t *testing.T, s *agenttest.Session) {
	t.Helper()
	ctx := t.Context()
	_, err := s.Fork(ctx, "")
	fails(t, "Fork without a file", err, agent.ErrUnsupported)
	_, err = s.Rewind(ctx, "x", true)
	fails(t, "Rewind without a file", err, agent.ErrNotFound)
	background, err := s.Background(ctx)
	is(t, "Background", fmt.Sprint(background, err), "false <nil>")
	fails(t, "StopTask", s.StopTask(ctx, "none"), agent.ErrNotFound)
	_, err = s.TaskOutput(ctx, "none", 0, 0)
	fails(t, "TaskOutput", err, agent.ErrNotFound)
	usage, err := s.ContextUsage(ctx)
	is(t, "ContextUsage", fmt.Sprint(string(usage), err), `{"totalTokens":1000,"maxTokens":200000}<nil>`)
	status, err := s.MCPStatus(ctx)
	is(t, "MCPStatus", fmt.Sprint(len(status), err), "1 <nil>")
	for name, want := range map[string]error{"demo": nil, "none": agent.ErrNotFound, "": agent.ErrNotFound} {
		fails(t, "MCPReconnect "+name, s.MCPReconnect(ctx, name), want)
		fails(t, "MCPToggle "+name, s.MCPToggle(ctx, name, true), want)
	}
	for name, want := range map[string]int{"demo": 1, "": 1, "none": 0} {
		tools, err := s.MCPTools(ctx, name)
		if len(tools) != want || (err != nil) != (want == 0) {
			t.Errorf("MCPTools %q: %v, %v; want %d", name, tools, err, want)
		}
	}
	for what, list := range map[string]func(context.Context) ([]agent.Entry, error){"sim-1": s.Models, "compact": s.Commands, "general-purpose": s.Agents} {
		entries, err := list(ctx)
		if err != nil || len(entries) == 0 || entries[0].Name != what {
			t.Errorf("the entries are %v, %v; want %s first", entries, err, what)
		}
	}
	thinking := int64(5)
	for what, err := range map[string]error{"SetEffort": s.SetEffort(ctx, "high"), "SetEffort of the default": s.SetEffort(ctx, ""), "SetThinking": s.SetThinking(ctx, &thinking)} {
		fails(t, what, err, nil)
	}
	fails(t, "SetEffort of no effort", s.SetEffort(ctx, "wild"), agent.ErrInvalid)
	title, err := s.Title(ctx, "x")
	is(t, "Title", fmt.Sprint(title, err), "On x<nil>")
	_, err = s.Title(ctx, "untitled x")
	fails(t, "Title of nothing", err, agent.ErrUnsupported)
}

// A task has output in pieces, which ends when it was stopped.
func TestTask(t *testing.T) {
	p := &agenttest.Provider{}
	opened, err := p.Open(t.Context(), agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := opened.(*agenttest.Session)
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := s.Send(ctx, agent.Input{UUID: "u", Text: "task"}); err != nil {
		t.Fatal(err)
	}
	id, stopped := "", false
	for ev, err := range s.Events(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		switch ev := ev.(type) {
		case *event.TaskStarted:
			id = ev.TaskID
		case *event.ResultMessage:
			const output = "output of the task\n"
			for _, c := range []struct {
				offset, limit int64
				want          string
				next          int64
			}{{0, 0, output, 19}, {0, 6, "output", 6}, {7, 2, "of", 9}, {19, 0, "", 19}, {0, 1000, output, 19}} {
				got, err := s.TaskOutput(ctx, id, c.offset, c.limit)
				is(t, "output", fmt.Sprint(got.Text, got.Next, got.EOF, err), fmt.Sprint(c.want, c.next, false, nil))
			}
			for _, offset := range []int64{-1, 20} {
				_, err := s.TaskOutput(ctx, id, offset, 0)
				fails(t, "an offset outside", err, agent.ErrInvalid)
			}
			if err := s.StopTask(ctx, id); err != nil {
				t.Error(err)
			}
			fails(t, "a task that was stopped", s.StopTask(ctx, id), agent.ErrNotFound)
			got, err := s.TaskOutput(ctx, id, 0, 6)
			is(t, "a piece after the stop", fmt.Sprint(got.EOF, err), "false <nil>")
			got, err = s.TaskOutput(ctx, id, 0, 0)
			is(t, "all after the stop", fmt.Sprint(got.EOF, err), "true <nil>")
		case *event.TaskNotification:
			stopped = ev.TaskID == id && ev.Status == "stopped"
		}
		if stopped {
			break
		}
	}
	if !stopped {
		t.Error("no event tells that the task was stopped")
	}
}

// A delayed start can be given up, and a torn line of a file is skipped.
func TestProvider(t *testing.T) {
	slow := &agenttest.Provider{OpenDelay: time.Hour}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := slow.Open(ctx, agent.Options{})
	fails(t, "a start that is given up", err, context.Canceled)
	began := time.Now()
	delayed, err := (&agenttest.Provider{OpenDelay: 20 * time.Millisecond}).Open(t.Context(), agent.Options{})
	if took := time.Since(began); err != nil || took < 20*time.Millisecond {
		t.Errorf("a start that is delayed by 20 ms took %v, %v", took, err)
	}
	if err := delayed.Close(); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{"SetEffort": delayed.(agent.EffortSetter).SetEffort(t.Context(), ""), "SetThinking": delayed.(agent.ThinkingSetter).SetThinking(t.Context(), nil)} {
		fails(t, what+" after the end", err, agent.ErrClosed)
	}
	_, err = (&agenttest.Provider{}).Open(ctx, agent.Options{})
	fails(t, "a start after the end of its context", err, context.Canceled)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "s.jsonl"), []byte("{\"role\":\"user\",\"uuid\":\"a\",\"text\":\"x\"}\n{\"role\"\n{\"role\":\"assistant\",\"uuid\":\"b\",\"text\":\"y\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := (&agenttest.Provider{Dir: dir}).History().Metadata(t.Context(), "s")
	is(t, "messages", fmt.Sprint(m.Messages, err), "2 <nil>")
}

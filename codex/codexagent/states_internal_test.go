package codexagent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/codex/rollout"
)

// TestRunningTurn checks which turn runs after calls, their answers and notifications in any order.
func TestRunningTurn(t *testing.T) {
	call := func(id item.JSON, method string) item.Line { return &item.Call{ID: id, Method: method} }
	answer := func(id item.JSON, turn string) item.Line {
		return &item.Response{ID: id, Result: item.JSON(`{"turn":{"id":"` + turn + `"}}`)}
	}
	refused := &item.Response{ID: "1", Error: &item.RPCError{Message: "no"}, Result: `{"turn":{"id":"u"}}`}
	started := func(thread, turn string) item.Line {
		return &item.TurnStarted{Note: item.Note{ThreadID: thread}, Turn: item.Turn{ID: turn}}
	}
	ended := func(thread, turn string) item.Line {
		return &item.TurnCompleted{Note: item.Note{ThreadID: thread}, Turn: item.Turn{ID: turn}}
	}
	for name, tt := range map[string]struct {
		lines []item.Line
		want  string
	}{
		"an answered prompt":           {[]item.Line{call("1", "turn/start"), answer("1", "u")}, "u"},
		"an answered review":           {[]item.Line{call("1", "review/start"), answer("1", "u")}, "u"},
		"another call":                 {[]item.Line{call("1", "turn/steer"), answer("1", "u")}, ""},
		"a refused prompt":             {[]item.Line{call("1", "turn/start"), refused}, ""},
		"an id that is used again":     {[]item.Line{call("1", "turn/start"), answer("1", "u"), ended("t", "u"), call("1", "model/list"), answer("1", "v")}, ""},
		"a turn of the server":         {[]item.Line{started("t", "u")}, "u"},
		"the end":                      {[]item.Line{started("t", "u"), ended("t", "u")}, ""},
		"the end before the answer":    {[]item.Line{call("1", "turn/start"), started("t", "u"), ended("t", "u"), answer("1", "u")}, ""},
		"a subagent's turn":            {[]item.Line{started("s", "u")}, ""},
		"the end of a subagent's turn": {[]item.Line{started("t", "u"), ended("s", "x")}, "u"},
	} {
		var r runningTurn
		for _, l := range tt.lines {
			if c, ok := l.(*item.Call); ok {
				r.called(c)
			} else {
				r.server(l, "t")
			}
		}
		if r.id != tt.want {
			t.Errorf("%s: the turn %q runs, want %q", name, r.id, tt.want)
		}
	}
}

// TestTranslate checks the error of package agent for each error of package codex.
func TestTranslate(t *testing.T) {
	for from, want := range map[error]error{
		codex.ErrNotFound: agent.ErrNotInstalled, codex.ErrNoThread: agent.ErrNotFound, codex.ErrBusy: agent.ErrBusy, codex.ErrUnsupported: agent.ErrUnsupported,
		codex.ErrExperimental: agent.ErrUnsupported, codex.ErrClosed: agent.ErrClosed, codex.ErrInvalid: agent.ErrInvalid, &codex.ExitError{Code: 1}: agent.ErrClosed,
	} {
		if err := translate(from); !errors.Is(err, want) || !errors.Is(err, from) {
			t.Errorf("%v is translated to %v, want %v with its cause", from, err, want)
		}
	}
	if err := translate(context.Canceled); err != context.Canceled { //nolint:errorlint // it must be the same
		t.Errorf("another error is translated to %v", err)
	}
	if err := translate(nil); err != nil {
		t.Errorf("no error is translated to %v", err)
	}
}

// TestExtract_fails checks that a part that cannot be read leaves no file.
func TestExtract_fails(t *testing.T) {
	dir := t.TempDir()
	if _, err := extract(t.Context(), rollout.Part{Path: filepath.Join(dir, "missing"), Until: -1}, dir); err == nil {
		t.Error("a missing part was extracted")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%d files are left, %v; want none", len(left), err)
	}
}

// TestUsage_sums checks that cached tokens are counted once, and that a damaged file and the other days do not matter.
func TestUsage_sums(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "sessions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	record := func(day string) string {
		return `{"timestamp":"` + day + `T12:00:00Z","type":"token_usage_record","payload":{"turn_id":"u","usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":2,"total_tokens":12}}}` + "\n"
	}
	for name, text := range map[string]string{
		"01a1de9a-3164-7f42-a449-0a13e079865e": `{"type":"session_meta","payload":{"id":"01a1de9a-3164-7f42-a449-0a13e079865e","cwd":"/p"}}` + "\n" + record("2026-01-01") + record("2026-01-02") + record("2026-01-03"),
		"01a1de9a-3164-7f42-a449-0a13e079865f": "damaged\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, "rollout-2026-01-01T00-00-00-"+name+".jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	p := &Provider{Options: codex.Options{Home: home}}
	for name, tt := range map[string]struct {
		q    agent.UsageQuery
		want int64 // records
	}{
		"all": {agent.UsageQuery{GroupBy: "project"}, 3}, "since": {agent.UsageQuery{GroupBy: "project", Since: day(2)}, 2}, "until": {agent.UsageQuery{GroupBy: "project", Until: day(2)}, 1},
		"the project": {agent.UsageQuery{GroupBy: "project", Project: "/p"}, 3}, "another project": {agent.UsageQuery{GroupBy: "project", Project: "/q"}, 0},
	} {
		list, err := p.Usage(t.Context(), tt.q)
		var u agent.Usage
		if len(list) > 0 {
			u = list[0]
		}
		if err != nil || len(list) > 1 || u.InputTokens != 6*tt.want || u.CacheReadInputTokens != 4*tt.want || u.OutputTokens != 2*tt.want {
			t.Errorf("%s: %+v, %v; want %d times 6, 4 and 2 tokens", name, list, err, tt.want)
		}
	}
}

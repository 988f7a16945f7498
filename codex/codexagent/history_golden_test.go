package codexagent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codexagent"
	"github.com/seed7221b0f9/parley/internal/test/codexrec"
	"github.com/seed7221b0f9/parley/internal/test/golden"
)

var updateGolden = flag.Bool("update", false, "write the golden files")

// recordedHome returns a directory with the files of a recording, all with the same modification time. Threads
// are archived in the way of the program.
func recordedHome(t *testing.T, name string) string {
	t.Helper()
	dir, ok := codexrec.Named(t, name).Home(t)
	if !ok {
		t.Fatalf("%s has no files", name)
	}
	at := time.Date(2026, 11, 16, 1, 2, 3, 0, time.UTC)
	if err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		return os.Chtimes(path, at, at)
	}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// callLog writes the result of a call, or its error if it is one of package agent.
type callLog struct {
	t    *testing.T
	home string // a directory that differs in each run
	out  strings.Builder
}

func (o *callLog) line(what string, v any, err error) {
	o.t.Helper()
	if err != nil {
		kind := "other"
		for name, is := range map[string]error{"not found": agent.ErrNotFound, "invalid": agent.ErrInvalid, "unsupported": agent.ErrUnsupported, "closed": agent.ErrClosed, "not open": agent.ErrNotOpen} {
			if errors.Is(err, is) {
				kind = name
			}
		}
		v = "error: " + kind
	}
	text, err := json.Marshal(v)
	if err != nil {
		o.t.Fatal(err)
	}
	if o.home != "" {
		text = bytes.ReplaceAll(text, []byte(o.home), []byte("HOME"))
	}
	o.out.WriteString(golden.Line(o.t, what, json.RawMessage(text)))
}

// TestHistory_golden lists, filters, pages, searches, shows, exports and counts the threads of
// recordings, and compares the results with a golden file.
func TestHistory_golden(t *testing.T) {
	defer func(zone *time.Location) { time.Local = zone }(time.Local)
	time.Local = time.UTC // for the times of files
	parts := golden.Parts{}
	for _, name := range []string{"fork", "mcp_tool", "parallel_commands", "review_detached", "revert"} {
		home := recordedHome(t, name)
		o := &callLog{t: t, home: home}
		browse(o, &codexagent.Provider{Options: codex.Options{Home: home}})
		parts[name] = o.out.String()
	}
	parts.Check(t, "testdata/history.txt", *updateGolden)
}

func browse(o *callLog, p *codexagent.Provider) {
	ctx, h := o.t.Context(), p.History()
	list, cursor, err := h.List(ctx, agent.HistoryQuery{})
	o.line("list", list, err)
	if len(list) == 0 {
		o.t.Fatal("the recording has no threads")
	}
	first := list[0]
	list2, next, err := h.List(ctx, agent.HistoryQuery{Limit: 1})
	o.line("first page", len(list2), err)
	o.line("cursors", []bool{cursor == "", next == first.ID}, nil)
	for _, q := range []agent.HistoryQuery{{Cursor: first.ID}, {Cursor: "none"}, {Project: first.Dir}, {Project: "/nowhere"}, {Query: "no such text"}, {Limit: int64(len(list))}} {
		some, next, err := h.List(ctx, q)
		o.line(fmt.Sprintf("list %+v", q), []any{len(some), next}, err)
	}
	filters(o, h.(agent.HistoryBrowser), first)
	for _, info := range list {
		thread(o, h, info.ID)
	}
	searches(o, h, first)
	for _, q := range []agent.UsageQuery{
		{}, {GroupBy: "day"}, {GroupBy: "model"}, {GroupBy: "project"}, {GroupBy: "block"}, {Project: "/nowhere"}, {Project: first.Dir}, {Since: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}, {Until: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		usage, err := p.Usage(ctx, q)
		o.line("usage "+q.GroupBy+q.Project+q.Since.Format("2006")+q.Until.Format("2006"), usage, err)
	}
	meter, err := h.(agent.Metered).Meter()
	if err != nil {
		o.t.Fatal(err)
	}
	for m, err := range meter.Next(ctx) {
		o.line("metered", m, err)
	}
}

func filters(o *callLog, h agent.HistoryBrowser, first agent.HistoryInfo) {
	ctx := o.t.Context()
	at := first.Modified
	for _, f := range []agent.HistoryFilter{
		{}, {Tag: "x"}, {Archived: true}, {Dir: first.Dir}, {Dir: "/nowhere"}, {Branch: "none"}, {Branch: first.GitBranch}, {Since: at}, {Since: at.Add(time.Second)}, {Until: at}, {Until: at.Add(time.Second)}, {NoPrograms: true},
	} {
		n := 0
		var last any
		for r, err := range h.Find(ctx, f) {
			if err != nil {
				o.line("find", nil, err)
			}
			n++
			last = r
		}
		o.line(fmt.Sprintf("find %q %v %q %q %v %v %v", f.Tag, f.Archived, f.Dir, f.Branch, f.Since.Sub(at) == 0, f.Until.Sub(at) == 0, f.NoPrograms), []any{n, last}, nil)
	}
	for range h.Find(ctx, agent.HistoryFilter{}) {
		break // an iteration can be left
	}
	for _, id := range []string{first.ID, strings.ToUpper(first.ID), "none"} {
		got, err := h.Locate(ctx, id)
		o.line("locate", got, err)
	}
}

func thread(o *callLog, h agent.History, id string) {
	ctx, b := o.t.Context(), h.(agent.HistoryBrowser)
	m, err := h.Metadata(ctx, id)
	o.line("metadata", m, err)
	for _, s := range []agent.HistoryShow{{}, {Thinking: true, System: true}, {Last: 1}, {Last: 1000}, {JSON: true}} {
		text, err := b.Show(ctx, id, s)
		o.line(fmt.Sprintf("show %+v", s), text, err)
	}
	for _, format := range []string{"markdown", "json", "html", "odt"} {
		e, err := h.Export(ctx, id, format)
		o.line("export", e, err)
	}
	var ids []string
	page := func(what string, p agent.HistoryPage) {
		events, err := h.Load(ctx, id, p)
		var texts []string
		if err == nil {
			for ev, err := range events.Events {
				if err != nil {
					o.t.Error(err)
				}
				texts = append(texts, fmt.Sprintf("%T", ev))
				if u, ok := ev.(*event.UserMessage); ok {
					ids = append(ids, u.UUID)
				}
				if s, ok := ev.(*event.TurnStart); ok {
					ids = append(ids, s.TurnID)
				}
			}
			for range events.Events {
				break
			}
		}
		o.line(what, []any{events.HasMore, texts}, err)
	}
	page("load", agent.HistoryPage{})
	all := ids
	for i := range all {
		for _, limit := range []int64{0, 1, 2} {
			page(fmt.Sprint("before ", i, " limit ", limit), agent.HistoryPage{Before: all[i], Limit: limit})
			page(fmt.Sprint("after ", i, " limit ", limit), agent.HistoryPage{After: all[i], Limit: limit})
		}
		if i > 3 {
			break
		}
	}
	page("limit", agent.HistoryPage{Limit: 1})
	page("before nothing", agent.HistoryPage{Before: "none"})
	page("after nothing", agent.HistoryPage{After: "none"})
	for _, r := range []agent.HistoryRender{{Format: "markdown"}, {Format: "odt"}, {Format: "markdown", File: "x"}, {Format: "markdown", Redact: true}, {Format: "markdown", System: true}, {Format: "markdown", NoThinking: true}, {Format: "markdown", NoTools: true}, {Format: "markdown", NoSubagents: true}} {
		var out bytes.Buffer
		err := b.Render(ctx, &out, id, r)
		o.line("render", out.Len(), err)
	}
}

func searches(o *callLog, h agent.History, first agent.HistoryInfo) {
	ctx := o.t.Context()
	word := strings.Fields(first.FirstPrompt)[0]
	for _, q := range []agent.HistoryQuery{
		{Query: word}, {Query: strings.ToUpper(word)}, {Query: word, Limit: 1}, {Query: word, Limit: 1, Cursor: "1"}, {Query: word, Cursor: "1000"}, {Query: "no such text at all"}, {}, {Query: word, Cursor: "x"}, {Query: word, Cursor: "-1"},
		{Query: word, Project: "/nowhere"}, {Query: word, Project: first.Dir},
	} {
		hits, cursor, err := h.Search(ctx, q)
		o.line(fmt.Sprintf("search %q %d %q %v", q.Query, q.Limit, q.Cursor, q.Project == first.Dir), []any{hits, cursor}, err)
	}
	for _, g := range []agent.HistoryGrep{{Text: word}, {Text: word, Limit: 1}, {Text: word, Roles: []string{"user"}}, {Text: word, Tool: "x"}, {Text: word, CaseSensitive: true}, {}, {Text: word, HistoryFilter: agent.HistoryFilter{Dir: "/nowhere"}}} {
		n := 0
		for m, err := range h.(agent.HistoryBrowser).Grep(ctx, g) {
			n++
			o.line("grep", []any{m.HistoryHit, m.Wire}, err)
		}
		o.line("grep", n, nil)
	}
	for _, err := range []error{h.Tag(ctx, first.ID, "x"), h.Rename(ctx, "none", "x"), h.Delete(ctx, "none")} {
		o.line("change", nil, err)
	}
	for _, err := range []error{
		func() error { _, err := h.Metadata(ctx, "none"); return err }(), func() error { _, err := h.Load(ctx, "none", agent.HistoryPage{}); return err }(),
		func() error { _, err := h.Export(ctx, "none", "markdown"); return err }(), func() error { _, err := h.Export(ctx, "none", "json"); return err }(),
		func() error { _, err := h.(agent.HistoryBrowser).Show(ctx, "none", agent.HistoryShow{}); return err }(),
	} {
		o.line("no thread", nil, err)
	}
}

// TestHistory_homeless checks that every method returns an error, and not an empty result, if there
// is no home directory.
func TestHistory_homeless(t *testing.T) {
	p := &codexagent.Provider{Options: codex.Options{Env: []string{"A=1"}}}
	ctx, h := context.Background(), p.History()
	b := h.(agent.HistoryBrowser)
	for name, err := range map[string]error{
		"List": func() error { _, _, err := h.List(ctx, agent.HistoryQuery{}); return err }(), "Metadata": func() error { _, err := h.Metadata(ctx, "x"); return err }(),
		"Load": func() error { _, err := h.Load(ctx, "x", agent.HistoryPage{}); return err }(), "Search": func() error { _, _, err := h.Search(ctx, agent.HistoryQuery{Query: "x"}); return err }(),
		"Export": func() error { _, err := h.Export(ctx, "x", "json"); return err }(), "Rename": h.Rename(ctx, "x", "y"), "Delete": h.Delete(ctx, "x"), "Locate": func() error { _, err := b.Locate(ctx, "x"); return err }(),
		"Usage": func() error { _, err := p.Usage(ctx, agent.UsageQuery{}); return err }(), "Meter": func() error { _, err := h.(agent.Metered).Meter(); return err }(),
		"Find": func() (last error) {
			for _, err := range b.Find(ctx, agent.HistoryFilter{}) {
				last = err
			}
			return last
		}(),
		"Grep": func() (last error) {
			for _, err := range b.Grep(ctx, agent.HistoryGrep{Text: "x"}) {
				last = err
			}
			return last
		}(),
	} {
		if err == nil || !strings.Contains(err.Error(), "home directory") {
			t.Errorf("%s without a home: %v, want an error that names the home directory", name, err)
		}
	}
}

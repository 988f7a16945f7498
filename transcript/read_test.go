package transcript_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/transcript"
)

// TestPagesAreTheConversation reads every session of the corpus in pages from its end: together
// they are the conversation.
func TestPagesAreTheConversation(t *testing.T) {
	files := mainFiles(t)
	for i := 0; i < len(files); i += short.Every(4) {
		path := files[i]
		s := transcript.File(path)
		for _, limit := range []int{2, 1000} {
			for _, system := range []bool{false, true} {
				want, err := s.Conversation(t.Context(), &transcript.ConversationOptions{System: system})
				if err != nil {
					t.Fatal(err)
				}
				q := transcript.PageQuery{Limit: limit, System: system}
				if diff := cmp.Diff(uuids(want), uuids(allPages(t, s, q, true))); diff != "" {
					t.Errorf("%s in pages of %d (-conversation +pages):\n%s", path, limit, diff)
				}
			}
		}
	}
}

// allPages returns the messages of all pages, in the order of the session.
func allPages(t *testing.T, s *transcript.Session, q transcript.PageQuery, back bool) (all []*transcript.Message) {
	t.Helper()
	for {
		p, err := s.Page(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Messages) > q.Limit {
			t.Fatalf("a page of %d has %d messages", q.Limit, len(p.Messages))
		}
		if back {
			all = append(append([]*transcript.Message{}, p.Messages...), all...)
		} else {
			all = append(all, p.Messages...)
		}
		if p.More == "" {
			return all
		}
		q.From = p.More
	}
}

func uuids(messages []*transcript.Message) (ids []string) {
	for _, m := range messages {
		ids = append(ids, m.UUID)
	}
	return ids
}

// TestPageReadsLittle reads the last messages of a long session, and the first.
func TestPageReadsLittle(t *testing.T) {
	short.SkipQuick(t, "writes a large session")
	path := filepath.Join(t.TempDir(), "11111111-0000-4000-8000-000000000000.jsonl")
	const turns = 5_000
	writeLong(t, path, turns)
	s := transcript.File(path)
	stat, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := s.Conversation(t.Context(), nil)
	if err != nil || len(want) != 2*turns {
		t.Fatalf("%d messages, %v", len(want), err)
	}
	last, err := s.Page(t.Context(), transcript.PageQuery{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(uuids(want[len(want)-100:]), uuids(last.Messages)); diff != "" {
		t.Errorf("the last page differs:\n%s", diff)
	}
	first, err := s.Page(t.Context(), transcript.PageQuery{Limit: 100, From: transcript.PageStart})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(uuids(want[:100]), uuids(first.Messages)); diff != "" {
		t.Errorf("the first page differs:\n%s", diff)
	}
	for name, p := range map[string]*transcript.Page{"last": last, "first": first} {
		if p.BytesRead == 0 || p.BytesRead > stat.Size()/50 {
			t.Errorf("the %s page read %d of %d bytes", name, p.BytesRead, stat.Size())
		}
	}
	if diff := cmp.Diff(uuids(want), uuids(allPages(t, s, transcript.PageQuery{Limit: 1700, From: transcript.PageStart}, false))); diff != "" {
		t.Errorf("the pages from the start differ:\n%s", diff)
	}
	if _, err := s.Page(t.Context(), transcript.PageQuery{From: "before:nobody"}); !errors.Is(err, transcript.ErrNoMessage) {
		t.Errorf("a cursor to nowhere: %v", err)
	}
	for _, bad := range []transcript.Cursor{"sideways", "after:x", "after:-1"} {
		if _, err := s.Page(t.Context(), transcript.PageQuery{From: bad}); err == nil || !strings.Contains(err.Error(), "is not a cursor") {
			t.Errorf("the cursor %q, which is none: %v", bad, err)
		}
	}
}

// writeLong writes a session of many turns, each with a prompt, a note and an answer.
func writeLong(t *testing.T, path string, turns int) {
	t.Helper()
	var b strings.Builder
	parent := "null"
	add := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	for i := range turns {
		user, note, answer := fmt.Sprintf("u%d", i), fmt.Sprintf("n%d", i), fmt.Sprintf("a%d", i)
		add(`{"parentUuid":%s,"isSidechain":false,"type":"user","message":{"role":"user","content":"question %d"},"uuid":%q,"timestamp":"2026-01-01T00:00:00.000Z","sessionId":"s"}`, parent, i, user)
		add(`{"parentUuid":%q,"isSidechain":false,"type":"attachment","attachment":{"type":"date","x":%q},"uuid":%q}`, user, strings.Repeat("x", 3000), note)
		add(`{"parentUuid":%q,"isSidechain":false,"type":"assistant","message":{"id":"m%d","role":"assistant","content":[{"type":"text","text":"answer %d"}]},"uuid":%q}`, note, i, i, answer)
		parent = `"` + answer + `"`
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestPageNeedsEarlierLines reads the last page of a file that ends with a branch from an early
// message, so that the page needs lines from the beginning.
func TestPageNeedsEarlierLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "11111111-0000-4000-8000-000000000000.jsonl")
	writeLong(t, path, 500)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	parent := "u3"
	for i := range 2000 {
		id := fmt.Sprintf("late%d", i)
		fmt.Fprintf(f, `{"parentUuid":%q,"isSidechain":false,"type":"attachment","attachment":{"type":"date","x":%q},"uuid":%q}`+"\n", parent, strings.Repeat("y", 300), id)
		parent = id
	}
	f.Close()
	s := transcript.File(path)
	want, err := s.Conversation(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Page(t.Context(), transcript.PageQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(uuids(want), uuids(p.Messages)); diff != "" || len(want) != 7 {
		t.Errorf("%d messages (-conversation +page):\n%s", len(want), diff)
	}
}

// TestFollow appends to a file while it is followed.
func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "11111111-0000-4000-8000-000000000000.jsonl")
	write := func(text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Error(err)
		}
	}
	write(`{"type":"tag","tag":"one"}` + "\n" + "bad line\n" + `{"type":"ta`)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var seen []string
		for e, err := range transcript.File(path).Follow(ctx, nil) {
			var bad *transcript.LineError
			switch {
			case errors.As(err, &bad):
				seen = append(seen, "bad")
				// The torn line is completed while the follower waits.
				time.AfterFunc(time.Second, func() { write(`g","tag":"two"}` + "\n") })
			case errors.Is(err, context.Canceled):
				seen = append(seen, "canceled")
			case err != nil:
				t.Fatal(err)
			default:
				tag := e.(*transcript.TagEntry).Tag
				seen = append(seen, fmt.Sprint(tag, " in line ", e.Position().Line))
				if tag == "two" {
					cancel()
				}
			}
		}
		if diff := cmp.Diff([]string{"one in line 1", "bad", "two in line 3", "canceled"}, seen); diff != "" {
			t.Errorf("the values differ:\n%s", diff)
		}
	})
	write(`{"type":"tag",`) // torn when the next follower starts
	synctest.Test(t, func(t *testing.T) {
		time.AfterFunc(time.Second, func() { write(`"tag":"three"}` + "\n") })
		for e, err := range transcript.File(path).Follow(t.Context(), &transcript.FollowOptions{New: true}) {
			if err != nil || e.(*transcript.TagEntry).Tag != "three" {
				t.Errorf("%v, %v; want err == nil and e.(*transcript.TagEntry).Tag == \"three\"", e, err)
			}
			break
		}
	})
	synctest.Test(t, func(t *testing.T) {
		time.AfterFunc(time.Second, func() {
			if err := os.Truncate(path, 3); err != nil {
				t.Error(err)
			}
		})
		var last error
		for _, err := range transcript.File(path).Follow(t.Context(), &transcript.FollowOptions{New: true}) {
			last = err
		}
		if !errors.Is(last, transcript.ErrTruncated) {
			t.Errorf("a file that shrinks: %v", last)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		time.AfterFunc(time.Second, func() { // another file, and longer
			other := path + ".new"
			if err := errors.Join(os.WriteFile(other, []byte(strings.Repeat("\n", 1000)), 0o600), os.Rename(other, path)); err != nil {
				t.Error(err)
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var last error
		for _, err := range transcript.File(path).Follow(ctx, &transcript.FollowOptions{New: true}) {
			last = err
		}
		if !errors.Is(last, transcript.ErrTruncated) {
			t.Errorf("a file that is replaced: %v", last)
		}
	})
}

// TestTree checks the shape of trees: every entry is in them once, subagents are below the call
// that started them, the conversation is marked.
func TestTree(t *testing.T) {
	for _, path := range mainFiles(t) {
		s := transcript.File(path)
		tr, err := s.Tree(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		agents, err := s.Subagents()
		if err != nil {
			t.Fatal(err)
		}
		nested := len(tr.Subagents)
		var walk func(n *transcript.Node)
		walk = func(n *transcript.Node) {
			for _, a := range n.Subagents {
				nested++
				for _, r := range a.Roots {
					walk(r)
				}
			}
			for _, c := range n.Children {
				if c.Parent != n {
					t.Errorf("%s: %s has another parent", path, c.Link.UUID)
				}
				walk(c)
			}
		}
		for _, r := range tr.Roots {
			walk(r)
		}
		if nested != len(agents) || len(tr.Subagents) > 0 {
			t.Errorf("%s: %d of %d subagents are in the tree, %d of them nowhere", path, nested, len(agents), len(tr.Subagents))
		}
		messages, err := s.Conversation(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range messages {
			if n := tr.Node(transcript.LinkOf(m.Entry).UUID); !m.IsQueuedCommand && (n == nil || !n.Current) {
				t.Errorf("%s: %s is said and not marked", path, m.UUID)
			}
		}
	}
}

func TestTreeOfCycle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "11111111-0000-4000-8000-000000000000.jsonl")
	var text strings.Builder
	for _, link := range [][2]string{{"a", "c"}, {"b", "a"}, {"c", "b"}, {"d", "c"}, {"e", "gone"}, {"f", "f"}} {
		fmt.Fprintf(&text, `{"type":"user","uuid":%q,"parentUuid":%q,"message":{"role":"user","content":"x"}}`+"\n", link[0], link[1])
	}
	if err := os.WriteFile(path, []byte(text.String()+"torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	tr, err := transcript.File(path).Tree(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var roots []string
	for _, r := range tr.Roots {
		roots = append(roots, fmt.Sprint(r.Link.UUID, r.Missing))
	}
	if diff := cmp.Diff([]string{"atrue", "etrue", "ftrue"}, roots); diff != "" {
		t.Errorf("the values differ:\n%s", diff)
	}
	if len(tr.Bad) != 1 || !tr.Bad[0].Torn || tr.Bad[0].Line != 7 {
		t.Errorf("bad lines: %v", tr.Bad)
	}
}

// TestLongLines reads a line of 20 MB between two short ones.
func TestLongLines(t *testing.T) {
	short.SkipQuick(t, "reads long lines")
	path := filepath.Join(t.TempDir(), "11111111-0000-4000-8000-000000000000.jsonl")
	long := `{"type":"user","uuid":"u","parentUuid":null,"message":{"role":"user","content":"` + strings.Repeat("x", 20<<20) + `"}}`
	text := `{"type":"tag","tag":"a"}` + "\n" + long + "\n\n\x00\x00" + `{"type":"tag","tag":"b"}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var sizes []string
	for e, err := range transcript.File(path).Entries(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, fmt.Sprint(e.Kind(), e.Position().Line, " ", len(e.Raw())))
	}
	if diff := cmp.Diff([]string{"tag1 24", fmt.Sprint("user2 ", len(long)), "tag4 24"}, sizes); diff != "" {
		t.Errorf("the values differ:\n%s", diff)
	}
}

// TestByteOrderMark reads a file that an editor started with a byte order mark; in the middle of a
// file the mark is part of its line.
func TestByteOrderMark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "11111111-0000-4000-8000-000000000000.jsonl")
	if err := os.WriteFile(path, []byte("\ufeff{\"type\":\"tag\",\"tag\":\"a\"}\n{\"type\":\"tag\",\"tag\":\"b\"}\n\ufeff{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	for e, err := range transcript.File(path).Entries(t.Context()) {
		if err != nil {
			got = append(got, "bad")
			continue
		}
		got = append(got, fmt.Sprint(e.Kind(), e.Position().Line, " ", e.Position().Offset))
	}
	if diff := cmp.Diff([]string{"tag1 0", "tag2 28", "bad"}, got); diff != "" {
		t.Errorf("the values differ:\n%s", diff)
	}
}

// TestSeedEntries decodes the kinds of line of older and other writers.
func TestSeedEntries(t *testing.T) {
	e, err := transcript.ParseEntry(`{"type":"assistant","uuid":"44c59e05","sessionId":"350d4477","message":{"id":"msg_1","role":"assistant","content":[{"type":"text","text":"2"},{"type":"tool_use","id":"toolu_1","name":"Read","input":{"file_path":"/x"}}],"usage":{"input_tokens":3,"output_tokens":4}}}`)
	if err != nil {
		t.Fatal(err)
	}
	a := e.(*transcript.AssistantEntry)
	if use, ok := a.Message.Content.Blocks()[1].(*message.ToolUse); !ok || use.Name != "Read" || a.Text() != "2" || a.Message.Usage().OutputTokens != 4 {
		t.Errorf("%+v; want ok and use.Name == \"Read\" and a.Text() == \"2\" and a.Message.Usage().OutputTokens == 4", a)
	}
	for line, kind := range map[string]string{
		`{"type":"result","subtype":"success","total_cost_usd":0.5}`:     "*transcript.ResultEntry",
		`{"type":"summary","summary":"short","leafUuid":"x"}`:            "*transcript.SummaryEntry",
		`{"type":"system","subtype":"init","uuid":"u","tools":["Bash"]}`: "*transcript.SystemEntry",
		`{"type":"worktree-state","sessionId":"s"}`:                      "*transcript.RecordEntry",
		`{"type":"from-the-future","uuid":"u","news":{"a":[1,2]}}`:       "*transcript.UnknownEntry",
		`{"no":"type"}`: "*transcript.UnknownEntry",
	} {
		e, err := transcript.ParseEntry(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%T", e); got != kind || string(e.Raw()) != line {
			t.Errorf("%s is a %s with the text %s", line, got, e.Raw())
		}
	}
	var bad *transcript.LineError
	for _, line := range []string{``, `x`, `[1]`, `"s"`, `{"a":1`, `{"a":1}}`, `{"type":"user","message":{"content":"` + "\x01" + `"}}`} {
		if _, err := transcript.ParseEntry(line); !errors.As(err, &bad) || json.Valid([]byte(line)) && line[0] == '{' {
			t.Errorf("%q: %v; want errors.As(err, &bad) and not (json.Valid([]byte(line)) && line[0] == '{')", line, err)
		}
	}
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

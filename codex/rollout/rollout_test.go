package rollout_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/codex/rollout"
	"github.com/seed7221b0f9/parley/internal/test/codexrec"
)

// threadMessages holds the server's messages about a thread, by turn.
type threadMessages struct {
	order []string
	items map[string][]string // by turn
	usage item.TokenUsage
	name  string
}

// describe returns an item without the differences between wire and file: ids of the mode legacy,
// times, and the form of a command.
func describe(i item.Item, ids bool) string {
	id := ""
	if ids {
		id = i.Head().ID + " "
	}
	switch i := i.(type) {
	case *item.UserMessage:
		var text []string
		for _, in := range i.Content {
			if t, ok := in.(*item.Text); ok {
				text = append(text, t.Text)
			}
		}
		return id + "user " + strings.Join(text, "|")
	case *item.AgentMessage:
		return id + "agent " + i.Text
	case *item.Reasoning:
		return id + fmt.Sprint("reasoning ", i.Summary, i.Content)
	case *item.CommandExecution:
		out := "nothing"
		if i.AggregatedOutput != nil {
			out = *i.AggregatedOutput
		}
		if !ids {
			return "command " + out
		}
		return id + fmt.Sprintf("command %s in %s: %s %q %s", i.Command, i.CWD, i.Status, out, i.Source)
	case *item.FileChange:
		return id + fmt.Sprint("patch ", i.Status, i.Changes)
	case *item.MCPToolCall:
		return id + fmt.Sprint("mcp ", i.Server, i.Tool, i.Status, i.Arguments, i.Error, i.Result != nil && len(i.Result.Content) > 0)
	case *item.DynamicToolCall:
		text := ""
		for _, c := range i.ContentItems {
			text += *c.Text
		}
		return id + fmt.Sprint("dynamic ", i.Tool, i.Status, i.Arguments, text)
	case *item.CollabAgentToolCall:
		return id + fmt.Sprint("agents ", i.Tool, i.Status, i.ReceiverThreadIDs, i.Prompt)
	case *item.WebSearch:
		return id + fmt.Sprint("search ", i.Query, *i.Action)
	}
	return id + item.Kind(i)
}

// listen reads the server's messages in a recording, by thread.
func listen(t *testing.T, r *codexrec.Recording) map[string]*threadMessages {
	threads := map[string]*threadMessages{}
	legacy := r.Legacy(t)
	for _, l := range r.Lines(t) {
		d, err := item.DecodeServer(l.Msg)
		n, ok := d.(item.Notification)
		if l.Client || err != nil || !ok || item.ThreadOf(n) == "" {
			continue
		}
		s := threads[item.ThreadOf(n)]
		if s == nil {
			s = &threadMessages{items: map[string][]string{}}
			threads[item.ThreadOf(n)] = s
		}
		switch n := n.(type) {
		case *item.TurnStarted:
			s.order = append(s.order, n.Turn.ID)
		case *item.ItemCompleted:
			s.items[n.TurnID] = append(s.items[n.TurnID], describe(n.Item, !legacy))
		case *item.ThreadTokenUsageUpdated:
			s.usage = n.TokenUsage
		case *item.ThreadNameUpdated:
			s.name = n.ThreadName
		}
	}
	return threads
}

// TestDecode_files reads the session files of every recording: each turn in a file has the items
// that the server reported, and no line is skipped.
func TestDecode_files(t *testing.T) {
	checked := 0
	for _, r := range codexrec.All(t) {
		t.Run(r.Title(), func(t *testing.T) { checked += checkFiles(t, r) })
	}
	if checked < 200 && os.Getenv(codexrec.Variable) == "" {
		t.Errorf("only %d items were compared", checked)
	}
}

// checkFiles compares the session files of a recording with its wire and returns the number of
// compared items.
func checkFiles(t *testing.T, r *codexrec.Recording) (checked int) {
	t.Helper()
	heard := listen(t, r)
	home, ok := r.Home(t)
	if !ok {
		return 0
	}
	dir := rollout.Open(home)
	sessions, problems, err := dir.List(t.Context())
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v; want err == nil and len(problems) <= 0", problems, err)
	}
	for _, s := range sessions {
		c, err := dir.Read(t.Context(), s.ThreadID)
		if missing := errors.Is(err, rollout.ErrMissingBase); missing != (r.Name == "fork_moved" && s.ForkedFromID != "") || err != nil && !missing {
			t.Error(err)
			continue
		}
		if c.Skipped > 0 {
			t.Errorf("c.Problems is %v; want c.Skipped <= 0", c.Problems)
		}
		if w := heard[s.ThreadID]; w != nil {
			checked += compare(t, r, c, w)
		}
	}
	return checked
}

// compare compares a conversation with the server's messages about its turns.
func compare(t *testing.T, r *codexrec.Recording, c *rollout.Conversation, w *threadMessages) (n int) {
	t.Helper()
	legacy := r.Legacy(t)
	for _, turn := range c.Turns {
		want, ok := w.items[turn.ID]
		if !ok {
			continue // of the original thread, or another process
		}
		var got []string
		for _, i := range turn.Items {
			got = append(got, describe(i, !legacy))
		}
		for _, s := range want {
			// A message that a review generates is not in any file.
			if i := slices.Index(got, s); i >= 0 {
				got = slices.Delete(got, i, i+1)
				n++
			} else if !onlyOnWire(r, legacy, s) {
				t.Errorf("turn %s lacks %.300q\nit has %.1000q", turn.ID, s, got)
			}
		}
	}
	return n
}

// maxCompared is the length of the longest compared item: the files of a recording have filler in
// place of long texts.
const maxCompared = 10_000

// onlyOnWire reports items that the files have in another form or not at all.
func onlyOnWire(r *codexrec.Recording, legacy bool, s string) bool {
	if len(s) > maxCompared {
		return true
	}
	if !legacy {
		// For a refused command the file has the text for the model.
		return (r.Name == "approval_cancel" || r.Name == "approval_error_answer") && strings.HasPrefix(s, "call_1 command ")
	}
	return strings.HasPrefix(s, "dynamic ") || r.Name == "review_inline" || strings.HasPrefix(s, "command ") && strings.HasSuffix(s, "nothing")
}

func home(t *testing.T, name string) *rollout.Dir {
	t.Helper()
	dir, ok := codexrec.Named(t, name).Home(t)
	if !ok {
		t.Fatalf("%s has no files", name)
	}
	return rollout.Open(dir)
}

func prompts(c *rollout.Conversation) (list []string) {
	for _, turn := range c.Turns {
		for _, i := range turn.Items {
			if u, ok := i.(*item.UserMessage); ok {
				list = append(list, u.Content[0].(*item.Text).Text)
			}
		}
	}
	return list
}

// TestRead_chain checks that a fork has the turns of its source up to the fork, and a reverted
// thread only the remaining and the later ones.
func TestRead_chain(t *testing.T) {
	tests := []struct {
		name string
		pick func(s *rollout.Session) bool
		want int // turns
		file int // files in the chain
	}{
		{"fork", func(s *rollout.Session) bool { return s.ForkedFromID == "" }, 2, 1},
		{"fork", func(s *rollout.Session) bool { return strings.HasSuffix(s.ThreadID, "4997-7ec3-b3a1-6864fe75a984") }, 3, 2},
		{"fork", func(s *rollout.Session) bool { return strings.HasSuffix(s.ThreadID, "49d1-7bc3-8445-cb08df72ad07") }, 2, 2},
		{"revert", func(*rollout.Session) bool { return true }, 2, 2},
	}
	for _, tt := range tests {
		dir := home(t, tt.name)
		sessions, _, err := dir.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(sessions, tt.pick)
		if i < 0 {
			t.Errorf("%s: no such session", tt.name)
			continue
		}
		c, err := dir.Read(t.Context(), sessions[i].ThreadID)
		if err != nil || len(c.Turns) != tt.want || len(c.Chain) != tt.file {
			t.Errorf("%s %s: %d turns %q, %d files, %v", tt.name, sessions[i].ThreadID, len(c.Turns), prompts(c), len(c.Chain), err)
		}
	}
}

func TestList(t *testing.T) {
	dir := home(t, "threads_admin")
	sessions, problems, err := dir.List(t.Context())
	if err != nil || len(problems) > 0 {
		t.Fatalf("problems is %v, err is %v; want err == nil and len(problems) <= 0", problems, err)
	}
	var archived, named int
	for _, s := range sessions {
		if s.Archived {
			archived++
		}
		if s.Name == "The first" {
			named++
		}
		if s.CWD != "/home/dev/project" || s.CLIVersion != "0.166.0" || s.HistoryMode != "paginated" || s.Preview == "" || s.CreatedAt.IsZero() || s.Model == "" || s.Usage == nil {
			t.Errorf("%+v; want s.CWD == \"/home/dev/project\" and s.CLIVersion == \"0.166.0\" and s.HistoryMode == \"paginated\" and s.Preview != \"\" and not s.CreatedAt.IsZero() and s.Model != \"\" and s.Usage != nil", s)
		}
	}
	if archived != 1 || named != 1 {
		t.Errorf("%d archived, %d named of %d", archived, named, len(sessions))
	}
	if _, err := dir.Read(t.Context(), "01a1de96-0000-79b3-b3ce-4f17e9138957"); !errors.Is(err, rollout.ErrNoSession) {
		t.Errorf("a thread that does not exist: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := dir.List(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	if none, _, err := rollout.Open(t.TempDir()).List(t.Context()); err != nil || len(none) != 0 {
		t.Errorf("an empty home: %v, %v", none, err)
	}
}

// TestList_fork checks that a fork without prompts is listed with the first prompt of its source.
func TestList_fork(t *testing.T) {
	other := "02a1de9a-3164-7f42-a449-0a13e079865e"
	meta := func(id, base string) string {
		if base != "" {
			base = `,"history_base":{"thread_id":"` + base + `","end_ordinal_exclusive":9}`
		}
		return `{"ordinal":0,"type":"session_meta","payload":{"id":"` + id + `","cwd":"/p"` + base + "}}\n"
	}
	dir := t.TempDir()
	write(t, dir, "sessions/rollout-2026-01-01T00-00-00-"+thread+".jsonl", meta(thread, "")+`{"ordinal":1,"type":"event_msg","payload":{"type":"user_message","message":"the first"}}`+"\n")
	write(t, dir, "sessions/rollout-2026-01-01T00-00-01-"+other+".jsonl", meta(other, thread))
	loop := strings.Replace(other, "02", "03", 1)
	write(t, dir, "sessions/rollout-2026-01-01T00-00-02-"+loop+".jsonl", meta(loop, loop))
	sessions, _, err := rollout.Open(dir).List(t.Context())
	if err != nil || len(sessions) != 3 {
		t.Fatalf("len(sessions) is %v, err is %v; want err == nil and len(sessions) == 3", len(sessions), err)
	}
	for _, s := range sessions {
		want := "the first"
		if s.ThreadID == loop {
			want = ""
		}
		if s.Preview != want {
			t.Errorf("%s: %q; want s.Preview == want", s.ThreadID, s.Preview)
		}
	}
	if c, err := rollout.Open(dir).Read(t.Context(), other); err != nil || c.Preview != "the first" {
		t.Errorf("%+v, %v; want err == nil and c.Preview == \"the first\"", c, err)
	}
}

// TestUsage checks that each request to a model counts once, despite forks and reverts.
func TestUsage(t *testing.T) {
	for _, name := range []string{"0.166.0/usage_turns", "0.166.0/fork", "0.166.0/revert", "0.144.6/fork", "0.166.0/two_threads"} {
		i := slices.IndexFunc(codexrec.All(t), func(r *codexrec.Recording) bool { return r.Title() == name })
		if i < 0 {
			t.Skip("a corpus of the caller")
		}
		r := codexrec.All(t)[i]
		var want int64
		started := map[string]bool{}
		for _, l := range r.Lines(t) {
			if d, err := item.DecodeServer(l.Msg); err == nil && !l.Client {
				switch n := d.(type) {
				case *item.TurnStarted:
					started[n.ThreadID+n.Turn.ID] = true
				case *item.ThreadTokenUsageUpdated:
					if started[n.ThreadID+n.TurnID] { // a fork repeats the last one of its source
						want += n.TokenUsage.Last.TotalTokens
					}
				}
			}
		}
		dir, _ := r.Home(t)
		var got int64
		for u, err := range rollout.Open(dir).Usage(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if u.Model != "gpt-5.5" || u.TurnID == "" || u.Time.IsZero() {
				t.Errorf("%s: %+v; want u.Model == \"gpt-5.5\" and u.TurnID != \"\" and not u.Time.IsZero()", name, u)
			}
			got += u.Tokens.TotalTokens
		}
		if got != want || want == 0 {
			t.Errorf("%s: %d tokens, the server said %d", name, got, want)
		}
	}
}

// TestMeter checks that a meter yields new records only, and reads no file twice.
func TestMeter(t *testing.T) {
	dir, name := t.TempDir(), "sessions/2026/01/01/rollout-2026-01-01T00-00-00-"+thread+".jsonl"
	text := `{"type":"session_meta","payload":{"id":"` + thread + `","cwd":"/p","git":{"branch":"main"},"parent_thread_id":"up"}}` + "\n"
	count := func(n int) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:00Z","type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"total_tokens":%d}}}}`+"\n", n)
	}
	m := rollout.Open(dir).Meter()
	for i, step := range []struct {
		add  string
		want []int64
	}{{"", nil}, {count(1) + count(2), []int64{1, 2}}, {"", nil}, {count(3), []int64{3}}} {
		if text += step.add; i == 0 || step.add != "" {
			write(t, dir, name, text)
		}
		before := m.Bytes()
		var got []int64
		for u, err := range m.Next(t.Context()) {
			if err != nil || u.CWD != "/p" || u.Branch != "main" || u.Parent != "up" {
				t.Fatalf("%+v, %v; want err == nil and u.CWD == \"/p\" and u.Branch == \"main\" and u.Parent == \"up\"", u, err)
			}
			got = append(got, u.Tokens.TotalTokens)
		}
		if !slices.Equal(got, step.want) || step.add == "" && i > 0 && m.Bytes() != before {
			t.Errorf("step %d: %v, want %v; %d bytes more", i, got, step.want, m.Bytes()-before)
		}
	}
}

const thread = "01a1de9a-3164-7f42-a449-0a13e079865e"

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDamaged(t *testing.T) {
	meta := func(more string) string {
		return `{"timestamp":"2026-01-01T00:00:00Z","ordinal":0,"type":"session_meta","payload":{"id":"` + thread + `","timestamp":"2026-01-01T00:00:00Z","cwd":"/p"` + more + "}}\n"
	}
	started := `{"ordinal":1,"type":"event_msg","payload":{"type":"task_started","turn_id":"t1"}}` + "\n"
	dir := t.TempDir()
	write(t, dir, "sessions/2026/01/01/rollout-2026-01-01T00-00-00-"+thread+".jsonl", meta("")+started+
		"not JSON\n"+`{"ordinal":2,"type":"brand_new","payload":{}}`+"\n"+
		`{"ordinal":3,"type":"event_msg","payload":{"type":"item_completed","turn_id":"t1","item":{"type":"Hologram","id":"h","x":1}}}`+"\n"+
		`{"ordinal":4,"type":"event_msg","payload":{"type":"item_completed","turn_id":"t1","item":{"type":"AgentMessage","id":"m","content":[{"type":"Text","text":"hi"}]}}}`+"\n"+
		`{"ordinal":5,"type":"event_msg","payload":{"type":"item_comp`)
	write(t, dir, "sessions/2026/01/01/rollout-2026-01-01T00-00-01-11111111-1111-7111-8111-111111111111.jsonl", "{}\n")
	write(t, dir, "sessions/2026/01/01/rollout-2026-01-01T00-00-02-21111111-1111-7111-8111-111111111111.jsonl", "")
	write(t, dir, "sessions/2026/01/01/rollout-2026-01-01T00-00-03-31111111-1111-7111-8111-111111111111.jsonl.zst", "x")
	write(t, dir, "sessions/2026/01/01/notes.txt", "x")
	write(t, dir, "secret", meta("")+started)
	// A link is not followed.
	if err := os.Symlink(filepath.Join(dir, "secret"), filepath.Join(dir, "sessions/2026/01/01/rollout-2026-01-01T00-00-04-41111111-1111-7111-8111-111111111111.jsonl")); err != nil {
		t.Skip("no links here: ", err)
	}
	d := rollout.Open(dir)
	sessions, problems, err := d.List(t.Context())
	if err != nil || len(sessions) != 1 || len(problems) != 3 || !strings.Contains(errors.Join(problems...).Error(), ".jsonl.zst") {
		t.Fatalf("%d sessions, %v, %v", len(sessions), problems, err)
	}
	c, err := d.Read(t.Context(), thread)
	if err != nil || len(c.Turns) != 1 || c.Turns[0].Status != item.StatusInterrupted || c.Skipped != 2 || c.Problems[0].Line != 3 {
		t.Fatalf("%+v, %v; want err == nil and len(c.Turns) == 1 and c.Turns[0].Status == item.StatusInterrupted and c.Skipped == 2 and c.Problems[0].Line == 3", c, err)
	}
	var kinds []string
	for _, i := range c.Turns[0].Items {
		kinds = append(kinds, item.Kind(i))
	}
	if diff := cmp.Diff([]string{"Hologram", "agentMessage"}, kinds); diff != "" {
		t.Errorf("the values differ:\n%s", diff)
	}
	// A chain with a cycle ends.
	loop := t.TempDir()
	write(t, loop, "sessions/rollout-2026-01-01T00-00-00-"+thread+".jsonl", meta(`,"history_base":{"thread_id":"`+thread+`","end_ordinal_exclusive":9}`)+started)
	if c, err := rollout.Open(loop).Read(t.Context(), thread); !errors.Is(err, rollout.ErrMissingBase) || len(c.Turns) != 1 {
		t.Errorf("%+v, %v; want errors.Is(err, rollout.ErrMissingBase) and len(c.Turns) == 1", c, err)
	}
}

func ExampleDir_List() {
	home, err := rollout.DefaultHome()
	if err != nil {
		fmt.Println(err)
		return
	}
	sessions, _, err := rollout.Open(home).List(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range sessions {
		fmt.Println(s.ThreadID, s.CWD, s.Preview)
	}
}

// FuzzRead checks that no file makes reading panic or hang.
func FuzzRead(f *testing.F) {
	f.Add(`{"type":"session_meta","payload":{"id":"x"}}` + "\n" + `{"type":"event_msg","payload":{"type":"agent_reasoning","text":"x"}}`)
	f.Add(`{"type":"session_meta","payload":{"id":"x"}}` + "\n" + `{"type":"response_item","payload":{"type":"function_call","call_id":"c","name":"shell","arguments":"{"}}`)
	f.Add(`{"type":"session_meta","payload":{"id":"x"}}` + "\n" + `{"type":"event_msg","payload":{"type":"item_completed","item":null}}`)
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		write(t, dir, "sessions/rollout-2026-01-01T00-00-00-"+thread+".jsonl", text)
		d := rollout.Open(dir)
		_, _, _ = d.List(t.Context())
		if c, err := d.Read(t.Context(), thread); err == nil {
			for _, turn := range c.Turns {
				for _, i := range turn.Items {
					if i == nil {
						t.Fatal("a nil item")
					}
				}
			}
		}
		for range d.Usage(t.Context()) {
		}
	})
}

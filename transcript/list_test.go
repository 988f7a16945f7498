package transcript_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/transcript"
)

// ids returns the ids of a list, in order.
func ids(t *testing.T, dir *transcript.Dir, f transcript.Filter) []string {
	t.Helper()
	list := []string{}
	for info, err := range dir.Sessions(t.Context(), f) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, info.SessionID)
	}
	return list
}

// officialIDs returns the ids of the official SDK's list.
func (o *officialSDK) ids(opts map[string]any) []string {
	o.t.Helper()
	var list []struct{ SessionID string }
	o.must(&list, "listSessions", opts)
	got := []string{}
	for _, s := range list {
		got = append(got, s.SessionID)
	}
	return got
}

// TestListAsOfficial lists by directory, worktree and page, with directories that share a key, and
// compares with the official SDK.
func TestListAsOfficial(t *testing.T) {
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	o := startOfficial(t)
	dir := transcript.Open(o.config)
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repo, tree := filepath.Join(root, "repo"), filepath.Join(root, "tree")
	// The last two share one key.
	dirs := []string{repo, tree, filepath.Join(root, "a b"), filepath.Join(root, "a-b"), filepath.Join(repo, "below")}
	for _, d := range dirs {
		if d == tree {
			git(t, repo, "init", "-q")
			git(t, repo, "-c", "user.name=dev", "-c", "user.email=dev@example.com", "commit", "-q", "--allow-empty", "-m", "first")
			git(t, repo, "worktree", "add", "-q", tree)
		}
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for i, d := range slices.Concat(dirs, dirs) {
		putPrompt(t, filepath.Join(o.config, "projects", claude.ProjectKey(d)), pathID(i), d)
		age(t, dir, pathID(i), i)
	}
	putPrompt(t, filepath.Join(o.config, "projects", claude.ProjectKey(tree)), pathID(3), tree) // another copy
	for _, d := range dirs {
		for _, worktrees := range []bool{true, false} {
			want := o.ids(map[string]any{"dir": d, "includeWorktrees": worktrees})
			if diff := cmp.Diff(want, ids(t, dir, transcript.Filter{Dir: d, NoWorktrees: !worktrees})); diff != "" || len(want) == 0 {
				t.Errorf("%s, worktrees %v: %d sessions (-official +ours):\n%s", d, worktrees, len(want), diff)
			}
		}
	}
	for _, page := range [][2]int{{0, 0}, {3, 0}, {3, 2}, {0, 4}, {100, 9}} {
		want := o.ids(map[string]any{"limit": page[0], "offset": page[1]})
		if diff := cmp.Diff(want, ids(t, dir, transcript.Filter{Limit: page[0], Offset: page[1]})); diff != "" {
			t.Errorf("page %v (-official +ours):\n%s", page, diff)
		}
	}
	if _, err := dir.SessionIn(t.Context(), repo, pathID(1)); err != nil {
		t.Errorf("a session of another worktree: %v", err)
	}
	if _, err := dir.SessionIn(t.Context(), repo, pathID(2)); !errors.Is(err, transcript.ErrNoSession) {
		t.Errorf("a session of another directory: %v", err)
	}
}

// TestListOlderKeys lists sessions of a long path under the key of an older CLI, which used another
// hash, and under a name that the environment sets.
func TestListOlderKeys(t *testing.T) {
	o := startOfficial(t)
	dir := transcript.Open(o.config)
	path := strings.Repeat("/long", 60)
	older := claude.ProjectKey(path)[:200] + "-older1"
	putPrompt(t, filepath.Join(o.config, "projects", older), pathID(1), path)
	putPrompt(t, filepath.Join(o.config, "projects", older[:200]+"-older2"), pathID(2), path+"/another") // of another user
	want := o.ids(map[string]any{"dir": path})
	if diff := cmp.Diff(want, ids(t, dir, transcript.Filter{Dir: path})); diff != "" || len(want) != 1 {
		t.Errorf("an older key (-official +ours):\n%s", diff)
	}
	putPrompt(t, filepath.Join(o.config, "projects", "fixed-name"), pathID(3), "/p")
	t.Setenv("CLAUDE_CONFIG_DIR", o.config)
	t.Setenv("CLAUDE_CODE_PROJECT_DIR_NAME", "fixed-name")
	if got := ids(t, transcript.Open(""), transcript.Filter{Dir: "/p", NoWorktrees: true}); !slices.Equal(got, []string{pathID(3)}) {
		t.Errorf("under the name of the environment there are %v", got)
	}
}

// age sets the age of a session in hours.
func age(t *testing.T, dir *transcript.Dir, id string, hours int) {
	t.Helper()
	s, err := dir.Session(id)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).Add(-time.Duration(hours) * time.Hour)
	if err := os.Chtimes(s.Path, at, at); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// TestListOmits compares omitted files with the official SDK: sessions that continue elsewhere,
// that programs started, that are not sessions.
func TestListOmits(t *testing.T) {
	o := startOfficial(t)
	dir := transcript.Open(o.config)
	project := filepath.Join(o.config, "projects", "-p")
	put := func(i int, lines ...string) {
		t.Helper()
		if err := os.MkdirAll(project, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(project, pathID(i)+".jsonl"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		age(t, dir, pathID(i), i)
	}
	prompt := `{"parentUuid":null,"type":"user","uuid":"u","entrypoint":"cli","message":{"role":"user","content":"hello"}}`
	answer := `{"parentUuid":"u","type":"assistant","uuid":"a","message":{"id":"m","stop_reason":"end_turn","content":[]}}`
	put(0, prompt)
	put(1, prompt, `{"type":"continued-in","continuedInSessionId":"`+pathID(0)+`"}`)         // continued
	put(2, prompt, `{"type":"continued-in","continuedInSessionId":"`+pathID(99)+`"}`)        // in a missing session
	put(3, prompt, `{"type":"continued-in","continuedInSessionId":"`+pathID(0)+`"}`, answer) // with a later prompt
	put(4, strings.Replace(prompt, "cli", "sdk-py", 1))
	put(5, strings.Replace(prompt, `"type":"user"`, `"sessionKind":"daemon","type":"user"`, 1))
	put(6, strings.Replace(prompt, `"type"`, `"isSidechain":true,"type"`, 1))
	put(7, answer) // no prompt to show
	put(8, strings.Replace(prompt, `"hello"`, `[{"type":"image","source":{}}]`, 1))
	put(9, strings.Replace(prompt, `hello`, `<command-name>/clear</command-name>`, 1))
	put(10, strings.Replace(prompt, `hello`, `<bash-input>ls -l</bash-input>`, 1))
	put(11, strings.Replace(prompt, `hello`, strings.Repeat("😀", 150), 1))
	put(12, strings.Replace(prompt, `hello`, `before\n\n<pasted_content id=\"0a1f\">\nof\npasted\n</pasted_content id=\"0a1f\">\n\nafter`, 1))
	put(13, strings.Replace(prompt, `hello`, `<system-reminder>x</system-reminder>`, 1), strings.Replace(prompt, "hello", "real", 1))
	for _, name := range []string{"not-a-session.jsonl", pathID(20) + ".json"} {
		if err := os.WriteFile(filepath.Join(project, name), []byte(prompt+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(project, pathID(21)+".jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	compareLists(t, o, dir)
	want := o.ids(map[string]any{"includeProgrammatic": false})
	if diff := cmp.Diff(want, ids(t, dir, transcript.Filter{NoProgrammatic: true})); diff != "" || len(want) == 0 {
		t.Errorf("without programs (-official +ours):\n%s", diff)
	}
}

// TestIndex lists with an index: the list is the same, and only changed files are read.
func TestIndex(t *testing.T) {
	config, cache := t.TempDir(), filepath.Join(t.TempDir(), "cache")
	dir := transcript.Open(config)
	for i := range 40 {
		putPrompt(t, filepath.Join(config, "projects", fmt.Sprint("-p", i%3)), pathID(i), fmt.Sprint("/p", i%3))
		age(t, dir, pathID(i), i)
	}
	if err := dir.Archive(t.Context(), pathID(3), nil); err != nil {
		t.Fatal(err)
	}
	list := func() (all []map[string]any) {
		t.Helper()
		ix, err := transcript.OpenIndex(cache)
		if err != nil {
			t.Fatal(err)
		}
		for info, err := range dir.Sessions(t.Context(), transcript.Filter{Index: ix}) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, toMap(t, info))
		}
		return all
	}
	check := func(what string) {
		t.Helper()
		var want []map[string]any
		for info, err := range dir.Sessions(t.Context(), transcript.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, toMap(t, info))
		}
		for range 2 {
			if diff := cmp.Diff(want, list()); diff != "" {
				t.Errorf("%s (-without index +with):\n%s", what, diff)
			}
		}
	}
	check("new")
	if err := dir.Rename(t.Context(), pathID(5), "title", nil); err != nil {
		t.Fatal(err)
	}
	check("a new title")
	if err := dir.Unarchive(t.Context(), pathID(3), nil); err != nil {
		t.Fatal(err)
	}
	check("a new sidecar")
	if err := dir.Delete(t.Context(), pathID(7), nil); err != nil {
		t.Fatal(err)
	}
	check("a session less")

	// A file of the same size and time is not read again: its old prompt stays.
	s, err := dir.Session(pathID(9))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Path, []byte(strings.Replace(string(text), "hello", "HELLO", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	age(t, dir, pathID(9), 9)
	for _, info := range list() {
		if info["summary"] == "HELLO" {
			t.Error("a file that did not change was read")
		}
	}

	files, err := filepath.Glob(filepath.Join(cache, "*"))
	if err != nil || len(files) != 1 {
		t.Fatal("the cache has", files, err)
	}
	for _, broken := range []func(string) string{
		func(s string) string { return "" },
		func(s string) string { return s[:len(s)/2] },
		func(s string) string { return s[:len(s)-10] + strings.Repeat("\xff", 10) },
		func(s string) string { return strings.Replace(s, "index 1", "index 0", 1) },
	} {
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(files[0], []byte(broken(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
		check("a broken index")
	}
}

// TestListEnds stops lists early and cancels their context.
func TestListEnds(t *testing.T) {
	config := t.TempDir()
	for i := range 200 {
		putPrompt(t, filepath.Join(config, "projects", fmt.Sprint("-p", i%7)), pathID(i), "/p")
	}
	dir := transcript.Open(config)
	n := 0
	for _, err := range dir.Sessions(t.Context(), transcript.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 5 {
			break
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n = 0
	var last error
	for _, err := range dir.Sessions(ctx, transcript.Filter{}) {
		if n++; n == 5 {
			cancel()
		}
		last = err
	}
	if !errors.Is(last, ctx.Err()) || n > 150 {
		t.Errorf("after %d sessions: %v", n, last)
	}
	if got := ids(t, transcript.Open(filepath.Join(config, "nowhere")), transcript.Filter{}); len(got) != 0 {
		t.Errorf("a directory that does not exist has %v", got)
	}
}

func TestFiles(t *testing.T) {
	dir, id := newSession(t)
	s, err := dir.Session(id)
	if err != nil {
		t.Fatal(err)
	}
	agents, err := s.Subagents()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{id + " "}
	for _, a := range agents {
		want = append(want, id+" "+a.ID)
	}
	project := filepath.Dir(s.Path)
	for _, junk := range []string{"notes.jsonl", filepath.Join(id, "other.jsonl"), filepath.Join("memory", "agent-a.jsonl")} {
		path := filepath.Join(project, junk)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for f, err := range dir.Files(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, f.SessionID+" "+f.AgentID)
		for _, err := range f.Entries(t.Context()) {
			if err != nil || f.Size == 0 {
				t.Errorf("%+v: %v; want err == nil and f.Size != 0", f, err)
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for range dir.Files(t.Context()) {
		break
	}
}

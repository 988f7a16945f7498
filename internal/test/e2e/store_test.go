package e2e_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore"
	"github.com/seed7221b0f9/parley/claude/claudetest"
)

// A session is stored while it runs and resumed from the store with a CLI that does not
// have it, by its id and as the newest one.
func TestSessionStore(t *testing.T) {
	t.Parallel()
	store := claudestore.NewMemory()
	first := newWorld(t, claudetest.Say("The word is xyzzy."))
	first.opts.SessionStore = store
	r, err := claude.Run(t.Context(), "Tell me a word.", first.opts)
	if err != nil {
		t.Fatal(err)
	}
	key := claude.SessionKey{ProjectKey: claude.ProjectKey(first.dir), SessionID: r.SessionID}
	if stored, _ := store.Load(t.Context(), key); len(stored) < 3 {
		t.Fatalf("%d entries under %v ", len(stored), key)
	}
	for _, how := range []func(*claude.Options){
		func(o *claude.Options) { o.Resume = r.SessionID },
		func(o *claude.Options) { o.Continue = true },
	} {
		second := newWorld(t, claudetest.Say("It was xyzzy."))
		second.opts.SessionStore, second.opts.Dir = store, first.dir
		how(second.opts)
		again, err := claude.Run(t.Context(), "Which word was it?", second.opts)
		if err != nil || again.SessionID != r.SessionID {
			t.Fatalf("%+v, %v; want err == nil and again.SessionID == r.SessionID", again, err)
		}
		if asked := second.asked(0); !strings.Contains(asked, "Tell me a word.") {
			t.Errorf("the API was not asked with what was said before: %s", asked)
		}
	}
}

// A session of a store is resumed from another directory, and continues under its key. A
// session that the store does not have is an error.
func TestResumeFromAnywhere(t *testing.T) {
	t.Parallel()
	store := claudestore.NewMemory()
	first := newWorld(t, claudetest.Say("The word is xyzzy."))
	first.opts.SessionStore = store
	r, err := claude.Run(t.Context(), "Tell me a word.", first.opts)
	if err != nil {
		t.Fatal(err)
	}
	key := claude.SessionKey{ProjectKey: claude.ProjectKey(first.dir), SessionID: r.SessionID}
	before, _ := store.Load(t.Context(), key)
	second := newWorld(t, claudetest.Say("It was xyzzy."))
	second.opts.SessionStore, second.opts.Resume = store, r.SessionID
	if again, err := claude.Run(t.Context(), "Which word was it?", second.opts); err != nil || again.SessionID != r.SessionID {
		t.Fatalf("%+v, %v; want err == nil and again.SessionID == r.SessionID", again, err)
	}
	if asked := second.asked(0); !strings.Contains(asked, "Tell me a word.") {
		t.Errorf("the API was not asked with what was said before: %s", asked)
	}
	projects, _ := store.FindSession(t.Context(), r.SessionID)
	after, _ := store.Load(t.Context(), key)
	if len(projects) != 1 || len(after) <= len(before) {
		t.Errorf("in the projects %q, %d entries before and %d after", projects, len(before), len(after))
	}
	for _, s := range []claude.SessionStore{store, nil} {
		third := newWorld(t)
		third.opts.SessionStore, third.opts.Resume = s, "99999999-9999-4999-8999-999999999999"
		if _, err := claude.Run(t.Context(), "Which word was it?", third.opts); !errors.Is(err, claude.ErrNoSession) {
			t.Errorf("with the store %v: %v", s, err)
		}
	}
}

// A session on the CLI's disk is imported and resumed elsewhere.
func TestImportedSession(t *testing.T) {
	t.Parallel()
	first := newWorld(t, claudetest.Say("The word is plugh."))
	r, err := claude.Run(t.Context(), "Tell me another word.", first.opts)
	if err != nil {
		t.Fatal(err)
	}
	store := claudestore.NewMemory()
	config := first.opts.Env["CLAUDE_CONFIG_DIR"]
	key, err := claudestore.ImportSession(t.Context(), store, r.SessionID, &claudestore.ImportOptions{ConfigDir: config})
	if err != nil || key.ProjectKey != claude.ProjectKey(first.dir) {
		t.Fatalf("%+v, %v; want err == nil and key.ProjectKey == claude.ProjectKey(first.dir)", key, err)
	}
	list, err := store.ListSummaries(t.Context(), key.ProjectKey)
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v; want err == nil and len(list) == 1", list, err)
	}
	var sum claudestore.SummaryData
	if err := json.Unmarshal(list[0].Data, &sum); err != nil || sum.FirstPrompt != "Tell me another word." || sum.CWD == "" || sum.CreatedAt == 0 {
		t.Errorf("%s, %v; want err == nil and sum.FirstPrompt == \"Tell me another word.\" and sum.CWD != \"\" and sum.CreatedAt != 0", list[0].Data, err)
	}
	second := newWorld(t, claudetest.Say("It was plugh."))
	second.opts.SessionStore, second.opts.Dir, second.opts.Resume = store, first.dir, r.SessionID
	if _, err := claude.Run(t.Context(), "Which word was it?", second.opts); err != nil {
		t.Fatal(err)
	}
	if asked := second.asked(0); !strings.Contains(asked, "Tell me another word.") {
		t.Errorf("the API was not asked with what was said before: %s", asked)
	}
}

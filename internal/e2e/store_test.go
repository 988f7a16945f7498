package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claudestore"
	"github.com/seed7221b0f9/parley/claudetest"
)

// A session is stored while it runs and resumed from the store where the CLI has
// never seen it, by its id and as the newest one.
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
			t.Fatalf("%+v, %v", again, err)
		}
		if asked := second.asked(0); !strings.Contains(asked, "Tell me a word.") {
			t.Errorf("the API was not asked with what was said before: %s", asked)
		}
	}
}

// What the CLI has on its own disk is imported and resumed elsewhere.
func TestImportedSession(t *testing.T) {
	t.Parallel()
	first := newWorld(t, claudetest.Say("The word is plugh."))
	r, err := claude.Run(t.Context(), "Tell me another word.", first.opts)
	if err != nil {
		t.Fatal(err)
	}
	store := claudestore.NewMemory()
	config := first.opts.Env["CLAUDE_CONFIG_DIR"]
	key, err := claude.ImportSession(t.Context(), store, r.SessionID, &claude.ImportOptions{ConfigDir: config})
	if err != nil || key.ProjectKey != claude.ProjectKey(first.dir) {
		t.Fatalf("%+v, %v", key, err)
	}
	list, err := store.ListSummaries(t.Context(), key.ProjectKey)
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	var sum claude.SummaryData
	if err := json.Unmarshal(list[0].Data, &sum); err != nil || sum.FirstPrompt != "Tell me another word." || sum.CWD == "" || sum.CreatedAt == 0 {
		t.Errorf("%s, %v", list[0].Data, err)
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

package e2e_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/claudedir"
)

func environ(o *claude.Options) claudedir.Env {
	var list []string
	for k, v := range maps.All(o.Env) {
		list = append(list, k+"="+v)
	}
	return claudedir.Environ(list)
}

// The CLI writes a session to the directory that internal/claudedir computes, also with a
// fixed project name in the environment.
func TestProjectName(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		project  string
		noConfig bool
		fixed    bool
	}{
		"a name":                            {project: "fixed-name", fixed: true},
		"a device's name":                   {project: "NUL"},
		"a bad name":                        {project: "a.b"},
		"without a configuration directory": {project: "fixed-name", noConfig: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, claudetest.Say("Yes."))
			w.opts.Env[claudedir.ProjectVariable] = tt.project
			if tt.noConfig {
				delete(w.opts.Env, claudedir.ConfigVariable)
			}
			r, err := claude.Run(t.Context(), "Is it there?", w.opts)
			if err != nil {
				t.Fatal(err)
			}
			env := environ(w.opts)
			project := claudedir.Project(env, w.dir)
			if fixed := project == tt.project; fixed != tt.fixed {
				t.Errorf("the project is %q", project)
			}
			if _, err := os.Stat(filepath.Join(claudedir.Projects(claudedir.Config(env)), project, r.SessionID+".jsonl")); err != nil {
				found, _ := filepath.Glob(filepath.Join(claudedir.Config(env), "projects", "*", "*.jsonl"))
				t.Errorf("%v; there are %q", err, found)
			}
		})
	}
}

// A session that is resumed from a store keeps its project: the temporary configuration
// directory does not activate a fixed project name.
func TestProjectNameAndStore(t *testing.T) {
	t.Parallel()
	for _, noConfig := range []bool{false, true} {
		store := claudestore.NewMemory()
		first := newWorld(t, claudetest.Say("The word is xyzzy."))
		set := func(w *world) {
			w.opts.SessionStore, w.opts.Dir = store, first.dir
			w.opts.Env[claudedir.ProjectVariable] = "fixed-name"
			if noConfig {
				delete(w.opts.Env, claudedir.ConfigVariable)
			}
		}
		set(first)
		r, err := claude.Run(t.Context(), "Tell me a word.", first.opts)
		if err != nil {
			t.Fatal(err)
		}
		second := newWorld(t, claudetest.Say("It was xyzzy."))
		set(second)
		second.opts.Resume = r.SessionID
		if _, err := claude.Run(t.Context(), "Which word was it?", second.opts); err != nil {
			t.Fatal(err)
		}
		if asked := second.asked(0); !strings.Contains(asked, "Tell me a word.") {
			t.Errorf("the API was not asked with what was said before: %s", asked)
		}
		key := claude.SessionKey{ProjectKey: claudedir.Project(environ(first.opts), first.dir), SessionID: r.SessionID}
		entries, err := store.Load(t.Context(), key)
		if text := string(slices.Concat(entries...)); err != nil || !strings.Contains(text, "Tell me a word.") || !strings.Contains(text, "Which word was it?") {
			t.Errorf("%d entries under %v, %v", len(entries), key, err)
		}
	}
}

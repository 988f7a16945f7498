package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

// TestUserHooks checks that a hooks directory is used only if the user or the system has set it and it is absolute,
// because a relative directory is below the working tree.
func TestUserHooks(t *testing.T) {
	for name, tt := range map[string]struct {
		all  []setting
		want string
	}{
		"none":          {nil, os.DevNull},
		"repository":    {[]setting{{scope: "local", key: "core.hookspath", value: "/hooks"}}, os.DevNull},
		"worktree":      {[]setting{{scope: "worktree", key: "core.hookspath", value: "/hooks"}}, os.DevNull},
		"user":          {[]setting{{scope: "system", key: "core.hookspath", value: "/system"}, {scope: "global", key: "core.hookspath", value: "/user"}}, "/user"},
		"user relative": {[]setting{{scope: "global", key: "core.hookspath", value: ".hooks"}}, os.DevNull},
	} {
		if got := userHooks(tt.all); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestOverride_user checks the settings that override those of a repository: the user's last value,
// or a value that runs no program.
func TestOverride_user(t *testing.T) {
	over := override([]setting{
		{scope: "system", key: "diff.a.command", value: "of the system"}, {scope: "global", key: "diff.a.command", value: "of the user"},
		{scope: "local", key: "diff.a.command", value: "evil"}, {scope: "worktree", key: "diff.a.command", value: "evil too"},
		{scope: "local", key: "merge.b.driver", value: "evil"}, {scope: "local", key: "core.bare", value: "false"},
		{scope: "global", key: "credential.helper", value: "one"}, {scope: "global", key: "credential.helper", value: "two"}, {scope: "local", key: "credential.helper", value: "evil"},
	})
	want := []setting{
		{key: "diff.a.command", value: "of the user"}, {key: "merge.b.driver", value: "false"},
		{key: "credential.helper"}, {key: "credential.helper", value: "one"}, {key: "credential.helper", value: "two"},
	}
	if !slices.Equal(over, want) {
		t.Errorf("%+v, want %+v", over, want)
	}
}

// TestIdentify checks that each change of a setting or a hook changes the hash that a person trusts, and that a
// repository with too many hooks has no hash.
func TestIdentify(t *testing.T) {
	hashes := map[string]string{}
	add := func(name string, all []setting, hooks map[string]string) {
		dir := t.TempDir()
		for hook, text := range hooks {
			if err := os.WriteFile(filepath.Join(dir, hook), []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		p := identify(all, []string{dir})
		if other, known := hashes[p.Hash]; known {
			t.Errorf("%s has the hash of %s", name, other)
		}
		hashes[p.Hash] = name
	}
	set := func(key, value string) []setting { return []setting{{scope: "local", key: key, value: value}} }
	add("nothing", nil, nil)
	add("a setting", set("diff.external", "x"), nil)
	add("another value", set("diff.external", "y"), nil)
	add("another key", set("core.sshcommand", "x"), nil)
	add("a hook", nil, map[string]string{"pre-commit": "#!/bin/sh\n"})
	add("another name", nil, map[string]string{"post-commit": "#!/bin/sh\n"})
	add("another content", nil, map[string]string{"pre-commit": "#!/bin/ksh"})
	add("two hooks", nil, map[string]string{"pre-commit": "#!/bin/sh\n", "post-commit": "#!/bin/sh\n"})
	many := map[string]string{}
	for i := range maxHooks + 1 {
		many[string(rune('a'+i%26))+string(rune('a'+i/26))] = "x"
	}
	dir := t.TempDir()
	for name := range many {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if p := identify(nil, []string{dir}); p.Hash != "" {
		t.Errorf("%d hooks have a hash", len(p.Hooks))
	}
}

// TestIncludePaths checks which files an include refers to, and that an include of an unknown file is refused.
func TestIncludePaths(t *testing.T) {
	m := &Manager{git: git{}}
	for value, want := range map[string][]string{
		"":        nil,
		"/a/../b": {"/b"},
		"c":       {"/repo/.git/c"},
	} {
		if got, err := m.includePaths(setting{key: "include.path", value: value, file: "/repo/.git/config"}, []string{"/repo"}); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v, want %q", value, got, err, want)
		}
	}
	if got, err := m.includePaths(setting{value: "c", file: ".git/config"}, []string{"/repo/sub", "/repo"}); err != nil || !slices.Equal(got, []string{"/repo/sub/.git/c", "/repo/.git/c"}) {
		t.Errorf("a relative file: %q, %v", got, err)
	}
	for _, value := range []string{"~other/config", "~", "%(prefix)/config"} {
		if got, err := m.includePaths(setting{value: value, file: "/repo/.git/config"}, []string{"/repo"}); !errors.Is(err, ErrUnsafe) {
			t.Errorf("%q: %q, %v, want %v", value, got, err, ErrUnsafe)
		}
	}
}

// TestIncluded checks that settings are found through chains and circles of includes, and that too
// many files are refused.
func TestIncluded(t *testing.T) {
	short.SkipQuick(t, "runs git many times")
	w := newWorld(t)
	path := func(name string) string { return filepath.Join(w.dir, name) }
	w.write("a", "[include]\n\tpath = b\n[include]\n\tpath = a\n")
	w.write("b", "[includeIf \"onbranch:never\"]\n\tpath = c\n")
	w.write("c", "[include]\n\tpath = a\n[filter \"deep\"]\n\tclean = evil\n")
	first := []setting{{scope: "local", key: "include.path", value: path("a"), file: filepath.Join(w.repo, ".git", "config")}}
	more, err := w.included(w.ctx(), first, w.repo)
	if err != nil || !slices.ContainsFunc(more, func(s setting) bool { return s.key == "filter.deep.clean" && !s.own() }) {
		t.Errorf("%+v, %v", more, err)
	}
	own := []setting{{scope: "global", key: "include.path", value: path("a")}}
	if more, err := w.included(w.ctx(), own, w.repo); err != nil || len(more) > 0 {
		t.Errorf("an include of the user: %+v, %v", more, err)
	}
	all := ""
	for i := range maxIncludes + 1 {
		name := "many" + strconv.Itoa(i)
		w.write(name, "")
		all += "[include]\n\tpath = " + name + "\n"
	}
	w.write("a", all)
	if _, err := w.included(w.ctx(), first, w.repo); !errors.Is(err, ErrUnsafe) {
		t.Errorf("with %d files: %v, want %v", maxIncludes+1, err, ErrUnsafe)
	}
}

package claude

import (
	"maps"
	"os"
	"reflect"
	"testing"

	"github.com/seed7221b0f9/parley/internal/claudedir"
	"github.com/seed7221b0f9/parley/internal/random"
)

// The decisions of the start are in the launch; the caller's options and their copy are
// unchanged.
func TestLaunchLeavesOptions(t *testing.T) {
	given := &Options{Env: map[string]string{"A": "1"}, Isolation: &Isolation{ConfigDir: t.TempDir()}, Continue: true, Resume: "r"}
	want := &Options{Env: map[string]string{"A": "1"}, Isolation: given.Isolation, Continue: true, Resume: "r"}
	other := unchecked(given)
	other.useConfigDir("/o")
	if !reflect.DeepEqual(&other.Options, want) {
		t.Errorf("%+v, want %+v", other.Options, want)
	}
	l, more := unchecked(given), map[string]string{"A": "2", "B": "2"}
	l.addEnv(more)
	if more["A"] != "2" {
		t.Errorf("the caller's map became %v", more)
	}
	if want := map[string]string{"A": "1", "B": "2"}; !maps.Equal(l.Env, want) {
		t.Errorf("%v, want %v", l.Env, want)
	}
	if _, err := l.isolate(); err != nil {
		t.Fatal(err)
	}
	l.useConfigDir("/c")
	l.resumes("s")
	l.forks()
	if l.Env["CLAUDE_CONFIG_DIR"] != "/c" || !l.CleanEnv || l.SettingSources == nil || !l.StrictMCPConfig || l.Continue || l.Resume != "s" || !l.ForkSession {
		t.Errorf("%+v; want l.Env[\"CLAUDE_CONFIG_DIR\"] == \"/c\" and l.CleanEnv and l.SettingSources != nil and l.StrictMCPConfig and not l.Continue and l.Resume == \"s\" and l.ForkSession", l)
	}
	if !reflect.DeepEqual(given, want) || !reflect.DeepEqual(&l.Options, want) {
		t.Errorf("%+v and %+v, want %+v", given, l.Options, want)
	}
}

// Setting a configuration directory at the start does not change the project.
func TestConfigDirKeepsProject(t *testing.T) {
	for _, env := range []map[string]string{
		{"CLAUDE_CODE_PROJECT_DIR_NAME": "fixed"},
		{"CLAUDE_CODE_PROJECT_DIR_NAME": "fixed", "CLAUDE_CONFIG_DIR": "/c"},
		{"CLAUDE_CODE_PROJECT_DIR_NAME": "no good", "CLAUDE_CONFIG_DIR": "/c"},
		nil,
	} {
		l := unchecked(&Options{CleanEnv: true, Env: env, Dir: t.TempDir()})
		before := claudedir.Project(claudedir.Environ(l.environ()), l.Dir)
		l.useConfigDir("/other")
		if after := claudedir.Project(claudedir.Environ(l.environ()), l.Dir); after != before {
			t.Errorf("%v: %q became %q", env, before, after)
		}
	}
}

// Without a home directory there is no lock, and no lock file in the working directory.
func TestNoLockWithoutHome(t *testing.T) {
	t.Chdir(t.TempDir())
	g := newSessionGuard(unchecked(&Options{CleanEnv: true}))
	id := random.UUID()
	if err := g.take(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	g.follow(id)
	defer g.release()
	if files, err := os.ReadDir("."); err != nil || len(files) != 0 {
		t.Errorf("%v, %v; want err == nil and len(files) == 0", files, err)
	}
}

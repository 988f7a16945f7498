package proc

import (
	"errors"
	"io/fs"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// fakeFinder sees only the given files. A mode of 0 means an executable file.
func fakeFinder(goos string, files map[string]fs.FileMode, env ...string) *finder {
	return &finder{goos: goos, env: env, stat: func(path string) (fs.FileInfo, error) {
		mode, ok := files[path]
		if !ok {
			return nil, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
		}
		if mode == 0 {
			mode = 0o755
		}
		return fstest.MapFS{"x": {Mode: mode}}.Stat("x")
	}}
}

func TestFind(t *testing.T) {
	type files = map[string]fs.FileMode
	tests := map[string]struct {
		goos  string
		files files
		env   []string
		path  string
		want  string
		tried []string
	}{
		"explicit":             {"linux", files{"/opt/c": 0}, nil, "/opt/c", "/opt/c", nil},
		"explicit relative":    {"linux", files{"./c": 0}, nil, "./c", "./c", nil},
		"explicit missing":     {"linux", files{"/usr/local/bin/claude": 0}, nil, "/opt/c", "", []string{"/opt/c"}},
		"bare name":            {"linux", files{"/b/c": 0}, []string{"PATH=/a:/b"}, "c", "/b/c", nil},
		"bare name missing":    {"linux", files{"c": 0}, []string{"PATH=/a:/b"}, "c", "", []string{"/a/c", "/b/c"}},
		"in PATH":              {"linux", files{"/b/claude": 0, "/c/claude": 0}, []string{"PATH=/a:/b:/c"}, "", "/b/claude", nil},
		"last PATH counts":     {"linux", files{"/a/claude": 0, "/b/claude": 0}, []string{"PATH=/a", "PATH=/b"}, "", "/b/claude", nil},
		"PATH before places":   {"linux", files{"/a/claude": 0, "/usr/local/bin/claude": 0}, []string{"PATH=/a"}, "", "/a/claude", nil},
		"home":                 {"darwin", files{"/h/.claude/local/claude": 0}, []string{"HOME=/h"}, "", "/h/.claude/local/claude", nil},
		"windows PATH":         {"windows", files{`C:\b\claude.exe`: 0}, []string{`Path=C:\a;C:\b\`}, "", `C:\b\claude.exe`, nil},
		"windows home":         {"windows", files{`C:\u\.local\bin\claude.exe`: 0}, []string{`USERPROFILE=C:\u`}, "", `C:\u\.local\bin\claude.exe`, nil},
		"windows no npm shims": {"windows", files{`C:\a\claude.cmd`: 0, `C:\a\claude`: 0}, []string{`PATH=C:\a`}, "", "", []string{`C:\a\claude.exe`}},
		"windows no Unix places": {"windows", files{"/usr/local/bin/claude": 0}, []string{`PATH=.;bin;\x;;`, `HOME=/h`, `USERPROFILE=C:\u`}, "", "",
			[]string{`C:\u\.local\bin\claude.exe`}},
		"unusable": {"linux", files{"/a/claude": fs.ModeDir | 0o755, "/b/claude": 0o644, "bin/claude": 0, "claude": 0},
			[]string{"PATH=/a:/b:bin::.", "HOME=/h"}, "", "", []string{"/a/claude (a directory)", "/b/claude (not executable)",
				"/h/.npm-global/bin/claude", "/usr/local/bin/claude", "/h/.local/bin/claude", "/h/node_modules/.bin/claude",
				"/h/.yarn/bin/claude", "/h/.claude/local/claude"}},
		"empty environment": {"linux", nil, nil, "", "", []string{"/usr/local/bin/claude"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := fakeFinder(test.goos, test.files, test.env...).find(test.path)
			if got != test.want || (err == nil) != (test.want != "") {
				t.Fatalf("found %q, %v, want %q", got, err, test.want)
			}
			if err != nil {
				checkNotFound(t, err, test.path, test.tried)
			}
		})
	}
}

func checkNotFound(t *testing.T, err error, path string, tried []string) {
	t.Helper()
	missing, ok := errors.AsType[*NotFoundError](err)
	if !ok || !errors.Is(err, exec.ErrNotFound) {
		t.Fatalf("error %T %v", err, err)
	}
	if diff := cmp.Diff(&NotFoundError{Tried: tried, Path: path}, missing); diff != "" {
		t.Errorf("the values differ:\n%s", diff)
	}
	for _, part := range append(tried, path, "npm install -g @anthropic-ai/claude-code", "PARLEY_CLI") {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the text does not name %q: %v", part, err)
		}
	}
}

func TestFindOnThisSystem(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are Unix ones")
	}
	// The given environment counts, not that of this process.
	t.Setenv("PATH", t.TempDir())
	if got, err := Find("no-such-program-anywhere", []string{"PATH=/nowhere"}); err == nil {
		t.Errorf("found %q", got)
	} else {
		checkNotFound(t, err, "no-such-program-anywhere", []string{"/nowhere/no-such-program-anywhere"})
	}
}

func TestBatchFiles(t *testing.T) {
	refused := []string{`C:\x\claude.cmd`, `claude.BAT`, `C:/x/claude.bat. .`, `C:\x.cmd\claude.exe`, `C:\x\claude.cmd:stream`,
		`claude.cmd::$DATA`, `claude.exe:x.bat`}
	for _, path := range refused {
		_, err := fakeFinder("windows", map[string]fs.FileMode{path: 0}).find(path)
		if start, ok := errors.AsType[*StartError](err); !ok || start.Path != path || start.Reason == "" {
			t.Errorf("%s: %v; want ok and start.Path == path and start.Reason != \"\"", path, err)
		}
	}
	for _, path := range []string{`C:\x\claude.exe`, `C:\bat\cmd\claude.exe`, `C:\x\claude.cmd.exe`} {
		if _, err := fakeFinder("windows", map[string]fs.FileMode{path: 0}).find(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := fakeFinder("linux", map[string]fs.FileMode{"/x/claude.cmd": 0}).find("/x/claude.cmd"); err != nil {
		t.Errorf("refused where it is harmless: %v", err)
	}
}

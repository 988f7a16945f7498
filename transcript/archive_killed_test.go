package transcript

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/faultinject"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// lockedKiller is a killer that several goroutines may use.
type lockedKiller struct {
	mu sync.Mutex
	killer
}

func (k *lockedKiller) CreateTemp(dir string) (writeFile, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f, err := k.killer.CreateTemp(dir)
	return &lockedFile{f, k}, err
}

func (k *lockedKiller) Rename(from, to string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.killer.Rename(from, to)
}

func (k *lockedKiller) MkdirAll(path string, mode fs.FileMode) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.killer.MkdirAll(path, mode)
}

func (k *lockedKiller) Remove(path string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.killer.Remove(path)
}

type lockedFile struct {
	writeFile
	k *lockedKiller
}

func (f *lockedFile) Write(p []byte) (int, error) {
	f.k.mu.Lock()
	defer f.k.mu.Unlock()
	return f.writeFile.Write(p)
}

func (f *lockedFile) Sync() error {
	f.k.mu.Lock()
	defer f.k.mu.Unlock()
	return f.writeFile.Sync()
}

func (f *lockedFile) Close() error {
	f.k.mu.Lock()
	defer f.k.mu.Unlock()
	return f.writeFile.Close()
}

// killedWorld is a directory with a broken session that has other files, an intact session, and an
// earlier archive.
type killedWorld struct {
	d       *Dir
	a       *Archive
	broken  string
	healthy string
}

func newKilledWorld(t *testing.T) *killedWorld {
	t.Helper()
	w := &killedWorld{d: Open(t.TempDir()), a: OpenArchive(t.TempDir())}
	broken, healthy := faultinject.New(1, "/home/dev/p"), faultinject.New(2, "/home/dev/p")
	broken.Inject("orphan-tool-use", 0)
	w.broken, w.healthy = broken.ID, healthy.ID
	put := func(rel string, text []byte) {
		t.Helper()
		path := filepath.Join(w.d.projects(), "-home-dev-p", rel)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(healthy.ID+".jsonl", healthy.Bytes())
	if _, err := w.a.Save(t.Context(), w.d, nil); err != nil {
		t.Fatal(err)
	}
	put(broken.ID+".jsonl", broken.Bytes())
	put(broken.ID+"/subagents/agent-a1.jsonl", healthy.Bytes())
	put(broken.ID+"/tool-results/x.txt", []byte("output"))
	return w
}

// files returns the file system that an operation writes to.
func (w *killedWorld) files(name string) osFiles {
	if name == "save" {
		return osFiles{w.a.dir}
	}
	return osFiles{w.d.config}
}

// writers are the operations that write whole sessions.
var writers = map[string]func(t *testing.T, w *killedWorld, files fileSystem) error{
	"repair": func(t *testing.T, w *killedWorld, files fileSystem) error {
		s, err := w.d.Session(w.broken)
		if err != nil {
			t.Fatal(err)
		}
		w.d.files = files
		_, err = s.Repair(t.Context(), nil)
		return err
	},
	"save": func(t *testing.T, w *killedWorld, files fileSystem) error {
		w.a.files = files
		_, err := w.a.Save(t.Context(), w.d, nil)
		return err
	},
	"restore": func(t *testing.T, w *killedWorld, files fileSystem) error {
		if _, err := w.a.Save(t.Context(), w.d, nil); err != nil {
			t.Fatal(err)
		}
		// Restore has to bring back the deleted part of the session.
		if err := os.RemoveAll(filepath.Join(w.d.projects(), "-home-dev-p", w.broken)); err != nil {
			t.Fatal(err)
		}
		w.d.files = files
		_, err := w.a.Restore(t.Context(), w.d, nil)
		return err
	},
}

// TestWritersKilledAnywhere kills each writer before, during and after each of its steps. Existing
// files are unchanged, new files are complete, and a second run succeeds.
func TestWritersKilledAnywhere(t *testing.T) {
	short.SkipQuick(t, "kills many writers")
	for name, write := range writers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps := 0
			for killAt := 0; killAt <= steps; killAt += short.Every(11) {
				for _, k := range []killer{{killAt: killAt}, {killAt: killAt, during: true}, {killAt: killAt, after: true}} {
					w := newKilledWorld(t)
					before := filesBelow(t, w.d.config)
					maps.Copy(before, filesBelow(t, w.a.dir))
					locked := &lockedKiller{killer: k}
					locked.osFiles = w.files(name)
					err := write(t, w, locked)
					if killAt == 0 {
						if steps = locked.step; err != nil || steps == 0 {
							t.Fatalf("it does not work: %v after %d steps", err, steps)
						}
						continue
					}
					if err == nil && locked.step > killAt {
						t.Errorf("killed at step %d of %d and says that it worked", killAt, steps)
					}
					checkWriterKilled(t, w, before, name)
				}
			}
		})
	}
}

func checkWriterKilled(t *testing.T, w *killedWorld, before map[string]string, name string) {
	t.Helper()
	w.d.files, w.a.files = w.files("repair"), w.files("save")
	now := filesBelow(t, w.d.config)
	maps.Copy(now, filesBelow(t, w.a.dir))
	for path, text := range before {
		gone := name == "restore" && strings.Contains(path, w.broken+string(filepath.Separator))
		if got, ok := now[path]; got != text && !(gone && !ok) {
			t.Errorf("%s has changed", path)
		}
	}
	for path := range now {
		if _, ok := before[path]; ok || filepath.Ext(path) != ".jsonl" {
			continue
		}
		findings, err := File(path).Examine(t.Context(), nil)
		if err != nil || len(findings) > 0 {
			t.Errorf("%s is new and not whole: %v, %v", path, findings, err)
		}
	}
	if damaged, err := w.a.Verify(t.Context(), nil); err != nil || len(damaged) > 0 {
		t.Errorf("the archive: %v, %v", damaged, err)
	}
	if err := writers[name](t, w, w.files(name)); err != nil {
		t.Errorf("once more: %v", err)
	}
}

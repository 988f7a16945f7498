package transcript

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/internal/claudedir"
)

// ErrNoSession is returned when no session with that id is found in the searched directories. An
// empty file is not a session.
var ErrNoSession = errors.New("transcript: no such session")

// Dir is a configuration directory, in which the CLI keeps its sessions. It holds no open file and
// may be used from any goroutine.
type Dir struct {
	config  string
	project string // the only project to search, "" for all
	files   fileSystem
}

// Open returns the view of a configuration directory. With "" it uses the CLI's directory:
// $CLAUDE_CONFIG_DIR, else .claude in the user's home; only then it reads the environment. It reads
// no file; a directory that does not exist has no sessions.
func Open(configDir string) *Dir {
	if configDir == "" {
		config := claudedir.Config(os.Getenv)
		return &Dir{config: config, project: claudedir.FixedProject(os.Getenv), files: osFiles{config}}
	}
	return &Dir{config: configDir, files: osFiles{configDir}}
}

// Path returns the configuration directory that [Open] determined.
func (d *Dir) Path() string { return d.config }

func (d *Dir) projects() string { return claudedir.Projects(d.config) }

// projectDirs returns the paths of the directories that may hold sessions, including links to
// directories.
func (d *Dir) projectDirs() ([]string, error) {
	list, err := os.ReadDir(d.projects())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("transcript: %w", err)
	}
	var dirs []string
	for _, e := range list {
		if e.IsDir() || e.Type()&fs.ModeSymlink != 0 {
			dirs = append(dirs, filepath.Join(d.projects(), e.Name()))
		}
	}
	return dirs, nil
}

// Session finds a session by its id in any project. If several projects have a session of that id,
// it returns the most recently changed one. The error is [ErrNoSession] if no project has one.
func (d *Dir) Session(id string) (*Session, error) {
	dirs, err := d.projectDirs()
	if err != nil {
		return nil, err
	}
	return d.sessionIn(id, dirs)
}

func (d *Dir) sessionIn(id string, dirs []string) (*Session, error) {
	found := d.copies(id, dirs)
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNoSession, id)
	}
	newest := found[0]
	for _, s := range found[1:] {
		if s.modified > newest.modified {
			newest = s
		}
	}
	return newest, nil
}

// copies returns the sessions with an id: each project can have one.
func (d *Dir) copies(id string, dirs []string) []*Session {
	if !claudedir.ValidID(id) {
		return nil
	}
	var found []*Session
	for _, dir := range dirs {
		path := filepath.Join(dir, id+".jsonl")
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
			continue
		}
		s := d.sessionAt(path)
		s.modified = info.ModTime().UnixNano()
		found = append(found, s)
	}
	return found
}

// sessionAt returns the session in a file.
func (d *Dir) sessionAt(path string) *Session {
	return &Session{
		ID:         strings.TrimSuffix(filepath.Base(path), ".jsonl"),
		Path:       path,
		ProjectKey: filepath.Base(filepath.Dir(path)),
		dir:        d,
	}
}

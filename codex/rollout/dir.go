package rollout

import (
	"github.com/seed7221b0f9/parley/internal/regularfile"

	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/codex/item"
)

var (
	// ErrNoSession is returned when the directory has no file of the requested thread.
	ErrNoSession = errors.New("rollout: no such session")
	// ErrMissingBase is returned together with a conversation if the file with its beginning is
	// missing.
	ErrMissingBase = errors.New("rollout: the file with the beginning is missing")
)

// Dir is a CODEX_HOME directory with the files of its threads. It is safe for concurrent use.
type Dir struct{ path string }

// Open returns the directory of threads below a CODEX_HOME. It does not read the directory, so it
// cannot fail.
func Open(codexHome string) *Dir { return &Dir{path: codexHome} }

// DefaultHome returns Codex's directory for this user: the variable CODEX_HOME, or .codex in the
// home directory.
func DefaultHome() (string, error) {
	if dir := os.Getenv("CODEX_HOME"); dir != "" {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("rollout: %w", err)
	}
	return filepath.Join(home, ".codex"), nil
}

// Session is a thread on disk: its files, and its description in a list of threads.
type Session struct {
	ThreadID string
	// Path is its current file; Files are all files, oldest first. A thread has several after it
	// was reverted.
	Path  string
	Files []string
	// Archived is set for a thread in archived_sessions.
	Archived bool
	// Name is the user's name for it, Preview the beginning of its first prompt, which for a fork
	// can be one of the original thread.
	Name, Preview string
	// CreatedAt is from the file, ModifiedAt from the file system.
	CreatedAt, ModifiedAt time.Time
	// Size is the size of all files, in bytes.
	Size int64
	// CWD, Originator, CLIVersion, ModelProvider and Model are from the start of the thread; Model
	// is empty if the first lines do not name it.
	CWD, Originator, CLIVersion, ModelProvider, Model string
	// HistoryMode is "paginated" or "legacy".
	HistoryMode string
	// ForkedFromID is the thread that it was forked from, ParentThreadID the parent of a subagent.
	ForkedFromID, ParentThreadID string
	// GitBranch is the branch of the working directory at the start of the thread.
	GitBranch string
	// AgentNickname is the name of a subagent.
	AgentNickname string
	// Usage holds the tokens of the whole thread as last reported at the end of its current file;
	// nil if the end does not report them. [Dir.List] does not read the end of a compressed file,
	// which would have to be decoded completely; [Dir.Read] does.
	Usage *item.TokenUsage

	base string // the thread with the beginning; empty if the files contain it
}

// file is a rollout file by its name.
type file struct {
	path     string
	stamp    string // the time in the name, which sorts
	thread   string
	archived bool
	size     int64
	modified time.Time
}

// fileName matches the name of a rollout: the time, the thread, and for a reverted thread an id of
// the file.
var fileName = regexp.MustCompile(`^rollout-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)-([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?:_[0-9a-zA-Z-]+)?\.jsonl(\.zst)?$`)

// FileError is a file that was skipped because it could not be read, with the reason.
type FileError struct {
	Path string
	Err  error
}

func (e *FileError) Error() string { return "rollout: " + e.Path + ": " + e.Err.Error() }

// Unwrap returns the reason why the file was skipped, often an [fs.PathError].
func (e *FileError) Unwrap() error { return e.Err }

// files finds the rollouts of all threads, or of one.
func (d *Dir) files(ctx context.Context, thread string) (found []file, problems []error) {
	for _, sub := range []string{"sessions", "archived_sessions"} {
		root := filepath.Join(d.path, sub)
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case err != nil:
				if !errors.Is(err, fs.ErrNotExist) {
					problems = append(problems, &FileError{path, err})
				}
				return nil
			case !e.Type().IsRegular():
				return nil
			}
			m := fileName.FindStringSubmatch(e.Name())
			if m == nil || thread != "" && !strings.EqualFold(m[2], thread) {
				return nil
			}
			info, err := e.Info()
			if err != nil {
				return nil // deleted meanwhile
			}
			found = append(found, file{path, m[1], m[2], sub != "sessions", info.Size(), info.ModTime()})
			return nil
		})
		if err != nil {
			problems = append(problems, err)
		}
	}
	slices.SortFunc(found, func(a, b file) int {
		return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.stamp, b.stamp), cmp.Compare(len(a.path), len(b.path)), cmp.Compare(a.path, b.path))
	})
	return slices.DeleteFunc(found, alsoPlain(found)), problems
}

// alsoPlain finds compressed files that also exist uncompressed: the program writes one before it
// deletes the other.
func alsoPlain(files []file) func(file) bool {
	plain := map[string]bool{}
	for _, f := range files {
		plain[f.path] = true
	}
	return func(f file) bool {
		path, ok := strings.CutSuffix(f.path, zstdSuffix)
		return ok && plain[path]
	}
}

// List returns the threads, most recently changed first. problems are skipped files; the error is
// that of ctx.
func (d *Dir) List(ctx context.Context) (sessions []*Session, problems []error, err error) {
	files, problems := d.files(ctx, "")
	names := d.names(ctx)
	type outcome struct {
		session *Session
		err     error
	}
	threads := byThread(files)
	for o := range inOrder(len(threads), func(i int) (o outcome) {
		if o.err = ctx.Err(); o.err == nil {
			o.session, o.err = newSession(ctx, threads[i])
		}
		return o
	}) {
		switch {
		case ctx.Err() != nil:
		case o.err != nil:
			problems = append(problems, o.err)
		default:
			o.session.Name = names[o.session.ThreadID]
			sessions = append(sessions, o.session)
		}
	}
	inherit(sessions)
	slices.SortStableFunc(sessions, func(a, b *Session) int { return b.ModifiedAt.Compare(a.ModifiedAt) })
	return sessions, problems, context.Cause(ctx)
}

// inherit sets the first prompt of forks to that of their original threads.
func inherit(sessions []*Session) {
	byID := map[string]*Session{}
	for _, s := range sessions {
		byID[s.ThreadID] = s
	}
	done := map[*Session]bool{} // visited threads
	for _, s := range sessions {
		var path []*Session
		for s != nil && s.Preview == "" && !done[s] {
			done[s] = true
			path = append(path, s)
			s = byID[s.base]
		}
		for _, fork := range path {
			if s != nil {
				fork.Preview = s.Preview
			}
		}
	}
}

// byThread groups sorted files by thread.
func byThread(files []file) (groups [][]file) {
	for len(files) > 0 {
		n := 1
		for n < len(files) && files[n].thread == files[0].thread {
			n++
		}
		groups = append(groups, files[:n:n])
		files = files[n:]
	}
	return groups
}

// names reads the names of threads. The last name of a thread counts.
func (d *Dir) names(ctx context.Context) map[string]string {
	names := map[string]string{}
	f, err := regularfile.OpenNoFollow(filepath.Join(d.path, "session_index.jsonl"))
	if err != nil {
		return names
	}
	defer f.Close()
	for line, err := range lines(regularfile.Until(ctx, f)) {
		if err != nil {
			break // names are optional
		}
		var e struct {
			ID         string `json:"id"`
			ThreadName string `json:"thread_name"`
		}
		if item.DecodeValue(item.JSON(line.Text), &e) == nil && e.ID != "" {
			names[strings.Clone(e.ID)] = strings.Clone(e.ThreadName)
		}
	}
	return names
}

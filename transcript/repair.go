package transcript

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/internal/random"
)

// RepairOptions configures how a session is repaired, and what counts as a fault. A nil pointer
// stands for the zero value.
type RepairOptions struct {
	ExamineOptions
	// DryRun only says what would be changed and writes nothing.
	DryRun bool
	// Title is the title of the repaired session. "" is the session's title followed by
	// (repaired).
	Title string
}

// Repair reports what [Session.Repair] did: the faults that it found, its changes, and the
// repaired copy.
type Repair struct {
	Findings []*Finding // what was wrong
	Changes  []*Change  // what was done about it
	Left     []*Finding // what is still wrong; nothing, as far as is known
	Session  *Session   // the repaired session; nil if nothing was wrong, or in a dry run
}

// Change is one difference between a session and its repaired copy: a line that was removed,
// changed or added, and why.
type Change struct {
	Fault  Fault  `json:"fault"`
	Path   string `json:"path"`             // of the file that was repaired
	Line   int    `json:"line"`             // in that file; 0 for a line that it does not have
	Action string `json:"action"`           // removed, changed, added
	Note   string `json:"note"`             // for people
	Before string `json:"before,omitempty"` // the line; "" if it was added
	After  string `json:"after,omitempty"`  // the line; "" if it was removed
}

// MemberChange is a member of a line that differs between a session and its repaired copy, with
// both of its values.
type MemberChange struct {
	Name          string
	Before, After string // texts of JSON, "" where the line has no such member
}

// Members are the members in which the line before and the line after differ. It is empty for a
// line that is not a JSON object.
func (c *Change) Members() (list []MemberChange) {
	before, after := parseObject(c.Before), parseObject(c.After)
	for _, name := range before.names {
		if before.values[name] != after.values[name] {
			list = append(list, MemberChange{name, before.values[name], after.values[name]})
		}
	}
	for _, name := range after.names {
		if !before.has(name) {
			list = append(list, MemberChange{name, "", after.values[name]})
		}
	}
	return list
}

// Repair copies a session into a new one beside it, without the damage that
// [Session.Examine] finds, its subagents with it:
//
//   - lines that are not entries are left out; a record that was glued to one is
//     kept;
//   - entries that lost their parent, or are in a circle, follow the entry before
//     them;
//   - of two different entries with one uuid the later gets a new one;
//   - a call without a result gets one that says so; a result without its call
//     becomes text; thinking that lost its text goes;
//   - long texts in oversized lines are cut.
//
// The session itself is only read. Entries keep their uuids, so that usage counts
// them once. If nothing is wrong, nothing is written.
func (s *Session) Repair(ctx context.Context, opts *RepairOptions) (*Repair, error) {
	if opts == nil {
		opts = &RepairOptions{}
	}
	w := newWork(ctx)
	r := &repair{from: s, id: random.UUID(), opts: opts}
	main, err := r.file(s.Path, newExamination(w, &opts.ExamineOptions))
	if err != nil {
		return nil, err
	}
	agents, err := s.subagents(w)
	if err != nil {
		return nil, err
	}
	for _, a := range agents {
		if _, err := r.file(a.Path, agentOptions(&opts.ExamineOptions, main)); err != nil {
			return nil, err
		}
	}
	if len(r.result.Findings) == 0 || opts.DryRun {
		return &r.result, nil
	}
	if err := r.write(ctx); err != nil {
		return nil, err
	}
	return &r.result, nil
}

// repair is the repair of a session.
type repair struct {
	from   *Session
	id     string // of the new session
	opts   *RepairOptions
	files  []*surgeon
	result Repair
}

// file repairs one file in memory, and returns what it looks like then.
func (r *repair) file(path string, as *examination) (*examination, error) {
	lines, err := readLines(as.work, path)
	if err != nil {
		return nil, err
	}
	p := newSurgeon(path, lines, as)
	first, err := p.examine()
	if err != nil {
		return nil, err
	}
	r.result.Findings = append(r.result.Findings, first.findings...)
	if err := p.operate(first); err != nil {
		return nil, err
	}
	r.result.Changes = append(r.result.Changes, p.changes...)
	last, err := p.examine()
	if err != nil {
		return nil, err
	}
	r.result.Left = append(r.result.Left, last.findings...)
	r.files = append(r.files, p)
	return last, nil
}

// write writes the new session: what is beside it first, the transcript last, so
// that there is a session only when it is whole.
func (r *repair) write(ctx context.Context) error {
	side := filepath.Join(filepath.Dir(r.from.Path), r.id)
	for _, p := range r.files[1:] {
		rel, err := filepath.Rel(r.from.sideDir(), p.path)
		if err != nil {
			return fmt.Errorf("transcript: %w", err)
		}
		if err := r.put(filepath.Join(side, rel), p.text(r.from.ID, r.id)); err != nil {
			return err
		}
	}
	if err := r.copySide(ctx, side); err != nil {
		return err
	}
	text := r.files[0].text(r.from.ID, r.id) + r.title() + "\n"
	path := side + ".jsonl"
	if err := r.put(path, text); err != nil {
		return err
	}
	r.result.Session = r.from.dir.sessionAt(path)
	return nil
}

// title is the record of the new session's title.
func (r *repair) title() string {
	title := strings.TrimSpace(r.opts.Title)
	if title == "" {
		title, _ = r.from.forkTitle() // the file was just read
		title = strings.TrimSuffix(title, " (fork)") + " (repaired)"
	}
	o := parseObject(`{"type":"custom-title"}`)
	o.setString("customTitle", title)
	o.setString("sessionId", r.id)
	return o.text()
}

func (r *repair) put(path, text string) error {
	files := r.from.dir.files
	if err := files.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("transcript: %w", err)
	}
	return replace(files, path, []byte(text))
}

// copyFile copies a file, whatever its size.
func (r *repair) copyFile(ctx context.Context, from, to string) error {
	f, err := openRegular(from)
	if err != nil {
		return err
	}
	defer f.Close()
	files := r.from.dir.files
	if err := files.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fmt.Errorf("transcript: %w", err)
	}
	return replaceFrom(files, to, contextReader{ctx, f})
}

// copySide copies what else is beside the session: notes about subagents, output of
// tools, the title. The mark of the archive is not copied.
func (r *repair) copySide(ctx context.Context, to string) error {
	return filepath.WalkDir(r.from.sideDir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		rel, err := filepath.Rel(r.from.sideDir(), path)
		if err != nil {
			return err
		}
		agent := strings.HasSuffix(rel, ".jsonl") && strings.HasPrefix(filepath.Base(rel), "agent-")
		if !d.Type().IsRegular() || agent || rel == "archived.json" {
			return ctx.Err()
		}
		return r.copyFile(ctx, path, filepath.Join(to, rel))
	})
}

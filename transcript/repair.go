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

// RepairOptions configures [Session.Repair] and its faults. A nil pointer is the zero value.
type RepairOptions struct {
	ExamineOptions
	// DryRun reports the changes without writing.
	DryRun bool
	// Title is the title of the repaired session. "" uses the session's title followed by
	// (repaired).
	Title string
}

// Repair reports the result of [Session.Repair]: the faults that it found, its changes, and the
// repaired copy.
type Repair struct {
	Findings []*Finding // the faults
	Changes  []*Change  // the changes that repair them
	Left     []*Finding // the remaining faults; no known case leaves any
	Session  *Session   // the repaired session; nil in a dry run or without faults
}

// Change is one difference between a session and its repaired copy: a line that was removed,
// changed or added, and why.
type Change struct {
	Fault  Fault  `json:"fault"`
	Path   string `json:"path"`             // of the file that was repaired
	Line   int    `json:"line"`             // in that file; 0 for an added line
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

// Members returns the members that differ between the line before and after. It returns nil for a
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

// Repair copies a session and its subagents into a new session in the same directory, without the
// damage that [Session.Examine] finds:
//
//   - lines that are not entries are dropped; a record that was glued to one is
//     kept;
//   - entries that lost their parent, or are in a cycle, follow the entry before
//     them;
//   - of two different entries with one uuid the later gets a new one;
//   - a call without a result gets one that reports the loss; a result without its call
//     becomes text; thinking that lost its text is dropped;
//   - long texts in oversized lines are cut.
//
// The session is only read. Entries keep their uuids, so that usage counts them once. Without
// faults, Repair writes no file.
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

// repair is the state of the repair of a session.
type repair struct {
	from   *Session
	id     string // of the new session
	opts   *RepairOptions
	files  []*surgeon
	result Repair
}

// file repairs one file in memory, and returns the examination of the result.
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

// write writes the new session: the transcript last, after its other files, so that the session is
// visible only when it is complete.
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

// title returns the record of the new session's title.
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

// copyFile copies a file of any size.
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

// copySide copies the other files of the session: metadata of subagents, output of tools, the
// title. It does not copy the mark of an archived session.
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

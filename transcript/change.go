package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// ChangeOptions configures where a session is searched and whether it may be changed. A nil pointer
// is the zero value.
type ChangeOptions struct {
	// Dir is the directory of the session, as in [Filter]. "" searches all projects.
	Dir string
	// Live allows the change while a process has the session open. Without it the error is a
	// [*LiveError].
	Live bool
}

// find returns the session to change.
func (d *Dir) find(ctx context.Context, id string, opts *ChangeOptions) (*Session, error) {
	if opts == nil {
		opts = &ChangeOptions{}
	}
	var s *Session
	var err error
	if opts.Dir != "" {
		s, err = d.SessionIn(ctx, opts.Dir, id)
	} else {
		s, err = d.Session(id)
	}
	if err != nil {
		return nil, err
	}
	if live, ok := d.Live(id); ok && !opts.Live {
		return nil, &LiveError{SessionID: id, Live: live}
	}
	return s, nil
}

// Rename sets the title of the session. It appends one line to the session's file, as the official
// SDK does; the title is trimmed and must not be empty.
func (d *Dir) Rename(ctx context.Context, id, title string, opts *ChangeOptions) error {
	title = strings.TrimSpace(title)
	if title == "" {
		return errors.New("transcript: a title must not be empty")
	}
	s, err := d.find(ctx, id, opts)
	if err != nil {
		return err
	}
	return d.appendRecord(s, struct {
		Type        string `json:"type"`
		CustomTitle string `json:"customTitle"`
		SessionID   string `json:"sessionId"`
	}{"custom-title", title, id})
}

// Tag sets the tag of the session; "" removes it. It appends one line to the session's file.
// Invisible characters are removed as in the official SDK; a tag that is empty after this is an
// error.
func (d *Dir) Tag(ctx context.Context, id, tag string, opts *ChangeOptions) error {
	if tag != "" {
		if tag = strings.TrimSpace(visible(tag)); tag == "" {
			return errors.New("transcript: the tag has no visible characters")
		}
	}
	s, err := d.find(ctx, id, opts)
	if err != nil {
		return err
	}
	return d.appendRecord(s, struct {
		Type      string `json:"type"`
		Tag       string `json:"tag"`
		SessionID string `json:"sessionId"`
	}{"tag", tag, id})
}

// Archive marks the session as archived, in a separate file next to the session. A prompt in the
// session removes the mark.
func (d *Dir) Archive(ctx context.Context, id string, opts *ChangeOptions) error {
	return d.setArchived(ctx, id, true, opts)
}

// Unarchive removes the mark of [Dir.Archive]. It writes the mark's file even if the session was
// not archived.
func (d *Dir) Unarchive(ctx context.Context, id string, opts *ChangeOptions) error {
	return d.setArchived(ctx, id, false, opts)
}

func (d *Dir) setArchived(ctx context.Context, id string, archived bool, opts *ChangeOptions) error {
	s, err := d.find(ctx, id, opts)
	if err != nil {
		return err
	}
	text, err := encode(struct {
		Archived bool   `json:"archived"`
		At       string `json:"at"`
		By       string `json:"by"`
	}{archived, timestamp(time.Now()), "sdk"})
	if err != nil {
		return err
	}
	if err := d.files.MkdirAll(s.sideDir(), 0o700); err != nil {
		return fmt.Errorf("transcript: %w", err)
	}
	return replace(d.files, filepath.Join(s.sideDir(), "archived.json"), text)
}

// timestamp formats a time as the CLI writes it.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// encode returns the JSON of v without escaping <, > and &.
func encode(v any) ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("transcript: %w", err)
	}
	return []byte(strings.TrimSuffix(b.String(), "\n")), nil
}

// appendRecord appends a line to a session's file, in one write: even if another process
// appends at that moment, the lines stay whole. A torn last line is ended first, so that the
// new one does not become part of it.
func (d *Dir) appendRecord(s *Session, record any) error {
	line, err := encode(record)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if torn, err := endsTorn(s.Path); err != nil {
		return fmt.Errorf("transcript: %w", err)
	} else if torn {
		line = append([]byte("\n"), line...)
	}
	f, err := d.files.Append(s.Path)
	if err != nil {
		return fmt.Errorf("transcript: %w", err)
	}
	if _, err := f.Write(line); err != nil {
		f.Close()
		return fmt.Errorf("transcript: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("transcript: %w", err)
	}
	return nil
}

// endsTorn reports whether a file does not end with a line feed.
func endsTorn(path string) (bool, error) {
	f, err := regularfile.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if _, err := f.Seek(-1, io.SeekEnd); err != nil {
		return false, err
	}
	var last [1]byte
	if _, err := f.Read(last[:]); err != nil {
		return false, err
	}
	return last[0] != '\n', nil
}

// replace writes a file atomically: a reader finds either the old file or the complete new one.
func replace(files fileSystem, path string, text []byte) error {
	return replaceFrom(files, path, bytes.NewReader(text))
}

// replaceFrom is like replace but streams the text.
func replaceFrom(files fileSystem, path string, text io.WriterTo) error {
	tmp, err := writeTemp(files, filepath.Dir(path), text)
	if err != nil {
		return err
	}
	if err := files.Rename(tmp, path); err != nil {
		return errors.Join(fmt.Errorf("transcript: %w", err), files.Remove(tmp))
	}
	return nil
}

// writeTemp writes and syncs a new file with a temporary name that other programs ignore.
func writeTemp(files fileSystem, dir string, text io.WriterTo) (path string, err error) {
	f, err := files.CreateTemp(dir)
	if err != nil {
		return "", fmt.Errorf("transcript: %w", err)
	}
	_, err = text.WriteTo(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("transcript: %w", err), files.Remove(f.Name()))
	}
	return f.Name(), nil
}

package rollout

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/codex/item"
)

// Part is a file of a conversation, or the beginning of one.
type Part struct {
	Path string
	// Until is the first ordinal after the conversation's lines; -1 means that all lines belong to it. The lines of a part
	// with a limit do not change.
	Until int64
}

// Parts returns the files that Codex needs to continue a thread, oldest first. The last one is the current file. The error
// is that of [Dir.Read]; with [ErrMissingBase] the existing parts are returned.
func (d *Dir) Parts(ctx context.Context, threadID string) ([]Part, error) {
	files, problems := d.files(ctx, threadID)
	if len(files) == 0 {
		return nil, errors.Join(append([]error{fmt.Errorf("%w: %s", ErrNoSession, threadID)}, problems...)...)
	}
	chain, err := d.chain(ctx, files)
	var parts []Part
	for _, l := range chain {
		parts = append(parts, Part{l.file.path, l.until})
	}
	return parts, err
}

// Compressed reports whether Codex has compressed the file.
func (p Part) Compressed() bool { return strings.HasSuffix(p.Path, zstdSuffix) }

// Name returns the name of the file without its directory, as it is when the file is not compressed.
func (p Part) Name() string { return strings.TrimSuffix(filepath.Base(p.Path), zstdSuffix) }

// Copy writes the lines of the part, not compressed. It omits lines that are not JSON.
func (p Part) Copy(ctx context.Context, w io.Writer) error {
	f, err := openRollout(ctx, p.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriter(w)
	for line, err := range lines(f) {
		if err != nil {
			return &FileError{p.Path, err}
		}
		if line.TooLong {
			return &FileError{p.Path, fmt.Errorf("a line of %d bytes", line.Size)}
		}
		var r record
		if item.DecodeValue(item.JSON(line.Text), &r) != nil {
			continue
		}
		if p.Until >= 0 && r.Ordinal != nil && *r.Ordinal >= p.Until {
			break
		}
		_, _ = out.WriteString(line.Text) // Flush reports the error
		_ = out.WriteByte('\n')
	}
	return out.Flush()
}

// ThreadOf returns the thread in the name of a file, or "" if it is not the name of a rollout that is not compressed.
func ThreadOf(name string) string {
	if m := fileName.FindStringSubmatch(name); m != nil && m[3] == "" {
		return m[2]
	}
	return ""
}

// Locate returns the part with all lines of the named file. If there is no such file, it returns the path at which Codex
// would create it, and false.
func (d *Dir) Locate(ctx context.Context, name string) (p Part, exists bool, err error) {
	thread := ThreadOf(name)
	if thread == "" {
		return Part{}, false, fmt.Errorf("rollout: %q is not the name of a rollout", name)
	}
	files, _ := d.files(ctx, thread)
	for _, f := range files {
		if p = (Part{f.path, -1}); p.Name() == name {
			return p, true, nil
		}
	}
	day := strings.Split(fileName.FindStringSubmatch(name)[1][:len("2006-01-02")], "-")
	return Part{filepath.Join(d.path, "sessions", day[0], day[1], day[2], name), -1}, false, context.Cause(ctx)
}

package rollout

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"strings"
)

// Containing yields the threads with files that may contain a text, ignoring case, most recently
// changed first. It searches the bytes of the files, so the match can be in a part that is not
// shown. An error is a file that could not be read; the error of ctx is the last element.
func (d *Dir) Containing(ctx context.Context, text string) iter.Seq2[*Session, error] {
	return func(yield func(*Session, error) bool) {
		sessions, problems, err := d.List(ctx)
		for _, p := range problems {
			if !yield(nil, p) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
			return
		}
		needle := plainPart(text)
		type outcome struct {
			found bool
			err   error
		}
		next := 0
		for o := range inOrder(len(sessions), func(i int) (o outcome) {
			o.found, o.err = anyContains(ctx, sessions[i].Files, needle)
			return o
		}) {
			s := sessions[next]
			next++
			if ctx.Err() != nil {
				yield(nil, context.Cause(ctx))
				return
			}
			if o.err != nil && !yield(nil, o.err) || o.found && !yield(s, nil) {
				return
			}
		}
	}
}

// plainPart returns the longest part of a text that JSON does not escape, in lower case.
func plainPart(text string) []byte {
	best := ""
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' || r == '/' }) {
		if len(part) > len(best) {
			best = part
		}
	}
	return []byte(strings.ToLower(best))
}

func anyContains(ctx context.Context, files []string, needle []byte) (bool, error) {
	var failed error
	for _, path := range files {
		found, err := contains(ctx, path, needle)
		if found {
			return true, nil
		}
		if err != nil {
			failed = &FileError{path, err}
		}
	}
	return false, failed
}

// contains searches a file for a lower-case needle.
func contains(ctx context.Context, path string, needle []byte) (bool, error) {
	if len(needle) == 0 {
		return true, nil
	}
	f, err := openRollout(ctx, path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	buf := make([]byte, scanBuffer+len(needle))
	kept := 0 // bytes of the previous piece that may contain the start of the needle
	for ctx.Err() == nil {
		n, err := f.Read(buf[kept:])
		lower(buf[kept : kept+n])
		if end := kept + n; bytes.Contains(buf[:end], needle) {
			return true, nil
		} else if kept = min(end, len(needle)-1); kept > 0 {
			copy(buf, buf[end-kept:end])
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// lower converts ASCII letters to lower case, in place.
func lower(b []byte) {
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
}

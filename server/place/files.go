package place

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/internal/regularfile"
	"github.com/seed7221b0f9/parley/server/api"
)

// Limits of searches and of reads.
const (
	maxFileLines   = 5000
	maxFileBytes   = 1 << 20
	maxFilesFound  = 200
	maxFilesLooked = 50_000
)

// skippedDirs are the directories that searches skip, because they are large and rarely wanted.
var skippedDirs = []string{".git", "node_modules", ".hg", ".svn"}

// Search finds files with paths that contain the letters of the query.
func (l *Local) Search(ctx context.Context, dir, query string, limit int) ([]api.FileInfo, error) {
	found := []api.FileInfo{}
	root, err := l.root(dir)
	if err != nil {
		return found, err
	}
	defer root.Close()
	query = strings.ToLower(query)
	if limit <= 0 || limit > maxFilesFound {
		limit = maxFilesFound
	}
	looked := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if looked++; looked > maxFilesLooked || ctx.Err() != nil {
			return fs.SkipAll
		}
		if err != nil || name == "." {
			return nil // unreadable directories are skipped
		}
		if d.IsDir() && slices.Contains(skippedDirs, d.Name()) {
			return fs.SkipDir
		}
		if strings.Contains(strings.ToLower(name), query) && (d.IsDir() || d.Type().IsRegular()) {
			info := api.FileInfo{Path: name, IsDir: d.IsDir()}
			if stat, err := d.Info(); err == nil && !d.IsDir() {
				info.Size = stat.Size()
			}
			if found = append(found, info); len(found) >= limit {
				return fs.SkipAll
			}
		}
		return nil
	})
	return found, errors.Join(err, ctx.Err())
}

// Read reads lines of a file.
func (l *Local) Read(ctx context.Context, dir, path string, lines *api.LineRange) (api.FilesReadResult, error) {
	root, err := l.root(dir)
	if err != nil {
		return api.FilesReadResult{}, err
	}
	defer root.Close()
	name := path
	if filepath.IsAbs(name) {
		if rel, err := filepath.Rel(root.Name(), name); err == nil {
			name = rel
		}
	}
	if !filepath.IsLocal(name) {
		return api.FilesReadResult{}, fail(api.AuthFailed, "path %q is outside of the session's directory", path)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|regularfile.NonBlocking, 0) // a pipe has no writer
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return api.FilesReadResult{}, fail(api.InvalidParams, "file %q not found", path)
		}
		return api.FilesReadResult{}, fail(api.AuthFailed, "file %q cannot be read here", path)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return api.FilesReadResult{}, fail(api.InvalidParams, "%q is not a regular file", path)
	}
	return readLines(regularfile.Until(ctx, f), path, lines)
}

// readLines reads a range of lines, up to the limits.
func readLines(r io.Reader, path string, lines *api.LineRange) (api.FilesReadResult, error) {
	want := api.LineRange{Start: 1, End: maxFileLines}
	if lines != nil {
		want = *lines
	}
	if want.Start < 1 || want.End < want.Start {
		return api.FilesReadResult{}, fail(api.InvalidParams, "the range is not from 1 on")
	}
	result := api.FilesReadResult{Path: path, Range: api.LineRange{Start: want.Start, End: want.Start - 1}}
	var text strings.Builder
	in := bufio.NewReaderSize(r, 64<<10)
	for n := int64(1); n < want.Start; n++ {
		if err := skipLine(in); errors.Is(err, io.EOF) {
			return result, nil
		} else if err != nil {
			return api.FilesReadResult{}, err
		}
	}
	for n := want.Start; ; n++ {
		line, cut, err := readLine(in, maxFileBytes-text.Len())
		if err != nil && !(errors.Is(err, io.EOF) && line != "") {
			if errors.Is(err, io.EOF) {
				break
			}
			return api.FilesReadResult{}, err
		}
		if n > want.End || n-want.Start >= maxFileLines || text.Len() >= maxFileBytes {
			result.Truncated = lines == nil || n <= want.End
			break
		}
		text.WriteString(line)
		result.Range.End = n
		if cut {
			result.Truncated = true
			break
		}
	}
	result.Text = strings.ToValidUTF8(text.String(), "\uFFFD")
	return result, nil
}

// skipLine discards a line of any length.
func skipLine(in *bufio.Reader) error {
	for {
		if _, err := in.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// readLine reads a line with its line feed, and cuts it after max bytes.
func readLine(in *bufio.Reader, max int) (line string, cut bool, err error) {
	var b strings.Builder
	for {
		part, err := in.ReadSlice('\n')
		b.Write(part)
		switch {
		case b.Len() > max:
			return b.String()[:max], true, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return b.String(), false, err
		}
	}
}

package server

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/internal/regularfile"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// The limits of the files.* methods.
const (
	maxFileLines   = 5000
	maxFileBytes   = 1 << 20
	maxFilesFound  = 200
	maxFilesLooked = 50_000
	maxUpload      = 20 << 20
)

// root opens the session's directory. Files outside of it cannot be reached through it, by any path
// or symbolic link.
func (s *Server) root(ctx context.Context, id string) (*os.Root, error) {
	dir, err := s.sessions.Dir(ctx, id)
	if err != nil {
		return nil, err
	}
	if _, err := s.directory(dir); err != nil { // it may have become a link, or been removed from the list
		return nil, err
	}
	return os.OpenRoot(dir)
}

// searched opens the directory for files.search.
func (s *Server) searched(ctx context.Context, p api.FilesSearchParams) (*os.Root, error) {
	if p.SessionID != "" || p.CWD == "" {
		return s.root(ctx, p.SessionID)
	}
	dir, err := s.directory(p.CWD)
	if err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

// skippedDirs are not searched: they are large and rarely wanted.
var skippedDirs = []string{".git", "node_modules", ".hg", ".svn"}

// filesSearch finds files with paths that contain the letters of the query.
func filesSearch(s *Server, ctx context.Context, _ *caller, p api.FilesSearchParams) (api.FilesSearchResult, error) {
	result := api.FilesSearchResult{Files: []api.FileInfo{}}
	root, err := s.searched(ctx, p)
	if err != nil {
		return result, err
	}
	defer root.Close()
	most, query := int(p.Limit), strings.ToLower(p.Query)
	if most <= 0 || most > maxFilesFound {
		most = maxFilesFound
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
			if result.Files = append(result.Files, info); len(result.Files) >= most {
				return fs.SkipAll
			}
		}
		return nil
	})
	return result, errors.Join(err, ctx.Err())
}

// filesRead reads lines of a file in the session's directory.
func filesRead(s *Server, ctx context.Context, _ *caller, p api.FilesReadParams) (api.FilesReadResult, error) {
	root, err := s.root(ctx, p.SessionID)
	if err != nil {
		return api.FilesReadResult{}, err
	}
	defer root.Close()
	name := p.Path
	if filepath.IsAbs(name) {
		if rel, err := filepath.Rel(root.Name(), name); err == nil {
			name = rel
		}
	}
	if !filepath.IsLocal(name) {
		return api.FilesReadResult{}, session.Fail(api.AuthFailed, "path %q is outside of the session's directory", p.Path)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|regularfile.NonBlocking, 0) // a pipe has no writer
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return api.FilesReadResult{}, session.Invalid("there is no file %q", p.Path)
		}
		return api.FilesReadResult{}, session.Fail(api.AuthFailed, "file %q cannot be read here", p.Path)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return api.FilesReadResult{}, session.Invalid("%q is not a regular file", p.Path)
	}
	return readLines(regularfile.Until(ctx, f), p)
}

// readLines reads a range of lines, up to the limits.
func readLines(r io.Reader, p api.FilesReadParams) (api.FilesReadResult, error) {
	want := api.LineRange{Start: 1, End: maxFileLines}
	if p.Range != nil {
		want = *p.Range
	}
	if want.Start < 1 || want.End < want.Start {
		return api.FilesReadResult{}, session.Invalid("the range is not from 1 on")
	}
	result := api.FilesReadResult{Path: p.Path, Range: api.LineRange{Start: want.Start, End: want.Start - 1}}
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
			result.Truncated = p.Range == nil || n <= want.End
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

// skipLine skips a line of any length.
func skipLine(in *bufio.Reader) error {
	for {
		if _, err := in.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// readLine reads a line with its end, at most about max bytes of it.
func readLine(in *bufio.Reader, max int) (line string, cut bool, err error) {
	var b strings.Builder
	for {
		part, err := in.ReadSlice('\n')
		b.Write(part)
		switch {
		case err == nil:
			return b.String(), false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return b.String(), false, err
		case b.Len() > max:
			return b.String()[:max], true, nil
		}
	}
}

// imageTypes are the image types that agents accept.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// uploadDir returns the directory of the uploads of a session.
func (s *Server) uploadDir(session string) string {
	return filepath.Join(s.opts.Dir, uploadsDir, session)
}

// imageUpload stores an image for a later query, under a name that the server chooses.
func imageUpload(s *Server, ctx context.Context, _ *caller, p api.ImageUploadParams) (api.ImageUploadResult, error) {
	if err := s.sessions.Owned(ctx, p.SessionID); err != nil {
		return api.ImageUploadResult{}, err
	}
	if !slices.Contains(imageTypes, p.MediaType) {
		return api.ImageUploadResult{}, session.Invalid("media type %q is not one of %s", p.MediaType, strings.Join(imageTypes, ", "))
	}
	data, err := base64.StdEncoding.DecodeString(p.Data)
	if err != nil || len(data) == 0 {
		return api.ImageUploadResult{}, session.Invalid("the data is not base64")
	}
	if len(data) > maxUpload {
		return api.ImageUploadResult{}, session.LimitReached("an image has at most %d bytes", maxUpload)
	}
	dir := s.uploadDir(p.SessionID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return api.ImageUploadResult{}, err
	}
	id := random.Hex(12) + "." + path.Base(p.MediaType)
	if err := os.WriteFile(filepath.Join(dir, id), data, 0o600); err != nil {
		return api.ImageUploadResult{}, err
	}
	return api.ImageUploadResult{ID: id, Size: int64(len(data))}, nil
}

func (s *Server) removeUploads(session string) error { return os.RemoveAll(s.uploadDir(session)) }

// uploads replaces blocks that refer to uploaded images by the images:
// {"type":"image","source":{"type":"upload","id":…}}.
func (s *Server) uploads(owner string, blocks []event.JSON) ([]event.JSON, error) {
	out := slices.Clone(blocks)
	size := 0 // one image may be referenced many times
	for i, b := range blocks {
		var block struct {
			Type   string
			Source struct{ Type, ID string }
		}
		if json.Unmarshal([]byte(b), &block) != nil || block.Type != "image" || block.Source.Type != "upload" {
			continue
		}
		id := block.Source.ID
		if strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyz.") != "" || strings.Contains(id, "..") || !strings.HasPrefix(owner, session.Prefix) || strings.ContainsAny(owner, `/\.`) {
			return nil, session.Invalid("there is no upload %q", id)
		}
		data, err := regularfile.ReadNoFollow(filepath.Join(s.uploadDir(owner), id), maxUpload)
		if err != nil {
			return nil, session.Invalid("there is no upload %q", id)
		}
		if size += base64.StdEncoding.EncodedLen(len(data)); size > session.MaxMessage {
			return nil, session.LimitReached("the images of one query have at most %d bytes in base64", session.MaxMessage)
		}
		out[i] = event.Encoded(map[string]any{"type": "image", "source": map[string]string{
			"type": "base64", "media_type": "image/" + strings.TrimPrefix(filepath.Ext(id), "."), "data": base64.StdEncoding.EncodeToString(data),
		}})
	}
	return out, nil
}

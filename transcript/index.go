package transcript

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// indexHeader is the first line of an index file. It identifies the version of the format.
const indexHeader = "parley session index 1\n"

// Index caches the results of [Dir.Sessions] per file, together with the size and the time of the
// file and its sidecars: a list with an index reads only files that are new or have changed.
// Several lists may use it concurrently.
type Index struct {
	path  string
	files fileSystem

	mu      sync.Mutex
	records map[string]*indexRecord // by path
	changed bool
}

// indexRecord is the cached result for a file.
type indexRecord struct {
	stamp stamp
	start bool  // info has the directory that distinguishes projects with one key
	info  *Info // nil if lists omit the file
	used  bool
}

// stamp identifies the state of a file and its sidecars. Sessions are only appended to, so the size
// is nearly always sufficient; offset is the size of the file when it was read.
type stamp struct {
	offset, modified         int64
	titleSize, titleModified int64
	markSize, markModified   int64
}

// OpenIndex opens the index in a cache directory of the caller and creates the directory if needed.
// An index that is missing, broken or of another version is treated as empty, which only costs
// time.
func OpenIndex(cacheDir string) (*Index, error) {
	if err := os.MkdirAll(cacheDir, 0o700); err != nil {
		return nil, fmt.Errorf("transcript: %w", err)
	}
	ix := &Index{path: filepath.Join(cacheDir, "sessions.index"), files: osFiles{cacheDir}, records: map[string]*indexRecord{}}
	text, err := regularfile.ReadNoFollow(ix.path, noteLimit)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("transcript: %w", err)
	}
	if body, ok := strings.CutPrefix(string(text), indexHeader); ok {
		ix.decode(body)
	}
	return ix, nil
}

// Save writes the index to its file if it has changed. [Dir.Sessions] calls it when the iteration
// is complete.
func (ix *Index) Save() error {
	if ix == nil {
		return nil
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if !ix.changed {
		return nil
	}
	if err := replace(ix.files, ix.path, ix.encode()); err != nil {
		return err
	}
	ix.changed = false
	return nil
}

// stampOf returns the current stamp of a candidate.
func stampOf(c *candidate) stamp {
	s := stamp{offset: c.size, modified: c.mtime}
	if c.hasSide {
		side := strings.TrimSuffix(c.path, ".jsonl")
		s.titleSize, s.titleModified = sizeAndTime(filepath.Join(side, "custom-title.json"))
		s.markSize, s.markModified = sizeAndTime(filepath.Join(side, "archived.json"))
	}
	return s
}

func sizeAndTime(path string) (size, modified int64) {
	info, err := os.Lstat(path)
	if err != nil {
		return -1, 0
	}
	return info.Size(), info.ModTime().UnixNano()
}

// lookup returns the cached info of a candidate if its stamp still matches.
func (ix *Index) lookup(c *candidate) (info *Info, ok bool) {
	if ix == nil {
		return nil, false
	}
	c.stamp = stampOf(c)
	ix.mu.Lock()
	defer ix.mu.Unlock()
	r := ix.records[c.path]
	if r == nil || r.stamp != c.stamp || c.project != "" && !r.start {
		return nil, false
	}
	r.used = true
	if r.info == nil {
		return nil, true
	}
	copied := *r.info
	return &copied, true
}

// store caches a result under the stamp that lookup took before the file was read: a file that grew
// in between is read again next time.
func (ix *Index) store(c *candidate, info *Info) {
	if ix == nil {
		return
	}
	r := &indexRecord{stamp: c.stamp, start: c.project != "", used: true}
	if info != nil {
		copied := *info
		r.info = &copied
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.records[c.path] = r
	ix.changed = true
}

// forget drops files that a complete list did not see.
func (ix *Index) forget() {
	if ix == nil {
		return
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	for path, r := range ix.records {
		if !r.used {
			delete(ix.records, path)
			ix.changed = true
		}
	}
}

// encode writes the records: numbers as varints, strings with their length.
func (ix *Index) encode() []byte {
	w := indexWriter(indexHeader)
	for path, r := range ix.records {
		w.text(path)
		w.numbers(r.stamp.offset, r.stamp.modified, r.stamp.titleSize, r.stamp.titleModified, r.stamp.markSize, r.stamp.markModified)
		w.numbers(flag(r.start), flag(r.info != nil))
		if i := r.info; i != nil {
			archived := int64(-1)
			if i.Archived != nil {
				archived = flag(*i.Archived)
			}
			created := int64(-1)
			if !i.CreatedAt.IsZero() {
				created = i.CreatedAt.UnixNano()
			}
			w.numbers(archived, created, flag(i.Programmatic), i.FileSize)
			for _, s := range i.texts() {
				w.text(*s)
			}
		}
	}
	return w
}

// texts returns the strings of an info that the index stores.
func (i *Info) texts() []*string {
	return []*string{
		&i.Summary, &i.CustomTitle, &i.FirstPrompt, &i.GitBranch, &i.CWD, &i.Tag, &i.LastCWD, &i.continuedIn, &i.startCWD,
	}
}

// decode reads the records. If the file is broken it drops all records.
func (ix *Index) decode(body string) {
	r := &indexReader{rest: body}
	for r.rest != "" && !r.bad {
		path := r.text()
		rec := &indexRecord{stamp: stamp{r.number(), r.number(), r.number(), r.number(), r.number(), r.number()}}
		rec.start = r.number() == 1
		if r.number() == 1 {
			rec.info = r.info(path)
		}
		ix.records[path] = rec
	}
	if r.bad {
		clear(ix.records)
	}
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

type indexWriter []byte

func (w *indexWriter) numbers(list ...int64) {
	for _, n := range list {
		*w = binary.AppendVarint(*w, n)
	}
}

func (w *indexWriter) text(s string) {
	w.numbers(int64(len(s)))
	*w = append(*w, s...)
}

// indexReader reads the encoding of indexWriter. Its strings share the memory of the file.
type indexReader struct {
	rest string
	bad  bool
}

func (r *indexReader) number() int64 {
	var n uint64
	for i := 0; i < len(r.rest) && i < binary.MaxVarintLen64; i++ {
		c := r.rest[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.rest = r.rest[i+1:]
			return int64(n>>1) ^ -int64(n&1)
		}
	}
	r.bad = true
	return 0
}

func (r *indexReader) text() string {
	n := r.number()
	if n < 0 || n > int64(len(r.rest)) {
		r.bad = true
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *indexReader) info(path string) *Info {
	i := &Info{
		Path: path, SessionID: strings.TrimSuffix(filepath.Base(path), ".jsonl"), ProjectKey: filepath.Base(filepath.Dir(path)),
	}
	if archived := r.number(); archived >= 0 {
		b := archived == 1
		i.Archived = &b
	}
	if created := r.number(); created >= 0 {
		i.CreatedAt = time.Unix(0, created).UTC()
	}
	i.Programmatic = r.number() == 1
	i.FileSize = r.number()
	for _, s := range i.texts() {
		*s = r.text()
	}
	return i
}

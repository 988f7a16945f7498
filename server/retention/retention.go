package retention

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is one kind of data.
type Kind struct {
	// Name is the name for people, such as "uploads".
	Name string
	// Measure returns the current size.
	Measure func(ctx context.Context) (Size, error)
	// Oldest returns the ids of items that may be deleted, oldest first. It is nil for a kind without a limit.
	Oldest func(ctx context.Context) ([]string, error)
	// Delete deletes a candidate. ErrKept means that it must be kept.
	Delete func(ctx context.Context, id string) error
}

// ErrKept is returned by a Delete that keeps an item, because it is in use or contains work that would be
// lost.
var ErrKept = errors.New("retention: it is kept")

// Size is the size of a kind of data.
type Size struct {
	Bytes   int64
	Items   int64
	Oldest  time.Time // last change of the oldest item; zero without items
	AtLeast bool      // the actual size is larger
}

// Enforce deletes the oldest items of a kind until it has at most limit bytes, and returns the ids of the
// deleted ones. It skips items that are kept or cannot be deleted; the latter result in an error at the end.
func (k Kind) Enforce(ctx context.Context, limit int64) (deleted []string, err error) {
	size, err := k.Measure(ctx)
	if err != nil || size.Bytes <= limit || k.Oldest == nil {
		return nil, err
	}
	ids, err := k.Oldest(ctx)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return deleted, err
		}
		if err := k.Delete(ctx, id); err != nil {
			if !errors.Is(err, ErrKept) {
				failed = fmt.Errorf("%s %s: %w", k.Name, id, err)
			}
			continue
		}
		deleted = append(deleted, id)
		if size, err = k.Measure(ctx); err != nil || size.Bytes <= limit {
			return deleted, errors.Join(err, failed)
		}
	}
	return deleted, failed
}

// maxEntries is the number of files and directories that Folder counts.
const maxEntries = 200_000

// Folder measures a directory; each entry is an item. A missing directory is empty. It does not follow
// links and counts at most 200,000 files.
func Folder(ctx context.Context, dir string) (Size, error) {
	var size Size
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return size, nil
	}
	if err != nil {
		return size, err
	}
	looked := 0
	for _, e := range entries {
		size.Items++
		if info, err := e.Info(); err == nil && (size.Oldest.IsZero() || info.ModTime().Before(size.Oldest)) {
			size.Oldest = info.ModTime()
		}
		err := filepath.WalkDir(filepath.Join(dir, e.Name()), func(_ string, d fs.DirEntry, err error) error {
			if looked++; looked > maxEntries {
				size.AtLeast = true
				return fs.SkipAll
			}
			if err != nil || !d.Type().IsRegular() {
				return nil // it was removed meanwhile, or uses almost no space
			}
			if info, err := d.Info(); err == nil {
				size.Bytes += info.Size()
			}
			return ctx.Err()
		})
		if err != nil {
			return size, err
		}
	}
	return size, nil
}

// ByAge returns the names of the entries of a directory, least recently changed first.
func ByAge(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	changed := make(map[string]time.Time, len(entries))
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			changed[e.Name()] = info.ModTime()
		}
	}
	return slices.SortedFunc(maps.Keys(changed), func(a, b string) int {
		if c := changed[a].Compare(changed[b]); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	}), nil
}

// Limited are the kinds that can have a limit.
var Limited = []string{"logs", "uploads", "worktrees"}

// ParseLimits parses limits of the form "uploads=500", in megabytes, and returns them in bytes.
func ParseLimits(texts []string) (map[string]int64, error) {
	limits := map[string]int64{}
	for _, text := range texts {
		name, number, _ := strings.Cut(text, "=")
		mb, err := strconv.ParseInt(number, 10, 64)
		switch {
		case !slices.Contains(Limited, name):
			return nil, fmt.Errorf("%q: %q is not one of %s", text, name, strings.Join(Limited, ", "))
		case err != nil || mb < 1 || mb > 1<<30:
			return nil, fmt.Errorf("%q: %q is not a number of megabytes from 1 to %d", text, number, 1<<30)
		case limits[name] != 0:
			return nil, fmt.Errorf("%q: %s has a limit already", text, name)
		}
		limits[name] = mb << 20
	}
	return limits, nil
}

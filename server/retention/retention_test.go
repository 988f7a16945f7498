package retention_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/server/retention"
)

// shelf is a kind of data with items of ten bytes.
func shelf(items ...string) (retention.Kind, *[]string) {
	left := slices.Clone(items)
	return retention.Kind{
		Name: "shelf",
		Measure: func(context.Context) (retention.Size, error) {
			return retention.Size{Bytes: int64(10 * len(left))}, nil
		},
		Oldest: func(context.Context) ([]string, error) { return items, nil },
		Delete: func(_ context.Context, id string) error {
			switch {
			case strings.HasPrefix(id, "kept"):
				return retention.ErrKept
			case strings.HasPrefix(id, "bad"):
				return errors.New("broken")
			}
			left = slices.DeleteFunc(left, func(s string) bool { return s == id })
			return nil
		},
	}, &left
}

func TestEnforce(t *testing.T) {
	for _, tt := range []struct {
		name    string
		items   []string
		limit   int64
		deleted []string
		err     string
	}{
		{"below the limit", []string{"a", "b"}, 20, nil, ""},
		{"one over it", []string{"a", "b", "c"}, 29, []string{"a"}, ""},
		{"no more than needed", []string{"a", "b", "c", "d"}, 25, []string{"a", "b"}, ""},
		{"what is kept is skipped", []string{"kept", "b", "c"}, 20, []string{"b"}, ""},
		{"what fails is skipped and reported", []string{"bad", "b", "c"}, 20, []string{"b"}, "shelf bad: broken"},
		{"nothing can be deleted", []string{"kept", "kept 2"}, 5, nil, ""},
		{"everything", []string{"a", "b"}, 1, []string{"a", "b"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k, left := shelf(tt.items...)
			deleted, err := k.Enforce(t.Context(), tt.limit)
			if !slices.Equal(deleted, tt.deleted) {
				t.Errorf("Enforce deleted %q, want %q", deleted, tt.deleted)
			}
			if got := errText(err); got != tt.err {
				t.Errorf("Enforce returned %q, want %q", got, tt.err)
			}
			want := slices.DeleteFunc(slices.Clone(tt.items), func(s string) bool { return slices.Contains(tt.deleted, s) })
			if !slices.Equal(*left, want) {
				t.Errorf("%q are left, want %q", *left, want)
			}
		})
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestEnforce_ends(t *testing.T) {
	k, left := shelf("a", "b", "c")
	ctx, cancel := context.WithCancel(t.Context())
	remove := k.Delete
	k.Delete = func(ctx context.Context, id string) error { cancel(); return remove(ctx, id) }
	if deleted, err := k.Enforce(ctx, 1); !errors.Is(err, context.Canceled) || len(deleted) != 1 || len(*left) != 2 {
		t.Errorf("after the end of its context: deleted %q, %v", deleted, err)
	}
	k, left = shelf("a")
	k.Oldest = nil
	if deleted, err := k.Enforce(t.Context(), 1); err != nil || len(deleted) > 0 || len(*left) != 1 {
		t.Errorf("a kind that has no limit: deleted %q, %v", deleted, err)
	}
	k, _ = shelf("a")
	k.Measure = func(context.Context) (retention.Size, error) { return retention.Size{}, errors.New("unreadable") }
	if deleted, err := k.Enforce(t.Context(), 1); errText(err) != "unreadable" || len(deleted) > 0 {
		t.Errorf("without a size: deleted %q, %v", deleted, err)
	}
	k, _ = shelf("a")
	k.Oldest = func(context.Context) ([]string, error) { return []string{"a"}, errors.New("unlisted") }
	if deleted, err := k.Enforce(t.Context(), 1); errText(err) != "unlisted" || len(deleted) > 0 {
		t.Errorf("without a list: deleted %q, %v", deleted, err)
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	if size, err := retention.Folder(t.Context(), filepath.Join(dir, "none")); err != nil || size != (retention.Size{}) {
		t.Errorf("a directory that does not exist: %+v, %v", size, err)
	}
	outside := filepath.Join(t.TempDir(), "large")
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	for _, err := range []error{
		os.WriteFile(outside, make([]byte, 1000), 0o600), os.MkdirAll(filepath.Join(dir, "b", "deep"), 0o700),
		os.WriteFile(filepath.Join(dir, "b", "deep", "f"), make([]byte, 30), 0o600), os.WriteFile(filepath.Join(dir, "a"), make([]byte, 12), 0o600),
		os.Symlink(outside, filepath.Join(dir, "c")), os.Chtimes(filepath.Join(dir, "b"), old, old),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	size, err := retention.Folder(t.Context(), dir)
	if want := (retention.Size{Bytes: 42, Items: 3, Oldest: old}); err != nil || size != want {
		t.Errorf("Folder = %+v, %v, want %+v", size, err, want)
	}
	names, err := retention.ByAge(dir)
	if err != nil || len(names) != 3 || names[0] != "b" {
		t.Errorf("ByAge = %q, %v, want b first", names, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := retention.Folder(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
}

func TestParseLimits(t *testing.T) {
	limits, err := retention.ParseLimits([]string{"uploads=500", "logs=1"})
	if err != nil || len(limits) != 2 || limits["uploads"] != 500<<20 || limits["logs"] != 1<<20 {
		t.Errorf("%v, %v; want err == nil and len(limits) == 2 and limits[\"uploads\"] == 500<<20 and limits[\"logs\"] == 1<<20", limits, err)
	}
	for _, bad := range []string{"", "uploads", "uploads=", "uploads=0", "uploads=-1", "uploads=1.5", "archives=1", "spools=1", "logs=2000000000"} {
		if limits, err := retention.ParseLimits([]string{bad}); err == nil {
			t.Errorf("%q was accepted as %v", bad, limits)
		}
	}
	if _, err := retention.ParseLimits([]string{"logs=1", "logs=2"}); err == nil {
		t.Error("two limits of one kind were accepted")
	}
}

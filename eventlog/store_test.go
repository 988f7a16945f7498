package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed7221b0f9/parley/eventlog"
)

func TestMain(m *testing.M) {
	if task := os.Getenv(childEnv); task != "" {
		child(task)
	}
	goleak.VerifyTestMain(m)
}

// open opens a store until the end of the test. Without options it does not sync.
func open(t testing.TB, opts *eventlog.Options) *eventlog.Store {
	t.Helper()
	if opts == nil {
		opts = &eventlog.Options{UnsafeNoSync: true}
	}
	if opts.Dir == "" && opts.URL == "" {
		opts.Dir = filepath.Join(t.TempDir(), "data")
	}
	s, err := eventlog.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// appendTexts appends each text as an event in a separate record.
func appendTexts(t testing.TB, l *eventlog.Log, expected uint64, texts ...string) {
	t.Helper()
	for _, text := range texts {
		last, err := l.Append(t.Context(), expected, []byte(text))
		if err != nil || last != expected+1 {
			t.Fatalf("Append(%d) = %d, %v", expected, last, err)
		}
		expected = last
	}
}

// read returns everything after the cursor as seq.sub=data.
func read(t testing.TB, l *eventlog.Log, after eventlog.Cursor) (string, error) {
	t.Helper()
	var got []string
	for e, err := range l.Read(t.Context(), after) {
		if err != nil {
			return strings.Join(got, " "), err
		}
		got = append(got, show(e))
	}
	return strings.Join(got, " "), nil
}

func show(e eventlog.Event) string {
	if e.Sub > 0 {
		return fmt.Sprintf("%d.%d=%s", e.Seq, e.Sub, e.Data)
	}
	return fmt.Sprintf("%d=%s", e.Seq, e.Data)
}

func wantRead(t testing.TB, l *eventlog.Log, after eventlog.Cursor, want string) {
	t.Helper()
	if got, err := read(t, l, after); err != nil || got != want {
		t.Errorf("Read(%v) = %q, %v, want %q", after, got, err, want)
	}
}

func TestAppendRead(t *testing.T) {
	s := open(t, nil)
	l := s.Log("a")
	if _, err := l.Last(t.Context()); !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("Last of an empty log: %v", err)
	}
	wantRead(t, l, eventlog.Cursor{}, "")
	appendTexts(t, l, 0, "one", "two")
	if last, err := l.Append(t.Context(), 2, []byte("three"), nil, []byte("five")); err != nil || last != 5 {
		t.Fatalf("Append = %d, %v", last, err)
	}
	appendTexts(t, s.Log("b"), 0, "other")
	wantRead(t, l, eventlog.Cursor{}, "1=one 2=two 3=three 4= 5=five")
	wantRead(t, l, eventlog.Cursor{Seq: 3}, "4= 5=five")
	wantRead(t, l, eventlog.Cursor{Seq: 5}, "")
	last, err := l.Last(t.Context())
	if err != nil || last.Seq != 5 || last.Epoch == "" {
		t.Errorf("Last = %v, %v", last, err)
	}
	wantRead(t, l, eventlog.Cursor{Epoch: last.Epoch, Seq: 4}, "5=five")
}

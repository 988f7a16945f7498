// Package blobtest checks implementations of [blob.Store].
package blobtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/server/blob"
)

// large is a size in bytes that exceeds a message of NATS.
const large = 3 << 20

// Run checks a store. open returns the same store at each call, as separate processes would open
// it.
func Run(t *testing.T, open func(t *testing.T) blob.Store) {
	for name, check := range map[string]func(*testing.T, func(*testing.T) blob.Store){
		"sizes": checkSizes, "replaced": checkReplaced, "removed": checkRemoved, "names": checkNames, "whole": checkWhole, "listed": checkListed,
	} {
		t.Run(name, func(t *testing.T) { check(t, open) })
	}
}

func want(t *testing.T, s blob.Store, name string, data []byte) {
	t.Helper()
	if got, err := s.Read(t.Context(), name); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%s has %d bytes, %v; want %d", name, len(got), err, len(data))
	}
}

func wantNone(t *testing.T, s blob.Store, name string) {
	t.Helper()
	if got, err := s.Read(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s has %d bytes, %v; want none", name, len(got), err)
	}
}

func write(t *testing.T, s blob.Store, name string, data []byte) {
	t.Helper()
	if err := s.Write(t.Context(), name, data); err != nil {
		t.Fatal(err)
	}
}

// checkSizes writes data of several sizes and reads it through another handle.
func checkSizes(t *testing.T, open func(*testing.T) blob.Store) {
	one, two := open(t), open(t)
	for _, size := range []int{0, 1, 256 << 10, 256<<10 + 1, large} {
		data := bytes.Repeat([]byte("0123456"), size/7+1)[:size]
		name := fmt.Sprintf("sizes/n-%d", size)
		wantNone(t, two, name)
		write(t, one, name, data)
		want(t, two, name, data)
	}
}

// checkReplaced replaces the data of a name by longer and by shorter data.
func checkReplaced(t *testing.T, open func(*testing.T) blob.Store) {
	one, two := open(t), open(t)
	for i, size := range []int{10, large, 0, large, 5} {
		data := bytes.Repeat([]byte{byte('a' + i)}, size)
		write(t, []blob.Store{one, two}[i%2], "replaced", data)
		want(t, one, "replaced", data)
		want(t, two, "replaced", data)
	}
}

// checkRemoved removes a name, and all names below another one.
func checkRemoved(t *testing.T, open func(*testing.T) blob.Store) {
	one, two := open(t), open(t)
	for _, name := range []string{"removed/a/1.png", "removed/a/2.png", "removed/ab/1.png", "other"} {
		write(t, one, name, []byte(name))
	}
	if err := errors.Join(two.Remove(t.Context(), "removed/a"), two.Remove(t.Context(), "never"), two.Remove(t.Context(), "other")); err != nil {
		t.Fatal(err)
	}
	wantNone(t, one, "removed/a/1.png")
	wantNone(t, one, "removed/a/2.png")
	wantNone(t, one, "other")
	want(t, one, "removed/ab/1.png", []byte("removed/ab/1.png"))
	write(t, one, "other", []byte("again"))
	want(t, two, "other", []byte("again"))
}

// checkNames checks that names that could refer to other files are rejected.
func checkNames(t *testing.T, open func(*testing.T) blob.Store) {
	s := open(t)
	for _, name := range []string{"", "/a", "a/", "a//b", "..", "a/../b", ".a", "a/.b", "a b", "a*", "a>", "a\\b", "a\x00", "_a", "a=b", strings.Repeat("a", blob.MaxName+1)} {
		_, err := s.Read(t.Context(), name)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Read of %q = %v, want a refusal", name, err)
		}
		if s.Write(t.Context(), name, nil) == nil {
			t.Errorf("Write of %q is accepted", name)
		}
		if s.Remove(t.Context(), name) == nil {
			t.Errorf("Remove of %q is accepted", name)
		}
	}
}

// checkWhole reads while others write: a reader gets one complete value.
func checkWhole(t *testing.T, open func(*testing.T) blob.Store) {
	stores := []blob.Store{open(t), open(t)}
	write(t, stores[0], "whole", bytes.Repeat([]byte{0}, large))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var writers sync.WaitGroup
	for i, s := range stores {
		writers.Go(func() {
			for n := range 4 {
				if err := s.Write(ctx, "whole", bytes.Repeat([]byte{byte(2*n + i)}, large-n*1000)); err != nil {
					t.Errorf("writing: %v", err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		data, err := stores[1].Read(ctx, "whole")
		if err != nil || len(data) == 0 || !bytes.Equal(data, bytes.Repeat(data[:1], len(data))) {
			t.Fatalf("a reader got %d bytes that were not written together, %v", len(data), err)
		}
	}
}

// checkListed checks the list of names, if the store has one.
func checkListed(t *testing.T, open func(*testing.T) blob.Store) {
	s, ok := open(t).(blob.Lister)
	if !ok {
		return
	}
	listed := func() (found []string) {
		t.Helper()
		names, err := s.Names(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if strings.HasPrefix(name, "listed/") {
				found = append(found, name)
			}
		}
		return found
	}
	names := []string{"listed/a.b/c-1", "listed/a.b/c_2", "listed/d"}
	for _, name := range names {
		write(t, open(t), name, bytes.Repeat([]byte("x"), 300<<10))
	}
	if got := listed(); !slices.Equal(got, names) {
		t.Errorf("the names are %q, want %q", got, names)
	}
	if err := open(t).Remove(t.Context(), "listed/a.b"); err != nil {
		t.Fatal(err)
	}
	if got := listed(); !slices.Equal(got, names[2:]) {
		t.Errorf("the names are %q, want %q", got, names[2:])
	}
}

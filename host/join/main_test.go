//go:build unix

package join

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	_ "github.com/seed7221b0f9/parley/internal/supervise/first"
	"go.uber.org/goleak"

	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/test/hosts"
)

func TestMain(m *testing.M) {
	host.Enter()
	code := m.Run()
	if code == 0 {
		if err := errors.Join(leaked(), hosts.Left(host.Name)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// leaked returns an error if goroutines are left. A host with the race detector takes a second to exit, and a goroutine waits for that.
func leaked() (err error) {
	for range 10 {
		if err = goleak.Find(); err == nil {
			break
		}
	}
	return err
}

// within returns a context with the time limit of a test step; only a failing test waits this long.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// await returns the next value of a channel.
func await[T any](t testing.TB, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-within(t).Done():
		t.Fatalf("%s did not come", what)
		panic("unreachable")
	}
}

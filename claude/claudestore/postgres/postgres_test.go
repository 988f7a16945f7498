package postgres_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore/postgres"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

func TestStore(t *testing.T) {
	short.Skip(t, "PostgreSQL")
	pool := startServer(t)
	var n atomic.Int32
	open := func(t *testing.T, prefix string) *postgres.Store {
		s, err := postgres.Open(t.Context(), pool, prefix)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	t.Run("contracts", func(t *testing.T) {
		claudetest.TestSessionStore(t, func(t *testing.T) claude.SessionStore { return open(t, fmt.Sprintf("t%d", n.Add(1))) })
	})
	t.Run("shared", func(t *testing.T) {
		claudetest.TestSessionStore(t, func(t *testing.T) claude.SessionStore {
			prefix := fmt.Sprintf("t%d", n.Add(1))
			return claudetest.AlternateStores(open(t, prefix), open(t, prefix))
		})
	})
	t.Run("opened at once", func(t *testing.T) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if _, err := postgres.Open(t.Context(), pool, `odd"; name`); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
	t.Run("the text is kept", func(t *testing.T) {
		s := open(t, "text")
		key := claude.SessionKey{ProjectKey: "p", SessionID: "s"}
		const text = `{"b":1,"a":"\u0000 \ud800","n":1.0, "b":2}`
		if err := s.Append(t.Context(), key, []json.RawMessage{json.RawMessage(text)}); err != nil {
			t.Fatal(err)
		}
		got, err := s.Load(t.Context(), key)
		if err != nil || len(got) != 1 || string(got[0]) != text {
			t.Errorf("%s, %v; want err == nil and len(got) == 1 and string(got[0]) == text", got, err)
		}
	})
}

package claude_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// oddStore is a store that calls a function for each append.
type oddStore struct {
	append func(ctx context.Context, call int) error
	calls  int
	stored []string
}

func (s *oddStore) Append(ctx context.Context, key claude.SessionKey, entries []json.RawMessage) error {
	s.calls++
	if err := s.append(ctx, s.calls); err != nil {
		return err
	}
	for _, e := range entries {
		s.stored = append(s.stored, key.Subpath+string(e))
	}
	return nil
}

func (s *oddStore) Load(context.Context, claude.SessionKey) ([]json.RawMessage, error) {
	return nil, nil
}

const mirroredID = "11111111-1111-4111-8111-111111111111"

func mirrorFrame(config, subpath, entry string) string {
	file := filepath.Join(config, "projects", "-p", mirroredID+subpath+".jsonl")
	return fmt.Sprintf(`{"type":"transcript_mirror","filePath":%q,"entries":[%s]}`, file, entry)
}

func TestMirror(t *testing.T) {
	failed := errors.New("the disk is full")
	for _, tt := range []struct {
		name   string
		append func(ctx context.Context, call int) error
		calls  int
		took   time.Duration
		told   string // part of the mirror_error; "" for no error
	}{
		{"well", func(context.Context, int) error { return nil }, 2, 0, ""},
		{"at the third attempt", func(_ context.Context, call int) error {
			if call < 3 {
				return failed
			}
			return nil
		}, 4, time.Second, ""},
		{"never", func(context.Context, int) error { return failed }, 6, 2 * time.Second, "disk is full"},
		{"too slow", func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }, 2, 2 * time.Minute, "deadline"},
		{"fenced", func(context.Context, int) error { return fmt.Errorf("store: %w", claude.ErrFenced) }, 2, 0, "another writer"},
		{"panic", func(context.Context, int) error { panic("no store") }, 6, 2 * time.Second, "no store"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cli := newCLI(t)
				opts := cli.options()
				store := &oddStore{append: tt.append}
				opts.SessionStore, opts.Env = store, map[string]string{"CLAUDE_CONFIG_DIR": "/config"}
				begun := time.Now()
				var got []string
				var told []*message.MirrorError
				var err error
				done := make(chan struct{})
				go func() {
					defer close(done)
					for m, e := range claude.Query(t.Context(), "go", opts) {
						if err = e; e != nil {
							return
						}
						got = append(got, label(m))
						if e, ok := m.(*message.MirrorError); ok {
							told = append(told, e)
						}
					}
				}()
				cli.read()
				cli.say(state("running"), initLine(), mirrorFrame("/config", "", `{"n":1}`), mirrorFrame("/config", "/subagents/agent-1", `{"n":2}`),
					mirrorFrame("/config", "", `{"n":3}`), mirrorFrame("/elsewhere", "", `{"n":4}`), good("x"), state("idle"))
				<-done
				want := []string{"system/init", "result:x"}
				if tt.told != "" {
					want = []string{"system/init", "system/mirror_error", "system/mirror_error", "result:x"}
				}
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("got %q, %v, want %q", got, err, want)
				}
				for _, e := range told {
					if !strings.Contains(e.Error, tt.told) || e.Key.SessionID != mirroredID {
						t.Errorf("%+v; want strings.Contains(e.Error, tt.told) and e.Key.SessionID == mirroredID", e)
					}
				}
				if stored := strings.Join(store.stored, ""); tt.told == "" && stored != `{"n":1}{"n":3}subagents/agent-1{"n":2}` {
					t.Errorf("stored %s", stored)
				}
				if store.calls != tt.calls || time.Since(begun) < tt.took {
					t.Errorf("%d calls in %v", store.calls, time.Since(begun))
				}
			})
		})
	}
}

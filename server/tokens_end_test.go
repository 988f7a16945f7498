package server

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/natstest"
	"github.com/seed7221b0f9/parley/server/cluster"
	"github.com/seed7221b0f9/parley/server/session"
)

// TestTokens_endNotStored ends tokens whose end cannot be stored: they end at once, the error is reported, and the next change stores it.
func TestTokens_endNotStored(t *testing.T) {
	for name, later := range map[string]func(all *tokens, id string) error{
		"revoked again": func(all *tokens, id string) error { return all.revoke(id) },
		"another token": func(all *tokens, _ string) error {
			_, _, err := all.create(token{Role: "viewer", Session: "kept"}, 0)
			return err
		},
		"the end": func(all *tokens, _ string) error { return all.close() },
		"a while": func(all *tokens, _ string) error {
			<-time.After(endRetry + time.Second)
			all.mu.Lock()
			defer all.mu.Unlock()
			if len(all.ending) > 0 {
				return errors.New("it is not stored")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { endNotStored(t, later) })
		})
	}
}

func endNotStored(t *testing.T, later func(all *tokens, id string) error) {
	t.Helper()
	all := newTokens(filepath.Join(t.TempDir(), tokensName))
	ends := 0
	all.ended = func() { ends++ }
	tk, value, err := all.create(token{Role: "operator"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	cookie, _, err := all.exchange(value, "")
	if err != nil {
		t.Fatal(err)
	}
	p, err := all.check(cookie, "")
	if err != nil {
		t.Fatal(err)
	}
	held, release := all.hold(t.Context(), p)
	defer release()
	aside := all.path + ".aside"
	if err := errors.Join(os.Rename(all.path, aside), os.MkdirAll(filepath.Join(all.path, "in the way"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := all.revoke(tk.ID); !strings.Contains(session.FailureOf(err).Message, "valid again") {
		t.Errorf("the end of a token that cannot be stored is %v, want that it is valid again after a restart", err)
	}
	for what, v := range map[string]string{"token": value, "cookie": cookie} {
		if _, err := all.check(v, ""); !errors.Is(err, errToken) {
			t.Errorf("the %s whose end is not stored is checked with %v, want %v", what, err, errToken)
		}
	}
	if !errors.Is(context.Cause(held), errToken) || ends != 1 {
		t.Errorf("the connection has ended with %v, and %d ends were reported; want %v and 1", context.Cause(held), ends, errToken)
	}
	if err := later(all, tk.ID); err == nil {
		t.Error("while the file cannot be written, the next change reports no error")
	}
	if err := errors.Join(os.RemoveAll(all.path), os.Rename(aside, all.path)); err != nil {
		t.Fatal(err)
	}
	if err := later(all, tk.ID); err != nil {
		t.Errorf("the next change: %v", err)
	}
	again, err := openTokens(all.path)
	if err != nil {
		t.Fatal(err)
	}
	for what, v := range map[string]string{"token": value, "cookie": cookie} {
		if _, err := again.check(v, ""); !errors.Is(err, errToken) {
			t.Errorf("the %s after a restart is checked with %v, want %v", what, err, errToken)
		}
	}
	if err := all.revoke(tk.ID); err == nil {
		t.Error("a token whose end is stored can be revoked again")
	}
}

// TestTokens_endNotShared ends a token while the cluster cannot be reached: it ends on this server, and the next change ends it on the others.
func TestTokens_endNotShared(t *testing.T) {
	url := natstest.URL(natstest.Server(t, &natsserver.Options{SyncAlways: true}))
	reached, unreached := sharedBucket(t, openCluster(t, url)), lostBucket(t, url)
	for name, later := range map[string]func(all *tokens, id string) error{
		"revoked again": func(all *tokens, id string) error { return all.revoke(id) },
		"another token": func(all *tokens, _ string) error { _, _, err := all.create(token{Role: "viewer"}, 0); return err },
		"a cookie": func(all *tokens, _ string) error {
			_, value, err := all.create(token{Role: "viewer"}, 0)
			if err == nil {
				_, _, err = all.exchange(value, "")
			}
			return err
		},
		"the end": func(all *tokens, _ string) error { return all.close() },
	} {
		t.Run(name, func(t *testing.T) {
			all := newTokens("")
			all.shared = &sharedTokens{bucket: reached, node: "test", logger: slog.New(slog.DiscardHandler), gone: map[string]bool{}}
			tk, value, err := all.create(token{Role: "operator"}, 0)
			if err != nil {
				t.Fatal(err)
			}
			all.shared.bucket = unreached
			if err := all.revoke(tk.ID); !strings.Contains(session.FailureOf(err).Message, "not on the others") {
				t.Errorf("the end of a token that the cluster does not know is %v, want that it has not ended on the other servers", err)
			}
			if _, err := all.check(value, ""); !errors.Is(err, errToken) {
				t.Errorf("on this server the token is checked with %v, want %v", err, errToken)
			}
			all.learn(sharedEntry(t, tk)) // the cluster still has it
			if _, err := all.check(value, ""); !errors.Is(err, errToken) {
				t.Errorf("after an older message the token is checked with %v, want %v", err, errToken)
			}
			all.shared.bucket = reached
			if err := later(all, tk.ID); err != nil {
				t.Errorf("the next change: %v", err)
			}
			if e, err := reached.Get(t.Context(), tk.ID); err == nil {
				t.Errorf("the cluster has the token as %s, want that it is removed", e.Value)
			}
		})
	}
}

// lostBucket returns the tokens of a cluster that cannot be reached any more.
func lostBucket(t *testing.T, url string) *cluster.Bucket {
	t.Helper()
	store, err := eventlog.Open(t.Context(), &eventlog.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	left, err := cluster.Open(t.Context(), cluster.Options{Store: store, Node: "cut", Name: "cut", Key: clusterKey})
	if err != nil {
		t.Fatal(err)
	}
	bucket := sharedBucket(t, left)
	left.Close()
	if err := store.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return bucket
}

func sharedBucket(t *testing.T, c *cluster.Cluster) *cluster.Bucket {
	t.Helper()
	bucket, err := c.Bucket(t.Context(), tokensBucket, 0)
	if err != nil {
		t.Fatal(err)
	}
	return bucket
}

// TestOverwrite checks that a file is only overwritten with content that needs no room.
func TestOverwrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, tt := range []struct {
		content, want string
		ok            bool
	}{{"0123456789", "0123456789", true}, {"abcdef", "abcdef", true}, {"", "", true}, {"01234567890", "0123456789", false}} {
		if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
			t.Fatal(err)
		}
		err := overwrite(path, []byte(tt.content))
		if got, _ := os.ReadFile(path); string(got) != tt.want || (err == nil) != tt.ok {
			t.Errorf("overwritten with %q: %q, %v; want %q, and success %v", tt.content, got, err, tt.want, tt.ok)
		}
	}
	if err := overwrite(path+".missing", nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that does not exist: %v, want %v", err, os.ErrNotExist)
	}
}

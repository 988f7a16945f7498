package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/server/cluster"
)

// sharedTokens synchronizes the tokens of a cluster: every server holds all tokens and receives each change.
type sharedTokens struct {
	bucket *cluster.Bucket
	node   string
	logger *slog.Logger
	gone   map[string]bool // ids of ended tokens, because an older message about one may follow
}

// tokensBucket is the name of the bucket with the tokens, by id.
const tokensBucket = "TOKENS"

// maxShare is the timeout of a change of the shared tokens.
const maxShare = 10 * time.Second

// readTokens reads the tokens from the cluster, or from the data directory of a single server.
func (s *Server) readTokens(ctx context.Context) error {
	s.tokens = newTokens(filepath.Join(s.opts.Dir, tokensName))
	c := s.opts.Cluster
	if c == nil {
		return s.readState(tokensName, s.tokens.read)
	}
	bucket, err := c.Bucket(ctx, tokensBucket, 0)
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	s.tokens.shared = &sharedTokens{bucket: bucket, node: c.Node(), logger: s.logger, gone: map[string]bool{}}
	if err := bucket.Watch(ctx, s.tokens.learn); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return s.tokens.endStart()
}

// self returns the name of this server in a cluster.
func (x *sharedTokens) self() string {
	if x == nil {
		return ""
	}
	return x.node
}

// idsOf returns the ids of tokens as a set.
func idsOf(all []token) map[string]bool {
	set := make(map[string]bool, len(all))
	for _, tk := range all {
		set[tk.ID] = true
	}
	return set
}

// change updates the tokens of the cluster from before to after. It removes tokens before it adds any.
func (x *sharedTokens) change(before, after []token) error {
	ctx, cancel := context.WithTimeout(context.Background(), maxShare)
	defer cancel()
	had, has := idsOf(before), idsOf(after)
	for _, tk := range before {
		if has[tk.ID] {
			continue
		}
		if err := x.bucket.Remove(ctx, tk.ID); err != nil {
			return err
		}
	}
	for _, tk := range after {
		if had[tk.ID] {
			continue
		}
		data, err := json.Marshal(tk)
		if err == nil {
			err = x.bucket.Create(ctx, tk.ID, data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// share changes the tokens of the cluster to all. The caller holds changing and mu; mu is released during the calls.
func (t *tokens) share(all []token) error {
	before := t.all
	t.mu.Unlock()
	err := t.shared.change(before, all)
	t.mu.Lock()
	if err != nil {
		return err
	}
	had, has := idsOf(before), idsOf(all)
	for id := range had {
		if !has[id] {
			t.shared.gone[id] = true
		}
	}
	now := slices.DeleteFunc(slices.Clone(t.all), func(tk token) bool { return t.shared.gone[tk.ID] })
	for _, tk := range all {
		if _, known := t.place[tk.ID]; !had[tk.ID] && !known && !t.shared.gone[tk.ID] {
			now = append(now, tk)
		}
	}
	t.set(now)
	return nil
}

// shareEnd removes the tokens in ending from the cluster. The caller holds changing and mu; mu is released during the calls.
func (t *tokens) shareEnd() error {
	for _, tk := range t.ending {
		t.shared.gone[tk.ID] = true
	}
	t.mu.Unlock()
	defer t.mu.Lock()
	return t.shared.change(t.ending, nil)
}

// shareRest removes the tokens in ending from the cluster after another change, if there are any. The caller holds changing and mu; mu is
// released during the calls.
func (t *tokens) shareRest() {
	if len(t.ending) == 0 {
		return
	}
	if err := t.storeEnd(); err != nil {
		t.shared.logger.Warn("other servers accept tokens that have ended", "err", err)
	}
}

// shareStart shares the token of this process, so that other servers accept its calls. The caller holds changing and mu.
func (t *tokens) shareStart() {
	tk := t.start
	tk.Node = t.shared.node
	if err := t.share(append(slices.Clone(t.all), tk)); err != nil {
		t.shared.logger.Error("other servers refuse the token of this one", "err", err)
	}
}

// endBegun ends the token of this process in the cluster, with its cookies.
func (t *tokens) endBegun() {
	t.changing.Lock()
	defer t.changing.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	id := t.start.ID
	if t.shared == nil || id == "" {
		return
	}
	t.start = token{}
	if err := t.share(slices.DeleteFunc(slices.Clone(t.all), func(old token) bool { return old.ID == id || old.Parent == id })); err != nil {
		t.shared.logger.Error("other servers accept the token of this one until it starts again", "err", err)
	}
}

// endStart removes the tokens of earlier processes of this server.
func (t *tokens) endStart() error {
	_, err := t.remove(func(old token) bool { return old.Node == t.shared.node && old.Port == "" && old.Parent == "" })
	return err
}

// learn applies a change of a token in the cluster.
func (t *tokens) learn(e cluster.Entry) {
	if t.learned(e) {
		t.ended()
	}
}

// learned applies a change of a token. It reports whether a known token was removed.
func (t *tokens) learned(e cluster.Entry) (ended bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at, known := t.place[e.Key]
	if e.Value == nil {
		t.shared.gone[e.Key] = true
		if known {
			t.set(slices.Delete(slices.Clone(t.all), at, at+1))
		}
		return known
	}
	var tk token
	if err := json.Unmarshal(e.Value, &tk); err != nil || tk.ID != e.Key || tk.Hash == "" {
		t.shared.logger.Error("a token of the cluster cannot be read", "id", e.Key, "err", err)
		return false
	}
	if !known && !t.shared.gone[tk.ID] {
		t.set(append(slices.Clone(t.all), tk))
	}
	return false
}

// holder returns the current holder of a token of the cluster. It also finds a token that another
// server has just created.
func (t *tokens) holder(ctx context.Context, id string) (*principal, error) {
	p, err := t.holderNow(id)
	if err == nil {
		return p, nil
	}
	e, missing := t.shared.bucket.Get(ctx, id)
	if errors.Is(missing, cluster.ErrMissing) {
		return nil, err
	}
	if missing != nil {
		return nil, missing
	}
	t.learn(e)
	return t.holderNow(id)
}

func (t *tokens) holderNow(id string) (*principal, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	tk, ok := t.find(id)
	r, err := parseRole(tk.Role)
	if !ok || err != nil {
		return nil, errToken
	}
	return tk.principal(r), nil
}

package claudetest

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/seed7221b0f9/parley/claude"
)

// FullStore is a session store with every optional interface except for summaries, as the
// alternating tests need it.
type FullStore interface {
	claude.SessionStore
	claude.SessionLister
	claude.SubkeyLister
	claude.SessionDeleter
	claude.SessionClaimer
}

// AlternateStores returns a store for [TestSessionStore] that passes its calls to the
// given stores in turn. These must share their data, like the stores of processes on
// several machines.
func AlternateStores(stores ...FullStore) FullStore { return &alternate{stores: stores} }

type alternate struct {
	stores []FullStore
	n      atomic.Uint32
}

func (a *alternate) next() FullStore { return a.stores[int(a.n.Add(1))%len(a.stores)] }

func (a *alternate) Append(ctx context.Context, key claude.SessionKey, entries []json.RawMessage) error {
	return a.next().Append(ctx, key, entries)
}

func (a *alternate) Load(ctx context.Context, key claude.SessionKey) ([]json.RawMessage, error) {
	return a.next().Load(ctx, key)
}

func (a *alternate) ListSessions(ctx context.Context, projectKey string) ([]claude.StoredSession, error) {
	return a.next().ListSessions(ctx, projectKey)
}

func (a *alternate) ListSubkeys(ctx context.Context, key claude.SessionKey) ([]string, error) {
	return a.next().ListSubkeys(ctx, key)
}

func (a *alternate) Delete(ctx context.Context, key claude.SessionKey) error {
	return a.next().Delete(ctx, key)
}

func (a *alternate) Claim(ctx context.Context, key claude.SessionKey) (claude.SessionStore, error) {
	return a.next().Claim(ctx, key)
}

package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/server/budget"
	"github.com/seed7221b0f9/parley/server/session"
)

// ledgerLogName is the log of the rows of the book.
const ledgerLogName = "ledger"

// ledgerSnapshot is the number of rows after which the whole book is stored.
const ledgerSnapshot = 512

// ledgerBatch is the number of rows in one write.
const ledgerBatch = 256

// accounts is the server's book of usage and limits, with its log.
type accounts struct {
	log   session.Log
	now   func() time.Time
	price func(agent.Used) (float64, bool)
	// settings are the limits from the start of the server.
	settings []budget.Limit
	reserve  budget.Amount // the minimum that a turn reserves

	shared *sharedDesk // nil for a single server

	mu      sync.Mutex
	desk    budget.Desk
	seq     uint64
	snapSeq uint64
	book    budget.Book
	unsaved [][]byte // counted rows that could not be stored yet
}

// openAccounts reads the ledger. Limits from the settings are not stored in it: they apply as set
// at this start.
func openAccounts(ctx context.Context, log session.Log, opts Options) (*accounts, error) {
	l := &accounts{log: log, now: opts.now, price: opts.Price, reserve: opts.TurnReserve}
	if l.price == nil {
		l.price = func(agent.Used) (float64, bool) { return 0, false }
	}
	for _, limit := range opts.Budgets {
		if err := limit.Check(); err != nil {
			return nil, fmt.Errorf("server: %w", err)
		}
		if !isSetting(limit.ID) {
			limit.ID = settingPrefix + random.Hex(6)
		}
		l.settings = append(l.settings, limit)
	}
	if err := l.restore(ctx); err != nil {
		return nil, err
	}
	return l, l.catchUp(ctx)
}

// restore restores the book from the snapshot, with the limits of the settings and the rows that
// could not be stored yet. The caller holds the lock.
func (l *accounts) restore(ctx context.Context) error {
	snap, err := l.log.Snapshot(ctx)
	if err != nil && !session.IsMissing(err) {
		return err
	}
	var book budget.Book
	if err == nil {
		if err := json.Unmarshal(snap.Data, &book); err != nil {
			return fmt.Errorf("server: the ledger: %w", err)
		}
	}
	for _, old := range book.Limits() {
		if isSetting(old.ID) {
			book.Apply(budget.Row{Removed: old.ID})
		}
	}
	for _, limit := range l.settings {
		book.Apply(budget.Row{Limit: &limit})
	}
	for _, data := range l.unsaved {
		var row budget.Row
		if err := json.Unmarshal(data, &row); err != nil {
			return fmt.Errorf("server: a row of the ledger: %w", err)
		}
		book.Apply(row)
	}
	l.book, l.seq, l.snapSeq = book, snap.Seq, snap.Seq
	return nil
}

// settingPrefix is the prefix of the ids of limits from the settings.
const settingPrefix = "setting:"

func isSetting(id string) bool { return strings.HasPrefix(id, settingPrefix) }

// catchUp reads rows of the log that are not in the book. The caller holds the lock.
func (l *accounts) catchUp(ctx context.Context) error { return readOn(ctx, l.readOn, l.restore) }

func (l *accounts) readOn(ctx context.Context) error {
	for ev, err := range session.ReadAround(ctx, l.log, l.seq) {
		if session.IsMissing(err) {
			return nil
		}
		if err != nil {
			return err
		}
		l.seq = ev.Seq
		if ev.Data == nil {
			continue
		}
		var row budget.Row
		if err := json.Unmarshal(ev.Data, &row); err != nil {
			return fmt.Errorf("server: row %d of the ledger: %w", ev.Seq, err)
		}
		l.book.Apply(row)
	}
	return nil
}

// Add counts rows and stores them. If they cannot be stored, they still count, and are stored with
// the next ones.
func (l *accounts) Add(ctx context.Context, rows ...budget.Row) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.addLocked(ctx, rows...)
}

func (l *accounts) addLocked(ctx context.Context, rows ...budget.Row) error {
	for _, row := range rows {
		data, err := json.Marshal(row)
		if err != nil {
			return fmt.Errorf("server: a row of the ledger: %w", err)
		}
		l.unsaved = append(l.unsaved, data)
		l.book.Apply(row)
		l.desk.Used(row)
	}
	if err := l.save(ctx); err != nil {
		return fmt.Errorf("server: storing the ledger: %w", err)
	}
	if l.shared != nil {
		l.usedShared(rows)
	}
	return nil
}

func (l *accounts) save(ctx context.Context) error {
	for len(l.unsaved) > 0 {
		batch := l.unsaved[:min(len(l.unsaved), ledgerBatch)]
		if err := l.append(ctx, batch...); err != nil {
			return err
		}
		l.unsaved = slices.Delete(l.unsaved, 0, len(batch))
	}
	if l.seq-l.snapSeq >= ledgerSnapshot {
		l.book.Forget(l.now())
		if data, err := l.book.MarshalJSON(); err == nil && l.log.PutSnapshot(ctx, l.seq, 0, data) == nil {
			l.snapSeq = l.seq
			_ = l.log.Trim(ctx, l.seq) // the next snapshot tries again
		}
	}
	return nil
}

// change sets or removes a limit. Unlike usage, a limit that cannot be stored does not take effect.
func (l *accounts) change(ctx context.Context, row budget.Row) error {
	data, err := json.Marshal(row)
	if err != nil {
		return fmt.Errorf("server: a row of the ledger: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	err = l.save(ctx)
	if err == nil {
		err = l.append(ctx, data)
	}
	if err != nil {
		return fmt.Errorf("server: storing the ledger: %w", err)
	}
	l.book.Apply(row)
	return nil
}

// append stores rows after those that other servers of the cluster wrote meanwhile. The caller holds the lock.
func (l *accounts) append(ctx context.Context, rows ...[]byte) error {
	for {
		last, err := l.log.Append(ctx, l.seq, rows...)
		var c *eventlog.ConflictError
		if !errors.As(err, &c) || c.Last <= l.seq {
			if err == nil {
				l.seq = last
			}
			return err
		}
		if err := l.catchUp(ctx); err != nil {
			return err
		}
	}
}

// Used returns the row of an answer.
func (l *accounts) Used(acc budget.Account, u agent.Used) budget.Row {
	row := budget.Row{Time: l.now(), Account: acc, Amount: budget.Amount{Tokens: u.Total()}}
	usd, ok := l.price(u)
	if ok {
		row.USD = usd
	} else {
		row.Unpriced = row.Amount.Tokens
	}
	return row
}

// Reported adjusts the account of a session to the total that its agent reports.
func (l *accounts) Reported(ctx context.Context, acc budget.Account, total budget.Amount, fresh bool) (budget.Row, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	row := l.book.Reconcile(acc, total, fresh, l.now())
	return row, l.addLocked(ctx, row)
}

// Check returns the standings of an account with the limits that apply to it.
func (l *accounts) Check(acc budget.Account) []budget.Standing {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.book.Check(acc, l.now())
}

// Reserve decides whether a turn may start. It reserves the cost of the most expensive turn of its session.
func (l *accounts) Reserve(acc budget.Account, dearest budget.Amount) budget.Verdict {
	l.mu.Lock()
	defer l.mu.Unlock()
	cost := budget.Amount{USD: max(dearest.USD, l.reserve.USD), Tokens: max(dearest.Tokens, l.reserve.Tokens)}
	if l.shared != nil {
		return l.reserveShared(acc, cost)
	}
	return l.desk.Reserve(&l.book, acc, cost, l.now())
}

// Release ends the turn of a session and returns the sessions that no longer wait.
func (l *accounts) Release(session string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shared != nil {
		return l.releaseShared(session)
	}
	return l.desk.Release(&l.book, session, l.now())
}

// all returns the standings of all limits.
func (l *accounts) all() []budget.Standing {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.book.All(l.now())
}

// Spent returns the usage of a session, including the last report of its agent.
func (l *accounts) Spent(session string) budget.Amount {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.book.Spent(session)
}

// limit returns the limit with this id.
func (l *accounts) limit(id string) (budget.Limit, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	limits := l.book.Limits()
	i := slices.IndexFunc(limits, func(x budget.Limit) bool { return x.ID == id })
	if i < 0 {
		return budget.Limit{}, false
	}
	return limits[i], true
}

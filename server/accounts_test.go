package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/budget"
)

// ledgerLog is an in-memory log whose snapshot can also fail to be read.
type ledgerLog struct {
	outboxLog
	lost error
}

func (l *ledgerLog) Snapshot(ctx context.Context) (eventlog.Snapshot, error) {
	if l.lost != nil {
		return eventlog.Snapshot{}, l.lost
	}
	return l.outboxLog.Snapshot(ctx)
}

var ledgerNow = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

func openLedger(t *testing.T, log *ledgerLog, limits ...budget.Limit) *accounts {
	t.Helper()
	l, err := openAccounts(t.Context(), log, Options{now: func() time.Time { return ledgerNow }, Budgets: limits})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func tokensOf(session string, n int64) budget.Row {
	return budget.Row{Time: ledgerNow, Account: budget.Account{Session: session, Token: "t"}, Amount: budget.Amount{Tokens: n}}
}

// TestLedger_open checks that a server does not start with a ledger that it cannot read, or with an invalid limit.
func TestLedger_open(t *testing.T) {
	failed := errors.New("failed")
	good := budget.Limit{Scope: budget.ScopeServer, Tokens: new(int64(1))}
	for _, tt := range []struct {
		name  string
		log   *ledgerLog
		limit budget.Limit
	}{
		{"the snapshot is lost", &ledgerLog{lost: failed}, good},
		{"the snapshot is broken", &ledgerLog{outboxLog: outboxLog{snap: &eventlog.Snapshot{Data: []byte("{")}}}, good},
		{"a row is broken", &ledgerLog{outboxLog: outboxLog{events: [][]byte{[]byte("{")}}}, good},
		{"the rows are lost", &ledgerLog{outboxLog: outboxLog{fault: func(call string) error {
			if call == "read" {
				return failed
			}
			return nil
		}}}, good},
		{"a limit is invalid", &ledgerLog{}, budget.Limit{Scope: "wild", Tokens: new(int64(1))}},
	} {
		if l, err := openAccounts(t.Context(), tt.log, Options{now: time.Now, Budgets: []budget.Limit{tt.limit}}); err == nil {
			t.Errorf("%s: the ledger was opened: %+v", tt.name, l.all())
		}
	}
}

// TestLedger_settings checks that the limits from the settings apply as set at this start: those of an earlier start end, those that a person
// has set stay.
func TestLedger_settings(t *testing.T) {
	log := &ledgerLog{}
	limit := func(id string, n int64) budget.Limit {
		return budget.Limit{ID: id, Scope: budget.ScopeServer, Tokens: &n}
	}
	l := openLedger(t, log, limit("", 1), limit("setting:a", 2))
	if err := l.change(t.Context(), budget.Row{Limit: new(limit("mine", 3))}); err != nil {
		t.Fatal(err)
	}
	data, err := l.book.MarshalJSON()
	if err != nil || log.PutSnapshot(t.Context(), l.seq, 0, data) != nil {
		t.Fatal(err)
	}
	of := func(l *accounts) (list []string) {
		for _, st := range l.all() {
			kind, _, _ := strings.Cut(st.ID, ":")
			list = append(list, fmt.Sprint(kind, " ", *st.Tokens, " ", st.Action))
			if got, ok := l.limit(st.ID); !ok || *got.Tokens != *st.Tokens {
				t.Errorf("limit %q is %+v, %t", st.ID, got, ok)
			}
		}
		slices.Sort(list)
		return list
	}
	if got, want := of(l), []string{"mine 3 ", "setting 1 interrupt", "setting 2 interrupt"}; !slices.Equal(got, want) {
		t.Errorf("the limits are %q, want %q", got, want)
	}
	if got, want := of(openLedger(t, log, limit("", 9))), []string{"mine 3 ", "setting 9 interrupt"}; !slices.Equal(got, want) {
		t.Errorf("after a start with other settings the limits are %q, want %q", got, want)
	}
	if _, ok := l.limit("none"); ok {
		t.Error("there is a limit with an unknown id")
	}
	if _, ok := l.limit("setting:a"); !ok {
		t.Error("a setting has lost its id")
	}
}

// TestLedger_faults makes calls of the log fail. Usage that cannot be stored counts, and is stored
// once, later. A limit that cannot be stored has no effect.
func TestLedger_faults(t *testing.T) {
	log := &ledgerLog{}
	l := openLedger(t, log)
	failed := errors.New("failed")
	log.fault = func(call string) error { return failed }
	for n := range int64(3) {
		if err := l.Add(t.Context(), tokensOf("s", n+1), tokensOf("other", 10)); !errors.Is(err, failed) {
			t.Errorf("usage that is not stored: %v", err)
		}
	}
	if got := l.Spent("s"); got.Tokens != 6 {
		t.Errorf("usage that is not stored counts as %+v, want 6 tokens", got)
	}
	limit := budget.Row{Limit: &budget.Limit{ID: "x", Scope: budget.ScopeServer, Tokens: new(int64(1))}}
	if err := l.change(t.Context(), limit); !errors.Is(err, failed) || len(l.all()) != 0 {
		t.Errorf("a limit that is not stored: %v, limits %+v", err, l.all())
	}
	if err := l.restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := l.Spent("s"); got.Tokens != 6 {
		t.Errorf("after reading the ledger again the session has used %+v, want 6 tokens", got)
	}
	log.fault = nil
	if err := l.change(t.Context(), limit); err != nil || len(l.all()) != 1 {
		t.Errorf("the limit: %v, limits %+v", err, l.all())
	}
	if err := l.Add(t.Context(), tokensOf("s", 4)); err != nil {
		t.Fatal(err)
	}
	if len(l.unsaved) > 0 {
		t.Errorf("%d rows are not stored", len(l.unsaved))
	}
	again := openLedger(t, log)
	if a, b := again.Spent("s"), again.Spent("other"); a.Tokens != 10 || b.Tokens != 30 || len(again.all()) != 1 {
		t.Errorf("another start: %+v, %+v, limits %+v", a, b, again.all())
	}
	if err := l.change(t.Context(), budget.Row{Removed: "x"}); err != nil || len(l.all()) != 0 {
		t.Errorf("the limit was removed: %v, limits %+v", err, l.all())
	}
	var last budget.Row
	if err := json.Unmarshal(log.events[len(log.events)-1], &last); err != nil || last.Removed != "x" {
		t.Errorf("the last row is %+v, %v", last, err)
	}
}

// TestLedger_batches checks that many rows are stored in several writes, in order, and that a snapshot that fails is made later.
func TestLedger_batches(t *testing.T) {
	log := &ledgerLog{}
	var writes int
	deny := errors.New("denied")
	log.fault = func(call string) error {
		switch call {
		case "append":
			writes++
		case "snapshot":
			return deny
		}
		return nil
	}
	l := openLedger(t, log)
	var rows []budget.Row
	for n := range int64(ledgerSnapshot + 1) {
		rows = append(rows, tokensOf("s", n))
	}
	if err := l.Add(t.Context(), rows...); err != nil {
		t.Fatal(err)
	}
	if writes != 3 || len(log.events) != len(rows) || log.snap != nil {
		t.Errorf("%d rows in %d writes, a snapshot %t", len(log.events), writes, log.snap != nil)
	}
	for i, data := range log.events {
		var row budget.Row
		if err := json.Unmarshal(data, &row); err != nil || row.Tokens != int64(i) {
			t.Fatalf("row %d is %s", i, data)
		}
	}
	deny = nil
	if err := l.Add(t.Context(), tokensOf("s", 1)); err != nil || log.snap == nil || log.snap.Seq != uint64(len(rows)+1) {
		t.Fatalf("the snapshot is %+v, %v", log.snap, err)
	}
	seq := log.snap.Seq
	if err := l.Add(t.Context(), tokensOf("s", 1)); err != nil || log.snap.Seq != seq {
		t.Errorf("the next row made a snapshot: %+v, %v", log.snap, err)
	}
	if log.events[seq-1] != nil || log.events[seq] == nil {
		t.Error("the rows of the snapshot were not trimmed, or others were")
	}
	if got, want := openLedger(t, log).Spent("s"), l.Spent("s"); got != want {
		t.Errorf("another start knows of %+v, want %+v", got, want)
	}
}

// TestLedger_cluster checks that two servers add to one ledger: each sees the rows of the other when it writes.
func TestLedger_cluster(t *testing.T) {
	log := &ledgerLog{}
	a, b := openLedger(t, log), openLedger(t, log)
	for n := range int64(4) {
		if err := a.Add(t.Context(), tokensOf("s", n)); err != nil {
			t.Fatal(err)
		}
		if err := b.Add(t.Context(), tokensOf("s", 10)); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.Spent("s"); got.Tokens != 46 || len(log.events) != 8 {
		t.Errorf("the second server knows of %+v in %d rows, want 46 tokens in 8", got, len(log.events))
	}
	failed := errors.New("failed")
	log.fault = func(call string) error {
		if call == "read" {
			return failed
		}
		return nil
	}
	if err := a.Add(t.Context(), tokensOf("s", 1)); !errors.Is(err, failed) {
		t.Errorf("a write that cannot follow the other server: %v", err)
	}
}

// TestLedger_used checks the recorded amounts: dollars with a known price, otherwise tokens with an
// unknown price. A turn reserves the amount of its session's most expensive turn, at least the
// minimum.
func TestLedger_used(t *testing.T) {
	log := &ledgerLog{}
	l, err := openAccounts(t.Context(), log, Options{now: func() time.Time { return ledgerNow }, TurnReserve: budget.Amount{USD: 1, Tokens: 100},
		Price:   func(u agent.Used) (float64, bool) { return 2.5, u.Model == "known" },
		Budgets: []budget.Limit{{Scope: budget.ScopeSession, Tokens: new(int64(300))}, {Scope: budget.ScopeSession, USD: new(4.0)}}})
	if err != nil {
		t.Fatal(err)
	}
	acc := budget.Account{Session: "s", Token: "t", Tenant: "x"}
	known := l.Used(acc, agent.Used{Model: "known", Tokens: agent.Tokens{Input: 3, Output: 4}})
	if want := (budget.Amount{USD: 2.5, Tokens: 7}); known.Amount != want || !known.Time.Equal(ledgerNow) || known.Tenant != "x" || known.Session != "s" || known.Token != "t" {
		t.Errorf("a known price: %+v, want %+v", known, want)
	}
	if got, want := l.Used(acc, agent.Used{Model: "none", Tokens: agent.Tokens{Input: 3, Output: 4}}).Amount, (budget.Amount{Tokens: 7, Unpriced: 7}); got != want {
		t.Errorf("an unknown price: %+v, want %+v", got, want)
	}
	free := openLedger(t, &ledgerLog{})
	if got := free.Used(acc, agent.Used{Model: "known", Tokens: agent.Tokens{Input: 3}}).Amount; got != (budget.Amount{Tokens: 3, Unpriced: 3}) {
		t.Errorf("without prices: %+v", got)
	}
	for _, tt := range []struct {
		dearest budget.Amount
		fits    int // number of sessions that can have a turn at the same time
	}{{budget.Amount{}, 3}, {budget.Amount{Tokens: 150}, 2}, {budget.Amount{USD: 2}, 2}, {budget.Amount{USD: 0.5, Tokens: 50}, 3}} {
		begun := 0
		for i := range 5 {
			child := budget.Account{Session: fmt.Sprint("c", i), Parents: []string{"s"}}
			if l.Reserve(child, tt.dearest) == budget.Begin {
				begun++
			}
		}
		if begun != tt.fits {
			t.Errorf("with the dearest turn %+v %d turns start, want %d", tt.dearest, begun, tt.fits)
		}
		var freed []string
		for i := range 5 {
			freed = append(freed, l.Release(fmt.Sprint("c", i))...)
		}
		if len(freed) == 0 {
			t.Error("no turn was told that it may start")
		}
	}
}

// TestLedger_forgets checks that the snapshot of the ledger has no sums of days that no limit needs any more.
func TestLedger_forgets(t *testing.T) {
	log := &ledgerLog{}
	l := openLedger(t, log)
	var rows []budget.Row
	for n := range ledgerSnapshot {
		row := tokensOf("s", 1)
		row.Time = ledgerNow.AddDate(0, 0, -n)
		rows = append(rows, row)
	}
	if err := l.Add(t.Context(), rows...); err != nil || log.snap == nil {
		t.Fatalf("adding %d rows: %v, a snapshot %t; want one", len(rows), err, log.snap != nil)
	}
	text := string(log.snap.Data)
	if old := ledgerNow.AddDate(0, 0, -ledgerSnapshot+1).Format(time.DateOnly); strings.Contains(text, old) || !strings.Contains(text, ledgerNow.Format(time.DateOnly)) {
		t.Errorf("the snapshot has the sums of %s, or not those of today:\n%.500s", old, text)
	}
	if got, want := l.Spent("s").Tokens, int64(ledgerSnapshot); got != want {
		t.Errorf("the session has used %d tokens, want %d", got, want)
	}
}

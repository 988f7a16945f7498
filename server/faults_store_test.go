package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/server/api"
)

// TestBudget_notStored checks that a limit that cannot be stored is not set, changed or removed,
// and that a repeated call succeeds.
func TestBudget_notStored(t *testing.T) {
	f := newFaultServer(t)
	id := ""
	for _, step := range []struct {
		name, method string
		params       func() string
	}{
		{"a new one", "budget.set", func() string { return `{"budget":{"scope":"server","limit_tokens":7}}` }},
		{"a change", "budget.set", func() string { return `{"budget":{"id":"` + id + `","scope":"server","limit_tokens":8}}` }},
		{"the removal", "budget.remove", func() string { return `{"id":"` + id + `"}` }},
	} {
		list := func() string {
			text, err := f.do("budget.list", `{}`)
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		before := list()
		f.store.arm(0)
		f.store.only = ledgerLogName + ".Append"
		got, err := f.do(step.method, step.params())
		if failed := f.store.disarm(); err == nil || failed == "" {
			t.Errorf("%s: %s returns %s, %v after a fault of %q; want an error", step.name, step.method, got, err, failed)
		}
		if after := list(); after != before {
			t.Errorf("%s could not be stored, and the budgets are\n%s, want\n%s", step.name, after, before)
		}
		if got, err = f.do(step.method, step.params()); err != nil {
			t.Fatalf("%s, made again, returns %v, want no error", step.name, err)
		}
		if list() == before {
			t.Errorf("%s returns no error and the budgets are still %s", step.name, before)
		}
		if id == "" {
			id = member(t, got, "budget.id")
		}
	}
}

// TestBudget_cluster checks that a limit is stored after rows that another server has written.
func TestBudget_cluster(t *testing.T) {
	f := newFaultServer(t)
	ledger := f.store.Log(ledgerLogName)
	other := `{"time":"2026-01-02T03:04:05Z","limit":{"id":"b-other","scope":"server","tokens":5}}`
	if _, err := ledger.Append(t.Context(), f.accounts.seq, []byte(other)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.do("budget.set", `{"budget":{"scope":"server","limit_tokens":7}}`); err != nil {
		t.Fatal(err)
	}
	text, err := f.do("budget.list", `{}`)
	var list api.BudgetListResult
	if err != nil || json.Unmarshal([]byte(text), &list) != nil || len(list.Budgets) != 2 || list.Budgets[0].ID != "b-other" {
		t.Errorf("the budgets are %s, %v; want that of the other server and the new one", text, err)
	}
}

// TestConnect_again makes each store call of session.connect fail in turn: without an effect, after
// its events were stored, and together with the next call. Calling session.connect again with the
// same idempotency key succeeds, and there is one session.
func TestConnect_again(t *testing.T) {
	for _, late := range []bool{false, true} {
		for more := range 3 {
			t.Run(fmt.Sprintf("stored %v, %d more", late, more), func(t *testing.T) {
				f := newFaultServer(t)
				failures := 0
				for n := 0; ; n++ {
					f.store.arm(n)
					f.store.late, f.store.more = late, more
					params := fmt.Sprintf(`{"cwd":%q,"idempotency_key":"k%d"}`, f.work, n)
					first, err1 := f.do("session.connect", params)
					failed := f.store.disarm()
					again, err2 := f.do("session.connect", params)
					if err2 != nil {
						t.Fatalf("after a fault of %s (%s, %v) the second call returns %v, want no error", failed, first, err1, err2)
					}
					id := member(t, again, "session_id")
					if err1 == nil && member(t, first, "session_id") != id {
						t.Errorf("the first call returns %s, the second %s; want the same session", first, again)
					}
					if err1 != nil {
						failures++
					}
					list, err := f.do("session.list", `{}`)
					if err != nil || strings.Count(list, `"session_id"`) != n+1 || !strings.Contains(list, id) {
						t.Errorf("after %d calls the list is %s, %v", n+1, list, err)
					}
					if failed == "" || n > 40 {
						break
					}
				}
				if failures == 0 {
					t.Error("no first call has failed, want some")
				}
			})
		}
	}
}

// TestConnect_concurrent checks that concurrent calls with one idempotency key make one session, and all return it.
func TestConnect_concurrent(t *testing.T) {
	f := newFaultServer(t)
	const calls = 8
	ids, errs := make([]string, calls), make([]error, calls)
	done := make(chan struct{})
	for i := range calls {
		go func() {
			defer func() { done <- struct{}{} }()
			var text string
			if text, errs[i] = f.do("session.connect", `{"cwd":"`+f.work+`","idempotency_key":"k"}`); errs[i] == nil {
				ids[i] = member(t, text, "session_id")
			}
		}()
	}
	for range calls {
		<-done
	}
	if n := len(slices.Compact(slices.Clone(ids))); n != 1 || ids[0] == "" {
		t.Errorf("the calls return the sessions %q and %v, want one session and no error", ids, errs)
	}
}

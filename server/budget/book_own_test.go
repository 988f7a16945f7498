package budget_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/server/budget"
)

// TestBook_own checks that the restored usage of a session excludes that of the sessions it
// started.
func TestBook_own(t *testing.T) {
	var b budget.Book
	b.Apply(budget.Row{Account: budget.Account{Session: "child", Parents: []string{"root"}}, Amount: budget.Amount{USD: 5}, Time: time.Unix(1e9, 0)})
	data, err := json.Marshal(&b)
	if err != nil {
		t.Fatal(err)
	}
	var again budget.Book
	if err := json.Unmarshal(data, &again); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"child": 5, "root": 0} {
		if before, after := b.Spent(name).USD, again.Spent(name).USD; before != want || after != want {
			t.Errorf("%s has spent $%v, and $%v in the stored book; want $%v", name, before, after, want)
		}
	}
}

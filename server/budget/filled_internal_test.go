package budget

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/test/filled"
)

// TestFilled checks that each field of a row, a book and a desk survives its encoding, and that each field of an account and an amount counts.
func TestFilled(t *testing.T) {
	filled.JSON[Row](t)
	filled.JSON[savedBook](t)
	filled.JSON[deskJSON](t)
	row := filled.Of[Row](t)
	row.Limit, row.Removed = nil, ""
	filled.Converted(t, row, func(r Row) Book {
		var b Book
		b.Apply(r)
		return b
	}, "Limit", "Removed")
	filled.Converted(t, row.Account, func(a Account) Book {
		var b Book
		b.Apply(Row{Time: row.Time, Account: a, Amount: row.Amount})
		return b
	})
	filled.Converted(t, row.Account, func(a Account) Account {
		child, err := a.Child("s")
		if err != nil {
			t.Fatal(err)
		}
		return child
	}, "Session", "Parents")
	var book Book
	limit := filled.Of[Limit](t)
	book.Apply(row)
	book.Apply(Row{Limit: &limit})
	data, err := json.Marshal(&book)
	if err != nil {
		t.Fatal(err)
	}
	var again Book
	if err := json.Unmarshal(data, &again); err != nil || !reflect.DeepEqual(book, again) {
		t.Errorf("a decoded book is %+v, %v, want %+v", again, err, book)
	}
	var desk Desk
	desk.Reserve(&Book{}, row.Account, row.Amount, time.Now())
	desk.waiting = append(desk.waiting, &request{Account{Session: "w"}, Amount{Tokens: 3}})
	if data, err = json.Marshal(&desk); err != nil {
		t.Fatal(err)
	}
	var next Desk
	if err := json.Unmarshal(data, &next); err != nil || !reflect.DeepEqual(desk, next) {
		t.Errorf("decoded reservations are %+v, %v, want %+v", next, err, desk)
	}
}

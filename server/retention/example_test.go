package retention_test

import (
	"context"
	"fmt"

	"github.com/seed7221b0f9/parley/server/retention"
)

// This example has a shelf of four items of ten bytes, and a limit of 25: the two oldest items are
// deleted.
func ExampleKind_Enforce() {
	items := []string{"monday", "tuesday", "wednesday", "thursday"}
	k := retention.Kind{
		Name: "days",
		Measure: func(context.Context) (retention.Size, error) {
			return retention.Size{Bytes: int64(10 * len(items))}, nil
		},
		Oldest: func(context.Context) ([]string, error) { return items, nil },
		Delete: func(context.Context, string) error { items = items[1:]; return nil },
	}
	deleted, err := k.Enforce(context.Background(), 25)
	fmt.Println(deleted, err)
	// Output: [monday tuesday] <nil>
}

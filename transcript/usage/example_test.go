package usage_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/seed7221b0f9/parley/transcript/usage"
)

// Print the daily cost of the sessions on this machine.
func Example() {
	ledger, err := usage.Scan(context.Background(), usage.Options{ConfigDirs: []string{"testdata/recorded/fork"}})
	if err != nil {
		log.Fatal(err)
	}
	report := ledger.Report(usage.ByDay, usage.View{Location: time.UTC})
	for _, row := range report.Rows {
		fmt.Printf("%s: %d answers, %d tokens, $%.4f\n", row.Key, row.Answers, row.Total(), row.Cost)
	}
	if missing := report.Total.Missing; len(missing) > 0 {
		fmt.Println("without a price:", missing)
	}
	// Output:
	// 2026-11-15: 4 answers, 105947 tokens, $0.1089
}

// Compare the bills in the CLI's sessions with the ledger.
func ExampleLedger_Reconcile() {
	ledger, err := usage.Scan(context.Background(), usage.Options{ConfigDirs: []string{"testdata/recorded/compact"}})
	if err != nil {
		log.Fatal(err)
	}
	for _, bill := range ledger.Reconcile(usage.View{}).Different() {
		fmt.Printf("%s: $%.4f more on the bill: %s\n", bill.Session[:8], bill.Difference(), bill.Why)
	}
	// Output:
	// 0690c110: $0.0310 more on the bill: compaction, not in the transcript
}

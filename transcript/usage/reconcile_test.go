package usage

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// billLine returns the CLI's bill for a number of the answers that line makes.
func billLine(session string, answers int, cost float64) string {
	return fmt.Sprintf(`{"type":"cost-state","sessionId":"%s","totalCostUSD":%g,"modelUsage":{"claude-opus-5-5":{"inputTokens":%d,"outputTokens":%d,"cacheReadInputTokens":%d,"cacheCreationInputTokens":%d,"cacheCreationEphemeral5mInputTokens":%d,"cacheCreationEphemeral1hInputTokens":0,"webSearchRequests":0,"costUSD":%g}},"hasUnknownModelCost":false}`,
		session, cost, answers, 10*answers, 1000*answers, 100*answers, 100*answers, cost)
}

func TestReconcile(t *testing.T) {
	const one = (1*4 + 10*20 + 1000*0.2 + 100*5) / 1e6 // the cost of an answer
	second, compacted := line(fields{"message.id": "b"}), `{"parentUuid":null,"type":"system","subtype":"compact_boundary","content":"x"}`
	for _, tt := range []struct {
		name  string
		files map[string][]string
		why   Why
		more  float64 // on the bill
	}{
		{"equal", map[string][]string{fileA: {line(nil), second, billLine(sessionA, 2, 2*one)}}, WhyEqual, 0},
		{"the last bill counts", map[string][]string{fileA: {line(nil), billLine(sessionA, 1, one), second, billLine(sessionA, 2, 2*one)}}, WhyEqual, 0},
		{"a bill that does not say for how long", map[string][]string{fileA: {line(nil), strings.Replace(billLine(sessionA, 1, one), `"cacheCreationEphemeral5mInputTokens":100,`, "", 1)}}, WhyEqual, 0},
		{"the same bill in two files", map[string][]string{fileA: {line(nil), billLine(sessionA, 1, one)}, fileB: {billLine(sessionA, 1, one)}}, WhyEqual, 0},
		{"a subagent", map[string][]string{fileA: {line(nil), billLine(sessionA, 2, 2*one)}, agent1: {line(fields{"message.id": "b", "isSidechain": true})}}, WhyEqual, 0},
		{"killed", map[string][]string{fileA: {line(nil), billLine(sessionA, 1, one), second}}, WhyUnbilled, -one},
		{"broken off", map[string][]string{fileA: {line(nil), line(fields{"message.id": "b", "isAbortedMidStream": true}), billLine(sessionA, 1, one)}}, WhyBroken, -one},
		{"compaction", map[string][]string{fileA: {line(nil), compacted, billLine(sessionA, 2, 2*one)}}, WhyCompaction, one},
		{"a lost file", map[string][]string{fileA: {line(nil), billLine(sessionA, 2, 2*one)}}, WhyMissing, one},
		{"other prices", map[string][]string{fileA: {line(nil), billLine(sessionA, 1, 2*one)}}, WhyPrices, one},
		{"not billed", map[string][]string{fileA: {line(nil), second, billLine(sessionA, 1, one)}}, WhyMore, -one},
		{"no price of ours", map[string][]string{fileA: {line(fields{"message.model": "new-1"}), billLine(sessionA, 1, one)}}, WhyUnpriced, one},
	} {
		r := scanned(t, tt.files).Reconcile(inUTC)
		if len(r.Bills) != 1 || r.Bills[0].Why != tt.why || !near(r.Bills[0].Difference(), tt.more) || r.ByReason[tt.why] != 1 || r.Without != 0 {
			t.Errorf("%s: %+v, want %s and %v", tt.name, r, tt.why, tt.more)
		}
	}
	if r := scanned(t, map[string][]string{fileA: {line(nil)}}).Reconcile(inUTC); len(r.Bills) != 0 || r.Without != 1 {
		t.Errorf("no bill: %+v", r)
	}
}

// TestReconcileFork checks that the bill of a fork, which includes the cost of the original
// session, is compared with the copied answers, and that no sum counts them twice.
func TestReconcileFork(t *testing.T) {
	const one = (1*4 + 10*20 + 1000*0.2 + 100*5) / 1e6
	inB := fields{"sessionId": sessionB, "forkedFrom": map[string]string{"sessionId": sessionA}}
	l := scanned(t, map[string][]string{
		fileA:  {line(nil), billLine(sessionA, 2, 2*one)},
		agent1: {line(fields{"message.id": "s", "isSidechain": true})},
		fileB:  {line(inB), line(inB.with(fields{"message.id": "b", "forkedFrom": nil})), billLine(sessionB, 3, 3*one)},
	})
	if got := l.Report(ByDay, inUTC).Total; got.Answers != 3 {
		t.Errorf("%d answers", got.Answers)
	}
	for _, b := range l.Reconcile(inUTC).Bills {
		switch {
		case b.Session == sessionA && (b.Why != WhyEqual || b.Fork):
			t.Errorf("%+v", b)
		case b.Session == sessionB && (b.Why != WhyInherited || !b.Fork || b.Ledger.Answers != 2 || !near(b.Difference(), one)):
			t.Errorf("%+v", b)
		}
	}
}

// TestRecorded reads sessions that CLI 2.1.325 wrote. Their bills agree with the ledger to the last
// token, except for the request of a compaction.
func TestRecorded(t *testing.T) {
	for name, want := range map[string]map[Why]int{
		"fork":    {WhyEqual: 2},
		"nested":  {WhyEqual: 1},
		"compact": {WhyCompaction: 1},
	} {
		l := scan(t, filepath.Join("testdata", "recorded", name))
		r := l.Reconcile(inUTC)
		for why, n := range want {
			if r.ByReason[why] != n || len(r.Bills) != n || r.Without != 0 {
				t.Errorf("%s: %+v; want r.ByReason[why] == n and len(r.Bills) == n and r.Without == 0", name, r)
			}
		}
		if s := l.Stats(); s.BadLines != 0 || s.Answers == 0 || s.Lines <= int64(s.Answers) {
			t.Errorf("%s: %+v; want s.BadLines == 0 and s.Answers != 0 and s.Lines > int64(s.Answers)", name, s)
		}
	}
}

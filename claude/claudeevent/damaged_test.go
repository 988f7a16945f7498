package claudeevent_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/nodefold"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

var jsonValue = regexp.MustCompile(`":(?:"(?:[^"\\]|\\.)*"|[0-9.]+|true|false|null|\{\}|\[\])`)

// damage replaces the value of one member of a line, or cuts the line.
func damage(r *rand.Rand, line string) string {
	places := jsonValue.FindAllStringIndex(line, -1)
	if len(places) == 0 || r.IntN(20) == 0 {
		return line[:r.IntN(len(line))]
	}
	p := places[r.IntN(len(places))]
	values := []string{`null`, `7`, `-1.5e300`, `"x"`, `""`, `[]`, `{}`, `[{"type":"text"}]`, `{"type":"text","text":"y"}`, `true`, `"\ud800"`, `nonsense`}
	return line[:p[0]] + `":` + values[r.IntN(len(values))] + line[p[1]:]
}

// Both folds reach the same state for damaged lines.
func TestProperty_damaged(t *testing.T) {
	short.SkipQuick(t, "converts every recording")
	var cases []nodefold.Case
	want := map[string]string{}
	for seed := range uint64(2 * sessions) {
		r := rand.New(rand.NewPCG(seed, 1))
		var steps []step
		for _, s := range generated(seed, true, true) {
			if r.IntN(8) == 0 {
				s.line = damage(r, s.line)
			}
			steps = append(steps, s)
		}
		run := convert(t, steps)
		checkPairs(t, run)
		checkRoundTrip(t, run)
		if sharesTools(run.conv) {
			continue // ambiguous: two calls with the same id share a result
		}
		name := fmt.Sprintf("session %d", seed)
		cases = append(cases, nodefold.Case{Name: name, Messages: run.lines})
		want[name] = canonical(t, run.conv)
	}
	for name, got := range nodefold.Fold(t, cases) {
		if got.Error != "" || got.State != want[name] {
			t.Errorf("%s: the folds differ: %s (-Go +TypeScript)\n%s", name, got.Error, diffJSON(t, want[name], got.State))
		}
	}
}

package usage

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// shapes are transcripts of size n.
var shapes = map[string]func(n int) string{
	"answers": func(n int) string {
		return repeat(n, func(i int) string {
			return line(fields{"message.id": fmt.Sprint("m", i), "requestId": fmt.Sprint("r", i)})
		})
	},
	"one answer": func(n int) string { return repeat(n, func(int) string { return line(nil) }) },
	"models": func(n int) string {
		return repeat(n, func(i int) string {
			return line(fields{"message.id": fmt.Sprint("m", i), "message.model": fmt.Sprint("new-", i)})
		})
	},
	"sessions": func(n int) string {
		return repeat(n, func(i int) string { return line(fields{"sessionId": fmt.Sprint("s", i)}) })
	},
	"bad lines": func(n int) string { return repeat(n, func(int) string { return `{"type":"assistant",` }) },
	"long line": func(n int) string { return line(fields{"x": strings.Repeat("long ", 200*n)}) + "\n" },
	"nested":    func(n int) string { return `{"type":"assistant","x":` + strings.Repeat("[", 100*n) + "\n" },
}

func repeat(n int, of func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(of(i) + "\n")
	}
	return b.String()
}

func writeShape(t *testing.T, text string) Options {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "projects", "-p", "s.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Options{ConfigDirs: []string{dir}, Workers: 1}
}

// useAll scans, and makes every kind of report.
func useAll(t *testing.T, o Options) {
	t.Helper()
	l, err := Scan(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []By{ByHour, ByDay, BySession, ByProject, ByModel, ByBranch, ByAgent} {
		l.Report(by, View{})
	}
	l.Blocks(View{}, time.Now())
	l.Reconcile(View{})
}

// TestGrowth scans and reports transcripts of one, two, four and eight times a size.
func TestGrowth(t *testing.T) {
	for name, shape := range shapes {
		var first float64
		for _, times := range []int{1, 2, 4, 8} {
			o := writeShape(t, shape(200*times))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			useAll(t, o)
			runtime.ReadMemStats(&after)
			used := float64(after.TotalAlloc - before.TotalAlloc)
			if times == 1 {
				first = used
			}
			if limit := 1.5*float64(times)*first + 1<<20; used > limit {
				t.Errorf("%s: %d times as much takes %.0f bytes, once %.0f", name, times, used, first)
			}
		}
	}
}

// TestMissingModels counts each of many models without a price once.
func TestMissingModels(t *testing.T) {
	l, err := Scan(t.Context(), writeShape(t, shapes["models"](300)+shapes["models"](300)))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(l.Report(ByDay, View{}).Total.Missing); n != 300 {
		t.Errorf("%d models without a price", n)
	}
}

// stopping is a context that ends after a number of calls to Err.
type stopping struct {
	context.Context
	left *int
}

// Err returns nil for the first calls.
func (s stopping) Err() error {
	if *s.left--; *s.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestCancel cancels the context before a scan and at many points during it.
func TestCancel(t *testing.T) {
	o := writeShape(t, shapes["answers"](5000))
	all := 1 << 30
	if _, err := Scan(stopping{t.Context(), &all}, o); err != nil {
		t.Fatal(err)
	}
	asked := 1<<30 - all
	if asked < 10 {
		t.Errorf("the context was asked %d times", asked)
	}
	for at := 0; at < asked; at += 1 + asked/20 {
		left := at
		ctx, cancel := context.WithCancelCause(stopping{t.Context(), &left})
		_, err := Scan(stopping{ctx, &left}, o)
		cancel(nil)
		if err == nil || left < -10 {
			t.Errorf("ended at %d of %d: %v, and it was asked %d times more", at, asked, err, -left)
		}
	}
}

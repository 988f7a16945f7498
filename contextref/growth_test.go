package contextref_test

import (
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/contextref"
)

// TestGrowth builds, parses, decodes and joins one, two, four and eight times a size: allocations
// are linear in the size.
func TestGrowth(t *testing.T) {
	files := func(n int) (refs contextref.References) {
		for i := range n {
			refs = append(refs, &contextref.File{Path: fmt.Sprint("f", i)})
		}
		return refs
	}
	build := func(n int) string {
		text, err := contextref.Build("text", files(n), contextref.Chinese)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for name, run := range map[string]func(n int) func(){
		"build": func(n int) func() { return func() { build(n) } },
		"parse": func(n int) func() { text := build(n); return func() { contextref.Parse(text) } },
		"parse one long line": func(n int) func() {
			text := "> **Context**\n> - 🌐 https://x (" + strings.Repeat("(1 files)", n) + ")\n\nx"
			return func() { contextref.Parse(text) }
		},
		"parse what is no block": func(n int) func() {
			text := "> **Context**\n" + strings.Repeat("> - 📄 `a`\n", n) + "> - x\n\n"
			return func() { contextref.Parse(text) }
		},
		"join":                func(n int) func() { return func() { contextref.Join(files(n), files(n)) } },
		"join what is alike":  func(n int) func() { same := sameFiles(n); return func() { contextref.Join(same, same) } },
		"join what differs":   func(n int) func() { return func() { contextref.Join(files(n), sameFiles(n)) } },
		"decode":              decode(func(n int) any { return files(n) }),
		"decode many members": decode(func(n int) any { return []any{members(n)} }),
		"decode nested": func(n int) func() {
			text := []byte(`[{"type":"FileReference","x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}]`)
			return func() { _ = json.Unmarshal(text, new(contextref.References)) }
		},
	} {
		var first float64
		for _, times := range []int{1, 2, 4, 8} {
			used := leastAllocated(run(200 * times))
			if times == 1 {
				first = used
			}
			if limit := 1.5*float64(times)*first + 64<<10; used > limit {
				t.Errorf("%s: %d times as much takes %.0f bytes, once %.0f", name, times, used, first)
			}
		}
	}
}

// leastAllocated returns the least allocation of three calls: the runtime and pools emptied by a
// collection allocate too.
func leastAllocated(f func()) float64 {
	least := math.Inf(1)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, float64(after.TotalAlloc-before.TotalAlloc))
	}
	return least
}

func sameFiles(n int) (refs contextref.References) {
	for range n {
		refs = append(refs, &contextref.File{Path: "f"})
	}
	return refs
}

func members(n int) map[string]any {
	m := map[string]any{"type": "FileReference"}
	for i := range n {
		m[fmt.Sprint("m", i)] = i
	}
	return m
}

func decode(of func(n int) any) func(n int) func() {
	return func(n int) func() {
		text, err := json.Marshal(of(n))
		if err != nil {
			panic(err)
		}
		return func() { _ = json.Unmarshal(text, new(contextref.References)) }
	}
}

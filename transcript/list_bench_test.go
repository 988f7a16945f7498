package transcript_test

import (
	"os"
	"testing"

	"github.com/seed7221b0f9/parley/transcript"
)

// benchDir returns the configuration directory to measure with, PARLEY_BENCH_CONFIG.
func benchDir(b *testing.B) *transcript.Dir {
	b.Helper()
	config := os.Getenv("PARLEY_BENCH_CONFIG")
	if config == "" {
		b.Skip("PARLEY_BENCH_CONFIG names no configuration directory")
	}
	return transcript.Open(config)
}

func list(b *testing.B, dir *transcript.Dir, f transcript.Filter) (n int) {
	b.Helper()
	for _, err := range dir.Sessions(b.Context(), f) {
		if err != nil {
			b.Fatal(err)
		}
		n++
	}
	return n
}

func BenchmarkList(b *testing.B) {
	dir := benchDir(b)
	b.ReportAllocs()
	for b.Loop() {
		b.ReportMetric(float64(list(b, dir, transcript.Filter{})), "sessions")
	}
}

// BenchmarkListIndexed measures every list but the first, including the reading of the index.
func BenchmarkListIndexed(b *testing.B) {
	dir, cache := benchDir(b), b.TempDir()
	indexed := func() {
		ix, err := transcript.OpenIndex(cache)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(list(b, dir, transcript.Filter{Index: ix})), "sessions")
	}
	indexed()
	b.ReportAllocs()
	for b.Loop() {
		indexed()
	}
}

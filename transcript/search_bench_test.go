package transcript_test

import (
	"testing"

	"github.com/seed7221b0f9/parley/transcript"
)

func BenchmarkSearchRare(b *testing.B) {
	dir := benchDir(b)
	b.ReportAllocs()
	for b.Loop() {
		for range dir.Search(b.Context(), transcript.Query{Text: "quetzalcoatl"}) {
			b.Fatal("the word is not rare")
		}
	}
}

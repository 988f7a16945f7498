package transcript_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/faultinject"
	"github.com/seed7221b0f9/parley/transcript"
)

// FuzzRepair repairs arbitrary bytes: the repair ends, no fault is left, and the original file is
// unchanged.
func FuzzRepair(f *testing.F) {
	for seed, fault := range faultinject.Faults {
		s := faultinject.New(uint64(seed), "/p")
		s.Inject(fault, 4096)
		text := s.Bytes()
		f.Add(text[max(0, len(text)-6000):]) // its end: small inputs are tried faster
	}
	f.Add([]byte(`{"type":"user","uuid":"a","parentUuid":"a"}` + "\n" + `{"type":"assistant","uuid":"a","parentUuid":"b"}` + "\n" + `{"type":"system","uuid":"b","parentUuid":"a"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "00000000-0000-4000-8000-000000000000.jsonl")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		opts := &transcript.RepairOptions{DryRun: true, ExamineOptions: transcript.ExamineOptions{MaxLine: 4096}}
		done, err := transcript.File(path).Repair(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		if len(done.Left) > 0 {
			t.Fatalf("left: %v", done.Left)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != string(text) {
			t.Fatalf("the file has changed: %v", err)
		}
	})
}

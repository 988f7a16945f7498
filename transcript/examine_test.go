package transcript_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/faultinject"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/transcript"
)

// TestDoctorClean examines intact sessions, as the CLI and the official SDK wrote them, and finds
// no fault.
func TestDoctorClean(t *testing.T) {
	scenarios, err := os.ReadDir(corpusDir())
	if err != nil {
		t.Fatal(err)
	}
	sessions := 0
	for _, scenario := range scenarios {
		if !scenario.IsDir() {
			continue
		}
		files, err := filepath.Glob(filepath.Join(corpusDir(), scenario.Name(), "projects", "*", "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			findings, err := transcript.File(file).Examine(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range findings {
				t.Errorf("%s: false alarm: %v", scenario.Name(), f)
			}
			sessions++
		}
	}
	if sessions == 0 {
		t.Fatal("no sessions were looked at")
	}
}

// oversized is the limit for lines in the tests: less than the default, so that they need not write
// gigabytes.
const oversized = 64 << 10

// writeDamaged writes a session with one fault into a project.
func writeDamaged(t *testing.T, dir string, seed uint64, fault string) (*transcript.Session, faultinject.Injury) {
	t.Helper()
	s := faultinject.New(seed, "/home/dev/project")
	injury := faultinject.Injury{}
	if fault != "" {
		injury = s.Inject(fault, oversized)
	}
	path := filepath.Join(dir, s.ID+".jsonl")
	if err := os.WriteFile(path, s.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return transcript.File(path), injury
}

// found returns the finding that reports an injury, or nil.
func found(findings []*transcript.Finding, fault string, in faultinject.Injury) *transcript.Finding {
	for _, f := range findings {
		if string(f.Fault) == fault && (in.Line == f.Line || in.UUID != "" && in.UUID == f.UUID) {
			return f
		}
	}
	return nil
}

// TestDoctorFinds injects faults into 400 sessions, each kind into the same number; in a long run
// into a thousand sessions per kind.
func TestDoctorFinds(t *testing.T) {
	short.SkipQuick(t, "repairs many sessions")
	sessions := short.Count(100, 400, 1000*(len(faultinject.Faults)+1)) / (len(faultinject.Faults) + 1)
	opts := &transcript.ExamineOptions{MaxLine: oversized}
	for _, fault := range append([]string{""}, faultinject.Faults...) {
		t.Run("fault="+fault, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for seed := range uint64(sessions) {
				s, injury := writeDamaged(t, dir, seed, fault)
				findings, err := s.Examine(t.Context(), opts)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Remove(s.Path); err != nil {
					t.Fatal(err)
				}
				if fault == "" {
					for _, f := range findings {
						t.Fatalf("seed %d: false alarm: %v", seed, f)
					}
					continue
				}
				f := found(findings, fault, injury)
				switch {
				case f == nil:
					t.Fatalf("seed %d: not found at %+v, but %v", seed, injury, findings)
				case strings.HasPrefix(fault, "orphan") && f.Severity != transcript.BreaksResume:
					t.Fatalf("seed %d: it is on the conversation: %v", seed, f)
				}
			}
		})
	}
}

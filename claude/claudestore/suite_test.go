package claudestore_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore"
	"github.com/seed7221b0f9/parley/claude/claudetest"
)

// faultyStore is an in-memory store with one fault.
type faultyStore struct {
	*claudestore.Memory
	fault string
}

func (s *faultyStore) Append(ctx context.Context, key claude.SessionKey, entries []json.RawMessage) error {
	switch s.fault {
	case "01_append_load":
		entries = entries[:min(1, len(entries))]
	case "05_subpath_apart":
		key.Subpath = ""
	case "06_projects_apart":
		key.ProjectKey = "-one"
	}
	return s.Memory.Append(ctx, key, entries)
}

func (s *faultyStore) Load(ctx context.Context, key claude.SessionKey) ([]json.RawMessage, error) {
	if s.fault == "06_projects_apart" {
		key.ProjectKey = "-one"
	}
	entries, err := s.Memory.Load(ctx, key)
	switch s.fault {
	case "02_unknown":
		entries = append([]json.RawMessage{}, entries...)
	case "03_call_order":
		slices.SortFunc(entries, func(a, b json.RawMessage) int { return strings.Compare(string(a), string(b)) })
	case "15_uuid_once":
		entries = append(entries, entries...)
	}
	return entries, err
}

func (s *faultyStore) Delete(ctx context.Context, key claude.SessionKey) error {
	switch s.fault {
	case "09_delete":
		return nil
	case "11_delete_subpath":
		key.Subpath = ""
	}
	return s.Memory.Delete(ctx, key)
}

func (s *faultyStore) Claim(ctx context.Context, key claude.SessionKey) (claude.SessionStore, error) {
	if s.fault == "17_fencing" {
		return s, nil
	}
	return s.Memory.Claim(ctx, key)
}

const faultVariable = "PARLEY_STORE_FAULT"

// TestFaulty is run by claudestore.TestSuiteFindsFaults in a child process.
func TestFaulty(t *testing.T) {
	fault := os.Getenv(faultVariable)
	if fault == "" {
		t.Skip("only TestSuiteFindsFaults runs it")
	}
	claudetest.TestSessionStore(t, func(*testing.T) claude.SessionStore {
		return &faultyStore{Memory: claudestore.NewMemory(), fault: fault}
	})
}

// A faulty store fails exactly the contract that it violates.
func TestSuiteFindsFaults(t *testing.T) {
	for _, fault := range []string{"01_append_load", "02_unknown", "03_call_order", "05_subpath_apart", "06_projects_apart",
		"09_delete", "11_delete_subpath", "15_uuid_once", "17_fencing"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFaulty$")
		cmd.Env = append(os.Environ(), faultVariable+"="+fault)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "--- FAIL: TestFaulty/"+fault) {
			t.Errorf("%s is not found: %v\n%s", fault, err, out)
		}
	}
}

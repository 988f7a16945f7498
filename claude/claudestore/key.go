package claudestore

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/claude"
)

// Check returns an error for a key that, used as a path, could name a file outside of its
// project or session. Custom stores should call it.
func Check(key claude.SessionKey) error {
	parts := append([]string{key.ProjectKey, key.SessionID}, strings.Split(key.Subpath, "/")...)
	if key.Subpath == "" {
		parts = parts[:2]
	}
	bad := func(p string) bool {
		return p == "" || p == "." || p == ".." || strings.ContainsAny(p, "/\\:\x00") || !filepath.IsLocal(p)
	}
	if slices.ContainsFunc(parts, bad) {
		return fmt.Errorf("claudestore: %q is not the key of a transcript", strings.Join(parts, "/"))
	}
	return nil
}

// UUID returns the uuid of an entry, or "" for an entry without one.
func UUID(entry json.RawMessage) string {
	var e struct {
		UUID json.RawMessage `json:"uuid"`
	}
	var id string
	if json.Unmarshal(entry, &e) != nil || json.Unmarshal(e.UUID, &id) != nil {
		return ""
	}
	return id
}

// fresh returns the entries with an unknown uuid or without one, and adds their uuids to known.
func fresh(known map[string]bool, entries []json.RawMessage) []json.RawMessage {
	var out []json.RawMessage
	for _, e := range entries {
		id := UUID(e)
		if id != "" && known[id] {
			continue
		}
		if id != "" {
			known[id] = true
		}
		out = append(out, e)
	}
	return out
}

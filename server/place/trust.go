package place

import (
	"log/slog"
	"path/filepath"
	"slices"
	"sync"

	"github.com/seed7221b0f9/parley/workspace"
)

// GitTrust decides which programs of repositories git may run. It logs the programs that it refuses, once per
// configuration. It may be used concurrently.
type GitTrust struct {
	Hashes []string // of [workspace.Programs]
	Logger *slog.Logger

	mu   sync.Mutex
	told map[string]bool // logged configurations, by hash
}

// maxTold limits the number of logged configurations, because an agent can write any number of them.
const maxTold = 100

// Allows reports whether git may run the programs.
func (t *GitTrust) Allows(p workspace.Programs) bool {
	if slices.Contains(t.Hashes, p.Hash) {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.told[p.Hash] || len(t.told) >= maxTold {
		return false
	}
	if t.told == nil {
		t.told = map[string]bool{}
	}
	t.told[p.Hash] = true
	var names []string
	for _, s := range p.Settings {
		names = append(names, s.Key)
	}
	for _, h := range p.Hooks {
		names = append(names, "hook "+filepath.Base(h))
	}
	t.Logger.Warn("git does not run the programs of a repository, because an agent can write them; --trust-git allows this configuration",
		"directory", p.Dir, "hash", p.Hash, "programs", names)
	return false
}

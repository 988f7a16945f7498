//go:build unix

package host

import (
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/spawn"
	"github.com/seed7221b0f9/parley/spawn/spawntest"
)

// A link fulfils the contract of package spawn, and forgets its processes when they have ended.
func TestLink_conformance(t *testing.T) {
	short.Skip(t, "processes")
	dir := runHost(t, Options{})
	l := connect(t, dir)
	spawntest.Run(t, spawntest.Options{Spawner: func(testing.TB) spawn.Spawner { return l }})
	for {
		agents, err := l.Agents(within(t))
		must(t, err)
		if len(agents) == 0 {
			break
		}
	}
	if files := spoolFiles(t, dir); len(files) > 0 {
		t.Errorf("files are left: %q", files)
	}
	if !l.Local() {
		t.Error("the host is not here")
	}
}

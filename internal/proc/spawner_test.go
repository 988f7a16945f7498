//go:build linux || darwin

package proc

import (
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/spawn"
	"github.com/seed7221b0f9/parley/spawn/spawntest"
)

// Local, and in the second run the supervisor, fulfil the contract of package spawn.
func TestLocal_conformance(t *testing.T) {
	short.Skip(t, "processes")
	census(t)
	spawntest.Run(t, spawntest.Options{Spawner: func(testing.TB) spawn.Spawner { return Local }})
}

package spawntest_test

import (
	"context"
	"testing"

	"github.com/seed7221b0f9/parley/spawn"
	"github.com/seed7221b0f9/parley/spawn/spawntest"
)

// This example checks a Spawner against package spawn in a test; TestMain of the same package calls
// spawntest.Main first.
func ExampleRun() {
	var container spawn.Spawner = spawn.Func(func(context.Context, spawn.Command) (spawn.Process, error) { panic("not here") })
	_ = func(t *testing.T) {
		spawntest.Run(t, spawntest.Options{
			Spawner:   func(testing.TB) spawn.Spawner { return container },
			Path:      "/usr/local/bin/spawntest-helper", // path in the container
			Elsewhere: true,
		})
	}
}

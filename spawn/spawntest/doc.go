// Package spawntest is the conformance suite for spawners: [Run] checks an implementation of [spawn.Spawner]
// against the documentation of package spawn.
//
// The suite repeatedly runs a small program, the helper, and selects its behaviour through the environment. A test
// binary becomes the helper by calling [Main] first:
//
//	func TestMain(m *testing.M) {
//		spawntest.Main()
//		os.Exit(m.Run())
//	}
//
//	func TestSpawner(t *testing.T) {
//		spawntest.Run(t, spawntest.Options{Spawner: func(t testing.TB) spawn.Spawner { return mine }})
//	}
//
// A spawner that runs programs elsewhere needs the helper there: a program that calls Main in its main function,
// at [Options].Path.
package spawntest

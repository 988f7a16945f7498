// Package spawntest is the conformance suite for spawners: [Run] holds an implementation of [spawn.Spawner] against
// what the documentation of package spawn promises.
//
// The suite runs a small program again and again, the helper, and tells it by its environment what to play. A test
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
// A spawner that runs programs elsewhere needs the helper there: a program whose main function calls Main, at
// [Options].Path.
package spawntest

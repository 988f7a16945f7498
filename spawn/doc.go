// Package spawn defines how the process of an agent is run: a [Spawner] starts a [Command] and
// returns a [Process], here or in a container, on another machine, or in a test. The SDKs of
// this module start their CLI through one and need nothing else of the system.
package spawn

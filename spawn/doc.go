// Package spawn defines how the process of an agent is run: a [Spawner] starts a [Command] and
// returns a [Process], on this machine, in a container, on another machine, or in a test. The SDKs
// of this module start their CLI only through a Spawner.
package spawn

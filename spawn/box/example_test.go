package box_test

import (
	"fmt"

	"github.com/seed7221b0f9/parley/spawn"
	"github.com/seed7221b0f9/parley/spawn/box"
)

// A box shows its directory and nothing else of the user; here its network is off. The program of Init calls box.Enter first in its
// main function. claude.Options.Spawner takes the spawner.
func ExampleBox_Spawner() {
	b := &box.Box{Program: "/usr/bin/bwrap", Init: "/usr/local/bin/parley", Home: "/home/user", Network: box.NetworkOff}
	var local spawn.Spawner // starts processes on this machine
	_, ok := b.Spawner(local).(spawn.Locality)
	fmt.Println(ok)
	// Output: true
}

package sshlink_test

import (
	"fmt"

	"github.com/seed7221b0f9/parley/host/sshlink"
)

// The value of --ssh contains a destination of ssh, and flags of parley host join there.
func ExampleParse() {
	o, err := sshlink.Parse("dev@buildbox,dir=src,max-mode=acceptEdits")
	fmt.Println(o.Name, o.Destination, o.Args, err)
	// Output:
	// buildbox dev@buildbox [--dir=src --max-mode=acceptEdits] <nil>
}

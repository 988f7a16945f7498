// Package meter reads the clocks that the benchmark's processes share.
package meter

import "runtime"

// Supported reports whether [Now] is one clock for all processes of the machine, the same as Node's
// process.hrtime and Python's time.monotonic_ns.
const Supported = runtime.GOOS == "linux"

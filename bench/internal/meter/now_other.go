//go:build !linux

package meter

import "time"

// Now returns the wall clock: this system has no monotonic clock that Go, Node and Python share.
func Now() int64 { return time.Now().UnixNano() }

package server

import (
	"testing"
	"time"
)

// cpuTime is 0: the system counts it in another way.
func cpuTime(*testing.T) time.Duration { return 0 }

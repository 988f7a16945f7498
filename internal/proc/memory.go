package proc

import "errors"

// ErrNoMemory is returned when the memory of a process cannot be read: it is on another
// machine, it has ended, or the system does not report it.
var ErrNoMemory = errors.New("the memory of the process cannot be read")

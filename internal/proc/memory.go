package proc

import "errors"

// ErrNoMemory is returned when the memory of a process cannot be read: it is not here, it has
// ended, or the system does not tell.
var ErrNoMemory = errors.New("the memory of the process cannot be read")

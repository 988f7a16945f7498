package regularfile

// NonBlocking is 0: the system has no such flag. The type of a file is checked before and
// after opening it.
const NonBlocking = 0

const noFollow = 0

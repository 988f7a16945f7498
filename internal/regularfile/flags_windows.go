package regularfile

// NonBlocking is 0: the system has no such flag. What stands at a path is looked at
// before and after it is opened.
const NonBlocking = 0

const noFollow = 0

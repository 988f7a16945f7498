package proc

import "github.com/seed7221b0f9/parley/spawn"

// countOOM is oomCount, for tests to replace.
var countOOM = oomCount

// oomWatch reports whether the system has killed processes of this control group since it was
// created.
type oomWatch struct {
	before int64
	ok     bool
}

func newOOMWatch(p spawn.Process) oomWatch {
	if localChild(p) == nil {
		return oomWatch{} // the process runs elsewhere, so local counts do not apply
	}
	n, ok := countOOM()
	return oomWatch{n, ok}
}

func (w oomWatch) happened() bool {
	if !w.ok {
		return false
	}
	n, ok := countOOM()
	return ok && n > w.before
}

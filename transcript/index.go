package transcript

// Index remembers what lists found.
type Index struct{}

// Save writes.
func (ix *Index) Save() error { return nil }

func (ix *Index) lookup(c *candidate) *Info      { return nil }
func (ix *Index) store(c *candidate, info *Info) {}

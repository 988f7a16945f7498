package claudeevent

// Steps returns how many steps a converter has taken that can grow with the session.
func Steps(c *Converter) int64 { return c.steps + c.tasks.steps }

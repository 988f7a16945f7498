package claudeevent

// Steps returns the number of steps of a converter that can grow with the session.
func Steps(c *Converter) int64 { return c.steps + c.tasks.steps }

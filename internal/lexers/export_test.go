package lexers

// Names returns the names of all grammars.
func Names() []string { return registry().Names(false) }

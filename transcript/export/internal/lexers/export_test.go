package lexers

// Names are the names of all grammars.
func Names() []string { return registry().Names(false) }

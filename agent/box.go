package agent

// Boxable is implemented by a provider that supports [Options.Box].
type Boxable interface {
	// BoxNeeds returns the files that an agent with these options needs in its box in addition to
	// its directories.
	BoxNeeds(opts Options) BoxNeeds
}

// BoxNeeds are paths that an agent uses.
type BoxNeeds struct {
	Empty  []string // directories that it writes to and that are not read later
	Write  []string // directories with files that the server reads later, such as transcripts
	Logins []string // files that hold a login, which may not exist
}

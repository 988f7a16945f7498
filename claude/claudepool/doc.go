// Package claude/claudepool keeps a pool of started Claude CLIs. A [Pool] holds ready CLIs by a key over
// every option, and replaces those that die, grow or become old. A [Lease] is a conversation on one of
// them; a new CLI resumes it when [Options.Recycle] requires that. [Admission] limits the number of
// concurrent CLIs, fairly among tenants.
package claudepool

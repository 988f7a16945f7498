// Package claude/claudepool keeps Claude CLIs started ahead and shares them out. A [Pool] holds CLIs that
// are ready, by a key over every option, and replaces those that die, grow or become old; a [Lease]
// is a conversation on one of them, which is resumed on a new CLI where that is due. [Admission]
// bounds how many run at once and is fair among tenants.
package claudepool

// Package hook has the types of hooks: the [Event] names, and for each of the 33 events the input
// that the CLI sends, the output that a hook may return, and the type of the function. Package
// claude registers the hooks of claude.Options.Hooks.
//
// An event that is newer than this package has [OtherInput] and [OtherOutput]. The zero output has
// no effect. [Encode] writes an output without any null, because the CLI discards an answer with a
// null in it, and would run a tool that the answer refused.
package hook

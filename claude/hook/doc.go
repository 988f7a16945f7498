// Package hook has the vocabulary of hooks: the [Event] names, and for each of the 33 events the
// input that the CLI sends, the output that a hook may give, and the type of the function.
// Package claude registers hooks: see claude.Hooks.
//
// An event that is newer than this package has [OtherInput] and [OtherOutput]. An output that is
// not set says nothing; [Encode] writes it without any null, because the CLI throws an answer
// with a null away and runs the tool that it refused.
package hook

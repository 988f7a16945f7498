// Package acp has the types of the Agent Client Protocol, by which editors talk to coding agents.
// Package editor serves agents to editors; package acpagent runs agents that speak the protocol.
//
// The types are generated from the protocol's schema. Unknown members are kept in Extra, and so are
// all members of an unknown variant; an invalid value of an optional member counts as absent and is
// kept too. Members of updates are [Optional]: absent, null or a value.
package acp

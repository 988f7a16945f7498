// Package acptest has a scripted agent and a scripted client of the Agent Client Protocol, for
// tests of programs that speak it. It also reads recordings of real agents, which the scripted
// agent can play.
package acptest

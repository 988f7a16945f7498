// Package acptest has a scripted agent and a scripted client of the Agent Client Protocol, for tests of programs that speak
// it, and reads recordings of real agents, which the scripted agent plays.
package acptest

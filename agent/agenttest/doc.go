// Package agenttest has an acceptance suite for implementations of package agent, and a
// scripted provider that runs in the process of the test.
//
// [Run] checks a provider against the rules in the documentation of package agent. Every provider
// passes it, with prompts that trigger the behavior that a check needs.
//
// [Provider] is an agent without a model: the words of a prompt are its script, see
// [Provider.Open]. It streams at a given rate, asks for permission, asks questions, proposes plans,
// runs tools and tasks, stalls and dies on demand, and keeps a file per session, so that a server
// can be tested with faults and without processes or tokens.
package agenttest

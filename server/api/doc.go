// Package api defines the methods of the session server: the types of their parameters and results,
// the errors, and the [Envelope] in which the messages of package agent/event arrive.
//
// The JSON Schema in web/schema and the TypeScript types in web/src/rpc are generated from these
// types and from those of agent/event.
package api

// Package api has the messages that a front end reads, the types of the service's
// methods, and the conversion between messages and the events of package ui.
//
// A message is {"type":…, …, "provider":"claude"}, close to the CLI's own wire format, so
// that front-end code written for the official SDK works. [Decode] is the inverse of
// [Encode], and members that this package does not know stay in Extra. A message, event,
// delta or block of an unknown type has the same shape everywhere:
//
//	{"type":"unknown","originalType":T,"data":…}
//
// The types here are the source of the JSON Schema in web/schema and of the
// TypeScript types in web/src/rpc.
package api

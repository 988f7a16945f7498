// Package rpc has the messages that a front end reads, the types of the service's
// methods, and the conversion between messages and the events of package ui.
//
// A message is {"type":…, …, "provider":"claude"}, close to the CLI's own wire, so
// that front-end code written for the official SDK works. [Encode] and [Decode] are
// each other's inverse: Decode(Encode(x)) is x, and members that this package does
// not know stay in Extra. What has a type that it does not know has one shape
// everywhere, as message, event, delta and block:
//
//	{"type":"unknown","originalType":T,"data":…}
//
// The types here are the source of the JSON Schema in web/schema and of the
// TypeScript types in web/src/rpc.
package rpc

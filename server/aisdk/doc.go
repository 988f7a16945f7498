// Package aisdk encodes the parts of a run as the UI message stream of the AI SDK 7. It is pure.
//
// A request to a person ends a stream after a tool-approval-request; the next request contains the
// answer.
package aisdk

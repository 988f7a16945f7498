// Package jsonrpc is one side of a JSON-RPC 2.0 conversation over lines of JSON.
//
// Both sides may call, notify and answer. What arrives is dispatched in the order
// of the wire: notifications one after the other, requests each in a goroutine
// that is started in its turn, answers to calls after everything that came before
// them. Only a call that is made from inside a notification's callback is answered
// out of turn, because its turn could not come.
//
// Nothing that arrives disappears: a line that is not JSON-RPC, and an answer that
// no call waits for, go to [Options.Stray]. Lines have any length up to a guard. A
// panic in a callback is an error answer, never the end of the connection. Every
// wait ends with its context, and [Conn.Wait] returns when no goroutine is left.
package jsonrpc

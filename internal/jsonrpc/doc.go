// Package jsonrpc is one side of a JSON-RPC 2.0 conversation over lines of JSON.
//
// Both sides may call, notify and answer. Incoming messages are dispatched in the order
// of the wire: notifications sequentially, requests each in a new goroutine started in
// order, answers to calls after all earlier messages. Only a call from inside a
// notification's callback is answered out of order, because it would block forever
// otherwise.
//
// No input is dropped: lines that are not JSON-RPC, and answers that no call waits for,
// go to [Options.Stray]. Lines may have any length up to a limit. A panic in a callback
// gives an error answer and does not end the connection. Every wait ends with its
// context, and [Conn.Wait] returns when all goroutines have ended.
package jsonrpc

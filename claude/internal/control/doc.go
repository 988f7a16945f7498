// Package control multiplexes the control protocol over one connection to the CLI: requests
// in both directions, many at a time, answered in any order, cancelled by either side.
//
// It does not read itself. The reader of the connection passes every control line to
// [Mux.Deliver], which never blocks and never runs user code, and calls [Mux.Fail] at the
// end.
//
// All state is in one struct that changes only inside update. An outgoing call ends exactly
// once: with its answer, with its context, or with the cause passed to Fail. An incoming
// request is answered at most once, by its own goroutine. A request that the CLI cancelled,
// or for which the handler returns [ErrNoAnswer], is not answered.
package control

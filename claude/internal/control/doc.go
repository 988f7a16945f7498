// Package control multiplexes the control protocol over one connection to the
// CLI: requests in both directions, many at a time, answered in any order,
// withdrawn from either side.
//
// It does no reading of its own. The reader of the connection hands over every control line
// with [Mux.Deliver], which never blocks and never runs user code, and says with [Mux.Fail]
// when there will be no more.
//
// All state is in one struct that changes only inside update. An outgoing call
// ends exactly once: with its answer, with its context, or with the cause that
// Fail was given. An incoming request is answered at most once, by its own
// goroutine, whatever its handler does; a request that the CLI took back, or one
// whose handler says [ErrNoAnswer], is not answered at all.
package control

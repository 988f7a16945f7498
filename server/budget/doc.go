// Package budget keeps accounts of the usage of sessions and reports when a limit is reached.
//
// A [Book] is a fold of rows: the usage of one request to a model, the total of a session that its
// agent reports, and limits that were set or removed. It has no clock and no I/O. A program that
// stores the rows on disk gets the same book after a restart.
//
// # Accounts
//
// Each row belongs to an [Account]: a session, the token that created it, and the tenant of that
// token. It counts for the limits of all three and for those of the server.
//
// # Estimates and figures
//
// While a turn runs, its cost is an estimate: tokens of each answer by a table of prices. An agent
// that knows the cost of its session reports it at the end of a turn; [Book.Reconcile] returns the
// row that adjusts the account to that figure. Tokens without a price are counted as such
// ([Amount].Unpriced) and never as free of charge.
//
// # Days and months
//
// Days and months are in UTC. A limit without a period never resets.
package budget

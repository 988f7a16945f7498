// Package budget keeps accounts of what sessions use and says when a limit is reached.
//
// A [Book] is a fold of rows: what one request to a model used, what an agent says that
// its session has used in all, and limits that were set or taken away. It has no clock and
// no I/O. Whoever keeps the rows on disk gets the same book after a restart.
//
// # Who pays
//
// Each row belongs to an [Account]: a session, the token that made it, and the tenant of
// that token. It counts for the limits of all three and for those of the server.
//
// # Estimates and figures
//
// While a turn runs, its cost is an estimate: tokens of each answer by a table of prices. An
// agent that knows the cost of its session says so at the end of a turn; [Book.Reconcile]
// makes the row that brings the account to that figure. Tokens without a price are counted
// as such ([Amount].Unpriced) and never as free of charge.
//
// # Days and months
//
// They are those of UTC. A limit without a period is for good.
package budget

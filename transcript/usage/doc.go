// Package usage is a ledger of the tokens and the cost of Claude Code's sessions, computed from the
// transcripts that the CLI writes.
//
// [Scan] reads every transcript below the CLI's configuration directories, main files and those of
// subagents, and returns a [Ledger]. [Ledger.Report] adds up by hour, day, week, month, session,
// project, model, branch or agent, [Ledger.Blocks] by the five-hour periods of subscriptions, and
// [Ledger.Reconcile] compares the sums with the bills that the CLI writes to its transcripts.
//
// # Counting
//
// The CLI writes an answer of the model over several lines, one for each of its blocks, and every
// line repeats the usage of the whole answer; old CLIs repeat the usage at the start of the stream.
// Forks copy lines into another file. So an answer is counted once, by its message id and request
// id, wherever its lines are:
//
//   - Of several lines the one with the most tokens counts.
//   - A line without a request id is identified by its message id alone.
//   - A copy of a main line in a subagent's file, with whatever request id, is not a
//     second answer.
//   - An answer belongs to the session that it was written in first, not to those
//     that were forked from it.
//
// Requests that are not in any transcript cannot be counted, such as the request that summarises a
// conversation for its compaction. Reconcile reports their amount.
//
// # Prices
//
// Costs are list prices, from the table in [DefaultPrices] or one given by the caller; see
// [Prices]. A model that is not in the table is never free: its tokens are reported as unpriced
// wherever they are part of a sum.
package usage

// Package usage is a ledger of the tokens and the cost of Claude Code's sessions,
// made from the transcripts that the CLI writes.
//
// [Scan] reads every transcript below the CLI's configuration directories, main
// files and those of subagents, and gives a [Ledger]. [Ledger.Report] adds up by
// hour, day, week, month, session, project, model, branch or agent, [Ledger.Blocks]
// by the five hours that subscriptions count in, and [Ledger.Reconcile] holds the
// sums against the bills that the CLI itself leaves in its transcripts.
//
// # What is counted
//
// The CLI writes an answer of the model over several lines, one for each of its
// blocks, and every line repeats the usage of the whole answer; old CLIs repeat
// what the stream had begun with. Forks copy lines into a file of their own. So an
// answer is counted once, by its message id and request id, wherever its lines are:
//
//   - Of several lines the one with the most tokens counts.
//   - A line without a request id is known by its message id alone.
//   - A copy of a main line in a subagent's file, with whatever request id, is not a
//     second answer.
//   - An answer belongs to the session that it was written in first, not to those
//     that were forked from it.
//
// What is not in any transcript cannot be counted: the request that summarises a
// conversation for its compaction, for one. Reconcile tells how much that is.
//
// # Prices
//
// Costs are list prices, from the table in [DefaultPrices] or one given by the
// caller; see [Prices]. A model that the table does not know is never free: its
// tokens are reported as unpriced wherever they are part of a sum.
package usage

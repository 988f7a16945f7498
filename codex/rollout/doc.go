// Package rollout reads the sessions that Codex keeps on disk. It never writes.
//
// A session is a thread. Its files lie below sessions/ and archived_sessions/ of
// CODEX_HOME, named rollout-<time>-<thread>.jsonl, or .jsonl.zst where the program has
// compressed one that had not changed for a while. A fork and a reverted thread do not copy
// what they begin with: their file begins at a later line and names the file that has the
// ones before. [Dir.List] lists the threads, [Dir.Read] follows that chain and returns a
// whole conversation, and [Dir.Usage] yields the tokens of every request to a model.
//
// There are two modes of history. Files of the mode paginated have whole items; files of
// the mode legacy, which older versions write, have events and raw responses, from which
// the items are put together. Both give the items of package codex/item.
//
// Damage is reported and passed over: a line that is torn or is not JSON costs that line, a
// file that is not a rollout costs that file, a missing base costs what it would have
// given. Links are not followed, and lines have any length up to a guard. All functions may
// be called from any goroutine.
package rollout

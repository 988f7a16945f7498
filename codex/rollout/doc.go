// Package rollout reads the sessions that Codex keeps on disk. It never writes.
//
// A session is a thread. Its files are below sessions/ and archived_sessions/ of CODEX_HOME, named
// rollout-<time>-<thread>.jsonl, or .jsonl.zst if the program has compressed one that had not
// changed for a while. A fork and a reverted thread do not copy their beginning: their file starts
// at a later line and names the file with the earlier lines. [Dir.List] lists the threads,
// [Dir.Read] follows that chain and returns a whole conversation, and [Dir.Usage] yields the tokens
// of every request to a model.
//
// There are two modes of history. Files of the mode paginated have whole items; files of the mode
// legacy, which older versions write, have events and raw responses, from which the items are
// assembled. Both result in the items of package codex/item.
//
// Damage is reported and skipped: a line that is torn or is not JSON, a file that is not a rollout,
// a missing base. Links are not followed, and the length of lines has a high limit. All functions
// may be called from any goroutine.
package rollout

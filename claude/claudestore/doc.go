// Package claude/claudestore has session stores: places beside the CLI's own disk where
// the transcripts of sessions are kept, and from which a session is resumed on
// another machine. [Memory] and [Dir] are here; packages s3 and postgres below
// this one have those that need a server.
//
//	store, err := claudestore.NewDir("/var/lib/agents/sessions")
//	result, err := claude.Run(ctx, prompt, &claude.Options{SessionStore: store})
//
// Every store here lists, deletes, claims and leaves out entries by their uuid;
// all but s3 keep summaries. claudetest.TestSessionStore is what they have in
// common. They may be used by many sessions and goroutines at once.
package claudestore

// Package claude/claudestore has session stores: they keep the transcripts of sessions
// outside the CLI's own disk, so that a session can be resumed on another machine. This
// package has [Memory] and [Dir]; its subpackages s3, postgres and nats have stores that need
// a server.
//
//	store, err := claudestore.NewDir("/var/lib/agents/sessions")
//	result, err := claude.Run(ctx, prompt, &claude.Options{SessionStore: store})
//
// Every store supports listing, deleting and claiming, and omits entries with a known
// uuid; all but s3 keep summaries. All pass claudetest.TestSessionStore. They are safe
// for concurrent use by several sessions.
package claudestore

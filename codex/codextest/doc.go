// Package codex/codextest tests programs that drive Codex, without spending tokens.
//
// [NewAPI] is a scripted Responses API on loopback. With [Hermetic] the real codex program uses it,
// in a separate home directory and with a minimal environment, so that neither the user's
// configuration nor the network is involved.
//
// [Server] replaces the codex program: a scripted app-server in this process that can also
// misbehave. [Recorder] records the messages of client and server, and [Replay] plays the server's
// side of such a recording.
package codextest

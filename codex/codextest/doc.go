// Package codex/codextest tests programs that drive Codex, without a token spent.
//
// [NewAPI] is a scripted Responses API on loopback. With [Hermetic] the real codex program
// talks to it, in a home directory of its own and with an environment made from nothing, so
// that neither the user's configuration nor the network plays a part.
//
// [Server] takes the place of the codex program itself: a scripted app-server in this
// process, also one that misbehaves. [Recorder] writes down what client and server say to
// each other, and [Replay] plays the server's part of such a recording.
package codextest
